"""Pooling layers."""

from tensorbraid import _core, nn
from tensorbraid.internal.function_names import named
from tensorbraid.internal.layer_class import InputSpec, Layer, checked_format, one_of

__all__ = ["AveragePooling1D", "AveragePooling2D", "AveragePooling3D", "MaxPooling1D", "MaxPooling2D", "MaxPooling3D",
           "average_pooling1d", "average_pooling2d", "average_pooling3d", "max_pooling1d", "max_pooling2d",
           "max_pooling3d"]


class _Pooling(Layer):
    """The largest element or the mean of each window over `rank` spatial axes."""

    rank = None
    pool = None

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.pool_size = one_of(pool_size, self.rank, "pool_size")
        self.strides = one_of(self.pool_size if strides is None else strides, self.rank, "strides")
        self.padding = padding.lower()
        if self.padding not in ("valid", "same"):
            raise ValueError(f"The `padding` argument must be one of 'valid', 'same'. Received: {padding}")
        self.data_format = checked_format(data_format)
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def call(self, inputs):
        first = self.data_format == "channels_first"
        spatial = "DHW"[3 - self.rank:] if self.rank > 1 else "W"
        data_format = f"NC{spatial}" if first else f"N{spatial}C"
        return type(self).pool(inputs, self.pool_size, self.strides, self.padding.upper(), data_format)


def _layer(name, rank, pool, doc):
    return type(name, (_Pooling,), {"rank": rank, "pool": staticmethod(pool), "__doc__": doc, "__module__": __name__})


MaxPooling1D = _layer("MaxPooling1D", 1, nn.max_pool1d, "The largest element of each window of sequences.")
MaxPooling2D = _layer("MaxPooling2D", 2, nn.max_pool, "The largest element of each window of images.")
MaxPooling3D = _layer("MaxPooling3D", 3, nn.max_pool3d, "The largest element of each window of volumes.")
AveragePooling1D = _layer("AveragePooling1D", 1, nn.avg_pool1d, "The mean of each window of sequences.")
AveragePooling2D = _layer("AveragePooling2D", 2, nn.avg_pool, "The mean of each window of images.")
AveragePooling3D = _layer("AveragePooling3D", 3, nn.avg_pool3d, "The mean of each window of volumes.")


def _function(layer, name):
    def function(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None) -> _core.Tensor:
        return layer(pool_size, strides, padding, data_format, name)(inputs)

    return named(function, name, layer.__doc__)


max_pooling1d = _function(MaxPooling1D, "max_pooling1d")
max_pooling2d = _function(MaxPooling2D, "max_pooling2d")
max_pooling3d = _function(MaxPooling3D, "max_pooling3d")
average_pooling1d = _function(AveragePooling1D, "average_pooling1d")
average_pooling2d = _function(AveragePooling2D, "average_pooling2d")
average_pooling3d = _function(AveragePooling3D, "average_pooling3d")
