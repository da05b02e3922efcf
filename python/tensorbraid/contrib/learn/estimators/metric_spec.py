"""Metrics that an evaluation of tf.contrib.learn is given by name."""

from tensorbraid.estimator.extenders import add_metrics
from tensorbraid.estimator.input_pipeline import arguments_of
from tensorbraid.ops import arrays

__all__ = ["MetricSpec", "PredictionKey"]


class PredictionKey:
    """The names of predictions."""

    CLASSES = "classes"
    PROBABILITIES = "probabilities"
    LOGITS = "logits"
    LOGISTIC = "logistic"
    SCORES = "scores"


_IN_ESTIMATOR = {"classes": "class_ids", "scores": "predictions"}  # names of tf.estimator for what contrib names so


def prediction_named(predictions, key):
    """The prediction that contrib calls `key`; for one number of each example a vector. All without a key."""
    if key is None or not isinstance(predictions, dict):
        if key is not None:
            raise ValueError(f"MetricSpec with prediction_key={key!r} needs predictions that are a dict")
        return predictions
    own = _IN_ESTIMATOR.get(key)
    key = own if own in predictions else key
    if key not in predictions:
        raise KeyError(f"there is no prediction {key!r}, only {sorted(predictions)}")
    value = predictions[key]
    return arrays.squeeze(value, 1) if own and value.shape.ndims == 2 and value.shape.as_list()[1] == 1 else value


class MetricSpec:
    """A function of predictions, labels and perhaps weights, and which of them it is given."""

    def __init__(self, metric_fn, prediction_key=None, label_key=None, weight_key=None):
        self.metric_fn, self.prediction_key = metric_fn, prediction_key
        self.label_key, self.weight_key = label_key, weight_key

    def create_metric_ops(self, inputs, labels, predictions):
        """The value and the update of the metric."""
        labels = labels[self.label_key] if self.label_key is not None else labels
        given = prediction_named(predictions, self.prediction_key)
        if self.prediction_key is None and isinstance(given, dict):
            if len(given) != 1:
                raise ValueError(f"MetricSpec without specified prediction_key requires predictions tensor or single "
                                 f"element dict, got {sorted(given)}")
            given = next(iter(given.values()))
        if self.weight_key is None:
            return self.metric_fn(given, labels)
        names = arguments_of(self.metric_fn)
        weights = "weights" if "weights" in names else "weight"
        return self.metric_fn(given, labels, **{weights: inputs[self.weight_key]})


def with_metrics(estimator, metrics):
    """The estimator with further metrics: MetricSpecs by name."""
    for name, spec in metrics.items():
        if not isinstance(spec, MetricSpec):
            raise TypeError(f"the metric {name!r} must be a MetricSpec, not {spec!r}")

    def metric_fn(features, labels, predictions):
        return {name: spec.create_metric_ops(features, labels, predictions) for name, spec in metrics.items()}

    return add_metrics(estimator, metric_fn)
