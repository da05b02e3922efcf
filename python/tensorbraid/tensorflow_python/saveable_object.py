"""tensorflow.python.training.saving.saveable_object: SaveableObject, for state other than variables in checkpoints."""

from tensorbraid.train.saveables import SaveableObject, SaveSpec  # noqa: F401

__all__ = ["SaveSpec", "SaveableObject"]
