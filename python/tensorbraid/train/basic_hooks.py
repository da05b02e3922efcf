"""The hooks of the library: they stop, log, count, save and check."""

import time

import numpy as np

from tensorbraid import _core, summary, tf_logging as logging
from tensorbraid.internal import arguments
from tensorbraid.train.hooks import NativeHook, tensor_of
from tensorbraid.train.saver import Saver

__all__ = [
    "CheckpointSaverHook", "GlobalStepWaiterHook", "LoggingTensorHook", "NanTensorHook", "ProfilerHook",
    "StepCounterHook", "StopAtStepHook", "SummarySaverHook"]


class _LateHook(NativeHook):
    """A hook whose C++ object is made in `begin`, when the graph is complete.

    Before that, and in copies, the hook consists of its arguments, so it can be pickled.
    """

    def __init__(self):
        super().__init__(None)

    def __getstate__(self):
        return {**self.__dict__, "_native": None}

    def _make(self):
        raise NotImplementedError

    def _hooks(self):
        self._native = self._make()
        return super()._hooks()


class StopAtStepHook(_LateHook):
    """Ends the training at a global step, or after a number of steps from the start of the session."""

    def __init__(self, num_steps=None, last_step=None):
        if num_steps is None and last_step is None:
            raise ValueError("One of num_steps or last_step must be specified.")
        if num_steps is not None and last_step is not None:
            raise ValueError("Only one of num_steps or last_step can be specified.")
        super().__init__()
        for argument, step in (("num_steps", num_steps), ("last_step", last_step)):
            if step is not None:
                arguments.number(argument, step)
        self._num_steps, self._last_step = num_steps, last_step

    def _make(self):
        if self._last_step is None:
            return _core.stop_after_steps(self._num_steps)
        return _core.stop_at_step(self._last_step)


class GlobalStepWaiterHook(_LateHook):
    """Delays the first step of this worker until the global step has reached a value."""

    def __init__(self, wait_until_step):
        super().__init__()
        self._wait_until_step = wait_until_step

    def _make(self):
        return _core.wait_for_step(self._wait_until_step)


class LoggingTensorHook(_LateHook):
    """Logs the values of tensors, which are fetched only in the runs that are logged."""

    def __init__(self, tensors, every_n_iter=None, every_n_secs=None, at_end=False, formatter=None):
        super().__init__()
        if every_n_iter is None and every_n_secs is None and not at_end:
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and every_n_secs is not None:
            raise ValueError("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.")
        if every_n_iter is not None and arguments.number("every_n_iter", every_n_iter) <= 0:
            raise ValueError(f"invalid every_n_iter={every_n_iter}.")
        if isinstance(tensors, dict):
            self._named = [(name, tensors[name]) for name in sorted(tensors)]
        else:
            tensors = arguments.items("tensors", tensors, "a list or a dictionary of tensors")
            self._named = list({_name(tensor): tensor for tensor in tensors}.items())
        self._every = every_n_iter, every_n_secs, at_end
        self._formatter = formatter

    def _make(self):
        steps, seconds, at_end = self._every
        steps = steps or (0 if seconds is not None else -1)
        names = [name for name, _ in self._named]
        tensors = [(str(name), tensor_of(tensor)) for name, tensor in self._named]
        return _core.logging_hook(tensors, steps, seconds or 0, at_end, _line_maker(self._formatter, names, timed=steps >= 0))


def _line_maker(formatter, names, timed):
    """A function from the values to the line that is logged, such as "loss = 0.5, step = 400 (0.512 sec)".

    The function must not refer to the hook: C++ keeps the function and the hook keeps the C++ object, a cycle.
    """
    if formatter:
        return lambda values: formatter(dict(zip(names, values)))
    last = None

    def line(values):
        nonlocal last
        with np.printoptions(suppress=True):
            text = ", ".join("%s = %s" % pair for pair in zip(names, values))
        before, last = last, time.time()
        return text if before is None or not timed else f"{text} ({last - before:.3f} sec)"

    return line


def _name(tensor):
    return tensor if isinstance(tensor, str) else tensor.name


class NanTensorHook(_LateHook):
    """Raises NanLossDuringTrainingError if the loss is not finite; with fail_on_nan_loss=False it ends the training."""

    def __init__(self, loss_tensor, fail_on_nan_loss=True):
        super().__init__()
        self._loss_tensor, self._fail_on_nan_loss = loss_tensor, fail_on_nan_loss

    def _make(self):
        return _core.nan_check(tensor_of(self._loss_tensor), not self._fail_on_nan_loss)


class StepCounterHook(_LateHook):
    """Logs the global steps per second, and writes them to an event file if a writer or a directory is given."""

    def __init__(self, every_n_steps=100, every_n_secs=None, output_dir=None, summary_writer=None):
        super().__init__()
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._every = every_n_steps or 0, every_n_secs or 0
        self._summary_writer, self._output_dir = summary_writer, output_dir

    def _make(self):
        return _core.step_counter(*self._every, _writer(self._summary_writer, self._output_dir))


class ProfilerHook(_LateHook):
    """Records when and where each node ran, regularly, and writes "timeline-STEP.json" for chrome://tracing."""

    def __init__(self, save_steps=None, save_secs=None, output_dir="", show_dataflow=True, show_memory=False):
        if save_steps is None and save_secs is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if save_steps is not None and save_secs is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        super().__init__()
        self._arguments = save_steps, save_secs, output_dir, bool(show_dataflow), bool(show_memory)

    def _make(self):
        return _core.profiler_hook(*self._arguments)


class SummarySaverHook(_LateHook):
    """Saves summaries of the first run that trains, and then regularly."""

    def __init__(self, save_steps=None, save_secs=None, output_dir=None, summary_writer=None, scaffold=None,
                 summary_op=None):
        super().__init__()
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        if (save_steps is None) == (save_secs is None):
            raise ValueError("exactly one of save_steps and save_secs should be provided.")
        self._every = save_steps, save_secs
        self._scaffold = scaffold
        self._summary_op = summary_op
        self._summary_writer, self._output_dir = summary_writer, output_dir

    def _hooks(self):
        op = self._scaffold.summary_op if self._summary_op is None else self._summary_op
        if op is None:
            return []
        if isinstance(op, (list, tuple)):
            op = summary.merge(list(op), collections=[])
        if self._summary_writer is None and self._output_dir is None:
            raise ValueError("SummarySaverHook needs an output_dir or a summary_writer")
        self._summary_op = op
        return super()._hooks()

    def _make(self):
        return _core.summary_saver(*self._every, self._summary_op, _writer(self._summary_writer, self._output_dir))


class CheckpointSaverHook(_LateHook):
    """Saves checkpoints: at the start, regularly, and at the end of a training without an error.

    With incremental_save_secs, also saves what has changed since the last save, so often. The saver then has
    incremental_save_restore=True.
    """

    def __init__(self, checkpoint_dir, save_secs=None, save_steps=None, saver=None, checkpoint_basename="model.ckpt",
                 scaffold=None, listeners=None, save_graph_def=True, incremental_save_secs=None):
        super().__init__()
        logging.info("Create CheckpointSaverHook.")
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        if (save_steps is None) == (save_secs is None):
            raise ValueError("exactly one of save_steps and save_secs should be provided.")
        self._directory = checkpoint_dir
        self._every = save_steps, save_secs
        self._saver = saver
        self._scaffold = scaffold
        self._basename = checkpoint_basename
        self._listeners = list(listeners or [])
        self._save_graph_def = save_graph_def
        if incremental_save_secs is not None and arguments.number("incremental_save_secs", incremental_save_secs) < 0:
            raise ValueError(f"incremental_save_secs must not be negative, it is {incremental_save_secs}")
        self._incremental_save_secs = incremental_save_secs

    def _make(self):
        saver = self._saver or (self._scaffold.saver if self._scaffold else None)
        saver = Saver(incremental_save_restore=self._incremental_save_secs is not None) if saver is None else saver
        return _core.checkpoint_saver(self._directory, *self._every, saver._core, self._basename,
                                      self._save_graph_def, self._listeners, self._incremental_save_secs)


def _writer(summary_writer, directory):
    """The C++ writer; None if neither a writer nor a directory is given."""
    if summary_writer is None and directory is None:
        return None
    return (summary.FileWriterCache.get(directory) if summary_writer is None else summary_writer)._core
