"""The namespace tf.sparse."""

from tensorbraid.ops.accumulators import SparseConditionalAccumulator  # noqa: F401
from tensorbraid.ops.segment_ops import (  # noqa: F401
    sparse_segment_mean as segment_mean, sparse_segment_sqrt_n as segment_sqrt_n, sparse_segment_sum as segment_sum)
from tensorbraid.ops.sparse_crosses import cross, cross_hashed  # noqa: F401
from tensorbraid.ops.sparse_ops import (  # noqa: F401
    expand_dims, eye, from_dense, sparse_add as add, sparse_concat as concat,
    sparse_fill_empty_rows as fill_empty_rows, sparse_mask as mask, sparse_maximum as maximum, sparse_merge as merge,
    sparse_minimum as minimum, sparse_reduce_max as reduce_max, sparse_reduce_max_sparse as reduce_max_sparse,
    sparse_reduce_sum as reduce_sum, sparse_reduce_sum_sparse as reduce_sum_sparse, sparse_reorder as reorder,
    sparse_reset_shape as reset_shape, sparse_reshape as reshape, sparse_retain as retain, sparse_slice as slice,
    sparse_softmax as softmax, sparse_split as split, sparse_tensor_dense_matmul as sparse_dense_matmul,
    sparse_tensor_dense_matmul as matmul, sparse_tensor_to_dense as to_dense, sparse_to_indicator as to_indicator,
    sparse_transpose as transpose)
from tensorbraid.ops.sparse_tensor import SparseTensor, sparse_placeholder as placeholder  # noqa: F401

__all__ = [
    "SparseConditionalAccumulator", "SparseTensor", "add", "concat", "cross", "cross_hashed", "expand_dims", "eye",
    "fill_empty_rows", "from_dense", "mask", "matmul", "maximum", "merge", "minimum", "placeholder", "reduce_max",
    "reduce_max_sparse", "reduce_sum", "reduce_sum_sparse", "reorder", "reset_shape", "reshape", "retain",
    "segment_mean", "segment_sqrt_n", "segment_sum", "slice", "softmax", "sparse_dense_matmul", "split", "to_dense",
    "to_indicator", "transpose"]
