"""The networks of the Visual Geometry Group: Simonyan and Zisserman, 2014."""

from tensorbraid.contrib import layers
from tensorbraid.contrib.arg_scope import arg_scope
from tensorbraid.contrib.slim.nets import plain

__all__ = ["vgg_16", "vgg_19", "vgg_a", "vgg_arg_scope", "vgg_d", "vgg_e"]


def vgg_arg_scope(weight_decay=0.0005):
    """Default arguments of the layers."""
    with plain.scope_of(weight_decay, 0.0), arg_scope([layers.conv2d], padding="SAME") as scope:
        return scope


def _network(name, counts):
    def convolutions(net):
        for number, (count, size) in enumerate(zip(counts, (64, 128, 256, 512, 512)), 1):
            net = layers.repeat(net, count, layers.conv2d, size, [3, 3], scope=f"conv{number}")
            net = layers.max_pool2d(net, [2, 2], scope=f"pool{number}")
        return net

    def network(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True, scope=name):
        head = plain.head((4096, 4096), [7, 7], num_classes, dropout_keep_prob, is_training)
        return plain.classified(inputs, scope, name, convolutions, head, spatial_squeeze)

    network.__name__ = network.__qualname__ = name
    network.__doc__ = (f"The network with {sum(counts) + 3} layers that have weights: the logits of images, usually of "
                       "224 x 224, and the outputs of the layers.")
    network.default_image_size = 224
    return network


vgg_a = _network("vgg_a", (1, 1, 2, 2, 2))
vgg_d = vgg_16 = _network("vgg_16", (2, 2, 3, 3, 3))
vgg_e = vgg_19 = _network("vgg_19", (2, 2, 4, 4, 4))
