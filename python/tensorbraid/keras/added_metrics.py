"""Metrics and a loss that TensorFlow 1.15's tf.keras has and the library has not."""

import functools

import numpy as np
import tensorbraid as tf
from tensorbraid.keras import configurations
from tensorbraid.keras.adapter.loaded import loaded

__all__ = []


def _mean_relative_error(mean):
    class MeanRelativeError(mean):
        """The mean of |y_true - y_pred| / normalizer. Where the normalizer is 0, the error counts as 0."""

        def __init__(self, normalizer, name=None, dtype=None):
            super().__init__(name=name or "mean_relative_error", dtype=dtype)
            self.normalizer = tf.cast(normalizer, self.dtype)

        def update_state(self, y_true, y_pred, sample_weight=None):
            """Adds the errors of a batch."""
            errors = tf.abs(tf.cast(y_true, self.dtype) - tf.cast(y_pred, self.dtype))
            return super().update_state(tf.math.divide_no_nan(errors, self.normalizer), sample_weight)

        def get_config(self):
            return {**super().get_config(), "normalizer": tf.keras.backend.eval(self.normalizer).tolist()}

    return MeanRelativeError


def _mean_tensor(metric):
    class MeanTensor(metric):
        """The mean of tensors of one shape, for each of their elements."""

        def __init__(self, name="mean_tensor", dtype=None):
            super().__init__(name=name, dtype=dtype)
            self.total = self.count = None

        def update_state(self, values, sample_weight=None):
            """Adds a tensor; `sample_weight` broadcasts to its shape."""
            values = tf.cast(values, self.dtype)
            if self.total is None:
                shape = values.shape.as_list()
                if None in shape:
                    raise ValueError(f"MeanTensor metric {self.name} takes values of a known shape, got {values}")
                self.total, self.count = [self.add_weight(name, shape, initializer="zeros")
                                          for name in ("total", "count")]
            if self.total.shape.as_list() != values.shape.as_list():
                raise ValueError(f"MeanTensor values must always have the same shape. Expected shape (set during the "
                                 f"first call): {self.total.shape}. Got: {values.shape}")
            weights = tf.ones_like(values)
            if sample_weight is not None:
                weight = tf.cast(sample_weight, self.dtype)
                for _ in range(values.shape.ndims - weight.shape.ndims):
                    weight = tf.expand_dims(weight, -1)
                weights *= weight
            return [tf.assign_add(self.total, values * weights), tf.assign_add(self.count, weights)]

        def result(self):
            """The means, 0 where nothing was counted."""
            if self.total is None:
                raise ValueError(f"MeanTensor metric {self.name} has no result before the first update_state")
            return tf.math.divide_no_nan(self.total, self.count)

        def reset_states(self):
            """Sets the sums to zeros."""
            _set_zeros(self)

    return MeanTensor


def _set_zeros(metric):
    loaded("backend").batch_set_value([(variable, np.zeros(variable.shape.as_list())) for variable in metric.weights])


def _mean_iou(metric):
    class MeanIoU(metric):
        """The mean over the classes of the intersection of labels and predictions over their union."""

        def __init__(self, num_classes, name=None, dtype=None):
            super().__init__(name=name or "mean_io_u", dtype=dtype)
            self.num_classes = num_classes
            self.total_cm = self.add_weight("total_confusion_matrix", (num_classes, num_classes), initializer="zeros",
                                            dtype=tf.float64)

        def update_state(self, y_true, y_pred, sample_weight=None):
            """Counts a batch of numbers of classes."""
            values = [None if value is None else tf.reshape(value, [-1]) for value in (y_true, y_pred, sample_weight)]
            labels, predictions = [tf.cast(value, tf.int64) for value in values[:2]]
            return tf.assign_add(self.total_cm, tf.confusion_matrix(labels, predictions, self.num_classes, tf.float64,
                                                                    weights=values[2]))

        def result(self):
            """The mean of the classes that occur."""
            both = tf.matrix_diag_part(self.total_cm)
            either = tf.reduce_sum(self.total_cm, 0) + tf.reduce_sum(self.total_cm, 1) - both
            found = tf.reduce_sum(tf.cast(tf.not_equal(either, 0), tf.float64))
            return tf.cast(tf.math.divide_no_nan(tf.reduce_sum(tf.math.divide_no_nan(both, either)), found), self.dtype)

        def reset_states(self):
            """Sets the counts to zeros."""
            _set_zeros(self)

        def get_config(self):
            return {**super().get_config(), "num_classes": self.num_classes}

    return MeanIoU


def change(metrics):
    """Changes the library's module `metrics`."""
    for kind in (_mean_relative_error(metrics.Mean), _mean_tensor(metrics.Metric), _mean_iou(metrics.Metric)):
        kind.__qualname__ = kind.__name__
        setattr(metrics, kind.__name__, kind)
    metrics.KLD = metrics.kld = metrics.kullback_leibler_divergence
    get = metrics.get

    @functools.wraps(get)
    def get_any(identifier):  # of a dictionary, the library deserializes the text
        return metrics.deserialize(identifier) if isinstance(identifier, dict) else get(identifier)

    metrics.get = get_any
    configurations.change(metrics)


def change_losses(losses):
    """Changes the library's module `losses`."""
    class CosineSimilarity(losses.LossFunctionWrapper):
        """Minus the cosine of the angle between y_true and y_pred."""

        def __init__(self, axis=-1, reduction="sum_over_batch_size", name="cosine_similarity"):
            super().__init__(losses.cosine_proximity, reduction=reduction, name=name, axis=axis)

    CosineSimilarity.__qualname__ = "CosineSimilarity"
    losses.CosineSimilarity = CosineSimilarity
    configurations.change_losses(losses)
