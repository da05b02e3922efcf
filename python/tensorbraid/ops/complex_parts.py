"""The real part, the imaginary part and the argument of complex numbers."""

import numpy as np

from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays, indexing

__all__ = ["angle", "imag", "real"]


def real(input, name=None):
    """The real part of complex numbers. A real tensor is returned unchanged."""
    x = convert_to_tensor(input, name="input")
    if not x.dtype.is_complex:
        return x
    return make_op("Real", [x], name or "Real", Tout=x.dtype.real_dtype).outputs[0]


def imag(input, name=None):
    """The imaginary part of complex numbers. For a real tensor, the result is zeros."""
    with name_scope(name, "Imag", [input]) as scope:
        x = convert_to_tensor(input, name="input")
        if x.dtype.is_complex:
            return make_op("Imag", [x], scope, Tout=x.dtype.real_dtype).outputs[0]
        return arrays.zeros_like(x)


def angle(input, name=None):
    """The argument of complex numbers in radians.

    For a real tensor, it is pi where a number is negative, otherwise 0.
    """
    with name_scope(name, "Angle", [input]) as scope:
        x = convert_to_tensor(input, name="input")
        if x.dtype.is_complex:
            return make_op("Angle", [x], scope, Tout=x.dtype.real_dtype).outputs[0]
        return indexing.where(x < 0, np.pi * arrays.ones_like(x), arrays.zeros_like(x))
