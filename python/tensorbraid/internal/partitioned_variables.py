"""Variables in parts."""

from tensorbraid import dtypes
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.shapes import TensorShape

__all__ = ["PartitionedVariable"]


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
        """Assigns to each part its rows of `value`, which has the shape of the whole variable."""
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
    """The function for C++ that calls a partitioner of Python, whose result is the number of parts along each axis.

    It raises ValueError if the result does not fit the shape, and NotImplementedError if an axis other than the first
    has several parts.
    """
    def call(dims, dtype):
        shape = TensorShape(dims)
        parts = partitioner(shape=shape, dtype=dtypes.as_dtype(dtype))
        if not isinstance(parts, (list, tuple)) or len(parts) != shape.ndims:
            raise ValueError(f"Partitioner returned a partition list that does not match the Variable's rank: {parts} "
                             f"vs. {shape}")
        if any(count < 1 for count in parts):
            raise ValueError(f"Partitioner returned zero partitions for some axes: {parts}")
        if any(count > 1 for count in parts[1:]):
            raise NotImplementedError("variables that are partitioned along another axis than the first")
        return int(parts[0])

    return call
