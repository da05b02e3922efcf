"""tf.contrib: names that TensorFlow 1 had there."""

from tensorbraid.contrib import data  # noqa: F401

__all__ = []
