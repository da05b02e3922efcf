"""Variables in parts, and the functions that choose the number of parts."""

from tensorbraid import _core, dtypes
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.shapes import TensorShape

__all__ = ["create_partitioned_variables", "fixed_size_partitioner", "min_max_variable_partitioner",
           "variable_axis_size_partitioner"]


class PartitionedVariable:
    """A variable whose rows are distributed over several variables. Source: tf.PartitionedVariable."""

    def __init__(self, name, parts):
        self._name = name
        self._parts = list(parts)
        self._whole = None

    name = property(lambda self: self._name)
    dtype = property(lambda self: self._parts[0].dtype)
    graph = property(lambda self: self._parts[0].graph)
    op = property(lambda self: self.as_tensor().op)
    shape = property(lambda self: TensorShape(self._parts[0]._part_of[1]))

    def get_shape(self):
        """The shape of the whole variable."""
        return self.shape

    def __iter__(self):
        return iter(self._parts)

    def __len__(self):
        return len(self._parts)

    def _get_variable_list(self):
        return list(self._parts)

    def _get_partitions(self):
        return [len(self._parts)] + [1] * (self.shape.ndims - 1)

    def as_tensor(self):
        """The whole value."""
        if self._whole is None:
            with self.graph.as_default(), self.graph.control_dependencies(None):
                whole = self._parts[0]
                if len(self._parts) > 1:
                    with self.graph.name_scope(f"{self._name}/ConcatPartitions/"):
                        whole = make_op("ConcatV2", [self._parts, 0], "concat").outputs[0]
                with self.graph.name_scope(None):
                    self._whole = make_op("Identity", [whole], self._name).outputs[0]
        return self._whole

    value = _as_graph_tensor = as_tensor

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Sets all parts from the whole value."""
        sizes = [part.shape.as_list()[0] for part in self._parts]
        rows = make_op("SplitV", [value, sizes, 0], f"{name or 'assign'}_split", num_split=len(sizes)).outputs
        return [part.assign(part_rows, name=name, read_value=read_value) for part, part_rows in zip(self._parts, rows)]

    def __repr__(self):
        return f"<tf.PartitionedVariable '{self.name}' shape={self.shape} dtype={self.dtype.name} parts={len(self)}>"


for _name in ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__truediv__", "__rtruediv__",
              "__matmul__", "__rmatmul__", "__getitem__", "__neg__", "__pow__"):
    def _operator(self, *args, _name=_name):
        return getattr(self.as_tensor(), _name)(*args)

    setattr(PartitionedVariable, _name, _operator)


def parts_of(partitioner):
    """The function for C++ that calls a partitioner of Python, which returns a list of parts for each axis."""
    def call(dims, dtype):
        shape = TensorShape(dims)
        parts = partitioner(shape=shape, dtype=dtypes.as_dtype(dtype))
        if not isinstance(parts, (list, tuple)) or len(parts) != shape.ndims:
            raise ValueError(f"Partitioner returned a partition list that does not match the Variable's rank: {parts} "
                             f"vs. {shape}")
        if any(count < 1 for count in parts):
            raise ValueError(f"Partitioner returned zero partitions for some axes: {parts}")
        if any(count > 1 for count in parts[1:]):
            raise NotImplementedError("variables with parts along another axis than the first")
        return int(parts[0])

    return call


def create_partitioned_variables(shape, slicing, initializer, dtype=dtypes.float32, trainable=True, collections=None,
                                 name=None, reuse=None):
    """The parts of a variable; `slicing` has the number of parts along each axis. The old form of a partitioner."""
    from tensorbraid.internal.variable_scope import get_variable_scope, variable_scope

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
        raise NotImplementedError("variables with parts along another axis than the first")

    def partition(shape, dtype=dtypes.float32, **_):
        shape = TensorShape(shape)
        if not shape.is_fully_defined():
            raise ValueError(f"shape is not fully defined: {shape}")
        if shape.ndims == 0:
            return []
        return [partitioner(shape.as_list(), dtypes.as_dtype(dtype).as_datatype_enum)] + [1] * (shape.ndims - 1)

    return partition


def fixed_size_partitioner(num_shards, axis=0):
    """As many parts, or one for each row if there are fewer rows."""
    return _along_first(axis, _core.fixed_size_partitioner(num_shards))


def variable_axis_size_partitioner(max_shard_bytes, axis=0, bytes_per_string_element=16, max_shards=None):
    """As few parts as possible of at most `max_shard_bytes` each."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("max_shard_bytes and bytes_per_string_element must be positive integers")
    return _along_first(axis, _core.variable_axis_size_partitioner(max_shard_bytes, bytes_per_string_element,
                                                                   max_shards or 0))


def min_max_variable_partitioner(max_partitions=1, axis=0, min_slice_size=256 << 10, bytes_per_string_element=16):
    """As many parts of at least `min_slice_size` bytes as possible, and at most `max_partitions`."""
    if max_partitions < 1 or min_slice_size < 1 or bytes_per_string_element < 1:
        raise ValueError("max_partitions, min_slice_size and bytes_per_string_element must be positive integers")
    return _along_first(axis, _core.min_max_variable_partitioner(max_partitions, min_slice_size,
                                                                 bytes_per_string_element))
