"""Metrics as in tf.keras: their variables are local ones, and may be assigned in `update_state`."""

import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.keras import added_metrics
from tensorbraid.keras.adapter.loaded import loaded, replace

__all__ = []


class _Methods:
    """Methods of tf.keras.metrics.Metric."""

    def add_weight(self, name=None, shape=(), aggregation=None, synchronization=None, initializer=None, dtype=None):
        """A variable of the metric."""
        return super(loaded("metrics").Metric, self).add_weight(
            name=name, shape=shape, dtype=dtype or self.dtype, trainable=False, initializer=initializer,
            collections=[tf.GraphKeys.LOCAL_VARIABLES])


def _update_state_wrapper(update_state):
    """Notes the updates of a metric. They may be returned, or only be made."""
    def decorated(metric, *args, **kwargs):
        graph = tf.get_default_graph()
        count = len(graph.get_operations())
        updates = update_state(*args, **kwargs)
        if updates is None:
            updates = [op for op in graph.get_operations()[count:] if op.type.startswith("Assign")]
        updates = [update for update in nest.flatten(updates) if update is not None]
        metric.add_update(updates)
        return updates

    return decorated


def change_utils(metrics_utils):
    """Changes the library's module utils.metrics_utils."""
    metrics_utils.update_state_wrapper = _update_state_wrapper


def change(metrics):
    """Changes the library's module metrics."""
    replace(metrics.Metric, _Methods)
    added_metrics.change(metrics)
