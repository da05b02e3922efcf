"""The labels and weights of examples, as heads need them."""

from tensorbraid import dtypes
from tensorbraid.feature_column.base import Features
from tensorbraid.feature_column.numeric import NumericColumn, numeric_column
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import name_scope
from tensorbraid.ops import arrays, checks, math_ops
from tensorbraid.ops.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor


def dense_labels(labels, logits, dimension):
    """The labels as a tensor of the shape of the logits, but with this last dimension, which may be missing for 1."""
    if labels is None:
        raise ValueError("You must provide a labels Tensor. Given: None. Check that the data have the label, and that "
                         "the input_fn parses it and returns labels.")
    with name_scope(None, "labels", [labels, logits]) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            raise ValueError("SparseTensor labels are not supported. labels must be a Tensor of shape [D0, D1, ..., "
                             f"DN, {dimension}], e.g. [batch_size, {dimension}]. tf.sparse_tensor_to_dense makes one.")
        if labels.shape.ndims is not None and labels.shape.ndims == (logits.shape.ndims or 0) - 1:
            labels = arrays.expand_dims(labels, -1)
        sizes = labels.shape.as_list() if labels.shape.ndims is not None else None
        if sizes and sizes[-1] not in (None, dimension):
            raise ValueError(f"Mismatched label shape. Expected labels dimension={dimension}.  Received {sizes[-1]}. "
                             "Suggested Fix: check the arguments n_classes and label_dimension of the estimator, and "
                             "the shape of the labels. A classifier of several classes expects ids, not one-hot "
                             "vectors.")
        wanted = arrays.concat([arrays.shape(logits)[:-1], [dimension]], axis=0)
        known = sizes is not None and None not in sizes and None not in logits.shape.as_list()
        if known and sizes[:-1] != logits.shape.as_list()[:-1]:
            raise ValueError(f"Shapes {logits.shape} and {labels.shape} are incompatible")
        with graphs.control_dependencies([] if known else [checks.assert_equal(
                wanted, arrays.shape(labels), message=f"labels shape must be [D0, D1, ... DN, {dimension}].")]):
            return arrays.identity(labels, name=scope)


def checked_range(labels, n_classes):
    """The labels; a step fails if one is not in [0, n_classes)."""
    with name_scope(None, "assert_range", [labels]):
        with graphs.control_dependencies([
                checks.assert_less(labels, math_ops.cast(n_classes, labels.dtype),
                                   message="Labels must <= n_classes - 1"),
                checks.assert_non_negative(labels, message="Labels must >= 0")]):
            return arrays.identity(labels)


def checked_vocabulary(label_vocabulary, n_classes=None):
    """The vocabulary; an error if it is not a list or has fewer words than there are classes."""
    if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
        raise TypeError(f"label_vocabulary should be a list or tuple. Given type: {type(label_vocabulary)}")
    if label_vocabulary is not None and n_classes is not None and len(label_vocabulary) != n_classes:
        raise ValueError(f"label_vocabulary must have n_classes={n_classes} words. Given: {label_vocabulary}")
    return label_vocabulary


def weights_of(features, weight_column, logits, for_each_logit=False):
    """The weights of the examples, [batch, 1]; 1.0 without a column. A regression may have one for each logit."""
    if weight_column is None:
        return 1.0
    if isinstance(weight_column, str):
        weight_column = numeric_column(weight_column, shape=(1,))
    if not isinstance(weight_column, NumericColumn):
        raise TypeError(f"Weight column must be either a string or NumericColumn. Given type: {type(weight_column)}.")
    with name_scope(None, "weights", [logits]) as scope:
        weights = weight_column.dense_tensor(Features(features))
        if not (weights.dtype.is_floating or weights.dtype.is_integer):
            raise ValueError(f"Weight column should be castable to float. Given dtype: {weights.dtype}")
        weights = math_ops.cast(weights, dtypes.float32)
        sizes = weights.shape.as_list() if weights.shape.ndims is not None else None
        allowed = (1, logits.shape.as_list()[-1]) if for_each_logit else (1,)
        if sizes and sizes[-1] is not None and sizes[-1] not in allowed:
            raise ValueError(f"weights can not be broadcast to values: weights shape {weights.shape}, logits shape "
                             f"{logits.shape}")
        wanted = arrays.shape(logits)[:-1]
        with graphs.control_dependencies([checks.assert_equal(
                wanted, arrays.shape(weights)[:-1], message="weights shape must be [D0, D1, ... DN, 1].")]):
            return arrays.identity(weights, name=scope)
