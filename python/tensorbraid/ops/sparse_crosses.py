"""Crossed features: one for each combination of values of sparse or dense tensors."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import make_op
from tensorbraid.ops import elementwise
from tensorbraid.ops.sparse_tensor import SparseTensor

__all__ = []  # tf.sparse and tf.feature_column name them


def cross(inputs, name=None, separator=None):
    """Crossed features of string inputs, dense or sparse, as strings."""
    sparse, dense = _divided(inputs)
    made = make_op("SparseCrossV2", [[s.indices for s in sparse], [s.values for s in sparse],
                                     [s.dense_shape for s in sparse], dense, "_X_" if separator is None else separator],
                   name).outputs
    return SparseTensor(*made)


def _divided(inputs):
    """The sparse and the dense inputs."""
    if any(not isinstance(x, (SparseTensor, graphs.Tensor)) for x in inputs):
        raise TypeError("All inputs must be Tensor or SparseTensor.")
    return ([x for x in inputs if isinstance(x, SparseTensor)], [x for x in inputs if not isinstance(x, SparseTensor)])


def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """Crossed features of inputs, dense or sparse, as hashes."""
    def integers(values):
        return values if values.dtype == dtypes.string else elementwise.cast(values, dtypes.int64)

    sparse, dense = _divided(inputs)
    key = 0xDECAFCAFFE if hash_key is None else hash_key
    texts = all(x.dtype == dtypes.string for x in inputs)
    made = make_op("SparseCross", [[s.indices for s in sparse], [integers(s.values) for s in sparse],
                                   [s.dense_shape for s in sparse], [integers(x) for x in dense]], name,
                   hashed_output=True, num_buckets=num_buckets, hash_key=key, out_type=dtypes.int64,
                   internal_type=dtypes.string if texts else dtypes.int64).outputs
    return SparseTensor(*made)
