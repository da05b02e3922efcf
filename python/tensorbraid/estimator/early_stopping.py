"""Hooks that end a training by what evaluations have found."""

import collections
import operator
import os
import time

from tensorbraid import dtypes, gfile, tf_logging as logging
from tensorbraid.initializers import Zeros
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.variable_scope import get_variable
from tensorbraid.train.checkpoints import latest_checkpoint, load_variable
from tensorbraid.train.event_files import summary_iterator
from tensorbraid.train.global_step import get_global_step
from tensorbraid.train.hooks import SecondOrStepTimer, SessionRunArgs, SessionRunHook

__all__ = [
    "make_early_stopping_hook", "make_stop_at_checkpoint_step_hook", "read_eval_metrics", "stop_if_higher_hook",
    "stop_if_lower_hook", "stop_if_no_decrease_hook", "stop_if_no_increase_hook"]


def make_early_stopping_hook(estimator, should_stop_fn, run_every_secs=60, run_every_steps=None):
    """A hook that ends the training on all workers once `should_stop_fn` returns True. The chief calls it regularly."""
    from tensorbraid.estimator.estimator import Estimator

    if not isinstance(estimator, Estimator):
        raise TypeError(f"`estimator` must have type `tf.estimator.Estimator`. Got: {type(estimator)}")
    if run_every_secs is not None and run_every_steps is not None:
        raise ValueError("Only one of `run_every_secs` and `run_every_steps` must be set.")
    if estimator.config.is_chief:
        return _StopOnCondition(should_stop_fn, run_every_secs, run_every_steps)
    return _CheckForStopping()


def stop_if_higher_hook(estimator, metric_name, threshold, eval_dir=None, min_steps=0, run_every_secs=60,
                        run_every_steps=None):
    """Ends the training once the metric is higher than the threshold, but not before `min_steps`."""
    return _threshold_hook(estimator, metric_name, threshold, operator.gt, eval_dir, min_steps, run_every_secs,
                           run_every_steps)


def stop_if_lower_hook(estimator, metric_name, threshold, eval_dir=None, min_steps=0, run_every_secs=60,
                       run_every_steps=None):
    """Ends the training once the metric is lower than the threshold, but not before `min_steps`."""
    return _threshold_hook(estimator, metric_name, threshold, operator.lt, eval_dir, min_steps, run_every_secs,
                           run_every_steps)


def stop_if_no_increase_hook(estimator, metric_name, max_steps_without_increase, eval_dir=None, min_steps=0,
                             run_every_secs=60, run_every_steps=None):
    """Ends the training when the metric has not increased for so many steps, but not before `min_steps`."""
    return _change_hook(estimator, metric_name, max_steps_without_increase, operator.gt, eval_dir, min_steps,
                        run_every_secs, run_every_steps)


def stop_if_no_decrease_hook(estimator, metric_name, max_steps_without_decrease, eval_dir=None, min_steps=0,
                             run_every_secs=60, run_every_steps=None):
    """Ends the training when the metric has not decreased for so many steps, but not before `min_steps`."""
    return _change_hook(estimator, metric_name, max_steps_without_decrease, operator.lt, eval_dir, min_steps,
                        run_every_secs, run_every_steps)


def read_eval_metrics(eval_dir):
    """The metrics in the event files of an evaluation, by global step, in the order of the steps."""
    found = collections.defaultdict(dict)
    for path in gfile.glob(os.path.join(eval_dir, "*.tfevents.*")):
        for event in summary_iterator(path):
            for value in event.summary.value:
                if value.WhichOneof("value") == "simple_value":
                    found[event.step][value.tag] = value.simple_value
    return collections.OrderedDict(sorted(found.items()))


def _metric_values(eval_dir, metric_name, min_steps):
    """Pairs of a step, from min_steps on, and the value of the metric."""
    for step, metrics in read_eval_metrics(eval_dir).items():
        if step >= min_steps and metric_name in metrics:
            yield step, metrics[metric_name]


def _threshold_hook(estimator, metric_name, threshold, is_beyond, eval_dir, min_steps, run_every_secs, run_every_steps):
    directory = eval_dir or estimator.eval_dir()

    def should_stop():
        for step, value in _metric_values(directory, metric_name, min_steps):
            if is_beyond(value, threshold):
                logging.info('The metric "%s" of step %s is %s, which ends the training: the threshold is %s.',
                             metric_name, step, value, threshold)
                return True
        return False

    return make_early_stopping_hook(estimator, should_stop, run_every_secs, run_every_steps)


def _change_hook(estimator, metric_name, max_steps, is_better, eval_dir, min_steps, run_every_secs, run_every_steps):
    directory = eval_dir or estimator.eval_dir()

    def should_stop():
        best = best_step = None
        for step, value in _metric_values(directory, metric_name, min_steps):
            if best is None or is_better(value, best):
                best, best_step = value, step
            if step - best_step >= max_steps:
                logging.info('No better value of metric "%s" for %s steps, which ends the training: the best is %s of '
                             "step %s.", metric_name, step - best_step, best, best_step)
                return True
        return False

    return make_early_stopping_hook(estimator, should_stop, run_every_secs, run_every_steps)


def _stop_variable():
    """The variable that tells the workers to stop; it is among the parameter servers' variables."""
    return get_variable("signal_early_stopping/STOP", shape=[], dtype=dtypes.bool, trainable=False,
                        initializer=Zeros(), collections=[GraphKeys.GLOBAL_VARIABLES])


class _StopOnCondition(SessionRunHook):
    """On the chief: asks the function regularly, and tells the workers to stop."""

    def __init__(self, should_stop_fn, run_every_secs, run_every_steps):
        self._should_stop = should_stop_fn
        self._timer = SecondOrStepTimer(every_secs=run_every_secs, every_steps=run_every_steps)

    def begin(self):
        self._global_step = get_global_step()
        self._stop = _stop_variable()
        self._set_stop = self._stop.assign(True, read_value=False)

    def before_run(self, run_context):
        return SessionRunArgs({"global_step": self._global_step, "stop": self._stop})

    def after_run(self, run_context, run_values):
        step = run_values.results["global_step"]
        if self._timer.should_trigger_for_step(step):
            self._timer.update_last_triggered_step(step)
            if self._should_stop():
                run_context.session.run(self._set_stop)
                run_context.request_stop()
                return
        if run_values.results["stop"]:
            run_context.request_stop()


class _CheckForStopping(SessionRunHook):
    """On a worker: ends the training when the chief says so."""

    def begin(self):
        self._stop = _stop_variable()

    def before_run(self, run_context):
        return SessionRunArgs(self._stop)

    def after_run(self, run_context, run_values):
        if run_values.results:
            run_context.request_stop()


def make_stop_at_checkpoint_step_hook(estimator, last_step, wait_after_file_check_secs=30):
    """For a worker: ends the training when there is a checkpoint of step `last_step` or later."""
    if estimator.config.is_chief:
        raise RuntimeError("this hook is for workers: the chief writes the checkpoint, so give it a StopAtStepHook.")
    return _StopAtCheckpointStep(estimator.model_dir, last_step, wait_after_file_check_secs)


class _StopAtCheckpointStep(SessionRunHook):
    def __init__(self, model_dir, last_step, pause):
        if last_step is None or model_dir is None:
            raise ValueError("model_dir and last_step must be specified.")
        self._model_dir, self._last_step, self._pause = model_dir, last_step, pause

    def begin(self):
        self._global_step = get_global_step()

    def before_run(self, run_context):
        return SessionRunArgs(self._global_step)

    def after_run(self, run_context, run_values):
        if run_values.results + 1 < self._last_step:
            return
        path = latest_checkpoint(self._model_dir)
        if path and int(load_variable(path, "global_step")) >= self._last_step:
            run_context.request_stop()
        elif run_values.results >= self._last_step:
            logging.info("Waiting for the checkpoint of step %d.", self._last_step)
            time.sleep(self._pause)
