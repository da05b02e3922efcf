"""Estimators with more metrics than their models have."""

from tensorbraid.estimator.estimator import Estimator
from tensorbraid.estimator.input_pipeline import accepted, arguments_of
from tensorbraid.estimator.spec import ModeKeys

__all__ = ["add_metrics"]

_ARGUMENTS = {"features", "labels", "predictions", "config"}


def add_metrics(estimator, metric_fn):
    """An estimator like this one, whose evaluations also have the metrics of `metric_fn`.

    The function takes any of labels, predictions, features and config, and returns a dict as eval_metric_ops.
    """
    unknown = sorted(arguments_of(metric_fn) - _ARGUMENTS)
    if unknown:
        raise ValueError(f"metric_fn ({metric_fn}) has following not expected args: {unknown}")

    def model_fn(features, labels, mode, config):
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        given = {"features": features, "labels": labels, "predictions": spec.predictions, "config": config}
        added = metric_fn(**accepted(metric_fn, given)) or {}
        return spec._replace(eval_metric_ops={**spec.eval_metric_ops, **added})

    return Estimator(model_fn=model_fn, model_dir=estimator.model_dir, config=estimator.config,
                     warm_start_from=estimator._warm_start_settings)
