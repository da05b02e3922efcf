"""Ops that choose elements of tensors: slices, gather, scatter, masks, unique values, sorting."""

import builtins

import numpy as np

from tensorbraid import _core, dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.internal.op_results import results_class
from tensorbraid.internal.shapes import Dimension
from tensorbraid.ops import arrays, elementwise
from tensorbraid.ops.op_functions import op_function
from tensorbraid.ops.sparse_tensor import SparseTensor, SparseTensorValue

dynamic_partition = op_function("DynamicPartition", "data, partitions", "num_partitions", outputs="*")
dynamic_stitch = op_function("DynamicStitch", "indices, data")
scatter_nd = op_function("ScatterNd", "indices, updates, shape")
tensor_scatter_add = tensor_scatter_nd_add = op_function("TensorScatterAdd", "tensor, indices, updates")
tensor_scatter_nd_max = op_function("TensorScatterMax", "tensor, indices, updates")
tensor_scatter_nd_min = op_function("TensorScatterMin", "tensor, indices, updates")
tensor_scatter_sub = tensor_scatter_nd_sub = op_function("TensorScatterSub", "tensor, indices, updates")
tensor_scatter_update = tensor_scatter_nd_update = op_function("TensorScatterUpdate", "tensor, indices, updates")


def _index(value):
    """A part of an index as a number or an integer tensor."""
    if isinstance(value, Dimension):
        return int(value)
    if isinstance(value, _core.Variable):
        value = value.value()
    if isinstance(value, graphs.Tensor) and value.dtype.is_integer:
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_)):
        return int(value)
    raise TypeError("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
                    f"tensors are valid indices, got {value!r}")


def get_item(tensor, key):
    """tensor[key], where key has numbers, slices with strides, an ellipsis and new axes, or is one boolean mask.

    If `tensor` is a variable, the result has a method `assign`, which sets these elements of the variable, unless the
    key is a mask.
    """
    variable = tensor if isinstance(tensor, _core.Variable) else None
    if variable is not None:
        tensor = variable.value()
    if isinstance(key, graphs.Tensor) and key.dtype == dtypes.bool:
        return boolean_mask(tensor, key)
    if isinstance(key, (bool, np.bool_)) or (isinstance(key, np.ndarray) and key.dtype == np.bool_):
        return boolean_mask(tensor, key)
    parts = list(key) if isinstance(key, (list, tuple)) else [key]
    begin, end, strides = [], [], []
    masks = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 0}
    for i, part in enumerate(parts):
        bit = 1 << i
        if isinstance(part, builtins.slice):
            begin.append(0 if part.start is None else _index(part.start))
            end.append(0 if part.stop is None else _index(part.stop))
            strides.append(1 if part.step is None else _index(part.step))
            masks["begin_mask"] |= bit if part.start is None else 0
            masks["end_mask"] |= bit if part.stop is None else 0
        elif part is Ellipsis or part is None:
            masks["ellipsis_mask" if part is Ellipsis else "new_axis_mask"] |= bit
            begin.append(0)
            end.append(0 if part is Ellipsis else 1)
            strides.append(1)
        else:
            at = _index(part)
            begin.append(at)
            end.append(at + 1)
            strides.append(1)
            masks["shrink_axis_mask"] |= bit
    tensor = convert_to_tensor(tensor)
    with name_scope(None, "strided_slice", [tensor] + begin + end + strides) as scope:
        wide = any(v.dtype == dtypes.int64 if isinstance(v, graphs.Tensor) else not -2**31 <= v < 2**31
                   for v in begin + end + strides)
        vectors = [_vector(v, dtypes.int64 if wide else dtypes.int32, name)
                   for v, name in ((begin, "stack"), (end, "stack_1"), (strides, "stack_2"))]
        made = make_op("StridedSlice", [tensor] + vectors, scope, **masks).outputs[0]
    if variable is not None:
        made.assign = _assignment(variable, vectors, masks, f"{scope}_assign")
    return made


def _assignment(variable, vectors, masks, default_name):
    """Makes the method `assign` of a slice of a variable. `vectors` are begin, end and strides."""
    def assign(val, name=None):
        """Assigns `val` to these elements of the variable. Returns the variable's new value."""
        return variable._assign_slice(vectors, val, masks, name or default_name)

    return assign


def _vector(values, dtype, name):
    values = [elementwise.cast(v, dtype) if isinstance(v, graphs.Tensor) else v for v in values]
    if any(isinstance(v, graphs.Tensor) for v in values):
        return arrays.stack([convert_to_tensor(v, dtype) for v in values], name=name)
    return graphs.constant(np.array(values, dtype.as_numpy_dtype), name=name)


def slice(input_, begin, size, name=None):
    """The part of a tensor that starts at `begin`; a size of -1 reaches to the end."""
    if all(isinstance(v, (list, tuple)) and all(isinstance(i, int) for i in v) for v in (begin, size)):
        dtype = arrays.index_array([*begin, *size]).dtype
        begin, size = np.array(begin, dtype), np.array(size, dtype)
    return make_op("Slice", [input_, begin, size], name or "Slice").outputs[0]


def strided_slice(input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
                  shrink_axis_mask=0, var=None, name=None):
    """Every stride-th element from `begin` up to, but not including, `end` on each axis. Source: tf.strided_slice.

    Bit i of a mask is for the axis i: it ignores `begin` or `end`, inserts an ellipsis or a new axis, or removes the
    axis. If the variable `var` is given, the result has a method `assign`, which sets these elements of the variable.
    """
    if strides is None:
        strides = arrays.ones_like(begin) if isinstance(begin, graphs.Tensor) else np.ones(np.shape(begin), np.int32)
    masks = {"begin_mask": begin_mask, "end_mask": end_mask, "ellipsis_mask": ellipsis_mask,
             "new_axis_mask": new_axis_mask, "shrink_axis_mask": shrink_axis_mask}
    made = make_op("StridedSlice", [input_, begin, end, strides], name or "StridedSlice", **masks).outputs[0]
    if var is not None:
        made.assign = _assignment(var, [begin, end, strides], masks, f"{name or 'StridedSlice'}_assign")
    return made


def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """The slices of `params` along an axis, by default the first, at the indices.

    `indices` are int32 or int64, of any shape, which takes the place of the axis in the result. An index out of range
    fails the step with InvalidArgumentError.
    """
    if validate_indices is not None:
        raise NotImplementedError("validate_indices of tf.gather")
    if axis is None:
        axis = batch_dims
    if isinstance(params, _core.Variable) and not isinstance(axis, graphs.Tensor) and axis == 0 and batch_dims == 0:
        return params.sparse_read(indices, name=name) if hasattr(params, "sparse_read") else _gather(
            params.value(), indices, axis, 0, name)
    return _gather(params, indices, axis, batch_dims, name)


def _gather(params, indices, axis, batch_dims, name):
    return make_op("GatherV2", [params, indices, axis], name or "GatherV2", batch_dims=batch_dims).outputs[0]


def batch_gather(params, indices, name=None):
    """Gathers along the last axis of `indices`; the axes before it are batches."""
    with name_scope(name, "BatchGather", [params, indices]):
        indices = convert_to_tensor(indices, name="indices")
        params = convert_to_tensor(params, name="params")
        if indices.shape.ndims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        batch = indices.shape.ndims - 1
        return _gather(params, indices, batch, batch, None)


def gather_nd(params, indices, name=None, batch_dims=0, bad_indices_policy=""):
    """The elements or slices of `params` at the positions in the last axis of `indices`."""
    if bad_indices_policy not in ("", "DEFAULT"):
        raise NotImplementedError("bad_indices_policy of tf.gather_nd")
    if isinstance(batch_dims, (int, np.integer)) and batch_dims == 0:
        return make_op("GatherNd", [params, indices], name or "GatherNd").outputs[0]
    with name_scope(name, "GatherNd", [params, indices]):
        params, indices = convert_to_tensor(params), convert_to_tensor(indices)
        if indices.shape.ndims is None or not params.shape[:batch_dims].is_fully_defined():
            raise NotImplementedError("gather_nd with batch_dims of tensors whose batch axes are not known")
        batch = params.shape.as_list()[:batch_dims]
        if batch_dims >= indices.shape.ndims:
            raise ValueError(f"batch_dims = {batch_dims} must be less than rank(indices) = {indices.shape.ndims}")
        dims = arrays.shape(indices)
        grids = np.stack(np.meshgrid(*[np.arange(d) for d in batch], indexing="ij"), -1)
        kind = indices.dtype.as_numpy_dtype
        extra = grids.reshape(batch + [1] * (indices.shape.ndims - 1 - batch_dims) + [batch_dims]).astype(kind)
        wide = arrays.broadcast_to(graphs.constant(extra), arrays.concat([dims[:-1], [batch_dims]], 0))
        return make_op("GatherNd", [params, arrays.concat([wide, indices], -1)], None).outputs[0]


def where(condition, x=None, y=None, name=None):
    """The positions of true elements; with x and y, the elements of x where true and of y elsewhere."""
    if x is None and y is None:
        condition = convert_to_tensor(condition, name="condition")
        return make_op("Where", [condition], name or "Where").outputs[0]
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return make_op("Select", [condition, x, y], name or "Select").outputs[0]


def where_v2(condition, x=None, y=None, name=None):
    """As where, but condition, x and y are broadcast to each other."""
    if x is None and y is None:
        return where(condition, name=name)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    return make_op("SelectV2", [condition, x, y], name or "SelectV2").outputs[0]


def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    """The slices of a tensor where the mask is true."""
    with name_scope(name, values=[tensor, mask]):
        tensor = convert_to_tensor(tensor, name="tensor")
        mask = convert_to_tensor(mask, name="mask")
        ndims = mask.shape.ndims
        if ndims == 0:
            raise ValueError("mask cannot be scalar.")
        if ndims is None:
            raise ValueError("Number of mask dimensions must be specified, even if some dimensions are None.")
        axis = 0 if axis is None else arrays.static_dims(axis)[0]
        if axis < 0:
            axis += tensor.shape.ndims
        for a, b in zip(tensor.shape.as_list()[axis:axis + ndims] if tensor.shape.ndims is not None else [],
                        mask.shape.as_list()):
            if a is not None and b is not None and a != b:
                raise ValueError(f"Shapes {tensor.shape[axis:axis + ndims]} and {mask.shape} are incompatible")
        if ndims != 1:
            dims = tensor.shape.as_list() if tensor.shape.ndims is not None else None
            if dims is not None and sum(d is None for d in dims[:axis] + dims[axis + ndims:]) == 0:
                flat = dims[:axis] + [-1] + dims[axis + ndims:]
                inner = dims[:axis] + dims[axis + ndims:]
                if 0 in inner:
                    flat[axis] = int(np.prod([d for d in dims[axis:axis + ndims]]))
            else:
                of = arrays.shape(tensor)
                flat = arrays.concat([of[:axis], [-1], of[axis + ndims:]], 0)
            tensor = arrays.reshape(tensor, flat)
        chosen = arrays.squeeze(where(arrays.reshape(mask, [-1])), axis=[1])
        return gather(tensor, chosen, axis=axis)


def unique(x, out_idx=dtypes.int32, name=None):
    """The distinct elements in the order of their first occurrence, and for each element its position there."""
    made = make_op("Unique", [x], name or "Unique", out_idx=dtypes.as_dtype(out_idx))
    return results_class("Unique", "y idx")(*made.outputs)


def unique_with_counts(x, out_idx=dtypes.int32, name=None):
    """As unique, with the number of times that each distinct element occurs."""
    made = make_op("UniqueWithCounts", [x], name or "UniqueWithCounts", out_idx=dtypes.as_dtype(out_idx))
    return results_class("UniqueWithCounts", "y idx count")(*made.outputs)


def setdiff1d(x, y, index_dtype=dtypes.int32, name=None):
    """The elements of x that are not in y, and their positions in x."""
    made = make_op("ListDiff", [x, y], name or "ListDiff", out_idx=dtypes.as_dtype(index_dtype))
    return results_class("ListDiff", "out idx")(*made.outputs)


def searchsorted(sorted_sequence, values, side="left", out_type=dtypes.int32, name=None):
    """Where the values would be inserted into rows of sorted numbers."""
    if side not in ("left", "right"):
        raise ValueError(f"Argument `side` must be either 'right' or 'left'. Received: `side` = '{side}'.")
    with name_scope(name, "searchsorted", [sorted_sequence, values]):
        sorted_sequence = convert_to_tensor(sorted_sequence)
        values = convert_to_tensor(values, sorted_sequence.dtype)
        rows = arrays.reshape(sorted_sequence, [-1, arrays.shape(sorted_sequence)[-1]])
        wanted = arrays.reshape(values, [-1, arrays.shape(values)[-1]])
        found = make_op("LowerBound" if side == "left" else "UpperBound", [rows, wanted],
                        out_type=dtypes.as_dtype(out_type)).outputs[0]
        return arrays.reshape(found, arrays.shape(values))


def _sorted(values, axis, direction, result):
    values = convert_to_tensor(values, name="values")
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"Unsupported direction {direction!r}")
    if values.dtype.is_integer and direction == "ASCENDING":
        # The complement reverses the order of integers and, other than the negative, always exists.
        flip = elementwise.invert
    else:
        flip = elementwise.negative if direction == "ASCENDING" else (lambda x: x)
    ndims = values.shape.ndims
    if ndims is None and axis != -1:
        raise NotImplementedError("sorting along an axis that is not the last one of a tensor of unknown rank")
    last = axis in (-1, None if ndims is None else ndims - 1)
    perm = None
    if not last:
        at = axis % ndims
        perm = [i for i in builtins.range(ndims)]
        perm[at], perm[-1] = perm[-1], perm[at]
        values = arrays.transpose(values, perm)
    count = None if ndims is None else values.shape.as_list()[-1]
    top, indices = make_op("TopKV2", [flip(values), arrays.shape(values)[-1] if count is None else count]).outputs
    found = flip(top) if result == "values" else indices
    return found if perm is None else arrays.transpose(found, perm)


def sort(values, axis=-1, direction="ASCENDING", name=None):
    """The elements along an axis in order."""
    with name_scope(name, "sort", [values]):
        return _sorted(values, axis, direction, "values")


def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None) -> graphs.Tensor:
    """The positions of the elements along an axis in order. Equal elements always keep their order."""
    with name_scope(name, "argsort", [values]):
        return _sorted(values, axis, direction, "indices")


def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """The Levenshtein distances of sequences in SparseTensors."""
    both = []
    for value in (hypothesis, truth):
        if isinstance(value, SparseTensorValue):
            value = SparseTensor.from_value(value)
        if not isinstance(value, SparseTensor):
            raise TypeError("Hypothesis and truth must be SparseTensors.")
        both += [value.indices, value.values, value.dense_shape]
    return make_op("EditDistance", both, name, normalize=normalize).outputs[0]


__all__ = [
    "argsort", "batch_gather", "boolean_mask", "dynamic_partition", "dynamic_stitch", "edit_distance", "gather",
    "gather_nd", "scatter_nd", "searchsorted", "setdiff1d", "slice", "sort", "strided_slice", "tensor_scatter_add",
    "tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update", "tensor_scatter_sub", "tensor_scatter_update", "unique", "unique_with_counts",
    "where", "where_v2",
]
