"""Experiments: the training and the evaluation of an Estimator together."""

import time

from tensorbraid.contrib.learn.estimators.estimator import BaseEstimator
from tensorbraid.contrib.learn.utils import ExportStrategy, _StrategyExporter
from tensorbraid.estimator.estimator import Estimator
from tensorbraid.estimator.training import EvalSpec, TrainSpec, train_and_evaluate

__all__ = ["Experiment"]


class Experiment:
    """Trains and evaluates an Estimator. Source: tf.contrib.learn.Experiment.

    It evaluates new checkpoints during the training as tf.estimator.train_and_evaluate does, whatever
    min_eval_frequency is.
    """

    def __init__(self, estimator, train_input_fn, eval_input_fn, eval_metrics=None, train_steps=None, eval_steps=100,
                 train_monitors=None, eval_hooks=None, local_eval_frequency=None, eval_delay_secs=120,
                 continuous_eval_throttle_secs=60, min_eval_frequency=None, delay_workers_by_global_step=False,
                 export_strategies=None, train_steps_per_iteration=None, checkpoint_and_export=False,
                 saving_listeners=None, check_interval_secs=5):
        if isinstance(estimator, BaseEstimator):
            estimator = estimator._estimator
        if not isinstance(estimator, Estimator):
            raise ValueError("`estimator` must be an Estimator of tf.estimator or of tf.contrib.learn")
        if eval_metrics is not None:
            raise ValueError("`eval_metrics` must be `None` with a `tf.estimator.Estimator`: give the metrics in the "
                             "`EstimatorSpec`")
        for name, value, default in (("local_eval_frequency", local_eval_frequency, None),
                                     ("delay_workers_by_global_step", delay_workers_by_global_step, False),
                                     ("train_steps_per_iteration", train_steps_per_iteration, None),
                                     ("checkpoint_and_export", checkpoint_and_export, False),
                                     ("check_interval_secs", check_interval_secs, 5)):
            if value != default:
                raise NotImplementedError(f"{name} of an Experiment")
        self._estimator, self._train_input_fn, self._eval_input_fn = estimator, train_input_fn, eval_input_fn
        self._train_steps, self._eval_steps = train_steps, eval_steps
        self._train_hooks, self._eval_hooks = list(train_monitors or []), list(eval_hooks or [])
        self._delay, self._throttle = eval_delay_secs, continuous_eval_throttle_secs
        self._saving_listeners = saving_listeners
        self.reset_export_strategies(export_strategies)

    estimator = property(lambda self: self._estimator)
    train_steps = property(lambda self: self._train_steps)
    eval_steps = property(lambda self: self._eval_steps)

    def reset_export_strategies(self, new_export_strategies=None):
        """Replaces the strategies by others, and returns the old ones."""
        old = getattr(self, "_strategies", None)
        given = new_export_strategies or []
        self._strategies = [given] if isinstance(given, ExportStrategy) else list(given)
        for strategy in self._strategies:
            if not isinstance(strategy, ExportStrategy):
                raise ValueError("`export_strategies` must be an ExportStrategy, an iterable of ExportStrategy, or "
                                 f"`None`, found {strategy}.")
        return old

    def extend_train_hooks(self, additional_hooks):
        """Adds hooks to the training."""
        self._train_hooks.extend(additional_hooks)

    def train(self, delay_secs=None):
        """Waits `delay_secs`, then trains up to the global step `train_steps`. Returns the estimator."""
        time.sleep(delay_secs or 0)
        return self._estimator.train(self._train_input_fn, hooks=self._train_hooks, max_steps=self._train_steps,
                                     saving_listeners=self._saving_listeners)

    def evaluate(self, delay_secs=None, name=None):
        """Waits `delay_secs`, then evaluates the latest checkpoint."""
        time.sleep(delay_secs or 0)
        return self._estimator.evaluate(self._eval_input_fn, steps=self._eval_steps, hooks=self._eval_hooks,
                                        name=name or "one_pass")

    def train_and_evaluate(self):
        """Trains, evaluates new checkpoints and the last, and exports. Returns the last metrics and what was exported.

        The task of a cluster does its part of this, and gets None.
        """
        train = TrainSpec(self._train_input_fn, self._train_steps, self._train_hooks, self._saving_listeners)
        evaluate = EvalSpec(self._eval_input_fn, self._eval_steps, hooks=self._eval_hooks,
                            exporters=[_StrategyExporter(strategy) for strategy in self._strategies],
                            start_delay_secs=self._delay, throttle_secs=self._throttle)
        return train_and_evaluate(self._estimator, train, evaluate)

    local_run = train_and_evaluate
    continuous_train_and_eval = train_and_evaluate
    run_std_server = train_and_evaluate

    def test(self):
        """Trains one step, evaluates one, and exports."""
        self._estimator.train(self._train_input_fn, hooks=self._train_hooks, steps=1)
        metrics = self._estimator.evaluate(self._eval_input_fn, steps=1, name="one_pass")
        return metrics, [strategy.export(self._estimator, f"{self._estimator.model_dir}/export/{strategy.name}",
                                         eval_result=metrics) for strategy in self._strategies]
