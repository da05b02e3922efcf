"""Shapes: layers of a program take and return tf.TensorShape, those of the library tuples."""

import functools

import tensorbraid as tf
from tensorbraid.keras.adapter.loaded import PREFIX

__all__ = []


class Shape(tuple):
    """A shape as a tuple, which can be used as a TensorShape where a program expects one."""

    ndims = rank = property(len)

    def as_list(self):
        """The sizes as a list."""
        return list(self)


def _size(size):
    return None if size is None or getattr(size, "value", 0) is None else int(size)


def _is_shape(value):
    return isinstance(value, tf.TensorShape) or isinstance(value, (tuple, list)) and all(
        size is None or isinstance(size, (int, tf.Dimension)) or hasattr(size, "__index__") for size in value)


def _mapped(function, value):
    """Applies the function to each shape of a structure. A list or tuple of numbers is one shape."""
    if value is None or _is_shape(value):
        return None if value is None else function(value)
    if isinstance(value, dict):
        return {key: _mapped(function, item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_mapped(function, item) for item in value]
    return value


def as_tuples(value):
    """Each shape of a structure as a tuple."""
    return _mapped(lambda shape: None if isinstance(shape, tf.TensorShape) and shape.ndims is None
                   else Shape(map(_size, shape)), value)


def as_tensor_shapes(value):
    """Each shape of a structure as a TensorShape."""
    return _mapped(lambda shape: tf.TensorShape([_size(size) for size in shape])
                   if isinstance(shape, (tuple, list)) else shape, value)


def of_library(kind):
    """Whether a class or a function is one of the library."""
    return kind.__module__.startswith(PREFIX)


def adapt(kind):
    """Lets the methods of a class that take shapes, `build` and `compute_output_shape`, take both kinds."""
    convert = as_tuples if of_library(kind) else as_tensor_shapes
    for name in ("build", "compute_output_shape"):
        method = vars(kind).get(name)
        if callable(method):
            setattr(kind, name, _adapted(method, convert, name))


def _adapted(method, convert, name):
    @functools.wraps(method)
    def adapted(self, input_shape=None, *args, **kwargs):
        result = method(self, *(() if input_shape is None else (convert(input_shape),)), *args, **kwargs)
        return as_tuples(result) if name == "compute_output_shape" else result

    return adapted


def static(tensor):
    """The static shape of a tensor as a tuple, None if its rank is unknown."""
    shape = tensor.shape if isinstance(tensor.shape, tf.TensorShape) else tf.TensorShape(tensor.shape)
    return None if shape.ndims is None else Shape(shape.as_list())
