"""Partitioners: functions that choose into how many parts a variable is divided."""

from tensorbraid import _core, dtypes
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.internal.variable_scope import get_variable_scope, variable_scope

__all__ = ["create_partitioned_variables", "fixed_size_partitioner", "min_max_variable_partitioner",
           "variable_axis_size_partitioner"]


def create_partitioned_variables(shape, slicing, initializer, dtype=dtypes.float32, trainable=True, collections=None,
                                 name=None, reuse=None):
    """Makes a partitioned variable and returns the list of its parts. TensorFlow's form from before partitioners.

    `slicing` has the number of parts along each axis. ValueError if it does not fit the shape; NotImplementedError if
    an axis other than the first has several parts.
    """
    if len(shape) != len(slicing):
        raise ValueError(f"The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: {shape}, "
                         f"slicing: {slicing}")
    if len(shape) < 1:
        raise ValueError("A partitioned Variable must have rank at least 1: shape: []")
    around = get_variable_scope()
    with variable_scope(name, "PartitionedVariable", auxiliary_name_scope=False) as scope:
        own_name = scope.name[len(around.name) + 1 if around.name else 0:]
    whole = around.get_variable(None, own_name, shape, dtypes.as_dtype(dtype), initializer, reuse=reuse,
                                trainable=trainable, collections=collections, partitioner=lambda **_: list(slicing))
    return list(whole)


def _along_first(axis, partitioner):
    if axis != 0:
        raise NotImplementedError("variables that are partitioned along another axis than the first")

    def partition(shape, dtype=dtypes.float32, **_):
        shape = TensorShape(shape)
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        if shape.ndims == 0:
            return []
        return [partitioner(shape.as_list(), dtypes.as_dtype(dtype).as_datatype_enum)] + [1] * (shape.ndims - 1)

    return partition


def fixed_size_partitioner(num_shards, axis=0):
    """A partitioner: `num_shards` parts, or one for each row if there are fewer rows."""
    return _along_first(axis, _core.fixed_size_partitioner(num_shards))


def variable_axis_size_partitioner(max_shard_bytes, axis=0, bytes_per_string_element=16, max_shards=None):
    """A partitioner: as few parts as possible, of at most `max_shard_bytes` each."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("max_shard_bytes and bytes_per_string_element must be positive integers")
    return _along_first(axis, _core.variable_axis_size_partitioner(max_shard_bytes, bytes_per_string_element,
                                                                   max_shards or 0))


def min_max_variable_partitioner(max_partitions=1, axis=0, min_slice_size=256 << 10, bytes_per_string_element=16):
    """A partitioner: as many parts of at least `min_slice_size` bytes as possible, but at most `max_partitions`.

    A number of parts below 1 means 1, so the number of parameter servers may be 0.
    """
    if min_slice_size < 1 or bytes_per_string_element < 1:
        raise ValueError("min_slice_size and bytes_per_string_element must be positive integers")
    return _along_first(axis, _core.min_max_variable_partitioner(max(max_partitions, 1), min_slice_size,
                                                                 bytes_per_string_element))
