"""Saves the positions of input pipelines in checkpoints."""

import os

from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import make_op
from tensorbraid.train.checkpoints import latest_checkpoint
from tensorbraid.train.global_step import get_global_step
from tensorbraid.train.hooks import SecondOrStepTimer, SessionRunArgs, SessionRunHook
from tensorbraid.train.saveables import SaveableObject, SaveSpec
from tensorbraid.train.saver import Saver

__all__ = ["CheckpointInputPipelineHook", "make_saveable_from_iterator"]

_ITERATORS = ("Iterator", "IteratorV2", "OneShotIterator")


class _SavedIterator(SaveableObject):
    """The position of an iterator, including the elements in its buffers."""

    def __init__(self, resource):
        with graphs.get_default_graph().colocate_with(resource.op):
            state = make_op("SerializeIterator", [resource]).outputs[0]
        super().__init__(resource, [SaveSpec(state, "", resource.name + "_STATE")], resource.name)

    def restore(self, restored_tensors, restored_shapes):
        """The operation that restores the position. The iterator's initializer must run before it."""
        with graphs.get_default_graph().colocate_with(self.op.op):
            return make_op("DeserializeIterator", [self.op, restored_tensors[0]])


def make_saveable_from_iterator(iterator, external_state_policy=None):
    """The iterator's position as an object that a Saver saves, for example through the collection "saveable_objects".

    Saving fails for datasets of Python generators or tf.py_func, whose position is unknown. The argument
    `external_state_policy` has no effect, because the state of random functions is saved.
    """
    return _SavedIterator(iterator._core.resource)


class CheckpointInputPipelineHook(SessionRunHook):
    """Saves the positions of the graph's iterators whenever an Estimator saves a checkpoint, in separate files.

    A training that is started again continues at the latest position. In the estimator's model_dir, the files are
    input.ckpt-STEP and checkpoint_input. In a cluster with several workers each has its own, such as
    input_worker_0.ckpt-STEP.
    """

    def __init__(self, estimator, external_state_policy=None):
        config = estimator.config
        name = "input"
        if config.num_worker_replicas > 1:
            name = f"input_{config.task_type}_{config.task_id}"
        self._directory = estimator.model_dir
        self._path = os.path.join(self._directory, name + ".ckpt")
        self._latest = "checkpoint_" + name
        self._timer = SecondOrStepTimer(every_secs=config.save_checkpoints_secs,
                                        every_steps=config.save_checkpoints_steps)

    def begin(self):
        graph = graphs.get_default_graph()
        self._step = get_global_step()
        if self._step is None:
            raise RuntimeError("Global step should be created to use CheckpointInputPipelineHook.")
        iterators = [op.outputs[0] for op in graph.get_operations() if op.type in _ITERATORS]
        self._saver = Saver([_SavedIterator(iterator) for iterator in iterators], sharded=True, allow_empty=True)

    def after_create_session(self, session, coord):
        self._is_ready = False

    def before_run(self, run_context):
        # after_create_session is too early: another hook may initialise the iterators after it.
        if not self._is_ready:
            self._restore(run_context.session)
            self._is_ready = True
        return SessionRunArgs(self._step)

    def after_run(self, run_context, run_values):
        if self._timer.should_trigger_for_step(int(run_values.results) + 1):
            step = int(run_context.session.run(self._step))
            if self._timer.should_trigger_for_step(step):
                self._save(run_context.session, step)

    def end(self, session):
        step = int(session.run(self._step))
        if step != self._timer.last_triggered_step():
            self._save(session, step)

    def _restore(self, session):
        """Restores the latest positions, or saves the present ones if none were saved."""
        path = latest_checkpoint(self._directory, self._latest)
        step = int(session.run(self._step))
        if path is None:
            self._save(session, step)
        else:
            self._saver.restore(session, path)
            self._timer.update_last_triggered_step(step)

    def _save(self, session, step):
        self._timer.update_last_triggered_step(step)
        self._saver.save(session, self._path, step, self._latest, write_meta_graph=False)
