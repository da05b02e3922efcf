"""A hook that evaluates a model while it is trained in the same process."""

import os
import tempfile

from tensorbraid.train.hooks import SecondOrStepTimer, SessionRunHook
from tensorbraid.train.saver import Saver

__all__ = ["InMemoryEvaluatorHook"]


class InMemoryEvaluatorHook(SessionRunHook):
    """Evaluates the variables at the beginning, after every `every_n_iter` steps, and at the end."""

    def __init__(self, estimator, input_fn, steps=None, hooks=None, name=None, every_n_iter=100):
        if every_n_iter is None or every_n_iter <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if estimator.config.num_ps_replicas > 0:
            raise ValueError("an InMemoryEvaluatorHook cannot be used with parameter servers: use an evaluator.")
        self._evaluate = lambda path: estimator.evaluate(input_fn, steps, hooks, path, name)
        self._timer = SecondOrStepTimer(every_steps=every_n_iter)

    def begin(self):
        self._steps = 0
        self._timer.reset()
        self._saver = Saver()

    def after_create_session(self, session, coord):
        if self._timer.should_trigger_for_step(self._steps):
            self._run(session)

    def after_run(self, run_context, run_values):
        self._steps += 1
        if self._timer.should_trigger_for_step(self._steps):
            self._run(run_context.session)

    def end(self, session):
        if self._timer.last_triggered_step() != self._steps:
            self._run(session)

    def _run(self, session):
        self._timer.update_last_triggered_step(self._steps)
        with tempfile.TemporaryDirectory() as folder:
            self._evaluate(self._saver.save(session, os.path.join(folder, "model"), write_meta_graph=False))
