"""tf.compat: text and bytes, and the package under the name compat.v1."""

import datetime
import numbers
import os
import sys

import numpy as np

__all__ = []

bytes_or_text_types = (bytes, str)
integral_types = (numbers.Integral, np.integer)
real_types = (numbers.Real, np.integer, np.floating)
complex_types = (numbers.Complex, np.number)


def as_bytes(bytes_or_text, encoding="utf-8"):
    """The text as bytes in this encoding."""
    if isinstance(bytes_or_text, bytearray):
        return bytes(bytes_or_text)
    if isinstance(bytes_or_text, str):
        return bytes_or_text.encode(encoding)
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


def as_text(bytes_or_text, encoding="utf-8"):
    """The bytes as a str."""
    if isinstance(bytes_or_text, str):
        return bytes_or_text
    if isinstance(bytes_or_text, bytes):
        return bytes_or_text.decode(encoding)
    raise TypeError(f"Expected binary or unicode string, got {bytes_or_text!r}")


as_str = as_text


def as_str_any(value, encoding="utf-8"):
    """The text of bytes, or str() of any other value."""
    return as_text(value, encoding) if isinstance(value, bytes) else str(value)


def path_to_str(path):
    """The text of a path object; any other value as it is."""
    return as_str_any(path.__fspath__()) if isinstance(path, os.PathLike) else path


def dimension_value(dimension):
    """The number of a Dimension, or None; any other value as it is."""
    return dimension.value if hasattr(dimension, "value") else dimension


def dimension_at_index(shape, index):
    """The Dimension of a shape, which is unknown if the rank is."""
    from tensorbraid.internal.shapes import Dimension

    return Dimension(None) if shape.ndims is None else shape.dims[index]


def forward_compatible(year, month, day):
    """Whether the day is before the last release of TensorFlow 1, whose graphs the package makes."""
    return datetime.date(year, month, day) < datetime.date(2019, 10, 14)


v1 = sys.modules["tensorbraid"]
sys.modules["tensorbraid.compat.v1"] = v1
