"""tensorflow.python.framework.tensor_shape: functions that make shapes and dimensions."""

from tensorbraid.internal.shapes import Dimension, TensorShape

__all__ = ["Dimension", "TensorShape", "as_dimension", "as_shape", "dimension_at_index", "dimension_value", "matrix",
           "scalar", "unknown_shape", "vector"]


def as_shape(shape):
    """The value as a TensorShape."""
    return TensorShape(shape)


def as_dimension(value):
    """The value as a Dimension."""
    return value if isinstance(value, Dimension) else Dimension(value)


def unknown_shape(rank=None, **kwargs):
    """A shape of this rank with unknown dimensions, or by default of unknown rank."""
    rank = kwargs.pop("ndims", rank)
    if kwargs:
        raise TypeError(f"Unknown argument: {sorted(kwargs)}")
    return TensorShape(None) if rank is None else TensorShape([None] * rank)


def scalar():
    """The shape of a scalar."""
    return TensorShape([])


def vector(length):
    """The shape of a vector."""
    return TensorShape([length])


def matrix(rows, cols):
    """The shape of a matrix."""
    return TensorShape([rows, cols])


def dimension_value(dimension):
    """The dimension as an integer; None if it is unknown."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape, index):
    """The Dimension of a shape at an index, unknown if the rank is unknown."""
    shape = TensorShape(shape)
    return Dimension(None) if shape.ndims is None else as_dimension(shape[index])
