"""tensorflow.python.training.saving.saveable_object: states that a Saver saves besides variables."""

from tensorbraid.train.saveables import SaveableObject, SaveSpec  # noqa: F401

__all__ = ["SaveSpec", "SaveableObject"]
