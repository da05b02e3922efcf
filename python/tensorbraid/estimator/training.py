"""train_and_evaluate: training with evaluations in between, in one process or on a cluster."""

import collections

from tensorbraid.estimator.arguments import checked_hooks, checked_listeners
from tensorbraid.estimator.estimator import Estimator
from tensorbraid.estimator.evaluator import EvaluatingListener, Evaluator, run_evaluator
from tensorbraid.estimator.exporter import Exporter
from tensorbraid.estimator.replica import run_parameter_server, run_training
from tensorbraid.estimator.task import TaskType

__all__ = ["EvalSpec", "TrainSpec", "train_and_evaluate"]


class TrainSpec(collections.namedtuple("TrainSpec", ["input_fn", "max_steps", "hooks", "saving_listeners"])):
    """How train_and_evaluate trains: up to the global step `max_steps`, or until the input ends."""

    def __new__(cls, input_fn, max_steps=None, hooks=None, saving_listeners=None):
        _check_function(input_fn)
        if max_steps is not None and max_steps <= 0:
            raise ValueError(f"Must specify max_steps > 0, given: {max_steps}")
        return super().__new__(cls, input_fn, max_steps, tuple(checked_hooks(hooks)),
                               tuple(checked_listeners(saving_listeners)))


class EvalSpec(collections.namedtuple("EvalSpec", [
        "input_fn", "steps", "name", "hooks", "exporters", "start_delay_secs", "throttle_secs"])):
    """How train_and_evaluate evaluates: a new checkpoint, not more often than every `throttle_secs` seconds."""

    def __new__(cls, input_fn, steps=100, name=None, hooks=None, exporters=None, start_delay_secs=120,
                throttle_secs=600):
        _check_function(input_fn)
        if steps is not None and steps <= 0:
            raise ValueError(f"Must specify steps > 0, given: {steps}")
        if name is not None and not isinstance(name, str):
            raise TypeError(f"EvalSpec name must be string, given: {name}")
        for argument, value in (("start_delay_secs", start_delay_secs), ("throttle_secs", throttle_secs)):
            if value < 0:
                raise ValueError(f"Must specify {argument} >= 0, given: {value}")
        return super().__new__(cls, input_fn, steps, name, tuple(checked_hooks(hooks)), _checked_exporters(exporters),
                               start_delay_secs, throttle_secs)


def _check_function(input_fn):
    if not callable(input_fn):
        raise TypeError(f"`input_fn` must be callable, given: {input_fn}")


def _checked_exporters(exporters):
    if exporters is None:
        return ()
    exporters = (exporters,) if isinstance(exporters, Exporter) else tuple(exporters)
    names = []
    for exporter in exporters:
        if not isinstance(exporter, Exporter):
            raise TypeError("`exporters` must be an Exporter, an iterable of Exporter, or `None`, found "
                            f"{exporter}.")
        if not exporter.name:
            raise ValueError(f"An Exporter cannot have a name that is `None` or empty. All exporter names: {names}")
        if not isinstance(exporter.name, str):
            raise ValueError(f"An Exporter must have a string name. Given: {type(exporter.name)}")
        if exporter.name in names:
            raise ValueError(f"`exporters` must have unique names. Such a name cannot be unique: {exporter.name}.")
        names.append(exporter.name)
    return exporters


def train_and_evaluate(estimator, train_spec, eval_spec):
    """Trains the estimator and evaluates its checkpoints. Source: tf.estimator.train_and_evaluate.

    Alone, a process does both, and gets a tuple of the last metrics and of what the exporters have returned. In a
    cluster, which TF_CONFIG or an engine describes (see RunConfig), each task does its own part and gets None: the
    chief and the workers train, a parameter server serves until they have ended, and its program ends then; the
    evaluator evaluates new checkpoints until the last.
    """
    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`, given {type(estimator)}")
    if not isinstance(train_spec, TrainSpec):
        raise TypeError(f"`train_spec` must have type `tf.estimator.TrainSpec`, given {type(train_spec)}")
    if not isinstance(eval_spec, EvalSpec):
        raise TypeError(f"`eval_spec` must have type `tf.estimator.EvalSpec`, given {type(eval_spec)}")
    config = estimator.config
    if config.task_type == TaskType.EVALUATOR:
        if config.task_id > 0:
            raise ValueError(f"there can only be one `evaluator` task, with task id 0; this one has {config.task_id}")
        return run_evaluator(estimator, train_spec, eval_spec)
    if not config.cluster_spec.jobs:
        return _train_alone(estimator, train_spec, eval_spec)
    if config.task_type == TaskType.PS:
        return run_parameter_server(config)
    listeners = list(train_spec.saving_listeners)
    if config.task_type == TaskType.MASTER:  # an old kind of chief, which evaluates too
        listeners.append(EvaluatingListener(Evaluator(estimator, eval_spec, train_spec.max_steps),
                                            eval_spec.throttle_secs))
    return run_training(estimator, train_spec, listeners)


def _train_alone(estimator, train_spec, eval_spec):
    evaluator = Evaluator(estimator, eval_spec, train_spec.max_steps)
    listener = EvaluatingListener(evaluator, eval_spec.throttle_secs)
    estimator.train(train_spec.input_fn, hooks=train_spec.hooks, max_steps=train_spec.max_steps,
                    saving_listeners=[*train_spec.saving_listeners, listener])
    return evaluator.metrics, evaluator.exports
