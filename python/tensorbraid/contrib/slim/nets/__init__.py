"""tf.contrib.slim.nets: networks for images, with the names of the variables that slim's checkpoints have."""

from tensorbraid.contrib.slim.nets import (  # noqa: F401
    alexnet as alexnet, inception as inception, inception_v1 as inception_v1, inception_v2 as inception_v2,
    inception_v3 as inception_v3, overfeat as overfeat, resnet_utils as resnet_utils, resnet_v1 as resnet_v1,
    resnet_v2 as resnet_v2, vgg as vgg)

__all__ = []
