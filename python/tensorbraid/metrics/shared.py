"""Metrics of recommenders, whose sums the workers of a cluster may share. TensorFlow has none of these."""

import contextlib

from tensorbraid import dtypes, initializers
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.variable_methods import assign_add, updated
from tensorbraid.internal.variable_scope import get_variable, no_regularizer, variable_scope
from tensorbraid.metrics.top_k import collected
from tensorbraid.ops import arrays, elementwise, reductions
from tensorbraid.ops.clipping import clip_by_value
from tensorbraid.ops.node import op
from tensorbraid.ops.segment_ops import unsorted_segment_sum
from tensorbraid.ops.string_ops import string_to_hash_bucket_fast

__all__ = ["calibration", "grouped_auc"]


def calibration(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None, *,
                shared=False):
    """The mean of the predictions divided by the mean of the labels; 0 while all labels are 0.

    It is 1 if a model predicts as many clicks as there are. `shared` is as in tf.metrics.auc.
    """
    with _scope(name, "calibration", [labels, predictions]):
        labels, predictions, weights = _examples(labels, predictions, weights)
        sums = _sums("sums", [2], dtypes.float64, shared)
        added = arrays.stack([reductions.reduce_sum(weights * predictions), reductions.reduce_sum(weights * labels)])

        def ratio(values):
            return elementwise.cast(elementwise.div_no_nan(values[0], values[1]), dtypes.float32)

        update = ratio(assign_add(sums, elementwise.cast(added, dtypes.float64)))
        return collected(ratio(sums.read_value()), update, metrics_collections, updates_collections)


def shared_auc(labels, predictions, weights, num_thresholds, metrics_collections, updates_collections, name):
    """tf.metrics.auc with shared=True."""
    buckets = _bucket_count(num_thresholds)
    with _scope(name, "auc", [labels, predictions]):
        labels, predictions, weights = _examples(labels, predictions, weights)
        counts = _sums("counts", [2 * buckets], dtypes.float64, True)
        at = _bucket(predictions, buckets) + buckets * elementwise.cast(labels, dtypes.int64)
        added = unsorted_segment_sum(elementwise.cast(weights, dtypes.float64), at, 2 * buckets)

        def area(values):
            values = arrays.reshape(values, [2, buckets])
            return elementwise.cast(_area(values[0], values[1]), dtypes.float32)

        update = area(assign_add(counts, added))
        return collected(area(counts.read_value()), update, metrics_collections, updates_collections)


def grouped_auc(labels, predictions, groups, num_groups, weights=None, num_thresholds=100, metrics_collections=None,
                updates_collections=None, name=None, *, shared=False):
    """GAUC: the mean of the AUCs of groups, such as users, each weighted by the weights of its examples.

    Groups without a click, or without anything else, do not count. `groups` are integers or strings, one for each
    example. Those with an equal remainder modulo `num_groups`, or with an equal hash below it, count as one. The sums
    take num_groups * (num_thresholds - 1) * 8 bytes. `shared` is as in tf.metrics.auc. Returns the value and an
    operation that adds the examples of the batch.
    """
    buckets = _bucket_count(num_thresholds)
    count = arguments.integer("num_groups", num_groups)
    if count < 1:
        raise ValueError(f"num_groups must be positive, got {count}")
    with _scope(name, "grouped_auc", [labels, predictions, groups]):
        labels, predictions, weights = _examples(labels, predictions, weights)
        groups = arrays.reshape(graphs.convert_to_tensor(groups), [-1])
        if groups.dtype == dtypes.string:
            groups = string_to_hash_bucket_fast(groups, count)
        else:
            arguments.check(groups.dtype.is_integer, "groups", "integers or strings", groups.dtype.name)
            groups = elementwise.floormod(elementwise.cast(groups, dtypes.int64), graphs.constant(count, dtypes.int64))
        sums = _sums("counts", [count * 2 * buckets], dtypes.float32, shared)
        at = (groups * 2 + elementwise.cast(labels, dtypes.int64)) * buckets + _bucket(predictions, buckets)
        update = updated(sums, "ResourceScatterAdd", [at, weights], "update", read_value=False)
        values = elementwise.cast(arrays.reshape(sums.read_value(), [count, 2, buckets]), dtypes.float64)
        both = elementwise.cast(reductions.reduce_all(elementwise.greater(reductions.reduce_sum(values, 2), 0), 1),
                                dtypes.float64)
        sizes = reductions.reduce_sum(values, [1, 2]) * both
        areas = _area(values[:, 0], values[:, 1])
        value = elementwise.div_no_nan(reductions.reduce_sum(areas * sizes), reductions.reduce_sum(sizes))
        return collected(elementwise.cast(value, dtypes.float32), update, metrics_collections, updates_collections)


@contextlib.contextmanager
def _scope(name, default_name, values):
    with variable_scope(name, default_name, [value for value in values if isinstance(value, graphs.Tensor)]) as scope:
        scope.set_partitioner(None)  # the sums are whole, whatever the model does
        yield


def _examples(labels, predictions, weights):
    """Labels, predictions and weights as vectors of floats."""
    labels, predictions = (elementwise.cast(arrays.reshape(graphs.convert_to_tensor(values), [-1]), dtypes.float32)
                           for values in (labels, predictions))
    weights = graphs.constant(1.0) if weights is None else elementwise.cast(graphs.convert_to_tensor(weights),
                                                                            dtypes.float32)
    return labels, predictions, arrays.reshape(weights, [-1]) * arrays.ones_like(predictions)


def _sums(name, shape, dtype, shared):
    """A variable of zeros: a global one, which the workers share, or a local one."""
    key = GraphKeys.GLOBAL_VARIABLES if shared else GraphKeys.LOCAL_VARIABLES
    return get_variable(name, shape, dtype, initializers.Zeros(), no_regularizer, trainable=False,
                        collections=[key, GraphKeys.METRIC_VARIABLES])


def _bucket_count(num_thresholds):
    count = arguments.integer("num_thresholds", num_thresholds)
    if count < 2:
        raise ValueError(f"num_thresholds must be at least 2, got {count}")
    return count - 1


def _bucket(predictions, buckets):
    """The number of the interval between thresholds, of which there are one more, that has a prediction."""
    above = elementwise.ceil(predictions * float(buckets))
    return elementwise.cast(clip_by_value(above, 1.0, float(buckets)), dtypes.int64) - 1


def _area(others, clicks):
    """The area under the curve for counts [..., buckets] of examples by their predictions."""
    above = op("Cumsum", [clicks, graphs.constant(-1)], exclusive=True, reverse=True)
    right = reductions.reduce_sum(others * (above + clicks / 2), -1)
    return elementwise.div_no_nan(right, reductions.reduce_sum(others, -1) * reductions.reduce_sum(clicks, -1))
