"""AlexNet in the version for one device: Krizhevsky, One weird trick for parallelizing convolutional networks, 2014."""

import tensorbraid as tf
from tensorbraid.contrib import layers
from tensorbraid.contrib.arg_scope import arg_scope
from tensorbraid.contrib.slim.nets import plain

__all__ = ["alexnet_v2", "alexnet_v2_arg_scope"]


def alexnet_v2_arg_scope(weight_decay=0.0005):
    """Default arguments of the layers."""
    with plain.scope_of(weight_decay, 0.1), arg_scope([layers.conv2d], padding="SAME"):
        with arg_scope([layers.max_pool2d], padding="VALID") as scope:
            return scope


def _convolutions(net):
    net = layers.conv2d(net, 64, [11, 11], 4, padding="VALID", scope="conv1")
    net = layers.max_pool2d(net, [3, 3], 2, scope="pool1")
    net = layers.conv2d(net, 192, [5, 5], scope="conv2")
    net = layers.max_pool2d(net, [3, 3], 2, scope="pool2")
    for number, size in ((3, 384), (4, 384), (5, 256)):
        net = layers.conv2d(net, size, [3, 3], scope=f"conv{number}")
    return layers.max_pool2d(net, [3, 3], 2, scope="pool5")


def alexnet_v2(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True,
               scope="alexnet_v2"):
    """The logits of images, usually of 224 x 224, and the outputs of the layers."""
    head = plain.head((4096, 4096), [5, 5], num_classes, dropout_keep_prob, is_training, tf.zeros_initializer(),
                      weights_initializer=plain.normal(0.005), biases_initializer=tf.constant_initializer(0.1))
    return plain.classified(inputs, scope, "alexnet_v2", _convolutions, head, spatial_squeeze)


alexnet_v2.default_image_size = 224
