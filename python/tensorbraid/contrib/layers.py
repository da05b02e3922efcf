"""tf.contrib.layers: layers with `scope` arguments, regularizers and initializers."""

import numbers

from tensorbraid import graphs, nn
from tensorbraid import layers as core_layers
from tensorbraid.contrib.arg_scope import add_arg_scope
from tensorbraid.graph_keys import GraphKeys
from tensorbraid.initializers import Constant, GlorotNormal, GlorotUniform, Initializer, VarianceScaling, Zeros
from tensorbraid.node import op, tensor
from tensorbraid.variable_scope import variable_scope

__all__ = ["avg_pool2d", "batch_norm", "conv2d", "convolution2d", "dropout", "flatten", "fully_connected",
           "l1_regularizer", "l2_regularizer", "linear", "max_pool2d", "relu", "sum_regularizer",
           "variance_scaling_initializer", "xavier_initializer", "xavier_initializer_conv2d"]


def _is_off(scale):
    """Whether the scale of a regularizer is 0. Raises ValueError if it is none."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"scale cannot be an integer: {scale}")
    if isinstance(scale, numbers.Real) and scale < 0.0:
        raise ValueError(f"Setting a scale less than 0 on a regularizer: {scale}")
    return scale == 0.0


def l1_regularizer(scale, scope=None):
    """scale * sum(|x|)."""
    if _is_off(scale):
        return lambda _: None

    def l1(weights, name=None):
        with graphs.name_scope(scope, "l1_regularizer", [weights]) as name_scope:
            weights = tensor(weights)
            return op("Mul", [graphs.constant(scale, weights.dtype, name="scale"), _total("Abs", weights)],
                      name or name_scope)

    return l1


def l2_regularizer(scale, scope=None):
    """scale * sum(x²) / 2."""
    if _is_off(scale):
        return lambda _: None

    def l2(weights):
        with graphs.name_scope(scope, "l2_regularizer", [weights]) as name_scope:
            weights = tensor(weights)
            return op("Mul", [graphs.constant(scale, weights.dtype, name="scale"), nn.l2_loss(weights)], name_scope)

    return l2


def _total(op_type, weights):
    flat = op("Reshape", [op(op_type, [weights]), [-1]])
    return op("Sum", [flat, [0]])


def sum_regularizer(regularizer_list, scope=None):
    """The sum of several regularizers."""
    regularizers = [regularizer for regularizer in regularizer_list if regularizer is not None]
    if not regularizers:
        return None

    def total(weights):
        with graphs.name_scope(scope, "sum_regularizer", [weights]):
            losses = [loss for loss in (regularizer(weights) for regularizer in regularizers) if loss is not None]
            return op("AddN", [losses]) if losses else None

    return total


def xavier_initializer(uniform=True, seed=None, dtype="float32"):
    """Numbers with variance 2 / (inputs + outputs)."""
    return GlorotUniform(seed, dtype) if uniform else _Scaled(1.0, "FAN_AVG", False, seed, dtype)


xavier_initializer_conv2d = xavier_initializer


class _Scaled(Initializer):
    """VarianceScaling whose normal numbers, as contrib's, make up for the truncation by the factor 1.3."""

    def __init__(self, factor, mode, uniform, seed, dtype):
        self.mode, self.seed, self.dtype = mode, seed, GlorotNormal(dtype=dtype).dtype
        scale = factor if uniform else factor * 1.3 * 0.87962566103423978**2
        self._scaling = VarianceScaling(scale, mode.lower(), "uniform" if uniform else "truncated_normal", seed, dtype)
        self._make = self._scaling._make


def variance_scaling_initializer(factor=2.0, mode="FAN_IN", uniform=False, seed=None, dtype="float32"):
    """Numbers whose variance is factor / the fan that `mode` names."""
    if mode not in ("FAN_IN", "FAN_OUT", "FAN_AVG"):
        raise TypeError(f"Unknown mode {mode} [FAN_IN, FAN_OUT, FAN_AVG]")
    return _Scaled(factor, mode, uniform, seed, dtype)


def _collected(outputs_collections, scope, outputs):
    for key in [outputs_collections] if isinstance(outputs_collections, str) else outputs_collections or []:
        graphs.add_to_collection(key, outputs)
    return outputs


def _with_model_variables(layer, variables_collections):
    """Puts the variables of a layer into the collection of model variables, and into others."""
    graph = layer.graph
    for variable in layer.variables:
        keys = variables_collections or []
        if isinstance(keys, dict):
            keys = keys.get("biases" if variable.op.name.endswith("biases") else "weights") or []
        for key in [keys] if isinstance(keys, str) else keys:
            graph.add_to_collection(key, variable)
        if variable not in graph.get_collection(GraphKeys.MODEL_VARIABLES):
            graph.add_to_collection(GraphKeys.MODEL_VARIABLES, variable)


def _renamed(names):
    """A custom getter that gives contrib's names to the variables of tf.layers: "weights" for "kernel"."""
    def getter(original, name, *args, **kwargs):
        head, _, last = name.rpartition("/")
        last = names.get(last, last)
        return original(f"{head}/{last}" if head else last, *args, **kwargs)

    return getter


def _applied(make, inputs, default, names, activation_fn, normalizer_fn, normalizer_params, reuse, variables_collections,
             outputs_collections, scope):
    """Applies the layer that make() returns in a scope, then the normalizer and the activation."""
    with variable_scope(scope, default, [inputs], reuse=reuse, custom_getter=_renamed(names)) as opened:
        layer = make(opened)
        outputs = layer(inputs)
        _with_model_variables(layer, variables_collections)
    with variable_scope(opened, reuse=reuse, auxiliary_name_scope=False), graphs.name_scope(opened.original_name_scope):
        if normalizer_fn is not None:
            outputs = normalizer_fn(outputs, **(normalizer_params or {}))
        if activation_fn is not None:
            outputs = activation_fn(outputs)
    return _collected(outputs_collections, opened.original_name_scope, outputs)


_NAMES = {"kernel": "weights", "bias": "biases"}


@add_arg_scope
def fully_connected(inputs, num_outputs, activation_fn=nn.relu, normalizer_fn=None, normalizer_params=None,
                    weights_initializer=xavier_initializer(), weights_regularizer=None, biases_initializer=Zeros(),
                    biases_regularizer=None, reuse=None, variables_collections=None, outputs_collections=None,
                    trainable=True, scope=None):
    """activation_fn(inputs · weights + biases)."""
    def make(opened):
        return core_layers.Dense(
            num_outputs, None, normalizer_fn is None and biases_initializer is not None, weights_initializer,
            biases_initializer, weights_regularizer, biases_regularizer, trainable=trainable, _scope=opened, _reuse=reuse)

    return _applied(make, inputs, "fully_connected", _NAMES, activation_fn, normalizer_fn, normalizer_params, reuse,
                    variables_collections, outputs_collections, scope)


def linear(*args, **kwargs):
    """fully_connected without an activation."""
    return fully_connected(*args, **{"activation_fn": None, **kwargs})


relu = fully_connected


def _format(data_format):
    formats = {None: "channels_last", "NHWC": "channels_last", "NCHW": "channels_first"}
    if data_format not in formats:
        raise ValueError("data_format has to be either NCHW or NHWC.")
    return formats[data_format]


@add_arg_scope
def conv2d(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1, activation_fn=nn.relu,
           normalizer_fn=None, normalizer_params=None, weights_initializer=xavier_initializer(), weights_regularizer=None,
           biases_initializer=Zeros(), biases_regularizer=None, reuse=None, variables_collections=None,
           outputs_collections=None, trainable=True, scope=None):
    """activation_fn(convolution of images + biases)."""
    def make(opened):
        return core_layers.Conv2D(
            num_outputs, kernel_size, stride, padding, _format(data_format), rate, None,
            normalizer_fn is None and biases_initializer is not None, weights_initializer, biases_initializer,
            weights_regularizer, biases_regularizer, trainable=trainable, _scope=opened, _reuse=reuse)

    return _applied(make, inputs, "Conv", _NAMES, activation_fn, normalizer_fn, normalizer_params, reuse,
                    variables_collections, outputs_collections, scope)


convolution2d = conv2d


@add_arg_scope
def max_pool2d(inputs, kernel_size, stride=2, padding="VALID", data_format="NHWC", outputs_collections=None, scope=None):
    """The largest element of each window of images."""
    with graphs.name_scope(scope, "MaxPool2D", [inputs]) as name_scope:
        sizes = core_layers.MaxPooling2D(kernel_size, stride, padding, _format(data_format))
        return _collected(outputs_collections, name_scope, sizes.call(tensor(inputs)))


@add_arg_scope
def avg_pool2d(inputs, kernel_size, stride=2, padding="VALID", data_format="NHWC", outputs_collections=None, scope=None):
    """The mean of each window of images."""
    with graphs.name_scope(scope, "AvgPool2D", [inputs]) as name_scope:
        sizes = core_layers.AveragePooling2D(kernel_size, stride, padding, _format(data_format))
        return _collected(outputs_collections, name_scope, sizes.call(tensor(inputs)))


@add_arg_scope
def flatten(inputs, outputs_collections=None, scope=None):
    """Each example as a vector."""
    with graphs.name_scope(scope, "Flatten", [inputs]) as name_scope:
        return _collected(outputs_collections, name_scope, core_layers.Flatten().call(tensor(inputs)))


@add_arg_scope
def dropout(inputs, keep_prob=0.5, noise_shape=None, is_training=True, outputs_collections=None, scope=None, seed=None):
    """While training, keeps elements with this probability and scales them."""
    with variable_scope(scope, "Dropout", [inputs]) as opened:
        layer = core_layers.Dropout(1 - keep_prob, noise_shape, seed, _scope=opened)
        return _collected(outputs_collections, opened.original_name_scope, layer(inputs, training=is_training))


@add_arg_scope
def batch_norm(inputs, decay=0.999, center=True, scale=False, epsilon=0.001, activation_fn=None, param_initializers=None,
               param_regularizers=None, updates_collections=GraphKeys.UPDATE_OPS, is_training=True, reuse=None,
               variables_collections=None, outputs_collections=None, trainable=True, batch_weights=None, fused=None,
               data_format="NHWC", zero_debias_moving_mean=False, scope=None, renorm=False, renorm_clipping=None,
               renorm_decay=0.99, adjustment=None):
    """Batch normalization. The updates of the averages are in `updates_collections`, or run at once if that is None."""
    if batch_weights is not None or zero_debias_moving_mean:
        raise NotImplementedError("batch_weights and zero_debias_moving_mean of batch_norm")
    make_initial, penalize = param_initializers or {}, param_regularizers or {}
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as opened:
        layer = core_layers.BatchNormalization(
            -1 if _format(data_format) == "channels_last" else 1, decay, epsilon, center, scale,
            make_initial.get("beta", Zeros()), make_initial.get("gamma", Constant(1.0)),
            make_initial.get("moving_mean", Zeros()), make_initial.get("moving_variance", Constant(1.0)),
            penalize.get("beta"), penalize.get("gamma"), renorm=renorm, renorm_clipping=renorm_clipping,
            renorm_momentum=renorm_decay, adjustment=adjustment, fused=fused, trainable=trainable, _scope=opened,
            _reuse=reuse)
        outputs = layer(inputs, training=is_training)
        _with_model_variables(layer, variables_collections)
        if updates_collections != GraphKeys.UPDATE_OPS:
            for update in layer.updates:
                graphs.get_default_graph().get_collection_ref(GraphKeys.UPDATE_OPS).remove(update)
                if updates_collections is not None:
                    graphs.add_to_collection(updates_collections, update)
            if updates_collections is None:
                with graphs.control_dependencies(layer.updates):
                    outputs = op("Identity", [outputs])
        if activation_fn is not None:
            outputs = activation_fn(outputs)
    return _collected(outputs_collections, opened.original_name_scope, outputs)
