"""tf.contrib.slim.nets: networks for images, with the names of the variables that slim's checkpoints have."""

from tensorbraid.contrib.slim.nets import (  # noqa: F401
    alexnet, inception, inception_v1, inception_v2, inception_v3, overfeat, resnet_utils, resnet_v1, resnet_v2, vgg)

__all__ = []
