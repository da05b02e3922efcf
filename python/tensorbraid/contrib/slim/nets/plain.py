"""Shared code of AlexNet, OverFeat and VGG: sequences of layers whose last layers are convolutions."""

import tensorbraid as tf
from tensorbraid.contrib import layers
from tensorbraid.contrib.arg_scope import arg_scope
from tensorbraid.contrib.layers_regularizers import l2_regularizer
from tensorbraid.contrib import layers_utils as utils

__all__ = []


def scope_of(weight_decay, biases):
    """Default arguments: relu, L2 regularization, and biases that begin with a number."""
    functions = [layers.conv2d, layers.fully_connected]
    return arg_scope(functions, activation_fn=tf.nn.relu, weights_regularizer=l2_regularizer(weight_decay),
                     biases_initializer=tf.constant_initializer(biases))


def normal(stddev):
    """An initializer."""
    return tf.truncated_normal_initializer(0.0, stddev)


def classified(inputs, scope, default, convolutions, head, spatial_squeeze):
    """The logits and the outputs of all layers by the names of their scopes. `convolutions` and `head` make the layers
    before and up to the logits.
    """
    with tf.variable_scope(scope, default, [inputs]) as opened:
        collection = f"{opened.original_name_scope}_end_points"
        with arg_scope([layers.conv2d, layers.fully_connected, layers.max_pool2d], outputs_collections=collection):
            logits = head(convolutions(inputs))
        end_points = utils.convert_collection_to_dict(collection)
        if spatial_squeeze:
            logits = tf.squeeze(logits, [1, 2], name="fc8/squeezed")
        end_points[f"{opened.name}/fc8"] = logits
    return logits, end_points


def head(sizes, kernel, num_classes, keep_prob, is_training, biases=None, **arguments):
    """A function that makes the layers fc6 and fc7 of these sizes, and fc8 of the classes."""
    def make(net):
        with arg_scope([layers.conv2d], **arguments):
            net = layers.conv2d(net, sizes[0], kernel, padding="VALID", scope="fc6")
            net = layers.dropout(net, keep_prob, is_training=is_training, scope="dropout6")
            net = layers.conv2d(net, sizes[1], [1, 1], scope="fc7")
            net = layers.dropout(net, keep_prob, is_training=is_training, scope="dropout7")
            last = {} if biases is None else {"biases_initializer": biases}
            return layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **last)

    return make
