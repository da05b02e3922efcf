"""Datasets that put elements together by a key that a function gives."""

from tensorbraid import dtypes
from tensorbraid.data import structure
from tensorbraid.internal import graphs
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops import checks, elementwise, reductions

__all__ = []


def _number(result, what):
    """A result that must be an int64 scalar."""
    number = graphs.convert_to_tensor(result, dtypes.int64 if isinstance(result, int) else None)
    if number.dtype != dtypes.int64 or not number.shape.is_compatible_with([]):
        raise ValueError(f"`{what}` must return a single tf.int64 scalar tensor, got {number}")
    return [number]


def group_by_window(dataset, key_func, reduce_func, window_size=None, window_size_func=None):
    """The elements of reduce_func(key, window), which returns a dataset.

    A window is a dataset of consecutive elements for which key_func gives the same key. It has `window_size` elements,
    or window_size_func(key); the last windows may have fewer.
    """
    if (window_size is None) == (window_size_func is None):
        raise ValueError("give either `window_size` or `window_size_func`")
    if window_size_func is None:
        def window_size_func(_):
            return graphs.convert_to_tensor(window_size, dtypes.int64)
    made = []

    def reduced(tensors):
        result = reduce_func(tensors[0], dataset._leaf().component(tensors[1]))
        if not isinstance(result, structure.Described):
            raise TypeError(f"`reduce_func` must return a `Dataset` object, got {type(result).__name__}")
        made.append(result)
        return [result._variant_tensor]

    number, variant = (dtypes.int64.as_datatype_enum, []), (dtypes.variant.as_datatype_enum, [])
    functions = {
        "key": dataset._define("key", key_func, lambda t: _number(dataset._call(key_func, t), "key_func")),
        "reduce": dataset._define("reduce", reduce_func, reduced, [number, variant]),
        "window_size": dataset._define("window_size", window_size_func,
                                       lambda t: _number(window_size_func(t[0]), "window_size_func"), [number]),
    }
    attrs = {}
    for kind, function in functions.items():
        attrs[f"{kind}_func"] = function
        attrs[f"T{kind}_func_other_arguments"] = [tensor.dtype for tensor in function.captures]
    return dataset._add("GroupByWindowDataset", [function.captures for function in functions.values()],
                        made[0]._template, made[0]._core.element, **attrs)


def bucket_by_sequence_length(dataset, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
                              padding_values=None, pad_to_bucket_boundary=False, no_padding=False,
                              drop_remainder=False):
    """Padded batches of elements of similar length, which element_length_func(element) gives.

    Elements with bucket_boundaries[i - 1] <= length < bucket_boundaries[i] make batches of bucket_batch_sizes[i].
    """
    if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
        raise ValueError(f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1`, got "
                         f"{len(bucket_batch_sizes)} and {len(bucket_boundaries)}")

    def key(*element):
        length = elementwise.cast(element_length_func(*element), dtypes.int64)
        limits = graphs.constant(bucket_boundaries, dtypes.int64, [len(bucket_boundaries)])
        return reductions.reduce_sum(elementwise.cast(length >= limits, dtypes.int64))

    def size(bucket):
        return graphs.constant(bucket_batch_sizes, dtypes.int64)[bucket]

    def to_boundary(shapes, bucket):
        """The shapes with one less than the upper boundary of the bucket in place of sizes that are not known."""
        message = "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
        limits = graphs.constant(bucket_boundaries, dtypes.int64)
        with graphs.control_dependencies([checks.assert_less(bucket, graphs.constant(len(bucket_boundaries),
                                                                                    dtypes.int64), message=message)]):
            size = limits[bucket] - 1
        return structure.transformed(structure.template_of(shapes), lambda leaf: [
            size if known is None else known for known in TensorShape(leaf.value).as_list()])

    def batches(bucket, window):
        if no_padding:
            return window.batch(size(bucket), drop_remainder)
        shapes = window.output_shapes if padded_shapes is None else padded_shapes
        if pad_to_bucket_boundary:
            shapes = to_boundary(shapes, bucket)
        return window.padded_batch(size(bucket), shapes, padding_values, drop_remainder)

    return group_by_window(dataset, key, batches, window_size_func=size)


def sparse_batch(dataset, batch_size, row_shape):
    """Batches as SparseTensors. An element is one tensor and becomes a row, which may be smaller than row_shape."""
    leaf = dataset._template
    if type(leaf) is not structure.Leaf:
        raise TypeError("sparse_batch takes elements of one tensor")
    shape = TensorShape(row_shape)
    dtype, _ = dataset._core.element[0]
    sizes = [-1 if size is None else size for size in shape.as_list()]
    return dataset._add("DenseToSparseBatchDataset", [batch_size, sizes],
                        structure.SparseLeaf(dtypes.as_dtype(dtype), TensorShape([None]).concatenate(shape)),
                        [(dtypes.variant.as_datatype_enum, [3])])
