"""How often values occur: bins, histograms and the matrix of confusions."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays, checks, clipping, control, elementwise, reductions

__all__ = [
    "bincount", "confusion_matrix", "histogram_fixed_width", "histogram_fixed_width_bins",
]


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32):
    """How often each number from 0 on occurs in a tensor, or the sum of the weights of its occurrences."""
    with name_scope(None, "bincount"):
        arr = convert_to_tensor(arr, dtypes.int32 if not isinstance(arr, graphs.Tensor) else None, name="arr")
        not_empty = elementwise.cast(reductions.reduce_prod(arrays.shape(arr)) > 0, dtypes.int32)
        size = not_empty * (reductions.reduce_max(elementwise.cast(arr, dtypes.int32)) + 1)
        if minlength is not None:
            size = elementwise.maximum(convert_to_tensor(minlength, dtypes.int32, name="minlength"), size)
        if maxlength is not None:
            size = elementwise.minimum(convert_to_tensor(maxlength, dtypes.int32, name="maxlength"), size)
        weights = graphs.constant([], dtype) if weights is None else weights
        return make_op("Bincount", [elementwise.cast(arr, dtypes.int32), size, weights]).outputs[0]


def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """The bin of each value, of `nbins` bins of equal width; values out of the range are in the outermost bins."""
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        dims = arrays.shape(values)
        values = arrays.reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, dtypes.int32, name="nbins")
        count = elementwise.cast(nbins, values.dtype)
        scaled = elementwise.truediv(values - value_range[0], value_range[1] - value_range[0])
        found = elementwise.floor(count * scaled)
        found = elementwise.cast(clipping.clip_by_value(found, 0, count - 1), dtypes.int32)
        return elementwise.cast(arrays.reshape(found, dims), dtype)


def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """How many values are in each bin."""
    return make_op("HistogramFixedWidth", [values, value_range, nbins], name or "histogram_fixed_width",
                   dtype=dtypes.as_dtype(dtype)).outputs[0]


def confusion_matrix(labels, predictions, num_classes=None, dtype=dtypes.int32, name=None, weights=None):
    """How often each label is predicted as each class."""
    with name_scope(name, "confusion_matrix", [predictions, labels, num_classes, weights]):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        if predictions.shape.ndims is not None and labels.shape.ndims is not None:
            extra = predictions.shape.ndims - labels.shape.ndims
            if extra == 1 and predictions.shape.as_list()[-1] in (1, None):
                predictions = arrays.squeeze(predictions, [-1])
            elif extra == -1 and labels.shape.as_list()[-1] in (1, None):
                labels = arrays.squeeze(labels, [-1])
        predictions, labels = elementwise.cast(predictions, dtypes.int64), elementwise.cast(labels, dtypes.int64)
        labels = control.with_dependencies([checks.assert_non_negative(
            labels, message="`labels` contains negative values")], labels)
        predictions = control.with_dependencies([checks.assert_non_negative(
            predictions, message="`predictions` contains negative values")], predictions)
        if num_classes is None:
            num_classes = elementwise.maximum(reductions.reduce_max(predictions), reductions.reduce_max(labels)) + 1
        else:
            num_classes = elementwise.cast(num_classes, dtypes.int64)
            labels = control.with_dependencies([checks.assert_less(
                labels, num_classes, message="`labels` out of bound")], labels)
            predictions = control.with_dependencies([checks.assert_less(
                predictions, num_classes, message="`predictions` out of bound")], predictions)
        if weights is not None:
            weights = convert_to_tensor(weights)
            weights = elementwise.cast(weights, dtype)
        dims = arrays.stack([num_classes, num_classes])
        positions = arrays.stack([labels, predictions], axis=1)
        values = arrays.ones_like(predictions, dtype) if weights is None else weights
        return make_op("ScatterNd", [positions, values, elementwise.cast(dims, dtypes.int64)]).outputs[0]
