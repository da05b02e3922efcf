"""Shared code of both versions of ResNet: He et al., Deep residual learning for image recognition, 2015."""

import collections

import tensorbraid as tf
from tensorbraid.contrib import layers
from tensorbraid.contrib.arg_scope import add_arg_scope, arg_scope
from tensorbraid.contrib.layers_base import collected
from tensorbraid.contrib.layers_regularizers import l2_regularizer, variance_scaling_initializer
from tensorbraid.contrib import layers_utils as utils

__all__ = ["Block", "conv2d_same", "resnet_arg_scope", "stack_blocks_dense", "subsample"]


class Block(collections.namedtuple("Block", ["scope", "unit_fn", "args"])):
    """A block: a scope, the function of a unit, and the arguments of each unit."""


def block_of(unit_fn):
    """The function block(scope, base_depth, num_units, stride). The last of the units has the stride."""
    def block(scope, base_depth, num_units, stride):
        """A block of so many units, of which the last has the stride; all but the last convolution have base_depth."""
        unit = {"depth": base_depth * 4, "depth_bottleneck": base_depth, "stride": 1}
        return Block(scope, unit_fn, [unit] * (num_units - 1) + [{**unit, "stride": stride}])

    return block


def subsample(inputs, factor, scope=None):
    """Every factor-th pixel along both axes."""
    return inputs if factor == 1 else layers.max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(inputs, num_outputs, kernel_size, stride, rate=1, scope=None):
    """A convolution whose padding does not depend on the size of the images, as if it were cut from one of stride 1."""
    if stride == 1:
        return layers.conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
    total = (kernel_size - 1) * rate
    around = [total // 2, total - total // 2]
    padded = tf.pad(inputs, [[0, 0], around, around, [0, 0]])
    return layers.conv2d(padded, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)


@add_arg_scope
def stack_blocks_dense(net, blocks, output_stride=None, outputs_collections=None):
    """The blocks one after the other. Once the output is `output_stride` times smaller than `net`, further strides
    become dilations."""
    stride, rate = 1, 1
    for block in blocks:
        with tf.variable_scope(block.scope, "block", [net]) as opened:
            for number, unit in enumerate(block.args, 1):
                if output_stride is not None and stride > output_stride:
                    raise ValueError("The target output_stride cannot be reached.")
                with tf.variable_scope(f"unit_{number}", values=[net]):
                    if output_stride == stride:
                        net = block.unit_fn(net, rate=rate, **{**unit, "stride": 1})
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        stride *= unit.get("stride", 1)
            net = collected(outputs_collections, opened.name, net)
    if output_stride is not None and stride != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def resnet_arg_scope(weight_decay=0.0001, batch_norm_decay=0.997, batch_norm_epsilon=1e-5, batch_norm_scale=True):
    """Default arguments of the layers."""
    normalization = {"decay": batch_norm_decay, "epsilon": batch_norm_epsilon, "scale": batch_norm_scale,
                     "updates_collections": tf.GraphKeys.UPDATE_OPS}
    with arg_scope([layers.conv2d], weights_regularizer=l2_regularizer(weight_decay), activation_fn=tf.nn.relu,
                   weights_initializer=variance_scaling_initializer(), normalizer_fn=layers.batch_norm,
                   normalizer_params=normalization):
        with arg_scope([layers.batch_norm], **normalization):
            with arg_scope([layers.max_pool2d], padding="SAME") as scope:
                return scope


def network(inputs, blocks, root, finish, bottleneck, num_classes, is_training, global_pool, output_stride,
            include_root_block, reuse, scope, default):
    """The output, and those of all layers. `root` makes the first convolution, `finish` what follows the blocks."""
    with tf.variable_scope(scope, default, [inputs], reuse=reuse) as opened:
        collection = f"{opened.original_name_scope}_end_points"
        with arg_scope([layers.conv2d, bottleneck, stack_blocks_dense], outputs_collections=collection), \
                arg_scope([layers.batch_norm], is_training=is_training):
            net = inputs
            if include_root_block:
                if output_stride is not None:
                    if output_stride % 4:
                        raise ValueError("The output_stride needs to be a multiple of 4.")
                    output_stride //= 4
                net = layers.max_pool2d(root(net), [3, 3], stride=2, scope="pool1")
            net = finish(stack_blocks_dense(net, blocks, output_stride))
            if global_pool:
                net = tf.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
            if num_classes is not None:
                net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
            end_points = utils.convert_collection_to_dict(collection)
            if num_classes is not None:
                end_points["predictions"] = layers.softmax(net, scope="predictions")
    return net, end_points


def of_depth(make, block, version, layer_count, units):
    """The network with this number of layers. `units` has the number of units of each block."""
    name = f"resnet_{version}_{layer_count}"

    def network(inputs, num_classes=None, is_training=True, global_pool=True, output_stride=None, reuse=None,
                scope=name):
        blocks = [block(f"block{i + 1}", 64 * 2**i, count, 1 if i == 3 else 2) for i, count in enumerate(units)]
        return make(inputs, blocks, num_classes, is_training, global_pool, output_stride, True, reuse, scope)

    network.__name__ = network.__qualname__ = name
    network.__doc__ = f"The network with {layer_count} layers: its output, and the outputs of the layers."
    network.default_image_size = 224
    return network


# The number of layers, and the numbers of units in the four blocks.
DEPTHS = ((50, (3, 4, 6, 3)), (101, (3, 4, 23, 3)), (152, (3, 8, 36, 3)), (200, (3, 24, 36, 3)))
