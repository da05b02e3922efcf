"""tensorflow.python.estimator.training: parts of train_and_evaluate that programs call directly."""

from tensorbraid.estimator.evaluator import (  # noqa: F401
    ContinuousEvalListener as _ContinuousEvalListener, EvalResult as _EvalResult, EvalStatus as _EvalStatus,
    run_evaluator)
from tensorbraid.estimator.replica import run_parameter_server, run_training
from tensorbraid.estimator.task import TaskType
from tensorbraid.estimator.training import EvalSpec, TrainSpec, train_and_evaluate

__all__ = ["EvalSpec", "TrainSpec", "train_and_evaluate"]


def _assert_eval_spec(eval_spec):
    """Raises TypeError unless `eval_spec` is a tf.estimator.EvalSpec."""
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(f"`eval_spec` must have type `tf.estimator.EvalSpec`. Got: {type(eval_spec)}")


class _TrainingExecutor:
    """Runs one task of train_and_evaluate. The hooks are added to those of the train spec.

    `continuous_eval_listener`, a _ContinuousEvalListener, can end the evaluator. TypeError for arguments of another
    type.
    """

    def __init__(self, estimator, train_spec, eval_spec, train_hooks=None, continuous_eval_listener=None):
        if not isinstance(train_spec, TrainSpec):
            raise TypeError(f"`train_spec` must have type `tf.estimator.TrainSpec`. Got: {type(train_spec)}")
        if eval_spec is not None:
            _assert_eval_spec(eval_spec)
        listener = continuous_eval_listener or _ContinuousEvalListener()
        if not isinstance(listener, _ContinuousEvalListener):
            raise TypeError("`continuous_eval_listener` must have type `_ContinuousEvalListener`.")
        self._estimator, self._eval_spec, self._listener = estimator, eval_spec, listener
        self._train_spec = train_spec._replace(hooks=(*train_spec.hooks, *(train_hooks or ())))

    estimator = property(lambda self: self._estimator)

    def run(self):
        """Runs the task that the estimator's configuration names: chief, worker, ps or evaluator."""
        is_evaluator = self._estimator.config.task_type == TaskType.EVALUATOR
        return self.run_evaluator() if is_evaluator else self.run_local()

    def run_local(self):
        """train_and_evaluate."""
        return train_and_evaluate(self._estimator, self._train_spec, self._eval_spec)

    run_master = run_local

    def run_chief(self):
        """Trains."""
        return run_training(self._estimator, self._train_spec, list(self._train_spec.saving_listeners))

    run_worker = run_chief

    def run_ps(self):
        """Serves variables until the workers have ended."""
        return run_parameter_server(self._estimator.config)

    def run_evaluator(self):
        """Evaluates new checkpoints."""
        return run_evaluator(self._estimator, self._train_spec, self._eval_spec, self._listener)
