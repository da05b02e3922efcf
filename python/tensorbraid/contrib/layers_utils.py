"""tf.contrib.slim.utils and tf.contrib.layers.utils: outputs of layers by the names of their scopes."""

import collections

from tensorbraid.contrib.framework.tensors import smart_cond, smart_constant_value as constant_value  # noqa: F401
from tensorbraid.contrib.layers_base import append_tensor_alias, collected as collect_named_outputs  # noqa: F401
from tensorbraid.internal import graphs

__all__ = ["append_tensor_alias", "channel_dimension", "collect_named_outputs", "constant_value",
           "convert_collection_to_dict", "first_dimension", "gather_tensors_aliases", "get_tensor_aliases",
           "get_variable_collections", "last_dimension", "n_positive_integers", "smart_cond", "static_cond",
           "two_element_tuple"]


def get_tensor_aliases(tensor):
    """The names of the scopes whose output the tensor is; without one, its own name."""
    return getattr(tensor, "aliases", None) or [tensor.name.removesuffix(":0")]


def gather_tensors_aliases(tensors):
    """The names of all tensors."""
    return [alias for tensor in tensors for alias in get_tensor_aliases(tensor)]


def convert_collection_to_dict(collection, clear_collection=False):
    """The tensors of a collection by their names, in their order."""
    found = collections.OrderedDict((alias, tensor) for tensor in graphs.get_collection(collection)
                                    for alias in get_tensor_aliases(tensor))
    if clear_collection:
        graphs.get_default_graph().clear_collection(collection)
    return found


def _dimension(shape, index, min_rank):
    shape = shape.dims and [dimension.value for dimension in shape.dims]
    if shape is None:
        raise ValueError("the rank of the shape is unknown")
    if len(shape) < min_rank:
        raise ValueError(f"the rank of the shape must be at least {min_rank}, not {len(shape)}")
    if shape[index] is None:
        raise ValueError(f"the size of axis {index} is unknown: {shape}")
    return shape[index]


def first_dimension(shape, min_rank=1):
    """The size of the first axis."""
    return _dimension(shape, 0, min_rank)


def last_dimension(shape, min_rank=1):
    """The size of the last axis."""
    return _dimension(shape, -1, min_rank)


def channel_dimension(shape, data_format, min_rank=1):
    """The number of channels: the size of axis 1 for formats "NC...", otherwise of the last axis."""
    return _dimension(shape, 1 if data_format.startswith("NC") else -1, min_rank)


def get_variable_collections(variables_collections, name):
    """The collections for a variable of a layer: the dict's entry for its name, or all of `variables_collections`."""
    if isinstance(variables_collections, dict):
        return variables_collections.get(name)
    return variables_collections


def static_cond(pred, fn1, fn2):
    """The result of fn1() if `pred`, a bool or an int, is true, otherwise of fn2().

    TypeError if one is not callable.
    """
    for name, function in (("fn1", fn1), ("fn2", fn2)):
        if not callable(function):
            raise TypeError(f"{name} must be callable.")
    return fn1() if pred else fn2()


def n_positive_integers(n, value):
    """`value`, a number or a sequence of numbers, as n positive integers."""
    numbers = [int(number) for number in value] if hasattr(value, "__len__") else [int(value)] * n
    if len(numbers) != n or any(number < 1 for number in numbers):
        raise ValueError(f"{value} is not {n} positive integers")
    return tuple(numbers)


def two_element_tuple(int_or_tuple):
    """A number or a pair of numbers as a pair."""
    return n_positive_integers(2, int_or_tuple)
