"""Estimators of tf.contrib.learn: fit, evaluate and predict over a tf.estimator.Estimator."""

import collections

from tensorbraid import estimator as core
from tensorbraid.contrib.learn.estimators.inputs import input_of, named
from tensorbraid.contrib.learn.estimators.metric_spec import with_metrics
from tensorbraid.contrib.learn.run_config import RunConfig
from tensorbraid.estimator.input_pipeline import accepted, arguments_of

__all__ = ["BaseEstimator", "Estimator", "ModelFnOps", "SKCompat"]


class NamedFeatures:
    """A mixin of estimators whose models take a dict: features that are one tensor have the name ""."""

    def _call_model_fn(self, features, labels, mode, config):
        return super()._call_model_fn(named(features), labels, mode, config)


class BaseEstimator:
    """Trains a model on arrays or on the batches of an input_fn. `_estimator` is the tf.estimator.Estimator."""

    def __init__(self, estimator):
        self._estimator = estimator

    model_dir = property(lambda self: self._estimator.model_dir)
    config = property(lambda self: self._estimator.config)
    params = property(lambda self: self._estimator.params)

    def get_variable_names(self):
        """The names of the variables in the latest checkpoint."""
        return self._estimator.get_variable_names()

    def get_variable_value(self, name):
        """The value of a variable in the latest checkpoint."""
        return self._estimator.get_variable_value(name)

    def fit(self, x=None, y=None, input_fn=None, steps=None, batch_size=None, monitors=None, max_steps=None):
        """Trains for `steps` steps or up to the global step `max_steps`. `monitors` are hooks of the session."""
        self._estimator.train(input_of(x, y, input_fn, batch_size, True), list(monitors or []), steps, max_steps)
        return self

    partial_fit = fit

    def evaluate(self, x=None, y=None, input_fn=None, feed_fn=None, batch_size=None, steps=None, metrics=None,
                 name=None, checkpoint_path=None, hooks=None, log_progress=True):
        """The metrics as a dict; `metrics` has further ones by name."""
        if feed_fn is not None or not log_progress:
            raise NotImplementedError("feed_fn and log_progress of evaluate")
        estimator = with_metrics(self._estimator, metrics) if metrics else self._estimator
        return estimator.evaluate(input_of(x, y, input_fn, batch_size, False), steps, list(hooks or []),
                                  checkpoint_path, name)

    def predict(self, x=None, input_fn=None, batch_size=None, outputs=None, as_iterable=True):
        """The predictions of all examples, one by one or, with as_iterable=False, as one array."""
        return self._predicted(x, input_fn, batch_size, outputs, as_iterable)

    def _predicted(self, x, input_fn, batch_size, outputs, as_iterable, chosen=lambda prediction: prediction):
        """The part of the predictions that the function `chosen` selects."""
        import numpy as np

        predicted = self._estimator.predict(input_of(x, None, input_fn, batch_size, False), outputs)
        each = (chosen(prediction) for prediction in predicted)
        if as_iterable:
            return each
        rows = list(each)
        if rows and isinstance(rows[0], dict):
            return {key: np.stack([row[key] for row in rows]) for key in rows[0]}
        return np.stack(rows)

    def export_savedmodel(self, export_dir_base, serving_input_fn, default_output_alternative_key=None,
                          assets_extra=None, as_text=False, checkpoint_path=None, strip_default_attrs=False):
        """Writes the model for serving to a new directory in `export_dir_base`. Returns the directory as bytes."""
        if default_output_alternative_key is not None:
            raise NotImplementedError("default_output_alternative_key of export_savedmodel")
        return self._estimator.export_savedmodel(export_dir_base, serving_input_fn, assets_extra, as_text,
                                                 checkpoint_path, strip_default_attrs)


class ModelFnOps(collections.namedtuple("ModelFnOps", [
        "predictions", "loss", "train_op", "eval_metric_ops", "training_chief_hooks", "training_hooks", "scaffold",
        "mode"])):
    """The result of the model_fn of a tf.contrib.learn.Estimator."""

    def __new__(cls, mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, output_alternatives=None,
                training_chief_hooks=None, training_hooks=None, scaffold=None):
        if output_alternatives is not None:
            raise NotImplementedError("output_alternatives of ModelFnOps: give export_outputs to a "
                                      "tf.estimator.EstimatorSpec")
        return super().__new__(cls, predictions, loss, train_op, eval_metric_ops, training_chief_hooks, training_hooks,
                               scaffold, mode)

    def as_estimator_spec(self):
        """The tf.estimator.EstimatorSpec."""
        return core.EstimatorSpec(
            self.mode, self.predictions, self.loss, self.train_op, self.eval_metric_ops, scaffold=self.scaffold,
            training_chief_hooks=self.training_chief_hooks, training_hooks=self.training_hooks)


class Estimator(BaseEstimator):
    """Trains the model of a function of features and labels. Source: tf.contrib.learn.Estimator.

    `model_fn` may also take mode, params, config and model_dir. It returns ModelFnOps, an EstimatorSpec, or the
    predictions, the loss and the operation that trains. `feature_engineering_fn` changes features and labels first.
    """

    def __init__(self, model_fn=None, model_dir=None, config=None, params=None, feature_engineering_fn=None):
        if model_fn is None:
            raise ValueError("model_fn must be provided to Estimator.")
        if params is not None and "params" not in arguments_of(model_fn):
            raise ValueError(f"Estimator's model_fn ({model_fn}) does not have a params argument, but params "
                             f"({params}) were passed to the Estimator's constructor.")

        def call(features, labels, mode, params, config):
            if feature_engineering_fn is not None:
                features, labels = feature_engineering_fn(features, labels)
            given = {"mode": mode, "params": params, "config": config, "model_dir": config.model_dir}
            return _spec(mode, model_fn(features, labels, **accepted(model_fn, given)))

        super().__init__(core.Estimator(call, model_dir, config or RunConfig(), params))


def _spec(mode, made):
    if isinstance(made, core.EstimatorSpec):
        return made
    if isinstance(made, ModelFnOps):
        return made.as_estimator_spec()
    if not isinstance(made, (list, tuple)) or len(made) != 3:
        raise ValueError("Unrecognized value returned by model_fn, please return ModelFnOps.")
    predictions, loss, train_op = made
    return core.EstimatorSpec(mode, predictions, loss, train_op)


class SKCompat:
    """fit, predict and score over arrays, as classes of scikit-learn have them."""

    def __init__(self, estimator):
        self._estimator = estimator

    def fit(self, x, y, batch_size=128, steps=None, max_steps=None, monitors=None):
        """Trains."""
        self._estimator.fit(x, y, None, steps, batch_size, monitors, max_steps)
        return self

    def score(self, x, y, batch_size=128, steps=None, metrics=None, name=None):
        """The metrics as a dict."""
        values = self._estimator.evaluate(x, y, batch_size=batch_size, steps=steps, metrics=metrics,
                                          name="score" if name is None else f"score_{name}")
        del values["global_step"]
        return values

    def predict(self, x, batch_size=128, outputs=None):
        """The predictions as an array, or as a dict of arrays."""
        return BaseEstimator.predict(self._estimator, x, None, batch_size, outputs, False)
