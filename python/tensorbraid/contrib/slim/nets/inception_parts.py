"""The parts that Inception networks are made of: a part is a function that adds layers to a tensor."""

import re

import tensorbraid as tf
from tensorbraid.contrib import layers
from tensorbraid.contrib.arg_scope import arg_scope
from tensorbraid.contrib.layers_regularizers import l2_regularizer, variance_scaling_initializer

__all__ = []


def normal(stddev):
    """An initializer."""
    return tf.truncated_normal_initializer(0.0, stddev)


def kernel_of(name):
    """The size at the end of a scope's name: [1, 7] of "Conv2d_0b_1x7"."""
    return [int(size) for size in re.search(r"(\d+)x(\d+)$", name).groups()]


def conv(name, size, kernel=None, stddev=None, **arguments):
    """A convolution in the scope `name`. The name has the size of the kernel, unless it is given."""
    if stddev is not None:
        arguments["weights_initializer"] = normal(stddev)
    return lambda net: layers.conv2d(net, size, kernel or kernel_of(name), scope=name, **arguments)


def pool(name, function=layers.max_pool2d, kernel=None, **arguments):
    """A pool in the scope `name`."""
    return lambda net: function(net, kernel or kernel_of(name), scope=name, **arguments)


def average(name, **arguments):
    """A pool of means in the scope `name`."""
    return pool(name, layers.avg_pool2d, **arguments)


def both(*parts):
    """The outputs of several parts of the same tensor, one after the other along the channels."""
    return lambda net: tf.concat([part(net) for part in parts], 3)


def mixed(name, *branches):
    """A module: branches, each a list of parts, whose outputs are joined."""
    def module(net):
        outputs = []
        with tf.variable_scope(name):
            for number, branch in enumerate(branches):
                with tf.variable_scope(f"Branch_{number}"):
                    outputs.append(_chain(net, branch))
            return tf.concat(outputs, 3)

    return module


def _chain(net, parts):
    for part in parts:
        net = part(net)
    return net


def base(inputs, modules, final_endpoint, scope, default):
    """The output of the module `final_endpoint`, and those of all before. `modules`: pairs of a name and a part."""
    end_points = {}
    if final_endpoint not in [name for name, _ in modules]:
        raise ValueError(f"Unknown final endpoint {final_endpoint}")
    with tf.variable_scope(scope, default, [inputs]):
        net = inputs
        for name, part in modules:
            net = end_points[name] = part(net)
            if name == final_endpoint:
                return net, end_points


def depth_of(depth_multiplier, min_depth):
    """The function that makes the number of channels of a layer smaller, but not smaller than `min_depth`."""
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda size: max(int(size * depth_multiplier), min_depth)


def fitting(net, kernel):
    """The kernel, or a smaller one for smaller images."""
    sizes = net.shape.as_list()[1:3]
    return kernel if None in sizes else [min(a, b) for a, b in zip(sizes, kernel)]


def squeezed(logits, spatial_squeeze):
    """The logits without the axes of size 1."""
    return tf.squeeze(logits, [1, 2], name="SpatialSqueeze") if spatial_squeeze else logits


def classes(net, name, num_classes):
    """The logits of a layer in the scope `name`."""
    return layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=name)


def averaged_logits(net, kernel, num_classes, keep_prob):
    """The part of Inception V2 and V3 after the last module. Returns the input of the last layer, and the logits."""
    kernel = fitting(net, kernel)
    net = layers.avg_pool2d(net, kernel, padding="VALID", scope=f"AvgPool_1a_{kernel[0]}x{kernel[1]}")
    net = layers.dropout(net, keep_prob, scope="Dropout_1b")
    return net, classes(net, "Conv2d_1c_1x1", num_classes)


def training(is_training):
    """The scope in which batch normalization and dropout train, or do not."""
    return arg_scope([layers.batch_norm, layers.dropout], is_training=is_training)


def scope_of(weight_decay, collection, decay=0.9997, epsilon=0.001, updates="update_ops", normalizer=layers.batch_norm,
             **more):
    """Default arguments: relu, batch normalization without gamma, and L2 regularization."""
    normalization = {"decay": decay, "epsilon": epsilon, "updates_collections": updates, **more,
                     "variables_collections": {"beta": None, "gamma": None, "moving_mean": [collection],
                                               "moving_variance": [collection]}}
    with arg_scope([layers.conv2d, layers.fully_connected], weights_regularizer=l2_regularizer(weight_decay)):
        with arg_scope([layers.conv2d], weights_initializer=variance_scaling_initializer(), activation_fn=tf.nn.relu,
                       normalizer_fn=normalizer, normalizer_params=normalization if normalizer else {}) as scope:
            return scope
