"""Metrics. C++ computes them and keeps their sums in local variables."""

from tensorbraid import _core
from tensorbraid.internal import graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.variables import collect
from tensorbraid.metrics.shared import *  # noqa: F401,F403
from tensorbraid.metrics.shared import shared_auc
from tensorbraid.metrics.top_k import *  # noqa: F401,F403
from tensorbraid.metrics.top_k import collected
from tensorbraid.ops.node import tensor

__all__ = ["accuracy", "auc", "calibration", "grouped_auc", "false_negatives", "false_negatives_at_thresholds", "false_positives",
           "false_positives_at_thresholds", "mean", "mean_absolute_error", "mean_cosine_distance", "mean_iou",
           "mean_per_class_accuracy", "mean_relative_error", "mean_squared_error", "mean_tensor", "percentage_below",
           "precision", "precision_at_thresholds", "recall", "recall_at_thresholds", "root_mean_squared_error",
           "sensitivity_at_specificity", "specificity_at_sensitivity", "average_precision_at_k", "precision_at_k",
           "precision_at_top_k", "recall_at_k", "recall_at_top_k", "sparse_average_precision_at_k",
           "sparse_precision_at_k", "true_negatives",
           "true_negatives_at_thresholds", "true_positives", "true_positives_at_thresholds"]

_CURVES = {"ROC": _core.Curve.ROC, "PR": _core.Curve.PR}
_SUMMATIONS = {"trapezoidal": _core.Summation.TRAPEZOIDAL,
               "careful_interpolation": _core.Summation.CAREFUL_INTERPOLATION,
               "minoring": _core.Summation.MINORING, "majoring": _core.Summation.MAJORING}


def _metric(function, tensors, arguments, weights, metrics_collections, updates_collections, name):
    """Adds a metric, and puts its variables, its value and its update into collections. Returns value and update."""
    graph = graphs.graph_of(tensors)
    with graph.as_default():
        count = len(_core.variables(graph))
        tensors = [tensor(value) for value in tensors]
        value, update = function(*tensors, *arguments, None if weights is None else tensor(weights), name or "")
        for variable in _core.variables(graph)[count:]:
            collect(variable, [GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES], False)
        return collected(value, update, metrics_collections, updates_collections)


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean of all values."""
    return _metric(_core.metric_mean, [values], [], weights, metrics_collections, updates_collections, name)


def mean_tensor(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The mean of each element over the batches."""
    return _metric(_core.metric_mean_tensor, [values], [], weights, metrics_collections, updates_collections, name)


def percentage_below(values, threshold, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The part of the values that are less than the threshold."""
    return _metric(_core.metric_percentage_below, [values], [threshold], weights, metrics_collections,
                   updates_collections, name)


def _of_pairs(name, doc):
    def function(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
        return _metric(compute, [labels, predictions], [], weights, metrics_collections, updates_collections, name)

    compute = getattr(_core, f"metric_{name}")
    return named(function, name, doc)


accuracy = _of_pairs("accuracy", "The part of the predictions that are equal to their labels.")
mean_absolute_error = _of_pairs("mean_absolute_error", "The mean of |labels - predictions|.")
mean_squared_error = _of_pairs("mean_squared_error", "The mean of (labels - predictions)².")
root_mean_squared_error = _of_pairs("root_mean_squared_error", "The square root of the mean squared error.")
true_positives = _of_pairs("true_positives", "The number of true labels that are predicted.")
false_positives = _of_pairs("false_positives", "The number of false labels that are predicted as true.")
true_negatives = _of_pairs("true_negatives", "The number of false labels that are predicted.")
false_negatives = _of_pairs("false_negatives", "The number of true labels that are predicted as false.")
precision = _of_pairs("precision", "True positives / all that were predicted as positive.")
recall = _of_pairs("recall", "True positives / all that are positive.")


def _at_thresholds(name):
    def function(labels, predictions, thresholds, weights=None, metrics_collections=None, updates_collections=None,
                 name=None):
        return _metric(compute, [labels, predictions], [[float(limit) for limit in thresholds]], weights,
                       metrics_collections, updates_collections, name)

    compute = getattr(_core, f"metric_{name}_at_thresholds")
    return named(function, f"{name}_at_thresholds",
                 f"{name} for predictions that are probabilities, with each of several thresholds.")


true_positives_at_thresholds = _at_thresholds("true_positives")
false_positives_at_thresholds = _at_thresholds("false_positives")
true_negatives_at_thresholds = _at_thresholds("true_negatives")
false_negatives_at_thresholds = _at_thresholds("false_negatives")
precision_at_thresholds = _at_thresholds("precision")
recall_at_thresholds = _at_thresholds("recall")


def auc(labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None,
        curve="ROC", name=None, summation_method="trapezoidal", thresholds=None, *, shared=False):
    """The area under the curve "ROC" or "PR" of the probabilities that are predicted.

    With `shared`, which TensorFlow does not have, the counts are global variables. So the workers of a cluster add to
    the same ones, and each reads the value over the examples of all workers. tf.metrics.calibration and
    tf.metrics.grouped_auc have this argument, too. To begin anew, run the initializers of the collection
    METRIC_VARIABLES. Shared counts are for "ROC" and the trapezoidal sum.
    """
    if curve not in _CURVES:
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    if summation_method not in _SUMMATIONS:
        raise ValueError(f"Invalid summation_method: {summation_method}")
    if shared:
        if curve != "ROC" or summation_method != "trapezoidal" or thresholds is not None:
            raise NotImplementedError("tf.metrics.auc with shared=True and another curve than ROC, another "
                                      "summation_method than trapezoidal, or thresholds")
        return shared_auc(labels, predictions, weights, num_thresholds, metrics_collections, updates_collections, name)
    limits = [] if thresholds is None else [float(limit) for limit in thresholds]
    if any(not 0.0 <= limit <= 1.0 for limit in limits):
        raise ValueError("all thresholds must be in [0, 1]")
    arguments = [num_thresholds, sorted(limits), _CURVES[curve], _SUMMATIONS[summation_method]]
    return _metric(_core.metric_auc, [labels, predictions], arguments, weights, metrics_collections,
                   updates_collections, name)


def mean_relative_error(labels, predictions, normalizer, weights=None, metrics_collections=None,
                        updates_collections=None, name=None):
    """The mean of |labels - predictions| / normalizer."""
    return _metric(_core.metric_mean_relative_error, [labels, predictions, normalizer], [], weights,
                   metrics_collections, updates_collections, name)


def mean_cosine_distance(labels, predictions, dim, weights=None, metrics_collections=None, updates_collections=None,
                         name=None):
    """The mean of 1 - the sum of labels * predictions along `dim`."""
    return _metric(_core.metric_mean_cosine_distance, [labels, predictions], [dim], weights, metrics_collections,
                   updates_collections, name)


def mean_iou(labels, predictions, num_classes, weights=None, metrics_collections=None, updates_collections=None,
             name=None):
    """The mean over the classes of the intersection of labels and predictions over their union."""
    return _metric(_core.metric_mean_iou, [labels, predictions], [num_classes], weights, metrics_collections,
                   updates_collections, name)


def mean_per_class_accuracy(labels, predictions, num_classes, weights=None, metrics_collections=None,
                            updates_collections=None, name=None):
    """The mean of the accuracies of the classes."""
    return _metric(_core.metric_mean_per_class_accuracy, [labels, predictions], [num_classes], weights,
                   metrics_collections, updates_collections, name)


def _at(compute, labels, predictions, at, value, weights, num_thresholds, *collections_and_name):
    if not 0 <= value <= 1:
        raise ValueError(f"`{at}` must be in the range [0, 1].")
    return _metric(compute, [labels, predictions], [value, num_thresholds], weights, *collections_and_name)


def sensitivity_at_specificity(labels, predictions, specificity, weights=None, num_thresholds=200,
                               metrics_collections=None, updates_collections=None, name=None):
    """The sensitivity with the threshold whose specificity is nearest to the given one."""
    return _at(_core.metric_sensitivity_at_specificity, labels, predictions, "specificity", specificity, weights,
               num_thresholds, metrics_collections, updates_collections, name)


def specificity_at_sensitivity(labels, predictions, sensitivity, weights=None, num_thresholds=200,
                               metrics_collections=None, updates_collections=None, name=None):
    """The specificity with the threshold whose sensitivity is nearest to the given one."""
    return _at(_core.metric_specificity_at_sensitivity, labels, predictions, "sensitivity", sensitivity, weights,
               num_thresholds, metrics_collections, updates_collections, name)
