"""SparseTensor: a tensor given by its elements that are not zero, with their positions."""

import collections

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.internal.shapes import TensorShape

SparseTensorValue = collections.namedtuple("SparseTensorValue", ["indices", "values", "dense_shape"])


class SparseTensor:
    """Rows of `indices` are the positions of `values` in a tensor of the shape `dense_shape`."""

    __array_priority__ = 100

    def __init__(self, indices, values, dense_shape):
        with name_scope(None, "SparseTensor", [indices, values, dense_shape]):
            self.indices = convert_to_tensor(indices, dtypes.int64, name="indices")
            self.values = convert_to_tensor(values, name="values")
            dims = dense_shape.as_list() if isinstance(dense_shape, TensorShape) else dense_shape
            self.dense_shape = convert_to_tensor(dims, dtypes.int64, name="dense_shape")
        for tensor, ndims, what in ((self.indices, 2, "indices"), (self.values, 1, "values"),
                                    (self.dense_shape, 1, "dense_shape")):
            if tensor.shape.ndims not in (None, ndims):
                raise ValueError(f"the {what} of a SparseTensor must have rank {ndims}, got shape {tensor.shape}")
        self._static_shape = None

    dtype = property(lambda self: self.values.dtype)
    graph = property(lambda self: self.values.graph)
    op = property(lambda self: self.values.op)
    name = property(lambda self: self.values.name)
    shape = property(lambda self: self.get_shape())

    def get_shape(self):
        """The static shape, as far as it is known."""
        if self._static_shape is not None:
            return self._static_shape
        value = self.dense_shape._constant()
        if value is not None:
            return TensorShape([int(d) for d in value])
        ndims = self.dense_shape.shape.as_list()[0] if self.dense_shape.shape.ndims is not None else None
        return TensorShape(None if ndims is None else [None] * ndims)

    def with_values(self, new_values):
        """The same positions with other values."""
        made = SparseTensor(self.indices, new_values, self.dense_shape)
        made._static_shape = self.get_shape()
        return made

    @classmethod
    def from_value(cls, value):
        """The SparseTensor of a SparseTensorValue."""
        if not isinstance(value, (SparseTensor, SparseTensorValue)):
            raise TypeError(f"Neither a SparseTensor nor SparseTensorValue: {value}.")
        return value if isinstance(value, SparseTensor) else cls(*value)

    # Conditionals and loops pass these tensors on.
    def _parts(self):
        return [self.indices, self.values, self.dense_shape]

    def _with_parts(self, parts):
        return SparseTensor(*parts)

    def _shapes_of_parts(self, shape):
        """The shapes that the parts keep in a loop, for an invariant, which is the shape of `dense_shape`."""
        ndims = shape.with_rank(1).as_list()[0]
        return [TensorShape([None, ndims]), TensorShape([None]), shape]

    def __repr__(self):
        return f"SparseTensor(indices={self.indices}, values={self.values}, dense_shape={self.dense_shape})"

    def _with_dense(self, other, op_type, default_name):
        """The op of each value and the element of a dense tensor at its position."""
        with name_scope(None, default_name, [self.values, other]) as scope:
            other = convert_to_tensor(other, self.values.dtype, name="y")
            values = graphs.make_op(op_type, [self.indices, self.values, self.dense_shape, other], scope).outputs[0]
            return SparseTensor(self.indices, values, self.dense_shape)

    def __mul__(self, other):
        return self._with_dense(other, "SparseDenseCwiseMul", "mul")

    def __truediv__(self, other):
        return self._with_dense(other, "SparseDenseCwiseDiv", "truediv")

    __div__ = __truediv__


def convert_to_tensor_or_sparse_tensor(value, dtype=None, name=None):
    """A tensor, or a SparseTensor for a SparseTensor or its value."""
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        if dtype is not None and value.dtype != dtypes.as_dtype(dtype):
            raise RuntimeError(f"Sparse dtype mismatch. Requested: {dtypes.as_dtype(dtype).name}, "
                               f" Actual: {value.dtype.name}")
        return value
    return convert_to_tensor(value, dtype, name)


def sparse_placeholder(dtype, shape=None, name=None):
    """A SparseTensor that every step must feed: with a SparseTensorValue, or a triple of arrays."""
    def named(part):
        return None if name is None else f"{name}/{part}"

    if isinstance(shape, graphs.Tensor):
        sizes = shape._constant()
        dims = None if sizes is None else TensorShape([None if size < 0 else int(size) for size in sizes])
        ndims = shape.shape.as_list()[0]
        dense_shape = graphs.make_op("PlaceholderWithDefault", [shape], named("shape"), shape=shape.shape).outputs[0]
    elif shape is None:
        dims = ndims = None
        dense_shape = graphs.placeholder(dtypes.int64, [None], named("shape"))
    else:
        dims = TensorShape(shape)
        if dims.ndims is None:
            raise ValueError("sparse_placeholder needs a shape whose rank is known")
        ndims = dims.ndims
        default = np.array([-1 if d is None else d for d in dims.as_list()], np.int64)
        default = graphs.constant(default, name=named("shape_default") or "Const")
        dense_shape = graphs.make_op("PlaceholderWithDefault", [default], named("shape") or "PlaceholderWithDefault",
                                     shape=default.shape).outputs[0]
    values = graphs.placeholder(dtype, [None], named("values"))
    indices = graphs.placeholder(dtypes.int64, [None, ndims], named("indices"))
    result = SparseTensor(indices, values, dense_shape)
    result._static_shape = dims
    return result


__all__ = ["SparseTensor", "SparseTensorValue", "convert_to_tensor_or_sparse_tensor", "sparse_placeholder"]
