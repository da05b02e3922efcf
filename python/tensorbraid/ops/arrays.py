"""Ops that make tensors, reorder, join, split and index them."""

import builtins
import math

import numpy as np

from tensorbraid import _core, dtypes
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.internal.shapes import Dimension, TensorShape
from tensorbraid.ops import elementwise
from tensorbraid.ops.old_arguments import renamed
from tensorbraid.ops.op_functions import op_function
from tensorbraid.ops.sparse_tensor import SparseTensor

newaxis = None

broadcast_dynamic_shape = op_function("BroadcastArgs", "shape_x, shape_y")
broadcast_to = op_function("BroadcastTo", "input, shape")
fill_node = op_function("Fill", "dims, value")
guarantee_const = op_function("GuaranteeConst", "input")
identity_node = op_function("Identity", "input")
invert_permutation = op_function("InvertPermutation", "x")
reverse = reverse_v2 = op_function("ReverseV2", "tensor, axis")
roll = op_function("Roll", "input, shift, axis")
stop_gradient = op_function("StopGradient", "input")
tile = op_function("Tile", "input, multiples")


def identity(input, name=None) -> graphs.Tensor:
    """A copy of a tensor, or of a SparseTensor's or IndexedSlices' values."""
    if isinstance(input, graphs.IndexedSlices):
        return graphs.IndexedSlices(identity(input.values, name), input.indices, input.dense_shape)
    if isinstance(input, SparseTensor):
        return input.with_values(identity(input.values, name))
    return identity_node(input, name)


def _op(op_type, inputs, name, default=None, **attrs):
    return make_op(op_type, inputs, name or default or op_type, **attrs).outputs[0]


def index_array(values):
    """Sizes or positions as an array of int32, or of int64 if one of them does not fit."""
    wide = any(not -2**31 <= v < 2**31 for v in values)
    return np.array(values, np.int64 if wide else np.int32)


def _fits(values, dtype):
    return not dtype.is_integer or all(v <= dtype.max for v in values)


def shape(input, name=None, out_type=dtypes.int32) -> graphs.Tensor:
    """The shape of a tensor as a vector: a constant if the static shape is fully defined."""
    out_type = dtypes.as_dtype(out_type)
    if isinstance(input, SparseTensor):
        return elementwise.cast(input.dense_shape, out_type)
    x = convert_to_tensor(input, name="input")
    if x.shape.is_fully_defined() and _fits(x.shape.as_list(), out_type):
        return graphs.constant(np.array(x.shape.as_list(), out_type.as_numpy_dtype), out_type, name=name or "Shape")
    return _op("Shape", [x], name, out_type=out_type)


def shape_n(input, out_type=dtypes.int32, name=None):
    """The sizes of each tensor of a list."""
    return make_op("ShapeN", [input], name or "ShapeN", out_type=dtypes.as_dtype(out_type)).outputs


def number_of_elements(input, name=None, out_type=dtypes.int32):
    """The number of elements of a tensor."""
    x = convert_to_tensor(input)
    if x.shape.is_fully_defined() and _fits([x.shape.num_elements()], dtypes.as_dtype(out_type)):
        return graphs.constant(x.shape.num_elements(), out_type, name=name or "Size")
    return _op("Size", [x], name, out_type=out_type)


def rank(input, name=None):
    """The number of axes."""
    if isinstance(input, SparseTensor):
        return number_of_elements(input.dense_shape, name)
    x = convert_to_tensor(input)
    if x.shape.ndims is not None:
        return graphs.constant(x.shape.ndims, dtypes.int32, name=name or "Rank")
    return _op("Rank", [x], name)


def is_static(shape):
    """Whether a shape that the program gives has no tensors, so that its sizes are known before the step."""
    if isinstance(shape, (graphs.Tensor, _core.Variable)):
        return False
    values = shape if isinstance(shape, (list, tuple)) else []
    return not any(isinstance(d, (graphs.Tensor, _core.Variable)) for d in values)


def static_dims(tensor):
    """The list of integers that the value of a shape tensor is, if it is a constant, else None."""
    if isinstance(tensor, graphs.Tensor):
        value = tensor._constant()
        return None if value is None else [int(v) for v in np.ravel(value)]
    return list(np.ravel(TensorShape(tensor).as_list() if isinstance(tensor, TensorShape) else tensor))


def _filled(name, value):
    def op(shape, dtype=dtypes.float32, name=None):
        dtype = dtypes.as_dtype(dtype)
        fill = {dtypes.string: "", dtypes.bool: bool(value)}.get(dtype, value)
        name = name or op.__name__
        if not is_static(shape):
            with name_scope(name, values=[shape]) as scope:
                dims = convert_to_tensor(shape, None if isinstance(shape, graphs.Tensor) else dtypes.int32,
                                         name="packed")
                return fill_node(dims, graphs.constant(fill, dtype), name=scope)
        if isinstance(shape, np.ndarray):
            shape = shape.tolist()
        dims = TensorShape(shape).as_list()
        if None in dims:
            raise ValueError(f"the sizes of tf.{op.__name__} must be known and >= 0, got {shape}")
        if math.prod(dims) < 1000 or dtype == dtypes.string:
            return graphs.constant(np.full(dims, fill, dtype.as_numpy_dtype), dtype, name=name)
        with name_scope(name) as scope:
            dims = graphs.constant(index_array(dims), name="shape_as_tensor")
            return fill_node(dims, graphs.constant(fill, dtype), name=scope)

    return named(op, name, f"A tensor of {name}.")


zeros = _filled("zeros", 0)
ones = _filled("ones", 1)


def fill(dims, value, name=None):
    """A tensor whose elements all have one value."""
    return fill_node(dims, value, name)


def zeros_like(tensor, dtype=None, name=None, optimize=True):
    """Zeros in the shape of a tensor. `optimize`: a known shape makes a constant."""
    x = convert_to_tensor(tensor, name="tensor")
    dtype = x.dtype if dtype is None else dtypes.as_dtype(dtype)
    if optimize and x.shape.is_fully_defined() and dtype != dtypes.variant:
        return zeros(x.shape, dtype, name or "zeros_like")
    if dtype == x.dtype:
        return _op("ZerosLike", [x], name, "zeros_like")
    with name_scope(name, "zeros_like", [x]) as scope:
        return zeros(_op("Shape", [x], None), dtype, scope)


def ones_like(tensor, dtype=None, name=None, optimize=True):
    """Ones in the shape of a tensor. `optimize`: a known shape makes a constant shape."""
    with name_scope(name, "ones_like", [tensor]) as scope:
        x = convert_to_tensor(tensor, name="tensor")
        wide = x.shape.is_fully_defined() and not _fits(x.shape.as_list(), dtypes.int32)
        dims = shape(x, out_type=dtypes.int64 if wide else dtypes.int32) if optimize else _op("Shape", [x], None)
        return ones(dims, x.dtype if dtype is None else dtype, scope)


def placeholder_with_default(input, shape, name=None):
    """A tensor that a step may feed; otherwise it has the value of `input`."""
    return _op("PlaceholderWithDefault", [input], name, shape=TensorShape(shape))


def reshape(tensor, shape, name=None):
    """The same elements under another shape."""
    return _op("Reshape", [tensor, shape], name)


def expand_dims(input, axis=None, name=None, dim=None):
    """The tensor with a new axis of size 1."""
    axis = renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return _op("ExpandDims", [input, axis], name)


def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """The tensor without its axes of size 1, or without those of `axis`."""
    axis = renamed("axis", axis, "squeeze_dims", squeeze_dims)
    if axis is not None and np.ndim(axis) == 0:
        axis = [axis]
    axes = None if axis is None else [arguments.integer("axis", part) for part in axis]
    return _op("Squeeze", [input], name, squeeze_dims=axes)


def transpose(a, perm=None, name="transpose", conjugate=False):
    """`a` with its axes in the order of `perm`; None reverses them."""
    with name_scope(name, "transpose", [a]) as scope:
        a = convert_to_tensor(a, name="a")
        op_type = "ConjugateTranspose" if conjugate and a.dtype.is_complex else "Transpose"
        if perm is None:
            ndims = a.shape.ndims
            if ndims is not None:
                perm = np.arange(ndims - 1, -1, -1, dtype=np.int32)
            else:
                count = rank(a)
                perm = (count - 1) - range_node(0, count, 1)
        return _op(op_type, [a, perm], scope)


def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """Exchanges the last two axes."""
    with name_scope(name, values=[a]):
        a = convert_to_tensor(a, name="a")
        ndims = a.shape.ndims
        if ndims is None:
            count = rank(a)
            perm = concat([range_node(0, count - 2, 1), [count - 1, count - 2]], 0)
        elif ndims < 2:
            raise ValueError("Argument `a` should be a (batch) matrix with rank >= 2. Received a of rank " + str(ndims))
        else:
            perm = list(np.arange(ndims - 2)) + [ndims - 1, ndims - 2]
            perm = np.array(perm, np.int32)
        return transpose(a, perm, conjugate=conjugate)


range_node = op_function("Range", "start, limit, delta", name="range")


def concat(values, axis, name="concat") -> graphs.Tensor:
    """The tensors one after the other along an axis."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            convert_to_tensor(axis, dtypes.int32, name="concat_dim").shape.assert_has_rank(0)
            return identity(values[0], name=name)
    return _op("ConcatV2", [list(values), axis], name)


def stack(values, axis=0, name="stack"):
    """The tensors beside each other along a new axis."""
    if axis == 0 and (isinstance(values, graphs.Tensor) or not elementwise.has_tensor(values)):
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass
    if not isinstance(values, (list, tuple)):
        values = unstack(values)
    return _op("Pack", [list(values)], name, axis=axis)


def parallel_stack(values, name="parallel_stack"):
    """As stack along axis 0, for inputs of known shapes that are computed in parallel."""
    with name_scope(name):
        first = convert_to_tensor(values[0])
        dims = [len(values)] + first.shape.as_list()
        values = [expand_dims(v, 0) for v in values]
        return _op("ParallelConcat", [values], None, shape=TensorShape(dims))


def unstack(value, num=None, axis=0, name="unstack"):
    """The list of the slices of a tensor along an axis."""
    value = convert_to_tensor(value)
    if num is None:
        dims = value.shape
        if dims.ndims is not None:
            if not -dims.ndims <= axis < dims.ndims:
                raise ValueError(f"Argument `axis` = {axis} not in range [{-dims.ndims}, {dims.ndims})")
            num = dims.as_list()[axis]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {dims}")
    return make_op("Unpack", [value], name, num=num, axis=axis).outputs


def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """The list of the parts of a tensor: a number of equal parts, or parts of given sizes."""
    if np.ndim(num_or_size_splits) == 0 and not isinstance(num_or_size_splits, graphs.Tensor):
        count = arguments.integer("num_or_size_splits", num_or_size_splits)
        if count <= 0:
            raise ValueError("Must have at least 1 part")
        return make_op("Split", [axis, value], name, num_split=count).outputs
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.shape.ndims == 0:
        raise ValueError("Rank-0 tensors are not supported as the num_or_size_splits argument to split.")
    if num is None:
        num = sizes.shape.as_list()[0]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {num_or_size_splits}")
    return make_op("SplitV", [value, sizes, axis], name, num_split=num).outputs


def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    """The tensor with borders: zeros or a constant, or a mirror image (REFLECT, SYMMETRIC)."""
    mode = mode.upper()
    if mode == "CONSTANT":
        if isinstance(constant_values, graphs.Tensor) or np.any(constant_values):
            return _op("PadV2", [tensor, paddings, constant_values], name)
        return _op("Pad", [tensor, paddings], name)
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"Value of argument `mode` expected to be one of CONSTANT, REFLECT, or SYMMETRIC, got {mode}")
    return _op("MirrorPad", [tensor, paddings], name, mode=mode)


def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None):
    """Reverses the first seq_lengths[i] slices along `seq_axis` of each entry of the batch."""
    seq_axis = renamed("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = renamed("batch_axis", batch_axis, "batch_dim", batch_dim)
    if seq_axis is None:
        raise ValueError("seq_axis is required")
    return _op("ReverseSequence", [input, seq_lengths], name, seq_dim=seq_axis, batch_dim=batch_axis or 0)


def broadcast_static_shape(shape_x, shape_y):
    """The shape to which two known shapes are broadcast."""
    a, b = TensorShape(shape_x), TensorShape(shape_y)
    if a.ndims is None or b.ndims is None:
        return TensorShape(None)
    left, right = a.as_list()[::-1], b.as_list()[::-1]
    dims = []
    for i in builtins.range(max(len(left), len(right))):
        x = left[i] if i < len(left) else 1
        y = right[i] if i < len(right) else 1
        if x == 1 or y == 1 or x == y:
            dims.append(y if x == 1 else x)
        elif x is None or y is None:
            dims.append(y if x is None else x)
        else:
            raise ValueError(f"Incompatible shapes for broadcasting. Two shapes are {a} and {b}")
    return TensorShape(dims[::-1])


def ensure_shape(x, shape, name=None):
    """The tensor, after a check that it has this shape in the step."""
    return _op("EnsureShape", [x], name, shape=TensorShape(shape))


def identity_n(input, name=None):
    """Copies of all tensors of a list."""
    return make_op("IdentityN", [input], name or "IdentityN").outputs


def dimension_value(dimension):
    """The number of a Dimension; any other value is its own."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape, index):
    """The Dimension of a shape at an index."""
    return Dimension(None) if TensorShape(shape).ndims is None else TensorShape(shape)[index]


def get_static_value(tensor, partial=False):
    """The value of a tensor if it is known before a step, else None."""
    if partial:
        raise NotImplementedError("partial=True of tf.get_static_value: values that are known in part")
    if isinstance(tensor, _core.Variable):
        return None
    if not isinstance(tensor, graphs.Tensor):
        raise TypeError(f"{tensor!r} must be a Tensor")
    return tensor._constant()


__all__ = [
    "broadcast_dynamic_shape", "broadcast_static_shape", "broadcast_to", "concat", "dimension_at_index",
    "dimension_value", "ensure_shape", "expand_dims", "fill", "get_static_value", "guarantee_const", "identity",
    "identity_n", "invert_permutation", "matrix_transpose", "newaxis", "ones", "ones_like", "pad",
    "parallel_stack", "placeholder_with_default", "rank", "reshape", "reverse", "reverse_sequence",
    "reverse_v2", "roll", "shape", "shape_n", "split", "squeeze", "stack", "stop_gradient", "tile",
    "transpose", "unstack", "zeros", "zeros_like",
]
