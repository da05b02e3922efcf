"""Metrics of the k classes with the highest scores: precision, recall and average precision, as sets in each row."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.ops.node import cast, op, reduce, tensor
from tensorbraid.ops.sparse_tensor import SparseTensor

__all__ = ["average_precision_at_k", "precision_at_k", "precision_at_top_k", "recall_at_k", "recall_at_top_k",
           "sparse_average_precision_at_k", "sparse_precision_at_k"]


def _at(name, k, class_id=None):
    name = f"{name}_at_{'k' if k is None else k}"
    return name if class_id is None else f"{name}_class{class_id}"


def _labels(labels, rank):
    """The labels as int64 [..., count], and which of them exist. SparseTensors become dense."""
    if isinstance(labels, SparseTensor):
        values = cast(labels.values, dtypes.int64)
        arguments = [labels.indices, labels.dense_shape]
        dense = op("SparseToDense", arguments + [values, graphs.constant(-1, "int64")], validate_indices=False)
        exists = op("SparseToDense", arguments + [op("OnesLike", [op("Equal", [values, values])]), False],
                    validate_indices=False)
        dims = labels.shape.ndims
    else:
        dense = cast(tensor(labels), dtypes.int64)
        exists = op("OnesLike", [op("Equal", [dense, dense])])
        dims = dense.shape.ndims
    if dims is not None and dims == rank - 1:
        dense, exists = op("ExpandDims", [dense, -1]), op("ExpandDims", [exists, -1])
    return dense, exists


def _pairs(left, right):
    """Whether element i of `left` is element j of `right`, [..., i, j]."""
    return op("Equal", [op("ExpandDims", [left, -1]), op("ExpandDims", [right, -2])])


def _repeated(values, exists):
    """Which elements of a row are equal to one before them."""
    same = op("LogicalAnd", [_pairs(values, values), op("ExpandDims", [exists, -2])])
    before = op("MatrixBandPart", [cast(same, dtypes.int32), graphs.constant(-1), graphs.constant(0)])
    return op("Greater", [reduce("Sum", before, [-1]), graphs.constant(1)])


def _counts(labels, predictions, class_id):
    """The true positives, false positives and false negatives of each row."""
    predictions = cast(tensor(predictions), dtypes.int64)
    labels, exists = _labels(labels, predictions.shape.ndims)
    chosen = op("OnesLike", [op("Equal", [predictions, predictions])])
    if class_id is not None:
        number = graphs.constant(class_id, "int64")
        exists = op("LogicalAnd", [exists, op("Equal", [labels, number])])
        chosen = op("LogicalAnd", [chosen, op("Equal", [predictions, number])])
    first_label = op("LogicalAnd", [exists, op("LogicalNot", [_repeated(labels, exists)])])
    first_chosen = op("LogicalAnd", [chosen, op("LogicalNot", [_repeated(predictions, chosen)])])
    match = op("LogicalAnd", [_pairs(predictions, labels), op("ExpandDims", [exists, -2])])
    match = op("LogicalAnd", [match, op("ExpandDims", [chosen, -1])])
    found, predicted = (op("Any", [match, graphs.constant([axis])]) for axis in (-1, -2))

    def count(first, condition):
        return reduce("Sum", cast(op("LogicalAnd", [first, condition]), dtypes.float64), [-1])

    return (count(first_chosen, found), count(first_chosen, op("LogicalNot", [found])),
            count(first_label, op("LogicalNot", [predicted])))


def _broadcast(weights, rows):
    """The weights as float64, with the shape of the rows."""
    weights = cast(tensor(weights), dtypes.float64)
    if weights.shape.ndims not in (None, 0) and not weights.shape.is_compatible_with(rows.shape):
        known = zip(reversed(weights.shape.as_list()), reversed(rows.shape.as_list()))
        if weights.shape.ndims != rows.shape.ndims or any(None not in (w, r) and w not in (1, r) for w, r in known):
            raise ValueError(f"weights can not be broadcast to values. values.rank={rows.shape.ndims}. "
                             f"weights.rank={weights.shape.ndims}.")
    return op("Mul", [weights, op("OnesLike", [rows])])


def _sum_over_batches(name, rows, weights):
    """A local variable that sums over the batches, and its update. `name` is the variable's."""
    from tensorbraid.internal.variables import Variable

    if weights is not None:
        rows = op("Mul", [rows, _broadcast(weights, rows)])
    total = reduce("Sum", rows, None)
    variable = Variable(lambda: graphs.constant(0.0, "float64"), trainable=False, name=name,
                        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES])
    return variable, variable.assign_add(total, name="update")


def collected(value, update, metrics_collections, updates_collections):
    """The value and the update of a metric, after they were put into collections: one key each, or a list of keys."""
    for keys, item in ((metrics_collections, value), (updates_collections, update)):
        for key in [keys] if isinstance(keys, str) else keys or []:
            graphs.add_to_collection(key, item)
    return value, update


def _ratio(kind, other, labels, predictions_idx, k, class_id, weights, metrics_collections, updates_collections, name):
    """true positives / (true positives + the `other` count)."""
    with graphs.name_scope(name, _at(kind, k, class_id), [predictions_idx]) as scope:
        counts = dict(zip(("true_positive", "false_positive", "false_negative"),
                          _counts(labels, predictions_idx, class_id)))
        tp, tp_update = _sum_over_batches(_at("true_positive", k, class_id), counts["true_positive"], weights)
        rest, rest_update = _sum_over_batches(_at(other, k, class_id), counts[other], weights)
        value = op("RealDiv", [tp.value(), op("AddV2", [tp.value(), rest.value()])], scope)
        update = op("RealDiv", [tp_update, op("AddV2", [tp_update, rest_update])], "update")
        return collected(value, update, metrics_collections, updates_collections)


def precision_at_top_k(labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None,
                       updates_collections=None, name=None):
    """The part of the predicted classes that are labels of their rows."""
    return _ratio("precision", "false_positive", labels, predictions_idx, k, class_id, weights, metrics_collections,
                  updates_collections, name)


def recall_at_top_k(labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None,
                    updates_collections=None, name=None):
    """The part of the labels that are among the predicted classes of their rows."""
    return _ratio("recall", "false_negative", labels, predictions_idx, k, class_id, weights, metrics_collections,
                  updates_collections, name)


def _of_scores(at_top_k, kind):
    def function(labels, predictions, k, class_id=None, weights=None, metrics_collections=None,
                 updates_collections=None, name=None):
        with graphs.name_scope(name, _at(kind, k, class_id), [predictions]) as scope:
            best = graphs.make_op("TopKV2", [tensor(predictions), k]).outputs[1]
            return at_top_k(labels, best, k, class_id, weights, metrics_collections, updates_collections, scope)

    return named(function, f"{kind}_at_k", f"{at_top_k.__name__} for the k classes with the highest scores.")


precision_at_k = sparse_precision_at_k = _of_scores(precision_at_top_k, "precision")
recall_at_k = _of_scores(recall_at_top_k, "recall")


def _average_precisions(labels, predictions, k):
    """For each row the mean, over its first k labels, of the precisions at the ranks where a label is predicted."""
    is_sparse = isinstance(labels, SparseTensor)
    labels, exists = _labels(labels, predictions.shape.ndims)
    match = op("LogicalAnd", [_pairs(predictions, labels), op("ExpandDims", [exists, -2])])
    relevant = cast(op("Any", [match, graphs.constant([-1])]), dtypes.float64)
    hits = op("Cumsum", [relevant, -1])
    ranks = graphs.constant([float(rank) for rank in range(1, k + 1)], "float64")
    total = reduce("Sum", op("Mul", [op("RealDiv", [hits, ranks]), relevant]), [-1])
    # As in TensorFlow, labels of a SparseTensor count once, others as often as they occur, unless they are negative.
    if is_sparse:
        counted = op("LogicalAnd", [exists, op("LogicalNot", [_repeated(labels, exists)])])
    else:
        counted = op("GreaterEqual", [labels, graphs.constant(0, "int64")])
    count = op("Minimum", [reduce("Sum", cast(counted, dtypes.float64), [-1]), graphs.constant(float(k), "float64")])
    return op("RealDiv", [total, count])  # not a number for a row without labels, as in TensorFlow


def average_precision_at_k(labels, predictions, k, weights=None, metrics_collections=None, updates_collections=None,
                           name=None):
    """The mean over the rows of the average precision of the k classes with the highest scores."""
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    with graphs.name_scope(name, _at("average_precision", k), [predictions]) as scope:
        best = cast(graphs.make_op("TopKV2", [tensor(predictions), k]).outputs[1], dtypes.int64)
        rows = _average_precisions(labels, best, k)
        with graphs.name_scope("max"):  # a variable is called "max_1" then, as TensorFlow's
            count = cast(op("Size", [rows]), dtypes.float64) if weights is None else _broadcast(weights, rows)
        most, most_update = _sum_over_batches("max", count, None)
        total, total_update = _sum_over_batches("total", rows, weights)
        value = op("DivNoNan", [total.value(), most.value()], "mean")
        update = op("DivNoNan", [total_update, most_update], scope)
        return collected(value, update, metrics_collections, updates_collections)


def sparse_average_precision_at_k(labels, predictions, k, weights=None, metrics_collections=None,
                                  updates_collections=None, name=None):
    """average_precision_at_k under its old name."""
    return average_precision_at_k(labels, predictions, k, weights, metrics_collections, updates_collections, name)
