"""Tensors and operations as Python objects: shapes, texts, copies, and errors of conversions."""

from tensorbraid import _core, dtypes, errors
from tensorbraid.internal.shapes import TensorShape

Operation = _core.Operation
Tensor = _core.Tensor


def _get_shape(self):
    """The shape, as far as it is known before a step."""
    return self.shape


Tensor.dtype = property(lambda self: dtypes.as_dtype(self._dtype), doc="The dtype of the values.")
Tensor.shape = property(lambda self: TensorShape(self._shape), doc="The shape, as far as it is known before a step.")
Tensor.get_shape = _get_shape
Tensor.device = property(lambda self: self.op.device, doc="The device that was requested for the operation.")
Tensor.__repr__ = lambda self: f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"
Tensor.__str__ = lambda self: f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'
Tensor.__copy__ = Operation.__copy__ = lambda self: self  # as in TensorFlow, copy.copy returns the same element
Tensor.__deepcopy__ = Operation.__deepcopy__ = lambda self, memo: self  # a copy of a layer stays in the graph
Operation.__repr__ = lambda self: f"<tf.Operation '{self.name}' type={self.type}>"


def _no_bool(self):
    raise errors.OperatorNotAllowedInGraphError(
        "using a `tf.Tensor` as a Python `bool` is not allowed: its value is known only in a step. "
        "Use `if t is not None:`, or tf.cond to choose in the step."
    )


def _no_iteration(self):
    raise errors.OperatorNotAllowedInGraphError(
        "Tensor objects are only iterable when eager execution is enabled; use tf.unstack or tf.map_fn")


def _no_length(self):
    raise TypeError(f"len is not well defined for a symbolic Tensor ({self.name}). Use `x.shape` for the static shape, "
                    "or tf.shape(x)[0] for the size in a step.")


def no_array(self, dtype=None, copy=None):
    """`__array__` of tensors and variables: raises NotImplementedError, which NumPy's functions pass on."""
    raise NotImplementedError(
        f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array: its value is known only in a step. "
        "NumPy's functions take what session.run returns; tf has functions for tensors, such as tf.reduce_sum.")


Tensor.__bool__ = _no_bool
Tensor.__iter__ = _no_iteration
Tensor.__len__ = _no_length
Tensor.__array__ = no_array
Tensor.__array_priority__ = 100  # NumPy's operators leave `array + tensor` to the tensor
