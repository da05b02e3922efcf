"""Convolutions and pools of tf.contrib.layers over one and three axes, transposed and separable ones."""

from typing import Any

import tensorbraid as tf
from tensorbraid import layers as core_layers
from tensorbraid.contrib.arg_scope import add_arg_scope
from tensorbraid.contrib.layers_base import NAMES, applied, collected
from tensorbraid.contrib.layers_regularizers import xavier_initializer
from tensorbraid.initializers import Zeros
from tensorbraid.internal.function_names import named
from tensorbraid.ops.node import tensor

__all__ = ["avg_pool3d", "conv1d", "conv2d_transpose", "conv3d", "conv3d_transpose", "convolution1d",
           "convolution2d_transpose", "convolution3d", "convolution3d_transpose", "max_pool3d", "separable_conv2d",
           "separable_convolution2d"]


def _format_of(data_format, rank):
    """The data format as tf.layers calls it."""
    formats = {None: "channels_last", "N" + "DHW"[3 - rank:] + "C": "channels_last", "NC" + "DHW"[3 - rank:]:
               "channels_first"}
    if rank == 1:
        formats = {None: "channels_last", "NWC": "channels_last", "NCW": "channels_first"}
    if data_format not in formats:
        raise ValueError(f"data_format has to be one of {sorted(filter(None, formats))}.")
    return formats[data_format]


def _keyed(layer, name, doc):
    """A layer that one function makes several times, with a name of its own, under which arg_scope knows it."""
    layer._arg_scope_key = f"{__name__}.{name}"
    return named(layer, name, doc)


def _convolution(layer, rank, name):
    @add_arg_scope
    def convolution(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate: Any = 1,
                    activation_fn=tf.nn.relu, normalizer_fn=None, normalizer_params=None,
                    weights_initializer=xavier_initializer(), weights_regularizer=None, biases_initializer=Zeros(),
                    biases_regularizer=None, reuse=None, variables_collections=None, outputs_collections=None,
                    trainable=True, scope=None):
        def make(opened):
            return layer(num_outputs, kernel_size, stride, padding, _format_of(data_format, rank), rate, None,
                         normalizer_fn is None and biases_initializer is not None, weights_initializer,
                         biases_initializer, weights_regularizer, biases_regularizer, trainable=trainable,
                         _scope=opened, _reuse=reuse)

        return applied(make, inputs, "Conv", NAMES, activation_fn, normalizer_fn, normalizer_params, reuse,
                       variables_collections, outputs_collections, scope)

    return _keyed(convolution, name, f"activation_fn(convolution over {rank} axes + biases).")


conv1d = convolution1d = _convolution(core_layers.Conv1D, 1, "convolution1d")
conv3d = convolution3d = _convolution(core_layers.Conv3D, 3, "convolution3d")


def _transposed(layer, rank, name, scope_name, default_format):
    @add_arg_scope
    def convolution(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=default_format,
                    activation_fn=tf.nn.relu, normalizer_fn=None, normalizer_params=None,
                    weights_initializer=xavier_initializer(), weights_regularizer=None, biases_initializer=Zeros(),
                    biases_regularizer=None, reuse=None, variables_collections=None, outputs_collections=None,
                    trainable=True, scope=None):
        def make(opened):
            return layer(num_outputs, kernel_size, stride, padding, _format_of(data_format, rank), None,
                         normalizer_fn is None and biases_initializer is not None, weights_initializer,
                         biases_initializer, weights_regularizer, biases_regularizer, trainable=trainable,
                         _scope=opened, _reuse=reuse)

        return applied(make, inputs, scope_name, NAMES, activation_fn, normalizer_fn, normalizer_params, reuse,
                       variables_collections, outputs_collections, scope)

    return _keyed(convolution, name, f"activation_fn(transposed convolution over {rank} axes + biases).")


conv2d_transpose = convolution2d_transpose = _transposed(
    core_layers.Conv2DTranspose, 2, "convolution2d_transpose", "Conv2d_transpose", "NHWC")
conv3d_transpose = convolution3d_transpose = _transposed(
    core_layers.Conv3DTranspose, 3, "convolution3d_transpose", "Conv3d_transpose", "NDHWC")


@add_arg_scope
def separable_convolution2d(inputs, num_outputs, kernel_size, depth_multiplier=1, stride=1, padding="SAME",
                            data_format="NHWC", rate: Any = 1, activation_fn=tf.nn.relu, normalizer_fn=None,
                            normalizer_params=None, weights_initializer=xavier_initializer(),
                            pointwise_initializer=None, weights_regularizer=None, biases_initializer=Zeros(),
                            biases_regularizer=None, reuse=None, variables_collections=None, outputs_collections=None,
                            trainable=True, scope=None):
    """activation_fn(convolution of each channel, then one of size 1 over all, + biases). The latter is left out if
    `num_outputs` is None."""
    use_bias = normalizer_fn is None and biases_initializer is not None

    def make(opened):
        if num_outputs is None:
            return _Depthwise(kernel_size, depth_multiplier, stride, padding, data_format, rate, use_bias,
                              weights_initializer, weights_regularizer, biases_initializer, biases_regularizer,
                              trainable=trainable, _scope=opened, _reuse=reuse)
        return core_layers.SeparableConv2D(
            num_outputs, kernel_size, stride, padding, _format_of(data_format, 2), rate, depth_multiplier, None,
            use_bias, weights_initializer, pointwise_initializer or weights_initializer, biases_initializer,
            weights_regularizer, weights_regularizer, biases_regularizer, trainable=trainable, _scope=opened,
            _reuse=reuse)

    names = {**NAMES, "depthwise_kernel": "depthwise_weights", "pointwise_kernel": "pointwise_weights"}
    return applied(make, inputs, "SeparableConv2d", names, activation_fn, normalizer_fn, normalizer_params, reuse,
                   variables_collections, outputs_collections, scope)


separable_conv2d = separable_convolution2d


class _Depthwise(core_layers.Layer):
    """A convolution of each channel of images."""

    def __init__(self, kernel_size, depth_multiplier, stride, padding, data_format, rate, use_bias, weights_initializer,
                 weights_regularizer, biases_initializer, biases_regularizer, **kwargs):
        super().__init__(**kwargs)
        if data_format not in (None, "NHWC"):
            raise NotImplementedError("separable_conv2d with num_outputs=None for images that are not NHWC")
        self._sizes = [size if isinstance(size, (list, tuple)) else [size, size]
                       for size in (kernel_size, stride, rate)]
        self._multiplier, self._padding, self._use_bias = depth_multiplier, padding, use_bias
        self._of_weights = weights_initializer, weights_regularizer
        self._of_biases = biases_initializer, biases_regularizer

    def build(self, input_shape):
        channels = input_shape.as_list()[-1]
        self._kernel = self.add_weight("depthwise_kernel", [*self._sizes[0], channels, self._multiplier], None,
                                       *self._of_weights)
        if self._use_bias:
            self._bias = self.add_weight("bias", [channels * self._multiplier], None, *self._of_biases)

    def call(self, inputs):
        _, stride, rate = self._sizes
        outputs = tf.nn.depthwise_conv2d(inputs, self._kernel, [1, *stride, 1], self._padding, rate=rate)
        return tf.nn.bias_add(outputs, self._bias) if self._use_bias else outputs


def _pool(layer, name, doc):
    @add_arg_scope
    def pool(inputs, kernel_size, stride=2, padding="VALID", data_format="NDHWC", outputs_collections=None, scope=None):
        with tf.name_scope(scope, name, [inputs]) as name_scope:
            pooled = layer(kernel_size, stride, padding, _format_of(data_format, 3)).call(tensor(inputs))
            return collected(outputs_collections, name_scope, pooled)

    return _keyed(pool, name, doc)


max_pool3d = _pool(core_layers.MaxPooling3D, "MaxPool3D", "The largest element of each window over three axes.")
avg_pool3d = _pool(core_layers.AveragePooling3D, "AvgPool3D", "The mean of each window over three axes.")
