"""The size of an axis, which may be unknown."""

import operator

import numpy as np

from tensorbraid.internal import arguments


def size_of(value):
    """A size as a number, or None if it is unknown. Before TensorFlow 1.14 it could be a float, such as 6 / 2."""
    if isinstance(value, Dimension):
        return value.value
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        return int(value)
    try:
        return operator.index(value)
    except TypeError:
        text = "Dimension value must be integer or None or have an __index__ method, got value "
        raise TypeError(arguments.about(value, f"{text}{value!r} with type '{type(value).__name__}'")) from None


class Dimension:
    """A size, or an unknown size, whose value is None. Comparisons and sums with an unknown size are unknown."""

    def __init__(self, value):
        self.value = size_of(value)
        if self.value is not None and self.value < 0:
            raise ValueError(f"Dimension {self.value} must be >= 0")

    def __int__(self):
        return self.value

    def __array__(self, dtype=None, copy=None):
        if self.value is None:
            raise ValueError("Cannot convert an unknown Dimension to a Tensor: None")
        return np.array(self.value, dtype)

    def __index__(self):
        if self.value is None:
            raise TypeError("the dimension is unknown")
        return self.value

    def is_compatible_with(self, other):
        """Whether both may be the same size."""
        other = size_of(other)
        return self.value is None or other is None or self.value == other

    def assert_is_compatible_with(self, other):
        """Raises ValueError if both sizes are known and differ."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {Dimension(other)} are not compatible")

    def merge_with(self, other):
        """The size that one of both has."""
        self.assert_is_compatible_with(other)
        return Dimension(other if self.value is None else self.value)

    def __hash__(self):
        return hash(self.value)

    def __truediv__(self, other):
        raise TypeError(f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', please use // "
                        "instead")

    def __rtruediv__(self, other):
        raise TypeError(f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', please use // "
                        "instead")

    def __repr__(self):
        return f"Dimension({self.value})"

    def __str__(self):
        return "?" if self.value is None else str(self.value)


def _define(name, function, reverse, result):
    def method(self, other):
        try:
            a, b = self.value, size_of(other)
        except TypeError:
            return NotImplemented
        if a is None or b is None:
            return result(None)
        return result(function(b, a) if reverse else function(a, b))

    method.__name__ = method.__qualname__ = name
    setattr(Dimension, name, method)


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    _define(f"__{_name}__", getattr(operator, _name), False, Dimension)
    _define(f"__r{_name}__", getattr(operator, _name), True, Dimension)
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _define(f"__{_name}__", getattr(operator, _name), False, lambda found: found)
