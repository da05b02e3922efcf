"""Evaluates new checkpoints of a training that goes on."""

import collections
import os
import time

from tensorbraid import tf_logging as logging
from tensorbraid.train.hooks import SecondOrStepTimer
from tensorbraid.train.listeners import CheckpointSaverListener

__all__ = []

_PAUSE = 1.0  # seconds between two looks for a new checkpoint, at least


class EvalStatus:
    """The status of an evaluation: it was done, or why it was not."""

    EVALUATED, MISSING_CHECKPOINT, NO_NEW_CHECKPOINT = "evaluated", "missing checkpoint", "no new checkpoint"


EvalResult = collections.namedtuple("EvalResult", ["status", "metrics", "checkpoint_path"], defaults=[None, None])


class ContinuousEvalListener:
    """The base class of listeners, which can end the evaluator before and after each attempt to evaluate."""

    def before_eval(self):
        """Called before an attempt. The evaluator ends if the result is False."""
        return True

    def after_eval(self, eval_result):
        """Called after an attempt with its EvalResult. The evaluator ends if the result is False."""
        return True


class Evaluator:
    """Evaluates the latest checkpoint, if it is new, and exports the model. Keeps the last metrics and exports."""

    def __init__(self, estimator, eval_spec, max_steps):
        self._estimator = estimator
        self._spec = eval_spec
        self._max_steps = max_steps
        self._evaluated = None
        self.metrics = self.exports = None

    @property
    def is_over(self):
        """Whether the last checkpoint of the training has been evaluated."""
        return self.metrics is not None and self._max_steps is not None and (
            self.metrics["global_step"] >= self._max_steps)

    def evaluate_latest(self):
        """Evaluates the latest checkpoint unless it was evaluated before. Returns whether it was new."""
        return self.look().status == EvalStatus.EVALUATED

    def look(self):
        """Evaluates the latest checkpoint unless it was evaluated before. Returns the EvalResult."""
        path = self._estimator.latest_checkpoint()
        if path is None:
            logging.warning("Estimator is not trained yet. Will start an evaluation when a checkpoint is ready.")
            return EvalResult(EvalStatus.MISSING_CHECKPOINT)
        if path == self._evaluated:
            return EvalResult(EvalStatus.NO_NEW_CHECKPOINT)
        self.metrics = self._estimator.evaluate(self._spec.input_fn, steps=self._spec.steps, hooks=self._spec.hooks,
                                                checkpoint_path=path, name=self._spec.name)
        self._evaluated = path
        self.exports = [self._export(exporter, path) for exporter in self._spec.exporters]
        return EvalResult(EvalStatus.EVALUATED, self.metrics, path)

    def _export(self, exporter, path):
        directory = os.path.join(self._estimator.model_dir, "export", exporter.name)
        return exporter.export(estimator=self._estimator, export_path=directory, checkpoint_path=path,
                               eval_result=self.metrics, is_the_final_export=self.is_over)


class EvaluatingListener(CheckpointSaverListener):
    """Evaluates the checkpoints of a training in the same process, and the last one in any case."""

    def __init__(self, evaluator, throttle_secs):
        self._evaluator = evaluator
        self._timer = SecondOrStepTimer(every_secs=throttle_secs)
        self._has_saved = False

    def begin(self):
        # The checkpoint from which the training continues is not saved again.
        self._has_saved = self._evaluator._estimator.latest_checkpoint() is not None

    def after_save(self, session, global_step_value):
        if not self._has_saved:  # the first checkpoint has the initial values
            self._has_saved = True
        elif self._timer.should_trigger_for_step(global_step_value):
            self._evaluate(global_step_value)

    def end(self, session, global_step_value):
        if self._timer.last_triggered_step() != global_step_value:
            self._evaluate(global_step_value)

    def _evaluate(self, step):
        self._timer.update_last_triggered_step(step)
        self._evaluator.evaluate_latest()


def run_evaluator(estimator, train_spec, eval_spec, listener=ContinuousEvalListener()):
    """Runs the task "evaluator", which evaluates new checkpoints until it has evaluated the one of step `max_steps`.

    Without `max_steps` it runs for ever. The listener may end it at any attempt.
    """
    if eval_spec.start_delay_secs:
        logging.info("Waiting %f secs before starting eval.", eval_spec.start_delay_secs)
        time.sleep(eval_spec.start_delay_secs)
    evaluator = Evaluator(estimator, eval_spec, train_spec.max_steps)
    while not evaluator.is_over:
        start = time.time()
        if not listener.before_eval():
            logging.info("Exiting evaluation: the listener's before_eval returned False.")
            return
        result = evaluator.look()
        if not listener.after_eval(result):
            logging.info("Exiting evaluation: the listener's after_eval returned False.")
            return
        pause = 0.0 if result.status == EvalStatus.EVALUATED else _PAUSE
        if not evaluator.is_over:
            time.sleep(max(pause, eval_spec.throttle_secs - (time.time() - start)))
    logging.info("Exiting evaluation, global_step=%s >= train max_steps=%s", evaluator.metrics["global_step"],
                 train_spec.max_steps)
