"""ResNet as it was first published: He et al., Deep residual learning for image recognition, 2015."""

import tensorbraid as tf
from tensorbraid.contrib import layers
from tensorbraid.contrib.arg_scope import add_arg_scope
from tensorbraid.contrib.layers_base import collected
from tensorbraid.contrib import layers_utils as utils
from tensorbraid.contrib.slim.nets import resnet_utils
from tensorbraid.contrib.slim.nets.resnet_utils import resnet_arg_scope  # noqa: F401

__all__ = ["bottleneck", "resnet_arg_scope", "resnet_v1", "resnet_v1_101", "resnet_v1_152", "resnet_v1_200",
           "resnet_v1_50", "resnet_v1_block"]


@add_arg_scope
def bottleneck(inputs, depth, depth_bottleneck, stride, rate=1, outputs_collections=None, scope=None):
    """A unit: relu(shortcut + three convolutions)."""
    with tf.variable_scope(scope, "bottleneck_v1", [inputs]) as opened:
        if depth == utils.last_dimension(inputs.shape, min_rank=4):
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = layers.conv2d(inputs, depth, [1, 1], stride=stride, activation_fn=None, scope="shortcut")
        residual = layers.conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = layers.conv2d(residual, depth, [1, 1], stride=1, activation_fn=None, scope="conv3")
        return collected(outputs_collections, opened.name, tf.nn.relu(shortcut + residual))


def _root(net):
    return resnet_utils.conv2d_same(net, 64, 7, stride=2, scope="conv1")


def resnet_v1(inputs, blocks, num_classes=None, is_training=True, global_pool=True, output_stride=None,
              include_root_block=True, reuse=None, scope=None):
    """A network of these blocks: its output, and the outputs of the layers."""
    return resnet_utils.network(inputs, blocks, _root, lambda net: net, bottleneck, num_classes, is_training,
                                global_pool, output_stride, include_root_block, reuse, scope, "resnet_v1")


resnet_v1.default_image_size = 224
resnet_v1_block = resnet_utils.block_of(bottleneck)
resnet_v1_50, resnet_v1_101, resnet_v1_152, resnet_v1_200 = (
    resnet_utils.of_depth(resnet_v1, resnet_v1_block, "v1", *depth) for depth in resnet_utils.DEPTHS)
