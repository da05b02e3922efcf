"""SaveableObject: state other than variables that a Saver saves, such as the position of an iterator."""

from tensorbraid import _core, dtypes
from tensorbraid.internal import graphs

__all__ = []


class SaveSpec:
    """A tensor that is saved. `tensor` is the tensor, or a function that returns it; then `dtype` is required."""

    def __init__(self, tensor, slice_spec, name, dtype=None, device=None):
        self._tensor = tensor
        self.slice_spec = slice_spec
        self.name = name
        if callable(tensor) and dtype is None:
            raise AssertionError("When passing a callable `tensor` to a SaveSpec, an explicit dtype must be provided.")
        self.dtype = dtypes.as_dtype(tensor.dtype if dtype is None else dtype)
        self.device = tensor.device if device is None and not callable(tensor) else device

    @property
    def tensor(self):
        """The tensor that is saved."""
        return self._tensor() if callable(self._tensor) else self._tensor


class SaveableObject:
    """The base class of saved state. `specs` are the tensors that are saved; `op` is the object that has the state."""

    def __init__(self, op, specs, name):
        self.op = op
        self.specs = specs
        self.name = name

    @property
    def device(self):
        """The device of the object that has the state."""
        return self.specs[0].device

    optional_restore = False

    def restore(self, restored_tensors, restored_shapes):
        """Adds the operation that sets the state to these tensors.

        `restored_shapes` is None unless the saver reshapes.
        """
        raise ValueError("Calling an abstract method.")


class VariableSaveable(SaveableObject):
    """A variable with a name in the checkpoint."""

    def __init__(self, var, slice_spec, name):
        self._variable = var
        super().__init__(var, [SaveSpec(var.read_value, slice_spec, name, var.dtype, var.device)], name)

    def restore(self, restored_tensors, restored_shapes):
        """Assigns the tensor."""
        return self._variable.assign(restored_tensors[0], read_value=False)


def saveables_for_op(op, name):
    """The saveables of a variable or of a saveable object itself, as an iterator."""
    if isinstance(op, SaveableObject):
        yield op
    elif isinstance(op, _core.Variable):
        yield VariableSaveable(op, "", name)
    else:
        raise ValueError(f"names_to_saveables must be a dict mapping string names to Tensors/Variables. Not a variable: "
                         f"{op}")


def states(saveables):
    """The saveables in the form that the C++ saver needs: for each its tensors, names, slices, and restore function."""
    def state(saveable):
        def restore(restored):
            made = saveable.restore(restored, None)
            return made.op if isinstance(made, graphs.Tensor) else made

        return [(graphs.convert_to_tensor(spec.tensor), spec.name, spec.slice_spec) for spec in saveable.specs], restore

    return [state(saveable) for saveable in saveables]
