"""tf.contrib.tensorboard: the files that TensorBoard's plugins read."""

import types

from tensorbraid.contrib import projector

__all__ = ["plugins"]

plugins = types.ModuleType("tensorbraid.contrib.tensorboard.plugins", "The plugins of TensorBoard.")
plugins.projector = projector
plugins.__all__ = ["projector"]
