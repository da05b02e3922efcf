"""tf.contrib.layers: layers with `scope` arguments, regularizers, initializers and the training operation."""

from typing import Any

from tensorbraid import nn
from tensorbraid import layers as core_layers
from tensorbraid.contrib.arg_scope import add_arg_scope
from tensorbraid.contrib.layers_base import NAMES, applied, collected, format_of, with_model_variables
from tensorbraid.contrib.layers_convolutions import *  # noqa: F401,F403
from tensorbraid.contrib.layers_embeddings import *  # noqa: F401,F403
from tensorbraid.contrib.layers_feature_columns import *  # noqa: F401,F403
from tensorbraid.contrib.layers_regularizers import *  # noqa: F401,F403
from tensorbraid.contrib.layers_regularizers import xavier_initializer
from tensorbraid.contrib.layers_simple import *  # noqa: F401,F403
from tensorbraid.contrib.layers_summaries import *  # noqa: F401,F403
from tensorbraid.contrib.layers_training import *  # noqa: F401,F403
from tensorbraid.initializers import Constant, Zeros
from tensorbraid.internal import graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.variable_scope import variable_scope
from tensorbraid.ops.node import op, tensor


@add_arg_scope
def fully_connected(inputs, num_outputs, activation_fn=nn.relu, normalizer_fn=None, normalizer_params=None,
                    weights_initializer=xavier_initializer(), weights_regularizer=None, biases_initializer=Zeros(),
                    biases_regularizer=None, reuse=None, variables_collections=None, outputs_collections=None,
                    trainable=True, scope=None):
    """activation_fn(inputs · weights + biases)."""
    def make(opened):
        return core_layers.Dense(
            num_outputs, None, normalizer_fn is None and biases_initializer is not None, weights_initializer,
            biases_initializer, weights_regularizer, biases_regularizer, trainable=trainable, _scope=opened,
            _reuse=reuse)

    return applied(make, inputs, "fully_connected", NAMES, activation_fn, normalizer_fn, normalizer_params, reuse,
                   variables_collections, outputs_collections, scope)


def _activated(activation, name, doc):
    def layer(inputs, num_outputs, **kwargs):
        return fully_connected(inputs, num_outputs, **{"activation_fn": activation, **kwargs})

    return named(layer, name, doc)


linear = _activated(None, "linear", "fully_connected without an activation.")
relu = _activated(nn.relu, "relu", "fully_connected with the activation relu.")
relu6 = _activated(nn.relu6, "relu6", "fully_connected with the activation relu6.")
elu = _activated(nn.elu, "elu", "fully_connected with the activation elu.")


@add_arg_scope
def convolution2d(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate: Any = 1,
                  activation_fn=nn.relu, normalizer_fn=None, normalizer_params=None,
                  weights_initializer=xavier_initializer(), weights_regularizer=None, biases_initializer=Zeros(),
                  biases_regularizer=None, reuse=None, variables_collections=None, outputs_collections=None,
                  trainable=True, scope=None):
    """activation_fn(convolution of images + biases)."""
    def make(opened):
        return core_layers.Conv2D(
            num_outputs, kernel_size, stride, padding, format_of(data_format), rate, None,
            normalizer_fn is None and biases_initializer is not None, weights_initializer, biases_initializer,
            weights_regularizer, biases_regularizer, trainable=trainable, _scope=opened, _reuse=reuse)

    return applied(make, inputs, "Conv", NAMES, activation_fn, normalizer_fn, normalizer_params, reuse,
                   variables_collections, outputs_collections, scope)


conv2d = convolution2d


def _simple(layer, inputs, default_name, outputs_collections, scope):
    """The result of a layer without variables. It is added to the collections."""
    with graphs.name_scope(scope, default_name, [inputs]) as name_scope:
        return collected(outputs_collections, name_scope, layer.call(tensor(inputs)))


@add_arg_scope
def max_pool2d(inputs, kernel_size, stride=2, padding="VALID", data_format="NHWC", outputs_collections=None,
               scope=None):
    """The largest element of each window of images."""
    return _simple(core_layers.MaxPooling2D(kernel_size, stride, padding, format_of(data_format)), inputs, "MaxPool2D",
                   outputs_collections, scope)


@add_arg_scope
def avg_pool2d(inputs, kernel_size, stride=2, padding="VALID", data_format="NHWC", outputs_collections=None,
               scope=None):
    """The mean of each window of images."""
    return _simple(core_layers.AveragePooling2D(kernel_size, stride, padding, format_of(data_format)), inputs,
                   "AvgPool2D", outputs_collections, scope)


@add_arg_scope
def flatten(inputs, outputs_collections=None, scope=None):
    """Each example as a vector."""
    return _simple(core_layers.Flatten(), inputs, "Flatten", outputs_collections, scope)


@add_arg_scope
def dropout(inputs, keep_prob: Any = 0.5, noise_shape=None, is_training: Any = True, outputs_collections=None,
            scope=None, seed=None):
    """While training, keeps elements with this probability and scales them."""
    with variable_scope(scope, "Dropout", [inputs]) as opened:
        layer = core_layers.Dropout(1 - keep_prob, noise_shape, seed, _scope=opened)
        return collected(outputs_collections, opened.original_name_scope, layer(inputs, training=is_training))


def _one_pixel_images(inputs, data_format):
    """Rows as images of one pixel, and the shape that the result gets. Other inputs as they are, and None.

    So the fused op normalizes rows, as in TensorFlow. It gives the moving average the unbiased variance, and its second
    derivatives are exact. Those of `tf.nn.moments` are not: it takes the mean for a constant.
    """
    inputs = tensor(inputs)
    channels = inputs.shape.as_list()[1] if inputs.shape.ndims == 2 else None
    if channels is None:
        return inputs, None
    image = [-1, 1, 1, channels] if format_of(data_format) == "channels_last" else [-1, channels, 1, 1]
    return op("Reshape", [inputs, image]), [-1, channels]


@add_arg_scope
def batch_norm(inputs, decay: Any = 0.999, center=True, scale=False, epsilon=0.001, activation_fn=None,
               param_initializers=None, param_regularizers=None, updates_collections=GraphKeys.UPDATE_OPS,
               is_training: Any = True, reuse=None, variables_collections=None, outputs_collections=None,
               trainable=True, batch_weights=None, fused=None, data_format="NHWC", zero_debias_moving_mean=False,
               scope=None, renorm=False, renorm_clipping=None, renorm_decay=0.99, adjustment=None):
    """Batch normalization. The updates of the averages are in `updates_collections`, or run at once if that is None."""
    if batch_weights is not None or zero_debias_moving_mean:
        raise NotImplementedError("batch_weights and zero_debias_moving_mean of batch_norm")
    make_initial, penalize = param_initializers or {}, param_regularizers or {}
    with variable_scope(scope, "BatchNorm", [inputs], reuse=reuse) as opened:
        inputs, rows = _one_pixel_images(inputs, data_format) if fused is None or fused else (inputs, None)
        layer = core_layers.BatchNormalization(
            -1 if format_of(data_format) == "channels_last" else 1, decay, epsilon, center, scale,
            make_initial.get("beta", Zeros()), make_initial.get("gamma", Constant(1.0)),
            make_initial.get("moving_mean", Zeros()), make_initial.get("moving_variance", Constant(1.0)),
            penalize.get("beta"), penalize.get("gamma"), renorm=renorm, renorm_clipping=renorm_clipping,
            renorm_momentum=renorm_decay, adjustment=adjustment, fused=fused, trainable=trainable, _scope=opened,
            _reuse=reuse)
        outputs = layer(inputs, training=is_training)
        with_model_variables(layer, variables_collections)
        if updates_collections != GraphKeys.UPDATE_OPS:
            for update in layer.updates:
                graphs.get_default_graph().get_collection_ref(GraphKeys.UPDATE_OPS).remove(update)
                if updates_collections is not None:
                    graphs.add_to_collection(updates_collections, update)
            if updates_collections is None:
                with graphs.control_dependencies(layer.updates):
                    outputs = op("Identity", [outputs])
        if rows is not None:
            outputs = op("Reshape", [outputs, rows])
        if activation_fn is not None:
            outputs = activation_fn(outputs)
    return collected(outputs_collections, opened.original_name_scope, outputs)
