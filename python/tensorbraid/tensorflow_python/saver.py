"""tensorflow.python.training.saver: the classes that say how a Saver saves."""

from tensorbraid.train import saveables

__all__ = ["BaseSaverBuilder"]


class BaseSaverBuilder:
    """Has the classes of what a Saver saves. A Saver itself needs no builder."""

    SaveSpec = saveables.SaveSpec
    SaveableObject = saveables.SaveableObject
    VariableSaveable = ResourceVariableSaveable = saveables.VariableSaveable
    SaveableObjectsForOp = staticmethod(saveables.saveables_for_op)
