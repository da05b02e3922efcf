"""tf.contrib.metrics: the metrics of tf.metrics under their first names, which take predictions before labels."""

from tensorbraid import metrics, nn
from tensorbraid.contrib.covariance import streaming_covariance, streaming_pearson_correlation  # noqa: F401
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.math import confusion_matrix  # noqa: F401
from tensorbraid.ops import math_ops
from tensorbraid.sets import (  # noqa: F401
    difference as set_difference, intersection as set_intersection, size as set_size, union as set_union)

_OF_PAIRS = {
    "streaming_accuracy": metrics.accuracy, "streaming_precision": metrics.precision,
    "streaming_recall": metrics.recall, "streaming_mean_absolute_error": metrics.mean_absolute_error,
    "streaming_mean_squared_error": metrics.mean_squared_error,
    "streaming_root_mean_squared_error": metrics.root_mean_squared_error,
    "streaming_true_positives": metrics.true_positives, "streaming_true_negatives": metrics.true_negatives,
    "streaming_false_positives": metrics.false_positives, "streaming_false_negatives": metrics.false_negatives,
}
# These have one more argument after the labels.
_OF_PAIRS_AND_ONE = {
    "streaming_mean_relative_error": (metrics.mean_relative_error, "normalizer"),
    "streaming_mean_cosine_distance": (metrics.mean_cosine_distance, "dim"),
    "streaming_mean_iou": (metrics.mean_iou, "num_classes"),
    "streaming_precision_at_thresholds": (metrics.precision_at_thresholds, "thresholds"),
    "streaming_recall_at_thresholds": (metrics.recall_at_thresholds, "thresholds"),
    "streaming_true_positives_at_thresholds": (metrics.true_positives_at_thresholds, "thresholds"),
    "streaming_true_negatives_at_thresholds": (metrics.true_negatives_at_thresholds, "thresholds"),
    "streaming_false_positives_at_thresholds": (metrics.false_positives_at_thresholds, "thresholds"),
    "streaming_false_negatives_at_thresholds": (metrics.false_negatives_at_thresholds, "thresholds"),
}

__all__ = [*_OF_PAIRS, *_OF_PAIRS_AND_ONE, "accuracy", "aggregate_metric_map", "aggregate_metrics", "confusion_matrix",
           "set_difference", "set_intersection", "set_size", "set_union", "streaming_auc", "streaming_mean",
           "streaming_mean_tensor", "streaming_percentage_less", "streaming_recall_at_k",
           "streaming_covariance", "streaming_pearson_correlation", "streaming_sensitivity_at_specificity", "streaming_sparse_average_precision_at_k",
           "streaming_sparse_precision_at_k", "streaming_sparse_recall_at_k", "streaming_specificity_at_sensitivity"]


def _named(name, function, of):
    return named(function, name, f"tf.metrics.{of.__name__} with the predictions first.")


def _of_pairs(name, metric):
    def function(predictions, labels, weights=None, metrics_collections=None, updates_collections=None, name=None):
        return metric(labels, predictions, weights, metrics_collections=metrics_collections,
                      updates_collections=updates_collections, name=name)

    return _named(name, function, metric)


def _of_pairs_and_one(name, metric, argument):
    def function(predictions, labels, *rest, **given):
        names = [argument, "weights", "metrics_collections", "updates_collections", "name"]
        unknown = [key for key in given if key not in names[len(rest):]]
        if len(rest) > len(names) or unknown:
            raise TypeError(f"{name}() takes predictions, labels, {', '.join(names)}")
        given.update(zip(names, rest))
        if argument not in given:
            raise TypeError(f"{name}() missing the argument '{argument}'")
        return metric(labels, predictions, given.pop(argument), **given)

    return _named(name, function, metric)


globals().update({name: _of_pairs(name, metric) for name, metric in _OF_PAIRS.items()})
globals().update({name: _of_pairs_and_one(name, *metric) for name, metric in _OF_PAIRS_AND_ONE.items()})

streaming_mean, streaming_mean_tensor = metrics.mean, metrics.mean_tensor
streaming_percentage_less = metrics.percentage_below


def streaming_auc(predictions, labels, weights=None, num_thresholds=200, metrics_collections=None,
                  updates_collections=None, curve="ROC", name=None):
    """tf.metrics.auc with the predictions first."""
    return metrics.auc(labels, predictions, weights, num_thresholds, metrics_collections, updates_collections, curve,
                       name)


def streaming_sensitivity_at_specificity(predictions, labels, specificity, weights=None, num_thresholds=200,
                                         metrics_collections=None, updates_collections=None, name=None):
    """tf.metrics.sensitivity_at_specificity with the predictions first."""
    return metrics.sensitivity_at_specificity(labels, predictions, specificity, weights, num_thresholds,
                                              metrics_collections, updates_collections, name)


def streaming_specificity_at_sensitivity(predictions, labels, sensitivity, weights=None, num_thresholds=200,
                                         metrics_collections=None, updates_collections=None, name=None):
    """tf.metrics.specificity_at_sensitivity with the predictions first."""
    return metrics.specificity_at_sensitivity(labels, predictions, sensitivity, weights, num_thresholds,
                                              metrics_collections, updates_collections, name)


def streaming_recall_at_k(predictions, labels, k, weights=None, metrics_collections=None, updates_collections=None,
                          name=None):
    """How often the label is among the k classes with the highest predictions."""
    found = math_ops.cast(nn.in_top_k(predictions, labels, k), "float32")
    return metrics.mean(found, weights, metrics_collections, updates_collections, name or f"recall_at_{k}")


def streaming_sparse_recall_at_k(predictions, labels, k, class_id=None, weights=None, metrics_collections=None,
                                 updates_collections=None, name=None):
    """tf.metrics.recall_at_k with the predictions first."""
    return metrics.recall_at_k(labels, predictions, k, class_id, weights, metrics_collections, updates_collections,
                               name)


def streaming_sparse_precision_at_k(predictions, labels, k, class_id=None, weights=None, metrics_collections=None,
                                    updates_collections=None, name=None):
    """tf.metrics.precision_at_k with the predictions first."""
    return metrics.precision_at_k(labels, predictions, k, class_id, weights, metrics_collections, updates_collections,
                                  name)


def streaming_sparse_average_precision_at_k(predictions, labels, k, weights=None, metrics_collections=None,
                                            updates_collections=None, name=None):
    """tf.metrics.average_precision_at_k with the predictions first."""
    return metrics.average_precision_at_k(labels, predictions, k, weights, metrics_collections, updates_collections,
                                          name)


def accuracy(predictions, labels, weights=None, name=None):
    """Which part of the labels the predictions of one batch match."""
    predictions, labels = convert_to_tensor(predictions), convert_to_tensor(labels)
    if not labels.dtype.is_integer and labels.dtype.name not in ("bool", "string"):
        raise ValueError(f"Labels should have bool, integer, or string dtype, not {labels.dtype}")
    if labels.dtype != predictions.dtype:
        raise ValueError(f"Dtypes of labels and predictions should match: {predictions.dtype} and {labels.dtype}")
    with name_scope(name, "accuracy", [predictions, labels]):
        correct = math_ops.cast(math_ops.equal(predictions, labels), "float32")
        if weights is None:
            return math_ops.reduce_mean(correct)
        weights = math_ops.cast(weights, "float32")
        return math_ops.reduce_sum(correct * weights) / math_ops.reduce_sum(weights)


def aggregate_metrics(*value_update_tuples):
    """A list of the metrics' values, and one of their updates."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples):
    """Dicts of the metrics' values and of their updates, of one dict of metrics."""
    return tuple({name: pair[i] for name, pair in names_to_tuples.items()} for i in range(2))
