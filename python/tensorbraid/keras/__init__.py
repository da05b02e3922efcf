"""The parts of tf.keras that programs without models of Keras use: files and data sets."""

from tensorbraid.keras import datasets, utils  # noqa: F401

__all__ = ["datasets", "utils"]
