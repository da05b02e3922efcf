"""The supervised training of TensorFlow 1: one object that starts the session, saves, and ends its threads together."""

import contextlib
import threading
from typing import Any

from tensorbraid import _core, summary
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.session import Session
from tensorbraid.internal.session_config import session_options
from tensorbraid.internal.session_steps import checked_feeds
from tensorbraid.train import session_arguments
from tensorbraid.train.checkpoints import has_increments
from tensorbraid.train.coordinator import Coordinator
from tensorbraid.train.saver import Saver
from tensorbraid.train.scaffold import _readiness

__all__ = ["Supervisor"]


class Supervisor:
    """Supervises the training of one graph. Source: tf.train.Supervisor.

    Arguments have the value USE_DEFAULT, or None for "none". Times are in seconds; 0 stands for never. With
    save_incremental_checkpoint_secs, the chief also saves what has changed since the last save, so often. A saver that
    is given then needs incremental_save_restore=True.
    """

    USE_DEFAULT = 0

    def __init__(self, graph=None, ready_op: Any = USE_DEFAULT, ready_for_local_init_op: Any = USE_DEFAULT,
                 is_chief=True, init_op: Any = USE_DEFAULT, init_feed_dict=None, local_init_op: Any = USE_DEFAULT,
                 logdir=None, summary_op: Any = USE_DEFAULT, saver: Any = USE_DEFAULT, global_step: Any = USE_DEFAULT,
                 save_summaries_secs=120, save_model_secs=600, recovery_wait_secs=30, stop_grace_secs=120,
                 checkpoint_basename="model.ckpt", session_manager=None, summary_writer: Any = USE_DEFAULT,
                 init_fn=None, local_init_run_options=None, save_incremental_checkpoint_secs=None):
        if session_manager is not None or local_init_run_options is not None:
            raise NotImplementedError("session_manager and local_init_run_options of a Supervisor")
        self._graph = graph = graph or graphs.get_default_graph()
        defaults = dict(ready_op=ready_op, ready_for_local_init_op=ready_for_local_init_op, init_op=init_op,
                        local_init_op=local_init_op, summary_op=summary_op, saver=saver, global_step=global_step,
                        summary_writer=summary_writer)
        session_arguments.check(
            graph=graph, is_chief=is_chief, init_feed_dict=init_feed_dict, init_fn=init_fn,
            save_summaries_secs=save_summaries_secs, save_model_secs=save_model_secs,
            recovery_wait_secs=recovery_wait_secs, stop_grace_secs=stop_grace_secs,
            save_incremental_checkpoint_secs=save_incremental_checkpoint_secs, checkpoint_basename=checkpoint_basename,
            **{name: value for name, value in defaults.items() if not _is_default(value)})
        self._init = (init_op, init_feed_dict, ready_op, ready_for_local_init_op, local_init_op)
        self._save_secs = save_model_secs, save_summaries_secs
        options = dict(is_chief=bool(is_chief), logdir=logdir or "", save_model_secs=save_model_secs or 0,
                       save_summaries_secs=save_summaries_secs or 0, checkpoint_basename=checkpoint_basename,
                       stop_grace_secs=stop_grace_secs)
        if is_chief and logdir:
            options["save_incremental_checkpoint_secs"] = save_incremental_checkpoint_secs or 0
        # A task that waits looks for the chief at least as often as the library does by itself.
        if recovery_wait_secs != 30:
            options["recovery_wait_secs"] = recovery_wait_secs
        for name, value in (("init_op", init_op), ("ready_op", ready_op), ("local_init_op", local_init_op),
                            ("ready_for_local_init_op", ready_for_local_init_op)):
            if not _is_default(value):
                with graph.as_default():
                    options[name] = session_arguments.single(value) if name in ("init_op", "local_init_op") else value
        with graph.as_default():
            readiness = _readiness(graph)
            if readiness is not None:
                options.setdefault("ready_for_local_init_op", readiness[0])
                options.setdefault("ready_op", readiness[1])
            if init_feed_dict is not None:
                options["init_feed"] = checked_feeds(graph, init_feed_dict)
            if init_fn is not None:
                options["init_fn"] = init_fn
            marked = graph.get_collection(GraphKeys.GLOBAL_STEP)
            step = global_step
            if _is_default(step):  # without a marked global step, C++ looks for a variable of this name
                step = marked[0] if marked else None
            if step is not None:
                options["global_step"] = step
            self._saver = saver
            if _is_default(saver):
                variables = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
                self._saver = None
                if variables and logdir and is_chief:
                    self._saver = Saver(incremental_save_restore=bool(save_incremental_checkpoint_secs))
                    if has_increments(logdir):
                        self._saver._follow_increments()
            if self._saver is not None:
                options["saver"] = self._saver._core
            else:
                options["save_model_secs"] = options["save_incremental_checkpoint_secs"] = 0
            self._summary_op = summary_op
            if _is_default(summary_op):
                self._summary_op = summary.merge_all() if is_chief and logdir else None
            options["summary_op"] = self._summary_op
            self._summary_writer = None if _is_default(summary_writer) else summary_writer
            if self._summary_writer is not None:
                options["summary_writer"] = self._summary_writer._core
            elif _is_default(summary_writer) and logdir and is_chief:
                self._summary_writer = summary.FileWriter(logdir)
                options["summary_writer"] = self._summary_writer._core
        self._core = _core.Supervisor._make(graph, options)
        self._early = Coordinator()  # what the program uses before it has a session

    is_chief = property(lambda self: self._core.is_chief)
    global_step = property(lambda self: self._core.global_step)
    saver = property(lambda self: self._saver)
    save_path = property(lambda self: self._core.save_path or None)
    save_model_secs = property(lambda self: self._save_secs[0])
    save_summaries_secs = property(lambda self: self._save_secs[1])
    summary_op = property(lambda self: self._summary_op)
    summary_writer = property(lambda self: self._summary_writer)
    init_op = property(lambda self: self._init[0] or None)
    init_feed_dict = property(lambda self: self._init[1])
    ready_op = property(lambda self: self._init[2] or None)
    ready_for_local_init_op = property(lambda self: self._init[3] or None)

    @property
    def coord(self):
        """The coordinator of the threads."""
        return self._core.coordinator or self._early

    def prepare_or_wait_for_session(self, master="", config=None, wait_for_checkpoint=False, max_wait_secs=7200,
                                    start_standard_services=True):
        """A tf.Session in which the model is ready. The chief restores or initialises it; other tasks wait for that."""
        session_arguments.check(master=master, max_wait_secs=max_wait_secs)
        session = Session._wrap(self._core.prepare(master or "", session_options(config, master), wait_for_checkpoint,
                                                   max_wait_secs, start_standard_services))
        self.start_queue_runners(session)
        return session

    def start_standard_services(self, sess):
        """Starts the chief's threads that save checkpoints and summaries."""
        if not self.is_chief:
            raise RuntimeError("Only chief supervisor can start standard services. Because only chief supervisors can "
                               "write events.")
        self._core.start_standard_services()
        return []

    def start_queue_runners(self, sess, queue_runners=None):
        """Starts the queue runners, by default those of the graph. `stop` ends them."""
        arguments.check(isinstance(sess, Session), "sess", "a tf.Session", sess)
        if queue_runners is None:
            queue_runners = self._graph.get_collection(GraphKeys.QUEUE_RUNNERS)
        self._core.start_queue_runners(sess._session(), [runner._core for runner in queue_runners])
        return []

    def loop(self, timer_interval_secs, target, args=None, kwargs=None):
        """Calls the function on a thread of its own, once per interval, until a stop is requested."""
        arguments.function("target", target)
        self._core.loop(timer_interval_secs or 0, lambda: target(*(args or ()), **(kwargs or {})))

    def summary_computed(self, sess, summary, global_step=None):
        """Writes a summary that the program has computed, by default at the present global step."""
        if not self._summary_writer:
            raise RuntimeError("Writing a summary requires a summary writer.")
        text = summary if isinstance(summary, bytes) else summary.SerializeToString()
        self._core.summary_computed(text, None if global_step is None else int(global_step))

    @contextlib.contextmanager
    def managed_session(self, master="", config=None, start_standard_services=True, close_summary_writer=True):
        """A session for a `with` block, at whose end the supervisor stops.

        An error inside of the block is raised after that. OutOfRangeError, the end of the input, is no error.
        """
        session = None
        try:
            session = self.prepare_or_wait_for_session(master, config, start_standard_services=start_standard_services)
            yield session
        except Exception as error:
            self.request_stop(error)
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                if session is not None:
                    session.close()

    def should_stop(self):
        """Whether a stop was requested."""
        return self._core.should_stop()

    def request_stop(self, ex=None):
        """Asks all threads to stop. `stop` raises the first exception."""
        self.coord.request_stop(ex)

    @contextlib.contextmanager
    def stop_on_exception(self):
        """An exception inside of the `with` requests a stop, and ends there."""
        with self.coord.stop_on_exception():
            yield

    def wait_for_stop(self):
        """Blocks until a stop is requested."""
        self._core.wait_for_stop()

    def stop(self, threads=None, close_summary_writer=True, ignore_live_threads=False):
        """Ends the threads, saves a last checkpoint if there was no error, and closes the session."""
        if not close_summary_writer:
            raise NotImplementedError("close_summary_writer=False")
        coordinator = self.coord
        exception = coordinator._exception
        for thread in threads or []:
            if isinstance(thread, threading.Thread):
                coordinator.request_stop()
                thread.join()
        try:
            self._core.stop()
        except Exception:
            if exception is None:
                raise
        if exception is not None:
            raise exception

    Loop = loop
    PrepareSession = prepare_or_wait_for_session
    RequestStop = request_stop
    ShouldStop = should_stop
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop = stop
    StopOnException = stop_on_exception
    SummaryComputed = summary_computed
    WaitForStop = wait_for_stop


def _is_default(value):
    return isinstance(value, int) and value == Supervisor.USE_DEFAULT
