"""Layers of tf.contrib.layers that are made of few ops, and those that apply others several times."""

import tensorbraid as tf
from tensorbraid.contrib.arg_scope import add_arg_scope
from tensorbraid.contrib.framework.variables import model_variable
from tensorbraid.contrib.layers_base import collected
from tensorbraid.initializers import Constant, Zeros

__all__ = ["bias_add", "group_norm", "instance_norm", "layer_norm", "maxout", "one_hot_encoding", "repeat",
           "scale_gradient", "softmax", "spatial_softmax", "stack", "unit_norm"]


def _keys(variables_collections, name):
    """The collections for the variable of this name."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def _finished(outputs, activation_fn, outputs_collections, scope):
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collected(outputs_collections, scope, outputs)


@add_arg_scope
def bias_add(inputs, activation_fn=None, initializer=Zeros(), regularizer=None, reuse=None, variables_collections=None,
             outputs_collections=None, trainable=True, data_format="NHWC", scope=None):
    """activation_fn(inputs + biases)."""
    if data_format not in ("NHWC", "NCHW"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with tf.variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as opened:
        inputs = tf.convert_to_tensor(inputs)
        size = inputs.shape.as_list()[1 if data_format == "NCHW" else -1]
        if size is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = model_variable("biases", [size], inputs.dtype, initializer, regularizer, trainable,
                                _keys(variables_collections, "biases"))
        if inputs.shape.ndims == 4 or data_format == "NHWC":
            outputs = tf.nn.bias_add(inputs, biases, data_format=data_format if inputs.shape.ndims == 4 else None)
        else:
            raise ValueError("NCHW data_format can only be used with rank 4 inputs")
        return _finished(outputs, activation_fn, outputs_collections, opened.original_name_scope)


def _affine(size, dtype, center, scale, trainable, variables_collections, initial):
    """The variables "beta" and "gamma", or None."""
    beta = model_variable("beta", size, dtype, initial.get("beta", Zeros()), trainable=trainable,
                          collections=_keys(variables_collections, "beta")) if center else None
    gamma = model_variable("gamma", size, dtype, initial.get("gamma", Constant(1.0)), trainable=trainable,
                           collections=_keys(variables_collections, "gamma")) if scale else None
    return beta, gamma


@add_arg_scope
def layer_norm(inputs, center=True, scale=True, activation_fn=None, reuse=None, variables_collections=None,
               outputs_collections=None, trainable=True, begin_norm_axis=1, begin_params_axis=-1, scope=None):
    """Normalizes each example over its axes from `begin_norm_axis` on. Source: Ba et al., 2016."""
    with tf.variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as opened:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        first = begin_norm_axis + rank if begin_norm_axis < 0 else begin_norm_axis
        params = begin_params_axis + rank if begin_params_axis < 0 else begin_params_axis
        if first >= rank or params >= rank:
            raise ValueError(f"begin_params_axis ({begin_params_axis}) and begin_norm_axis ({begin_norm_axis}) must be "
                             f"< rank(inputs) ({rank})")
        size = inputs.shape.as_list()[params:]
        if None in size:
            raise ValueError(f"Inputs {inputs.name}: shape(inputs)[{params}:] is not fully defined: {size}")
        beta, gamma = _affine(size, inputs.dtype, center, scale, trainable, variables_collections, {})
        mean, variance = tf.nn.moments(inputs, list(range(first, rank)), keep_dims=True)
        epsilon = 1e-3 if inputs.dtype == tf.float16 else 1e-12
        outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon)
        outputs.set_shape(inputs.shape)
        return _finished(outputs, activation_fn, outputs_collections, opened.original_name_scope)


@add_arg_scope
def instance_norm(inputs, center=True, scale=True, epsilon=1e-06, activation_fn=None, param_initializers=None,
                  reuse=None, variables_collections=None, outputs_collections=None, trainable=True, data_format="NHWC",
                  scope=None):
    """Normalizes each channel of each example. Source: Ulyanov et al., 2016."""
    with tf.variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as opened:
        inputs = tf.convert_to_tensor(inputs)
        rank = inputs.shape.ndims
        if rank is None:
            raise ValueError(f"Inputs {inputs.name} has undefined rank.")
        channel = {"NHWC": rank - 1, "NCHW": 1}.get(data_format)
        if channel is None:
            raise ValueError("data_format has to be either NCHW or NHWC.")
        size = inputs.shape.as_list()[channel]
        axes = [axis for axis in range(1, rank) if axis != channel]
        beta, gamma = _affine([size], inputs.dtype, center, scale, trainable, variables_collections,
                              param_initializers or {})
        shape = [size if axis == channel else 1 for axis in range(rank)]
        if channel != rank - 1:
            beta, gamma = (None if value is None else tf.reshape(value, shape) for value in (beta, gamma))
        mean, variance = tf.nn.moments(inputs, axes, keep_dims=True)
        outputs = tf.nn.batch_normalization(inputs, mean, variance, beta, gamma, epsilon, name="instancenorm")
        outputs.set_shape(inputs.shape)
        return _finished(outputs, activation_fn, outputs_collections, opened.original_name_scope)


@add_arg_scope
def group_norm(inputs, groups=32, channels_axis=-1, reduction_axes=(-3, -2), center=True, scale=True, epsilon=1e-06,
               activation_fn=None, param_initializers=None, reuse=None, variables_collections=None,
               outputs_collections=None, trainable=True, scope=None, mean_close_to_zero=False):
    """Normalizes groups of channels of each example. Source: Wu and He, 2018."""
    if mean_close_to_zero:
        raise NotImplementedError("mean_close_to_zero of group_norm")
    with tf.variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as opened:
        inputs = tf.convert_to_tensor(inputs)
        rank, sizes = inputs.shape.ndims, inputs.shape.as_list()
        channel = channels_axis % rank
        axes = sorted(axis % rank for axis in reduction_axes)
        if channel in axes:
            raise ValueError("reduction_axes and channels_axis overlap")
        size = sizes[channel]
        if size is None or size % groups:
            raise ValueError(f"{size} channels is not commensurate with {groups} groups.")
        if None in sizes[1:]:
            raise NotImplementedError("group_norm of inputs whose sizes are unknown")
        grouped = tf.reshape(inputs, [-1, *sizes[1:channel], groups, size // groups, *sizes[channel + 1:]])
        moved = [axis + 1 if axis > channel else axis for axis in axes] + [channel + 1]
        mean, variance = tf.nn.moments(grouped, moved, keep_dims=True)
        beta, gamma = _affine([size], inputs.dtype, center, scale, trainable, variables_collections,
                              param_initializers or {})
        shape = [1] * channel + [groups, size // groups] + [1] * (rank - channel - 1)
        beta, gamma = (None if value is None else tf.reshape(value, shape) for value in (beta, gamma))
        outputs = tf.nn.batch_normalization(grouped, mean, variance, beta, gamma, epsilon)
        outputs = tf.reshape(outputs, [-1 if size is None else size for size in sizes])
        return _finished(outputs, activation_fn, outputs_collections, opened.original_name_scope)


@add_arg_scope
def one_hot_encoding(labels, num_classes, on_value=1.0, off_value=0.0, outputs_collections=None, scope=None):
    """Integer labels as vectors."""
    with tf.name_scope(scope, "OneHotEncoding", [labels]) as name_scope:
        labels = tf.convert_to_tensor(labels)
        if labels.dtype == tf.int32:
            labels = tf.cast(labels, tf.int64)
        encoded = tf.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return collected(outputs_collections, name_scope, encoded)


@add_arg_scope
def softmax(logits, scope=None):
    """tf.nn.softmax along the last axis."""
    with tf.variable_scope(scope, "softmax", [logits]):
        logits = tf.convert_to_tensor(logits)
        size = logits.shape.as_list()[-1]
        if size is None:
            raise ValueError("the size of the last axis is not known")
        predictions = tf.reshape(tf.nn.softmax(tf.reshape(logits, [-1, size])), tf.shape(logits))
        predictions.set_shape(logits.shape)
        return predictions


@add_arg_scope
def maxout(inputs, num_units, axis=-1, scope=None):
    """The maxima of `num_units` groups of channels. Source: Goodfellow et al., 2013."""
    with tf.variable_scope(scope, "MaxOut", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        sizes = inputs.shape.as_list()
        axis %= len(sizes)
        if sizes[axis] is None or sizes[axis] % num_units:
            raise ValueError(f"number of features({sizes[axis]}) is not a multiple of num_units({num_units})")
        grouped = [-1 if size is None else size for size in sizes[:axis]] + [num_units, sizes[axis] // num_units]
        return tf.reduce_max(tf.reshape(inputs, grouped + sizes[axis + 1:]), axis + 1)


@add_arg_scope
def unit_norm(inputs, dim, epsilon=1e-7, scope=None):
    """The inputs divided by their Euclidean norm along an axis."""
    with tf.variable_scope(scope, "UnitNorm", [inputs]):
        if dim < 0 or dim >= (inputs.shape.ndims or 0):
            raise ValueError("dim must be positive but smaller than the input rank.")
        return inputs / tf.sqrt(epsilon + tf.reduce_sum(tf.square(inputs), dim, keep_dims=True))


@add_arg_scope
def spatial_softmax(features, temperature=None, name=None, variables_collections=None, trainable=True,
                    data_format="NHWC"):
    """The expected position of each feature of images, between -1 and 1. Source: Levine et al., 2015."""
    if data_format != "NHWC":
        raise NotImplementedError("spatial_softmax for images that are not NHWC")
    with tf.variable_scope(name, "spatial_softmax"):
        _, height, width, channels = features.shape.as_list()
        if None in (height, width, channels):
            raise NotImplementedError("spatial_softmax of images whose sizes are unknown")
        if temperature is None:
            temperature = model_variable("temperature", [], tf.float32, Constant(1.0), trainable=trainable,
                                         collections=variables_collections)
        x, y = tf.meshgrid(tf.lin_space(-1.0, 1.0, num=height), tf.lin_space(-1.0, 1.0, num=width), indexing="ij")
        flat = tf.reshape(tf.transpose(features, [0, 3, 1, 2]), [-1, height * width])
        attention = tf.nn.softmax(flat / temperature)
        expected = [tf.reduce_sum(tf.reshape(position, [height * width]) * attention, [1], keep_dims=True)
                    for position in (x, y)]
        keypoints = tf.reshape(tf.concat(expected, 1), [-1, channels * 2])
        keypoints.set_shape([None, channels * 2])
        return keypoints


def scale_gradient(inputs, gradient_multiplier):
    """The inputs, whose gradient is multiplied by a number."""
    @tf.custom_gradient
    def scaled(value):
        return tf.identity(value), lambda grad: grad * gradient_multiplier

    return scaled(tf.convert_to_tensor(inputs))


def _scope_name(layer):
    return getattr(layer, "__name__", None) or getattr(getattr(layer, "func", None), "__name__", None)


@add_arg_scope
def repeat(inputs, repetitions, layer, *args, **kwargs):
    """Applies a layer several times, in the scopes scope/scope_1, scope/scope_2, ..."""
    scope = kwargs.pop("scope", None)
    with tf.variable_scope(scope, "Repeat", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        name = scope or _scope_name(layer) or "repeat"
        for i in range(repetitions):
            inputs = layer(inputs, *args, **{**kwargs, "scope": f"{name}_{i + 1}"})
    return inputs


def stack(inputs, layer, stack_args, **kwargs):
    """Applies a layer once for each of `stack_args`, which are its other arguments: a value, list or tuple."""
    scope = kwargs.pop("scope", None)
    with tf.variable_scope(scope, "Stack", [inputs]):
        inputs = tf.convert_to_tensor(inputs)
        name = scope or _scope_name(layer) or "stack"
        for i, args in enumerate(stack_args):
            args = args if isinstance(args, (list, tuple)) else [args]
            inputs = layer(inputs, *args, **{**kwargs, "scope": f"{name}_{i + 1}"})
    return inputs
