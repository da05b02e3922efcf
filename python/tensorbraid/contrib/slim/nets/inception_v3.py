"""The third Inception network: Szegedy et al., Rethinking the Inception architecture for computer vision, 2015."""

import tensorbraid as tf
from tensorbraid.contrib import layers
from tensorbraid.contrib.arg_scope import arg_scope
from tensorbraid.contrib.slim.nets import inception_parts
from tensorbraid.contrib.slim.nets.inception_parts import average, base, both, conv, mixed, pool

__all__ = ["inception_v3", "inception_v3_arg_scope", "inception_v3_base"]

_STRIDE = {"stride": 2, "padding": "VALID"}


def _with_5x5(name, depth, pooled):
    """A module for images of 35 x 35."""
    first, second = "Conv2d_0a_1x1", "Conv2d_0b_5x5"
    if name == "Mixed_5c":
        first, second = "Conv2d_0b_1x1", "Conv_1_0c_5x5"  # as checkpoints have it
    return mixed(name, [conv("Conv2d_0a_1x1", depth(64))], [conv(first, depth(48)), conv(second, depth(64))],
                 [conv("Conv2d_0a_1x1", depth(64)), conv("Conv2d_0b_3x3", depth(96)),
                  conv("Conv2d_0c_3x3", depth(96))],
                 [average("AvgPool_0a_3x3"), conv("Conv2d_0b_1x1", depth(pooled))])


def _with_7x7(name, depth, inner):
    """A module for images of 17 x 17."""
    return mixed(name, [conv("Conv2d_0a_1x1", depth(192))],
                 [conv("Conv2d_0a_1x1", depth(inner)), conv("Conv2d_0b_1x7", depth(inner)),
                  conv("Conv2d_0c_7x1", depth(192))],
                 [conv("Conv2d_0a_1x1", depth(inner)), conv("Conv2d_0b_7x1", depth(inner)),
                  conv("Conv2d_0c_1x7", depth(inner)), conv("Conv2d_0d_7x1", depth(inner)),
                  conv("Conv2d_0e_1x7", depth(192))],
                 [average("AvgPool_0a_3x3"), conv("Conv2d_0b_1x1", depth(192))])


def _with_3x3(name, depth):
    """A module for images of 8 x 8."""
    second = "Conv2d_0b_3x1" if name == "Mixed_7b" else "Conv2d_0c_3x1"  # as checkpoints have it
    return mixed(name, [conv("Conv2d_0a_1x1", depth(320))],
                 [conv("Conv2d_0a_1x1", depth(384)), both(conv("Conv2d_0b_1x3", depth(384)),
                                                          conv(second, depth(384)))],
                 [conv("Conv2d_0a_1x1", depth(448)), conv("Conv2d_0b_3x3", depth(384)),
                  both(conv("Conv2d_0c_1x3", depth(384)), conv("Conv2d_0d_3x1", depth(384)))],
                 [average("AvgPool_0a_3x3"), conv("Conv2d_0b_1x1", depth(192))])


def _first_layers(depth):
    def stem(part):
        return lambda net: _within(part, net, stride=1, padding="VALID")

    return {"Conv2d_1a_3x3": stem(conv("Conv2d_1a_3x3", depth(32), stride=2)),
            "Conv2d_2a_3x3": stem(conv("Conv2d_2a_3x3", depth(32))),
            "Conv2d_2b_3x3": stem(conv("Conv2d_2b_3x3", depth(64), padding="SAME")),
            "MaxPool_3a_3x3": stem(pool("MaxPool_3a_3x3", stride=2)),
            "Conv2d_3b_1x1": stem(conv("Conv2d_3b_1x1", depth(80))),
            "Conv2d_4a_3x3": stem(conv("Conv2d_4a_3x3", depth(192))),
            "MaxPool_5a_3x3": stem(pool("MaxPool_5a_3x3", stride=2))}


def _modules(depth):
    smaller = {
        "Mixed_6a": mixed("Mixed_6a", [conv("Conv2d_1a_1x1", depth(384), [3, 3], **_STRIDE)],
                          [conv("Conv2d_0a_1x1", depth(64)), conv("Conv2d_0b_3x3", depth(96)),
                           conv("Conv2d_1a_1x1", depth(96), [3, 3], **_STRIDE)], [pool("MaxPool_1a_3x3", **_STRIDE)]),
        "Mixed_7a": mixed("Mixed_7a", [conv("Conv2d_0a_1x1", depth(192)),
                                       conv("Conv2d_1a_3x3", depth(320), **_STRIDE)],
                          [conv("Conv2d_0a_1x1", depth(192)), conv("Conv2d_0b_1x7", depth(192)),
                           conv("Conv2d_0c_7x1", depth(192)), conv("Conv2d_1a_3x3", depth(192), **_STRIDE)],
                          [pool("MaxPool_1a_3x3", **_STRIDE)])}
    return {**{name: _with_5x5(name, depth, size) for name, size in (
                ("Mixed_5b", 32), ("Mixed_5c", 64), ("Mixed_5d", 64))},
            "Mixed_6a": smaller["Mixed_6a"],
            **{name: _with_7x7(name, depth, size) for name, size in (
                ("Mixed_6b", 128), ("Mixed_6c", 160), ("Mixed_6d", 160), ("Mixed_6e", 192))},
            "Mixed_7a": smaller["Mixed_7a"],
            **{name: _with_3x3(name, depth) for name in ("Mixed_7b", "Mixed_7c")}}


def _within(function, *args, **defaults):
    with arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d], **defaults):
        return function(*args)


def inception_v3_base(inputs, final_endpoint="Mixed_7c", min_depth=16, depth_multiplier=1.0, scope=None):
    """The network without the layers that classify, up to a module: its output, and those of the modules."""
    depth = inception_parts.depth_of(depth_multiplier, min_depth)
    parts = {**_first_layers(depth), **_modules(depth)}
    return _within(base, inputs, list(parts.items()), final_endpoint, scope, "InceptionV3", stride=1, padding="SAME")


def _auxiliary(net, num_classes, depth, spatial_squeeze):
    """Logits that are made of a module in the middle."""
    with tf.variable_scope("AuxLogits"):
        net = layers.avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        net = layers.conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        kernel = inception_parts.fitting(net, [5, 5])
        net = layers.conv2d(net, depth(768), kernel, weights_initializer=inception_parts.normal(0.01), padding="VALID",
                            scope=f"Conv2d_2a_{kernel[0]}x{kernel[1]}")
        with arg_scope([layers.conv2d], weights_initializer=inception_parts.normal(0.001)):
            logits = inception_parts.classes(net, "Conv2d_2b_1x1", num_classes)
        return inception_parts.squeezed(logits, spatial_squeeze)


def inception_v3(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, min_depth=16, depth_multiplier=1.0,
                 prediction_fn=layers.softmax, spatial_squeeze=True, reuse=None, create_aux_logits=True,
                 scope="InceptionV3"):
    """The logits of images, usually of 299 x 299, and the outputs of the modules."""
    depth = inception_parts.depth_of(depth_multiplier, min_depth)
    with tf.variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as opened:
        with inception_parts.training(is_training):
            net, end_points = inception_v3_base(inputs, scope=opened, min_depth=min_depth,
                                                depth_multiplier=depth_multiplier)
            if create_aux_logits:
                end_points["AuxLogits"] = _within(_auxiliary, end_points["Mixed_6e"], num_classes, depth,
                                                  spatial_squeeze, stride=1, padding="SAME")
            with tf.variable_scope("Logits"):
                end_points["PreLogits"], logits = inception_parts.averaged_logits(net, [8, 8], num_classes,
                                                                                 dropout_keep_prob)
                logits = inception_parts.squeezed(logits, spatial_squeeze)
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v3.default_image_size = 299


def inception_v3_arg_scope(weight_decay=0.00004, batch_norm_var_collection="moving_vars", batch_norm_decay=0.9997,
                           batch_norm_epsilon=0.001, updates_collections=tf.GraphKeys.UPDATE_OPS,
                           use_fused_batchnorm=True):
    """Default arguments of the layers."""
    return inception_parts.scope_of(weight_decay, batch_norm_var_collection, batch_norm_decay, batch_norm_epsilon,
                                    updates_collections, fused=use_fused_batchnorm)
