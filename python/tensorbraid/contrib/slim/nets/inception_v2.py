"""The Inception network with batch normalization: Ioffe and Szegedy, 2015."""

import tensorbraid as tf
from tensorbraid.contrib import layers
from tensorbraid.contrib.arg_scope import arg_scope
from tensorbraid.contrib.slim.nets import inception_parts
from tensorbraid.contrib.slim.nets.inception_parts import average, base, conv, mixed, pool

__all__ = ["inception_v2", "inception_v2_arg_scope", "inception_v2_base"]

# The sizes of a module: of the branch 1x1, of the two layers and the three layers 3x3, and of the branch with a pool.
# Modules without the first and the last make images smaller.
_SIZES = {
    "Mixed_3b": (64, (64, 64), (64, 96), 32), "Mixed_3c": (64, (64, 96), (64, 96), 64),
    "Mixed_4a": (None, (128, 160), (64, 96), None), "Mixed_4b": (224, (64, 96), (96, 128), 128),
    "Mixed_4c": (192, (96, 128), (96, 128), 128), "Mixed_4d": (160, (128, 160), (128, 160), 96),
    "Mixed_4e": (96, (128, 192), (160, 192), 96), "Mixed_5a": (None, (128, 192), (192, 256), None),
    "Mixed_5b": (352, (192, 320), (160, 224), 128), "Mixed_5c": (352, (192, 320), (192, 224), 128)}


def _mixed(name, depth):
    first, *between, last = _SIZES[name]
    (a, b), (c, d) = (map(depth, sizes) for sizes in between)
    if first is None:
        return mixed(name, [conv("Conv2d_0a_1x1", a, stddev=0.09), conv("Conv2d_1a_3x3", b, stride=2)],
                     [conv("Conv2d_0a_1x1", c, stddev=0.09), conv("Conv2d_0b_3x3", d),
                      conv("Conv2d_1a_3x3", d, stride=2)], [pool("MaxPool_1a_3x3", stride=2)])
    pooled = pool("MaxPool_0a_3x3") if name == "Mixed_5c" else average("AvgPool_0a_3x3")
    return mixed(name, [conv("Conv2d_0a_1x1", depth(first))],
                 [conv("Conv2d_0a_1x1", a, stddev=0.09), conv("Conv2d_0b_3x3", b)],
                 [conv("Conv2d_0a_1x1", c, stddev=0.09), conv("Conv2d_0b_3x3", d), conv("Conv2d_0c_3x3", d)],
                 [pooled, conv("Conv2d_0b_1x1", depth(last), stddev=0.1)])


def inception_v2_base(inputs, final_endpoint="Mixed_5c", min_depth=16, depth_multiplier=1.0, scope=None):
    """The network without the layers that classify, up to a module: its output, and those of the modules."""
    depth = inception_parts.depth_of(depth_multiplier, min_depth)

    def first(net):
        return layers.separable_conv2d(net, depth(64), [7, 7], depth_multiplier=min(int(depth(64) / 3), 8), stride=2,
                                       weights_initializer=inception_parts.normal(1.0), scope="Conv2d_1a_7x7")

    parts = {"Conv2d_1a_7x7": first, "MaxPool_2a_3x3": pool("MaxPool_2a_3x3", stride=2),
             "Conv2d_2b_1x1": conv("Conv2d_2b_1x1", depth(64), stddev=0.1),
             "Conv2d_2c_3x3": conv("Conv2d_2c_3x3", depth(192)), "MaxPool_3a_3x3": pool("MaxPool_3a_3x3", stride=2),
             **{name: _mixed(name, depth) for name in _SIZES}}
    with arg_scope([layers.conv2d, layers.max_pool2d, layers.avg_pool2d, layers.separable_conv2d], stride=1,
                   padding="SAME"):
        return base(inputs, list(parts.items()), final_endpoint, scope, "InceptionV2")


def inception_v2(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, min_depth=16, depth_multiplier=1.0,
                 prediction_fn=layers.softmax, spatial_squeeze=True, reuse=None, scope="InceptionV2"):
    """The logits of images, usually of 224 x 224, and the outputs of the modules."""
    with tf.variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as opened:
        with inception_parts.training(is_training):
            net, end_points = inception_v2_base(inputs, scope=opened, min_depth=min_depth,
                                                depth_multiplier=depth_multiplier)
            with tf.variable_scope("Logits"):
                _, logits = inception_parts.averaged_logits(net, [7, 7], num_classes, dropout_keep_prob)
                logits = inception_parts.squeezed(logits, spatial_squeeze)
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v2.default_image_size = 224


def inception_v2_arg_scope(weight_decay=0.00004, batch_norm_var_collection="moving_vars"):
    """Default arguments of the layers."""
    return inception_parts.scope_of(weight_decay, batch_norm_var_collection)
