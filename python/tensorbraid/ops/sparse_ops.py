"""Ops on SparseTensors."""

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays, control, elementwise, indexing, reductions, sequences
from tensorbraid.ops.old_arguments import renamed
from tensorbraid.ops.sparse_tensor import SparseTensor, SparseTensorValue

_sparse = SparseTensor.from_value


def _parts(sp):
    return [sp.indices, sp.values, sp.dense_shape]


def sparse_tensor_to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The dense tensor, with `default_value` (or zeros, or empty strings) elsewhere."""
    sp = _sparse(sp_input)
    default = arrays.zeros([], sp.dtype) if default_value is None else default_value
    dense = make_op("SparseToDense", [sp.indices, sp.dense_shape, sp.values, default], name or "SparseToDense",
                    validate_indices=validate_indices).outputs[0]
    dense.set_shape(sp.get_shape())
    return dense


def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    """A dense tensor with these values at these positions."""
    return make_op("SparseToDense", [sparse_indices, output_shape, sparse_values, default_value],
                   name or "SparseToDense", validate_indices=validate_indices).outputs[0]


def sparse_tensor_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """The product of a sparse matrix and a dense one."""
    if not isinstance(sp_a, (SparseTensor, SparseTensorValue)):
        a, sp_b = sp_a, _sparse(b)  # dense @ sparse is the transpose of sparse @ dense
        return arrays.transpose(sparse_tensor_dense_matmul(sp_b, a, not adjoint_b, not adjoint_a, name))
    sp = _sparse(sp_a)
    with name_scope(name, "SparseTensorDenseMatMul", [sp.indices, sp.values, b]):
        b = convert_to_tensor(b, name="b")
        return make_op("SparseTensorDenseMatMul", _parts(sp) + [b], adjoint_a=adjoint_a, adjoint_b=adjoint_b).outputs[0]


def sparse_add(a, b, threshold=None, thresh=None):
    """The sum of two tensors of which at least one is sparse. Sums whose size is below the threshold are dropped."""
    threshold = renamed("threshold", threshold, "thresh", thresh)
    threshold = 0 if threshold is None else threshold
    sparse = [isinstance(x, (SparseTensor, SparseTensorValue)) for x in (a, b)]
    if not any(sparse):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if all(sparse):
        a, b = _sparse(a), _sparse(b)
        kind = {"complex64": dtypes.float32, "complex128": dtypes.float64}.get(a.dtype.name, a.dtype)
        threshold = convert_to_tensor(threshold, kind, name="threshold")
        made = make_op("SparseAdd", _parts(a) + _parts(b) + [threshold]).outputs
        result = SparseTensor(*made)
        dims = _common_shape(a.get_shape(), b.get_shape())
        if dims is not None:
            result.dense_shape = graphs.constant(np.array(dims, np.int64), name="SparseTensor/dense_shape")
        return result
    if sparse[1]:
        a, b = b, a
    return make_op("SparseTensorDenseAdd", _parts(_sparse(a)) + [b]).outputs[0]


def _common_shape(a, b):
    if a.is_fully_defined() and b.is_fully_defined() and a == b:
        return a.as_list()
    return None


def sparse_concat(axis, sp_inputs, name=None, expand_nonconcat_dim=False, concat_dim=None, expand_nonconcat_dims=None):
    """The SparseTensors one after the other along an axis."""
    axis = renamed("axis", axis, "concat_dim", concat_dim) if concat_dim is not None else axis
    if expand_nonconcat_dims is not None:
        expand_nonconcat_dim = expand_nonconcat_dims
    inputs = [_sparse(sp) for sp in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    indices = [sp.indices for sp in inputs]
    values = [sp.values for sp in inputs]
    shapes = [elementwise.cast(sp.dense_shape, dtypes.int64) for sp in inputs]
    if expand_nonconcat_dim:
        ndims = inputs[0].get_shape().ndims
        widest = reductions.reduce_max(arrays.stack(shapes), axis=0)
        at = axis % ndims
        shapes = [arrays.concat([widest[:at], s[at:at + 1], widest[at + 1:]], 0) for s in shapes]
    made = make_op("SparseConcat", [indices, values, shapes], name or "SparseConcat", concat_dim=axis).outputs
    return SparseTensor(*made)


def sparse_reorder(sp_input, name=None):
    """The same elements in the order of rows."""
    sp = _sparse(sp_input)
    made = make_op("SparseReorder", _parts(sp), name or "SparseReorder").outputs
    result = SparseTensor(made[0], made[1], arrays.identity(sp.dense_shape))
    result._static_shape = sp.get_shape()
    return result


def sparse_reshape(sp_input, shape, name=None):
    """The same elements under another shape."""
    sp = _sparse(sp_input)
    known = not isinstance(shape, graphs.Tensor) and not any(isinstance(size, graphs.Tensor) for size in shape)
    shape = convert_to_tensor(shape, dtypes.int64 if known else None)
    with name_scope(name, "SparseReshape", [sp.values]) as scope:
        made = make_op("SparseReshape", [sp.indices, sp.dense_shape, elementwise.cast(shape, dtypes.int64)],
                       scope).outputs
        result = SparseTensor(made[0], arrays.identity(sp.values), made[1])
        dims, of = arrays.static_dims(shape), sp.get_shape()
        if dims is not None and -1 not in dims:
            result._static_shape = graphs.TensorShape(dims)
        elif dims is not None and of.is_fully_defined():
            known = int(np.prod([d for d in dims if d != -1]))
            result._static_shape = graphs.TensorShape([of.num_elements() // max(known, 1) if d == -1 else d
                                                       for d in dims])
        return result


def sparse_split(keyword_required=None, sp_input=None, num_split=None, axis=None, name=None, split_dim=None):
    """The list of the parts of a SparseTensor along an axis."""
    if keyword_required is not None:
        raise ValueError("Keyword arguments are required for this function.")
    axis = renamed("axis", axis, "split_dim", split_dim)
    if sp_input is None or num_split is None or axis is None:
        raise ValueError("sp_input, num_split, and axis are required")
    sp = _sparse(sp_input)
    made = make_op("SparseSplit", [convert_to_tensor(axis, dtypes.int64)] + _parts(sp), name or "SparseSplit",
                   num_split=num_split).outputs
    return [SparseTensor(made[i], made[i + num_split], made[i + 2 * num_split]) for i in range(num_split)]


def sparse_slice(sp_input, start, size, name=None):
    """The part of a SparseTensor that starts at `start`."""
    sp = _sparse(sp_input)
    start, size = convert_to_tensor(start, dtypes.int64), convert_to_tensor(size, dtypes.int64)
    with name_scope(name, "SparseSlice", [sp.values]) as scope:
        return SparseTensor(*make_op("SparseSlice", _parts(sp) + [start, size], scope).outputs)


def sparse_transpose(sp_input, perm=None, name=None):
    """The axes in the order of `perm`; None reverses them."""
    with name_scope(name, "SparseTranspose"):
        sp = _sparse(sp_input)
        if perm is None:
            ndims = sp.get_shape().ndims
            perm = np.arange(ndims - 1, -1, -1, dtype=np.int32)
        indices = arrays.transpose(indexing.gather(arrays.transpose(sp.indices), perm))
        dims = sp.get_shape()
        order = arrays.static_dims(perm)
        if dims.is_fully_defined() and order is not None:
            dense_shape = np.array([dims.as_list()[i] for i in order], np.int64)
        else:
            dense_shape = indexing.gather(sp.dense_shape, perm)
        return sparse_reorder(SparseTensor(indices, sp.values, dense_shape))


def sparse_retain(sp_input, to_retain):
    """The elements for which `to_retain` is true."""
    sp = _sparse(sp_input)
    to_retain = convert_to_tensor(to_retain)
    chosen = arrays.reshape(indexing.where(to_retain), [-1])
    result = SparseTensor(indexing.gather(sp.indices, chosen), indexing.gather(sp.values, chosen),
                          arrays.identity(sp.dense_shape))
    result._static_shape = sp.get_shape()
    return result


def sparse_reset_shape(sp_input, new_shape=None):
    """The same elements in another shape of that rank: the tightest, or a larger one."""
    sp = _sparse(sp_input)
    indices, values = arrays.identity(sp.indices), arrays.identity(sp.values)
    if new_shape is None:
        low = reductions.reduce_max(indices, axis=0)
        dense_shape = elementwise.maximum(graphs.constant(0, dtypes.int64), elementwise.add(low, arrays.ones_like(low)))
        return SparseTensor(indices, values, dense_shape)
    wanted = convert_to_tensor(new_shape, dtypes.int64)
    if wanted._constant() is not None and sp.get_shape().is_fully_defined():
        old = sp.get_shape().as_list()
        if len(old) != wanted.shape.as_list()[0] or any(a > b for a, b in zip(old, wanted._constant())):
            raise ValueError(f"Shapes {old} and {list(wanted._constant())} are incompatible")
        return SparseTensor(indices, values, wanted)
    check = control.Assert(reductions.reduce_all(elementwise.less_equal(sp.dense_shape, wanted)),
                           ["the new shape is smaller than", sp.dense_shape])
    return SparseTensor(indices, values, control.with_dependencies([check], wanted))


def sparse_fill_empty_rows(sp_input, default_value, name=None):
    """The SparseTensor with one default element in each row that had none, and which rows these are."""
    sp = _sparse(sp_input)
    with name_scope(name, "SparseFillEmptyRows", [sp.values]):
        default = convert_to_tensor(default_value, sp.values.dtype)
        made = make_op("SparseFillEmptyRows", _parts(sp) + [default]).outputs
        return SparseTensor(made[0], made[1], sp.dense_shape), made[2]


def sparse_softmax(sp_input, name=None):
    """The softmax of each row's elements."""
    sp = _sparse(sp_input)
    with name_scope(name, "SparseSoftmax", [sp.indices, sp.values]):
        return SparseTensor(sp.indices, make_op("SparseSoftmax", _parts(sp)).outputs[0], sp.dense_shape)


def _both(op_type, function_name):
    def op(sp_a, sp_b, name=None):
        with name_scope(name, op_type):
            a, b = _sparse(sp_a), _sparse(sp_b)
            made = make_op(op_type, _parts(a) + _parts(b)).outputs
            return SparseTensor(made[0], made[1], a.dense_shape)

    return named(op, function_name, f"The op {op_type} of the elements of two SparseTensors.")


sparse_maximum = _both("SparseSparseMaximum", "sparse_maximum")
sparse_minimum = _both("SparseSparseMinimum", "sparse_minimum")


def _reduced(op_type, function_name, sparse_result):
    def op(sp_input, axis=None, keepdims=None, reduction_axes=None, keep_dims=None):
        keep = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
        axis = renamed("axis", axis, "reduction_axes", reduction_axes)
        sp = _sparse(sp_input)
        if axis is None:
            axis = np.arange(sp.get_shape().ndims, dtype=np.int32)
        axis = convert_to_tensor(np.array(axis, np.int32) if not isinstance(axis, graphs.Tensor) else axis)
        made = make_op(op_type, _parts(sp) + [axis], keep_dims=keep).outputs
        return SparseTensor(*made) if sparse_result else made[0]

    return named(op, function_name, f"The op {op_type}: reduces the elements of a SparseTensor along axes.")


sparse_reduce_max = _reduced("SparseReduceMax", "sparse_reduce_max", False)
sparse_reduce_max_sparse = _reduced("SparseReduceMaxSparse", "sparse_reduce_max_sparse", True)
sparse_reduce_sum = _reduced("SparseReduceSum", "sparse_reduce_sum", False)
sparse_reduce_sum_sparse = _reduced("SparseReduceSumSparse", "sparse_reduce_sum_sparse", True)


def sparse_to_indicator(sp_input, vocab_size, name=None):
    """For each row a vector of `vocab_size` bools that is true at the row's values."""
    sp = _sparse(sp_input)
    with name_scope(name, "SparseToIndicator", [sp.values]) as scope:
        ones = arrays.fill(arrays.shape(sp.indices)[0:1], True)
        merged = sparse_merge(sp, sp.with_values(ones), vocab_size)
        return sparse_tensor_to_dense(merged, default_value=False, validate_indices=False, name=scope)


def sparse_merge(sp_ids, sp_values, vocab_size, name=None, already_sorted=False):
    """The SparseTensor whose last axis is given by the values of `sp_ids`."""
    if isinstance(sp_ids, (SparseTensor, SparseTensorValue)):
        sp_ids, vocab_size = [sp_ids], [vocab_size]
    elif not isinstance(vocab_size, (list, tuple)) or len(vocab_size) != len(sp_ids):
        raise ValueError("sp_ids and vocab_size have to have equal lengths.")
    with name_scope(name, "SparseMerge"):
        ids = [_sparse(sp) for sp in sp_ids]
        values = _sparse(sp_values)
        columns = [arrays.expand_dims(elementwise.cast(sp.values, dtypes.int64), axis=1) for sp in ids]
        sizes = [arrays.expand_dims(elementwise.cast(size, dtypes.int64), 0) for size in vocab_size]
        rows = ids[0].indices
        indices = arrays.concat([rows[:, :-1]] + columns, axis=1)
        dense_shape = arrays.concat([ids[0].dense_shape[:-1]] + sizes, axis=0)
        result = SparseTensor(indices, values.values, dense_shape)
        return result if already_sorted else sparse_reorder(result)


def sparse_mask(a, mask_indices, name=None):
    """The slices of IndexedSlices whose indices are not in `mask_indices`."""
    with name_scope(name, "sparse_mask", [a.values, mask_indices]) as scope:
        kept = indexing.setdiff1d(a.indices, mask_indices)
        return graphs.IndexedSlices(indexing.gather(a.values, kept.idx, name=scope), kept.out, a.dense_shape)


def from_dense(tensor, name=None):
    """The SparseTensor of the elements that are not zero."""
    with name_scope(name, "dense_to_sparse"):
        tensor = convert_to_tensor(tensor)
        positions = indexing.where(elementwise.not_equal(tensor, arrays.zeros_like(tensor)))
        return SparseTensor(positions, indexing.gather_nd(tensor, positions),
                            arrays.shape(tensor, out_type=dtypes.int64))


def expand_dims(sp_input, axis=None, name=None):
    """The SparseTensor with a new axis of size 1."""
    sp = _sparse(sp_input)
    ndims = sp.get_shape().ndims
    if ndims is None:
        raise NotImplementedError("tf.sparse.expand_dims of a SparseTensor of unknown rank")
    with name_scope(name, "expand_dims"):
        at = -1 if axis is None else int(axis)
        at = at if at >= 0 else at + ndims + 1
        zeros = arrays.zeros(arrays.stack([arrays.shape(sp.indices)[0], 1]), dtypes.int64)
        indices = arrays.concat([sp.indices[:, :at], zeros, sp.indices[:, at:]], 1)
        dense_shape = arrays.concat([sp.dense_shape[:at], np.array([1], np.int64), sp.dense_shape[at:]], 0)
        return SparseTensor(indices, sp.values, dense_shape)


def eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    """The sparse identity matrix."""
    with name_scope(name or "eye"):
        rows = elementwise.cast(num_rows, dtypes.int64)
        columns = rows if num_columns is None else elementwise.cast(num_columns, dtypes.int64)
        size = elementwise.minimum(rows, columns)
        at = sequences.range(size)
        return SparseTensor(arrays.stack([at, at], axis=1), arrays.ones(arrays.reshape(size, [1]), dtype),
                            arrays.stack([rows, columns]))


def serialize_sparse(sp_input, name=None, out_type=dtypes.string):
    """The three parts of a SparseTensor as strings."""
    return make_op("SerializeSparse", _parts(_sparse(sp_input)), name or "SerializeSparse",
                   out_type=dtypes.as_dtype(out_type)).outputs[0]


def serialize_many_sparse(sp_input, name=None, out_type=dtypes.string):
    """Each row of a SparseTensor as three strings."""
    return make_op("SerializeManySparse", _parts(_sparse(sp_input)), name or "SerializeManySparse",
                   out_type=dtypes.as_dtype(out_type)).outputs[0]


def deserialize_many_sparse(serialized_sparse, dtype, rank=None, name=None):
    """The SparseTensor of rows that serialize_many_sparse has made."""
    made = make_op("DeserializeManySparse", [serialized_sparse], name or "DeserializeManySparse",
                   dtype=dtypes.as_dtype(dtype)).outputs
    result = SparseTensor(*made)
    if rank is not None:
        result._static_shape = graphs.TensorShape([None] * (rank + 1))
    return result


__all__ = [
    "deserialize_many_sparse", "serialize_many_sparse", "serialize_sparse", "sparse_add", "sparse_concat",
    "sparse_fill_empty_rows", "sparse_mask", "sparse_maximum", "sparse_merge", "sparse_minimum", "sparse_reduce_max",
    "sparse_reduce_max_sparse", "sparse_reduce_sum", "sparse_reduce_sum_sparse", "sparse_reorder",
    "sparse_reset_shape", "sparse_reshape", "sparse_retain", "sparse_slice", "sparse_softmax", "sparse_split",
    "sparse_tensor_dense_matmul", "sparse_tensor_to_dense", "sparse_to_dense", "sparse_to_indicator",
    "sparse_transpose",
]
