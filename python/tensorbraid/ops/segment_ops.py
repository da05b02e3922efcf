"""Ops that reduce the rows of a tensor that belong to one segment."""

from tensorbraid.internal import graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays, elementwise
from tensorbraid.ops.op_functions import op_function

segment_max = op_function("SegmentMax", "data, segment_ids")
segment_mean = op_function("SegmentMean", "data, segment_ids")
segment_min = op_function("SegmentMin", "data, segment_ids")
segment_prod = op_function("SegmentProd", "data, segment_ids")
segment_sum = op_function("SegmentSum", "data, segment_ids")
unsorted_segment_max = op_function("UnsortedSegmentMax", "data, segment_ids, num_segments")
unsorted_segment_min = op_function("UnsortedSegmentMin", "data, segment_ids, num_segments")
unsorted_segment_prod = op_function("UnsortedSegmentProd", "data, segment_ids, num_segments")
unsorted_segment_sum = op_function("UnsortedSegmentSum", "data, segment_ids, num_segments")


def _counts(data, segment_ids, num_segments):
    """How many rows each segment has, at least 1, in a shape that broadcasts to the sums'."""
    ones = arrays.ones(arrays.shape(segment_ids), data.dtype)
    counts = elementwise.maximum(unsorted_segment_sum(ones, segment_ids, num_segments), 1)
    extra = arrays.rank(data) - arrays.rank(segment_ids)
    dims = arrays.concat([arrays.shape(counts), arrays.fill(arrays.expand_dims(extra, 0), 1)], 0)
    return arrays.reshape(counts, dims)


def unsorted_segment_mean(data, segment_ids, num_segments, name=None):
    """The mean of the rows of each segment; 0 for a segment without rows."""
    with name_scope(name, "UnsortedSegmentMean"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / counts


def unsorted_segment_sqrt_n(data, segment_ids, num_segments, name=None):
    """The sum of the rows of each segment, divided by the square root of their number."""
    with name_scope(name, "UnsortedSegmentSqrtN"):
        data, segment_ids = convert_to_tensor(data), convert_to_tensor(segment_ids)
        counts = _counts(data, segment_ids, num_segments)
        return unsorted_segment_sum(data, segment_ids, num_segments) / elementwise.sqrt(counts)


def _sparse_segment(op_type, function_name):
    def op(data, indices, segment_ids, name=None, num_segments=None, sparse_gradient=False):
        if sparse_gradient:
            raise NotImplementedError(f"sparse_gradient of {function_name}")
        if num_segments is None:
            return make_op(op_type, [data, indices, segment_ids], name or op_type).outputs[0]
        with_number = op_type + "WithNumSegments"
        return make_op(with_number, [data, indices, segment_ids, num_segments], name or with_number).outputs[0]

    return named(op, function_name, f"The op {op_type}: reduces the rows at `indices` by segment.")


sparse_segment_mean = _sparse_segment("SparseSegmentMean", "sparse_segment_mean")
sparse_segment_sqrt_n = _sparse_segment("SparseSegmentSqrtN", "sparse_segment_sqrt_n")
sparse_segment_sum = _sparse_segment("SparseSegmentSum", "sparse_segment_sum")


def slices_to_tensor(slices):
    """The dense tensor of IndexedSlices."""
    if slices.dense_shape is None:
        raise ValueError("Tensor conversion requested for IndexedSlices without dense_shape")
    rows = arrays.static_dims(slices.dense_shape)
    return unsorted_segment_sum(slices.values, slices.indices, slices.dense_shape[0] if rows is None else rows[0])


graphs.IndexedSlices._as_graph_tensor = slices_to_tensor

__all__ = [
    "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum", "sparse_segment_mean",
    "sparse_segment_sqrt_n", "sparse_segment_sum", "unsorted_segment_max", "unsorted_segment_mean",
    "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sqrt_n", "unsorted_segment_sum",
]
