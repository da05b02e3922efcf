"""The first Inception network: Szegedy et al., Going deeper with convolutions, 2014."""

import tensorbraid as tf
from tensorbraid.contrib import layers
from tensorbraid.contrib.arg_scope import arg_scope
from tensorbraid.contrib.slim.nets import inception_parts
from tensorbraid.contrib.slim.nets.inception_parts import base, conv, mixed, pool

__all__ = ["inception_v1", "inception_v1_arg_scope", "inception_v1_base"]

# The sizes of a module: of the branch 1x1, of both layers of the branches 3x3 and 5x5, and of the branch with a pool.
_SIZES = {
    "Mixed_3b": (64, (96, 128), (16, 32), 32), "Mixed_3c": (128, (128, 192), (32, 96), 64),
    "Mixed_4b": (192, (96, 208), (16, 48), 64), "Mixed_4c": (160, (112, 224), (24, 64), 64),
    "Mixed_4d": (128, (128, 256), (24, 64), 64), "Mixed_4e": (112, (144, 288), (32, 64), 64),
    "Mixed_4f": (256, (160, 320), (32, 128), 128), "Mixed_5b": (256, (160, 320), (32, 128), 128),
    "Mixed_5c": (384, (192, 384), (48, 128), 128)}


def _mixed(name):
    first, second, third, last = _SIZES[name]
    own = "Conv2d_0a_3x3" if name == "Mixed_5b" else "Conv2d_0b_3x3"  # as checkpoints have it
    return mixed(name, [conv("Conv2d_0a_1x1", first)],
                 [conv("Conv2d_0a_1x1", second[0]), conv("Conv2d_0b_3x3", second[1])],
                 [conv("Conv2d_0a_1x1", third[0]), conv(own, third[1])],
                 [pool("MaxPool_0a_3x3"), conv("Conv2d_0b_1x1", last)])


def inception_v1_base(inputs, final_endpoint="Mixed_5c", scope="InceptionV1"):
    """The network without the layers that classify, up to a module: its output, and those of the modules."""
    parts = {"Conv2d_1a_7x7": conv("Conv2d_1a_7x7", 64, stride=2), "MaxPool_2a_3x3": pool("MaxPool_2a_3x3", stride=2),
             "Conv2d_2b_1x1": conv("Conv2d_2b_1x1", 64), "Conv2d_2c_3x3": conv("Conv2d_2c_3x3", 192),
             "MaxPool_3a_3x3": pool("MaxPool_3a_3x3", stride=2), "Mixed_3b": _mixed("Mixed_3b"),
             "Mixed_3c": _mixed("Mixed_3c"), "MaxPool_4a_3x3": pool("MaxPool_4a_3x3", stride=2),
             **{f"Mixed_4{letter}": _mixed(f"Mixed_4{letter}") for letter in "bcdef"},
             "MaxPool_5a_2x2": pool("MaxPool_5a_2x2", stride=2), "Mixed_5b": _mixed("Mixed_5b"),
             "Mixed_5c": _mixed("Mixed_5c")}
    with arg_scope([layers.conv2d, layers.fully_connected], weights_initializer=inception_parts.normal(0.01)):
        with arg_scope([layers.conv2d, layers.max_pool2d], stride=1, padding="SAME"):
            return base(inputs, list(parts.items()), final_endpoint, scope, "InceptionV1")


def inception_v1(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, prediction_fn=layers.softmax,
                 spatial_squeeze=True, reuse=None, scope="InceptionV1"):
    """The logits of images, usually of 224 x 224, and the outputs of the modules."""
    with tf.variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as opened:
        with inception_parts.training(is_training):
            net, end_points = inception_v1_base(inputs, scope=opened)
            with tf.variable_scope("Logits"):
                net = layers.avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
                net = layers.dropout(net, dropout_keep_prob, scope="Dropout_0b")
                logits = inception_parts.classes(net, "Conv2d_0c_1x1", num_classes)
                logits = end_points["Logits"] = inception_parts.squeezed(logits, spatial_squeeze)
                end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v1.default_image_size = 224


def inception_v1_arg_scope(weight_decay=0.00004, use_batch_norm=True, batch_norm_var_collection="moving_vars"):
    """Default arguments of the layers."""
    return inception_parts.scope_of(weight_decay, batch_norm_var_collection,
                                    normalizer=layers.batch_norm if use_batch_norm else None)
