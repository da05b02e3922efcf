"""tensorflow.python.training.saver: BaseSaverBuilder, whose classes describe the tensors that a Saver saves."""

from tensorbraid import _core
from tensorbraid.train import saveables

__all__ = ["BaseSaverBuilder"]


def _by_name(op_list, convert_variable_to_tensor=True):
    """{name in the checkpoint: variable or SaveableObject}.

    ValueError if two have the same name; TypeError for others.
    """
    if not isinstance(op_list, (list, tuple, set)):
        raise TypeError(f"Variables to save should be passed in a dict or a list: {op_list}")
    found = {}
    for op in op_list:
        if not isinstance(op, (_core.Variable, saveables.SaveableObject)):
            raise TypeError(f"Variable to save is not a Variable: {op}")
        name = op.op.name if isinstance(op, _core.Variable) else op.name
        if name in found:
            raise ValueError(f"At least two variables have the same name: {name}")
        found[name] = op
    return found


class BaseSaverBuilder:
    """A namespace for the classes of saveable objects. This package's Saver does not use a builder."""

    SaveSpec = saveables.SaveSpec
    SaveableObject = saveables.SaveableObject
    VariableSaveable = ResourceVariableSaveable = saveables.VariableSaveable
    OpListToDict = staticmethod(_by_name)
    SaveableObjectsForOp = staticmethod(saveables.saveables_for_op)
