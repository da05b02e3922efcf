"""BatchNormalization as in tf.keras: fused for images, and with TensorFlow's variance of the averages."""

import functools

import tensorbraid as tf
from tensorbraid.keras.adapter import shapes
from tensorbraid.keras.adapter.loaded import loaded, replace

__all__ = []


class _Methods:
    """Methods of tf.keras.layers.BatchNormalization."""

    def build(self, input_shape):
        """Adds the factors, the offsets and the averages. Those of several axes have the rank of the inputs."""
        rank = len(input_shape)
        axes = _axes(self, rank)
        sizes = {axis: input_shape[axis] for axis in axes}
        self.input_spec = loaded("engine.base_layer").InputSpec(ndim=rank, axes=sizes)
        shape = [sizes.get(axis, 1) for axis in range(rank)] if len(axes) > 1 else list(sizes.values())
        for name, is_wanted in (("gamma", self.scale), ("beta", self.center)):
            kinds = {kind: getattr(self, f"{name}_{kind}") for kind in ("initializer", "regularizer", "constraint")}
            setattr(self, name, self.add_weight(name, shape, **kinds) if is_wanted else None)
        for name in ("moving_mean", "moving_variance"):
            initializer = getattr(self, f"{name}_initializer")
            setattr(self, name, self.add_weight(name, shape, initializer=initializer, trainable=False))
        self.built = True

    def call(self, inputs, training=None):
        """Normalizes by the moments of the batch in training, otherwise by the averages."""
        backend = loaded("backend")
        training = backend.learning_phase() if training is None else training
        axes = _axes(self, inputs.shape.ndims)
        in_training = self._fused if inputs.shape.ndims == 4 and axes in ([1], [3]) else self._plain
        if isinstance(training, (bool, int)):
            outputs, mean, variance = in_training(inputs, axes) if training else self._by_averages(inputs, axes)
        else:
            outputs, mean, variance = tf.cond(tf.cast(training, tf.bool), lambda: in_training(inputs, axes),
                                              lambda: self._by_averages(inputs, axes))
        outputs.set_shape(inputs.shape)
        if training is not False and not (isinstance(training, int) and training == 0):
            self.add_update([backend.moving_average_update(self.moving_mean, mean, self.momentum),
                             backend.moving_average_update(self.moving_variance, variance, self.momentum)], [inputs])
        return outputs

    def _fused(self, inputs, axes):
        size = int(inputs.shape[axes[0]])
        scale = tf.ones([size]) if self.gamma is None else self.gamma
        offset = tf.zeros([size]) if self.beta is None else self.beta
        return tuple(tf.nn.fused_batch_norm(inputs, scale, offset, epsilon=self.epsilon,
                                            data_format="NCHW" if axes == [1] else "NHWC"))

    def _plain(self, inputs, axes):
        others = [axis for axis in range(inputs.shape.ndims) if axis not in axes]
        mean, variance = tf.nn.moments(inputs, others, keep_dims=len(axes) > 1)
        return self._normalized(inputs, axes, mean, variance), mean, variance

    def _by_averages(self, inputs, axes):
        mean, variance = tf.identity(self.moving_mean), tf.identity(self.moving_variance)
        return self._normalized(inputs, axes, mean, variance), mean, variance

    def _normalized(self, inputs, axes, mean, variance):
        shape = [-1 if axis in axes else 1 for axis in range(inputs.shape.ndims)]
        fits = len(axes) > 1 or axes[0] == len(shape) - 1
        mean, variance, offset, scale = [values if fits or values is None else tf.reshape(values, shape)
                                         for values in (mean, variance, self.beta, self.gamma)]
        return tf.nn.batch_normalization(inputs, mean, variance, offset, scale, self.epsilon)


def _axes(layer, rank):
    """The axes that have averages of their own."""
    axes = layer.axis if isinstance(layer.axis, (list, tuple)) else [layer.axis]
    found = {range(rank)[axis] for axis in axes if hasattr(axis, "__index__") and -rank <= axis < rank}
    if len(found) < len(axes):
        raise ValueError(f"Invalid axis of the layer {layer.name}: {layer.axis}, for inputs of rank {rank}")
    return sorted(found)


def change(normalization):
    """Changes the library's module layers.normalization."""
    kind = normalization.BatchNormalization
    init = kind.__init__

    @functools.wraps(init)
    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True, *args, fused=None, renorm=False,
                 virtual_batch_size=None, adjustment=None, **kwargs):
        if renorm or virtual_batch_size or adjustment:
            raise NotImplementedError("renorm, virtual_batch_size and adjustment of BatchNormalization")
        if isinstance(axis, (list, tuple)):
            axis = axis[0] if len(axis) == 1 else list(axis)
        init(self, axis, momentum, epsilon, center, scale, *args, **kwargs)

    replace(kind, _Methods)
    shapes.adapt(kind)
    kind.__init__ = __init__
