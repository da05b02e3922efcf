"""TPUEstimatorSpec, the result of a TPUEstimator's model_fn: the operations of the model in one mode."""

import collections
import inspect

from tensorbraid import nest
from tensorbraid.estimator.arguments import checked_hooks
from tensorbraid.estimator.spec import EstimatorSpec
from tensorbraid.train.hooks import SessionRunArgs, SessionRunHook

__all__ = ["TPUEstimatorSpec"]


class TPUEstimatorSpec(collections.namedtuple("TPUEstimatorSpec", [
        "mode", "predictions", "loss", "train_op", "eval_metrics", "export_outputs", "scaffold_fn", "host_call",
        "training_hooks", "evaluation_hooks", "prediction_hooks"])):
    """The operations of a model. Source: tf.contrib.tpu.TPUEstimatorSpec.

    `eval_metrics` is a function that makes the metrics, and its arguments: a list, or a dict by name. `host_call` is
    such a pair whose function returns tensors that run in each step. `scaffold_fn` makes the Scaffold.
    """

    def __new__(cls, mode, predictions=None, loss=None, train_op=None, eval_metrics=None, export_outputs=None,
                scaffold_fn=None, host_call=None, training_hooks=None, evaluation_hooks=None, prediction_hooks=None):
        for name, call in (("eval_metrics", eval_metrics), ("host_call", host_call)):
            if call is not None:
                _check_call(name, call)
        hooks = [tuple(checked_hooks(given)) for given in (training_hooks, evaluation_hooks, prediction_hooks)]
        return super().__new__(cls, mode, predictions, loss, train_op, eval_metrics, export_outputs, scaffold_fn,
                               host_call, *hooks)

    def as_estimator_spec(self):
        """The EstimatorSpec that says the same about a model on CPUs."""
        metrics = None if self.eval_metrics is None else _called(self.eval_metrics)
        hooks = () if self.host_call is None else (_HostCallHook(_called(self.host_call)),)
        return EstimatorSpec(
            self.mode, self.predictions, self.loss, self.train_op, metrics, self.export_outputs,
            scaffold=self.scaffold_fn() if self.scaffold_fn else None, training_hooks=self.training_hooks + hooks,
            evaluation_hooks=self.evaluation_hooks + hooks, prediction_hooks=self.prediction_hooks + hooks)


def _check_call(name, call):
    if not isinstance(call, (tuple, list)):
        raise ValueError(f"{name} should be tuple or list")
    if len(call) != 2:
        raise ValueError(f"{name} should have two elements.")
    function, arguments = call
    if not callable(function):
        raise TypeError(f"{name}[0] should be callable.")
    if not isinstance(arguments, (tuple, list, dict)):
        raise ValueError(f"{name}[1] should be tuple or list, or dict.")
    if isinstance(arguments, dict):
        return
    parameters = inspect.signature(function).parameters.values()
    if len(parameters) != len(arguments) and not any(each.kind is each.VAR_POSITIONAL for each in parameters):
        raise RuntimeError(f"In TPUEstimatorSpec.{name}, length of tensors {len(arguments)} does not match method args "
                           f"of the function, which takes {len(parameters)}.")


def _called(call):
    function, arguments = call
    return function(**arguments) if isinstance(arguments, dict) else function(*arguments)


class _HostCallHook(SessionRunHook):
    """Runs tensors in each step."""

    def __init__(self, tensors):
        self._tensors = nest.flatten(tensors)

    def before_run(self, run_context):
        return SessionRunArgs(self._tensors)
