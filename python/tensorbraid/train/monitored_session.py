"""Monitored sessions: they start and recover by themselves, and hooks see each run. The loop is that of C++."""

import abc
import inspect

from tensorbraid import _core, errors, tf_logging as logging
from tensorbraid.internal import arguments, graphs, initial_operations
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.session_config import check_run_metadata, run_options, session_options, stage_lookups
from tensorbraid.internal.session_steps import Steps
from tensorbraid.train.basic_hooks import CheckpointSaverHook, StepCounterHook, SummarySaverHook
from tensorbraid.train.checkpoints import has_increments
from tensorbraid.train.fed_input import FedInputsHook, has_fed_input
from tensorbraid.train.global_step import get_global_step
from tensorbraid.train.hooks import SessionRunArgs, SessionRunContext, begin, native_hooks
from tensorbraid.train.scaffold import Scaffold
from tensorbraid.train.session_manager import SessionManager
from tensorbraid.train.staged_input import mark_target_node

__all__ = [
    "ChiefSessionCreator", "MonitoredSession", "MonitoredTrainingSession", "SessionCreator",
    "SingularMonitoredSession", "WorkerSessionCreator"]

USE_DEFAULT = object()


class SessionCreator(abc.ABC):
    """Says how a session is made."""

    @abc.abstractmethod
    def create_session(self):
        """A new session that is ready for steps."""
        raise NotImplementedError("create_session is not implemented for {}.".format(self))


class _Creator(SessionCreator):
    def __init__(self, scaffold, master, config, **options):
        arguments.check(scaffold is None or isinstance(scaffold, Scaffold), "scaffold", "a tf.train.Scaffold", scaffold)
        self._scaffold = scaffold or Scaffold()
        self._master = master
        self._config = config
        self._options = options
        self._restored_from = None  # the path of a checkpoint that takes the place of init_op

    def _manager(self):
        scaffold, graph = self._scaffold.finalize(), graphs.get_default_graph()
        local = scaffold.local_init_op
        if local is None:
            local = initial_operations.initialize(graph, graph.get_collection(GraphKeys.LOCAL_VARIABLES), "init_local")
        return SessionManager(local, scaffold.ready_op, scaffold.ready_for_local_init_op, graph)


class ChiefSessionCreator(_Creator):
    """The session of the task that initialises or restores the model.

    The latest checkpoint of a directory is restored with the increments that follow it, and another
    `checkpoint_filename_with_path` alone.
    """

    def __init__(self, scaffold=None, master="", config=None, checkpoint_dir=None, checkpoint_filename_with_path=None):
        super().__init__(scaffold, master, config, is_chief=True, checkpoint_dir=checkpoint_dir or "")
        if checkpoint_filename_with_path and checkpoint_dir:
            raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
        self._restored_from = checkpoint_filename_with_path
        self._scaffold._follow_increments_of(checkpoint_filename_with_path)

    def create_session(self):
        """A tf.Session whose variables have the values of the checkpoint, or their first ones."""
        manager, scaffold, graph = self._manager(), self._scaffold, graphs.get_default_graph()
        init_op = scaffold.init_op
        if init_op is None:
            init_op = initial_operations.initialize(graph, graph.get_collection(GraphKeys.GLOBAL_VARIABLES), "init")
        init_fn, saver = scaffold.init_fn, None if scaffold.saver._is_empty else scaffold.saver
        session = manager.prepare_session(
            self._master, init_op, saver, self._options["checkpoint_dir"],
            self._restored_from, config=self._config, init_feed_dict=scaffold.init_feed_dict,
            init_fn=init_fn and (lambda session: init_fn(scaffold, session)))
        graph.finalize()
        return session


class WorkerSessionCreator(_Creator):
    """The session of a task that waits for the chief."""

    def __init__(self, scaffold=None, master="", config=None, max_wait_secs=30 * 60):
        super().__init__(scaffold, master, config, is_chief=False, max_wait_secs=max_wait_secs)

    def create_session(self):
        """A tf.Session in which the chief has made the model ready."""
        session = self._manager().wait_for_session(self._master, self._config, self._options["max_wait_secs"])
        graphs.get_default_graph().finalize()
        return session


def _hooks(name, hooks):
    """The hooks of an argument as a list; None stands for none."""
    hooks = [] if hooks is None else arguments.items(name, hooks, "a list of hooks")
    for hook in hooks:
        arguments.check(hasattr(hook, "before_run"), name, "a list of hooks", hook)
    return hooks


class MonitoredSession:
    """Runs steps with hooks. Source: tf.train.MonitoredSession.

    The graph is finalized. When a step meets the end of the input, `run` raises OutOfRangeError, with which the `with`
    block ends without an error.
    """

    def __init__(self, session_creator=None, hooks=None, stop_grace_period_secs=120):
        creator = session_creator or ChiefSessionCreator()
        if not isinstance(creator, _Creator):
            raise NotImplementedError("a session_creator other than ChiefSessionCreator and WorkerSessionCreator: a "
                                      "MonitoredSession makes its sessions itself")
        self._graph = graph = graphs.get_default_graph()
        self._steps = Steps(graph)
        self._scopes = []
        hooks = _hooks("hooks", hooks)
        if has_fed_input(graph):
            hooks.insert(0, FedInputsHook())
        begin(hooks)
        stage_lookups(creator._config, graph)
        scaffold = creator._scaffold.finalize()
        logging.info("Graph was finalized.")
        options = dict(creator._options, master=creator._master, **scaffold._native())
        options["session"] = session_options(creator._config, creator._master)
        if creator._restored_from:
            options.update(_restored(scaffold, creator._restored_from))
        options["queue_runners"] = [runner._core for runner in graph.get_collection(GraphKeys.QUEUE_RUNNERS)]
        step = get_global_step(graph)
        if isinstance(step, _core.Variable):
            options["global_step"] = step
        try:
            self._core = _core.MonitoredSession._make(graph, native_hooks(hooks), options)
        except errors.FailedPreconditionError as error:
            raise type(error)(None, None, arguments.in_python(error.message)) from None

    @property
    def graph(self):
        """The graph of the session; None if the session is closed."""
        return None if self._core.closed else self._graph

    def _session(self):
        return self._inner()._session()

    def _inner(self):
        self._check_open()
        return self._core.session

    def _tf_sess(self):
        """The tf.Session, whose runs bypass the hooks. Programs use this name of TensorFlow's though it is private."""
        return None if self._core.closed else self._core.session

    def _check_open(self):
        if self._core.closed:
            raise RuntimeError("Attempted to use a closed session.")

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Runs one step with what the hooks add to it. Returns the values of `fetches`, in their structure."""
        self._check_open()
        check_run_metadata(run_metadata)
        step = self._steps.find(fetches, feed_dict)
        context = SessionRunContext(SessionRunArgs(fetches, feed_dict, options), lambda: self._core.session)
        try:
            values, metadata = self._core.run(step.signature, step.values(feed_dict), context, run_options(options))
        except errors.OpError as error:
            errors.add_operation(error, self._graph)
            raise
        if run_metadata is not None:
            run_metadata.ParseFromString(metadata)
        return step.restore(values)

    class StepContext:
        """The argument of the function that run_step_fn calls."""

        def __init__(self, session, run_with_hooks_fn):
            self._session = session
            self._run_with_hooks = run_with_hooks_fn

        @property
        def session(self):
            """The tf.Session, whose runs bypass the hooks."""
            return self._session

        def run_with_hooks(self, *args, **kwargs):
            return self._run_with_hooks(*args, **kwargs)

        def request_stop(self):
            """Ends the training: the function does not return."""
            raise StopIteration("step_fn has requested the iterations to stop.")

    def run_step_fn(self, step_fn):
        """Calls the function with a StepContext, and returns what it returns. Its argument is named step_context."""
        names = tuple(inspect.signature(step_fn).parameters)
        if names != ("step_context",):
            raise ValueError("`step_fn` may either have one `step_context` argument, or `self` and `step_context` "
                             f"arguments if it's an instance method. Got {names} instead.")
        context = self.StepContext(self._inner(), self.run)
        try:
            return step_fn(context)
        except StopIteration:
            self._core.coordinator.request_stop()
            return None

    def should_stop(self):
        """Whether the loop should end."""
        return self._core.should_stop()

    def close(self):
        """Ends the hooks, the threads and the session."""
        self._core.close(None)

    def __enter__(self):
        scope = self._graph.as_default()
        scope.__enter__()
        self._scopes.append(scope)
        return self

    def __exit__(self, kind, error, traceback):
        if isinstance(error, (errors.OutOfRangeError, StopIteration)):
            error = None
        try:
            self._core.close(error)
        finally:
            self._scopes.pop().__exit__(None, None, None)
        return error is None


class SingularMonitoredSession(MonitoredSession):
    """A MonitoredSession of one process, without recovery. `raw_session` is the tf.Session."""

    def __init__(self, hooks=None, scaffold=None, master="", config=None, checkpoint_dir=None,
                 stop_grace_period_secs=120, checkpoint_filename_with_path=None):
        super().__init__(ChiefSessionCreator(scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path),
                         hooks, stop_grace_period_secs)

    def raw_session(self):
        """The session itself, without hooks."""
        return self._inner()


def _restored(scaffold, path):
    """The options of a session whose variables have the values of a checkpoint."""
    def restore(session):
        scaffold.saver.restore(session, path)

    return {"init_op": graphs.make_op("NoOp", [], "no_init"), "init_feed": [], "init_fn": restore}


def MonitoredTrainingSession(master="", is_chief=True, checkpoint_dir=None, scaffold=None, hooks=None,
                             chief_only_hooks=None, save_checkpoint_secs=USE_DEFAULT, save_summaries_steps=USE_DEFAULT,
                             save_summaries_secs=USE_DEFAULT, config=None, stop_grace_period_secs=120,
                             log_step_count_steps=100, max_wait_secs=7200, save_checkpoint_steps=USE_DEFAULT,
                             summary_dir=None, save_graph_def=True, save_incremental_checkpoint_secs=None,
                             target_nodes_or_tensors=None):
    """A MonitoredSession for training. The chief saves checkpoints and summaries if it has a directory.

    Defaults: a checkpoint every 600 seconds, summaries every 100 steps. With save_incremental_checkpoint_secs, the chief
    also saves what has changed since the last save, so often. `target_nodes_or_tensors` is as the argument of
    tf.train.mark_target_node.
    """
    if target_nodes_or_tensors is not None:
        mark_target_node(target_nodes_or_tensors)
    if save_summaries_steps is USE_DEFAULT and save_summaries_secs is USE_DEFAULT:
        save_summaries_steps, save_summaries_secs = 100, None
    save_summaries_steps = None if save_summaries_steps is USE_DEFAULT else save_summaries_steps
    save_summaries_secs = None if save_summaries_secs is USE_DEFAULT else save_summaries_secs
    if save_checkpoint_steps is USE_DEFAULT and save_checkpoint_secs is USE_DEFAULT:
        save_checkpoint_steps, save_checkpoint_secs = None, 600
    save_checkpoint_steps = None if save_checkpoint_steps is USE_DEFAULT else save_checkpoint_steps
    save_checkpoint_secs = None if save_checkpoint_secs is USE_DEFAULT else save_checkpoint_secs
    if save_checkpoint_secs and save_checkpoint_steps:
        raise ValueError("exactly one of save_checkpoint_secs and save_checkpoint_steps should be provided.")

    scaffold = scaffold or Scaffold()
    arguments.check(isinstance(scaffold, Scaffold), "scaffold", "a tf.train.Scaffold", scaffold)
    if save_incremental_checkpoint_secs is not None:
        if not (save_checkpoint_secs or save_checkpoint_steps):
            raise ValueError("save_incremental_checkpoint_secs needs save_checkpoint_secs or save_checkpoint_steps, "
                             "since increments follow a full checkpoint")
        if is_chief and save_incremental_checkpoint_secs and not checkpoint_dir:
            raise ValueError("save_incremental_checkpoint_secs needs a checkpoint_dir, in which increments are saved")
        scaffold._incremental = True
    elif is_chief and checkpoint_dir and has_increments(checkpoint_dir):
        scaffold._follows_increments = True
    arguments.check(isinstance(master, (str, bytes, type(None))), "master", "a string", master)
    hooks = _hooks("hooks", hooks)
    all_hooks = []
    if not is_chief:
        creator = WorkerSessionCreator(scaffold, master, config, max_wait_secs)
        creator._options["checkpoint_dir"] = checkpoint_dir or ""  # so that the worker recovers with the chief
    else:
        creator = ChiefSessionCreator(scaffold, master, config, checkpoint_dir)
        creator._options["max_wait_secs"] = max_wait_secs
        all_hooks.extend(_hooks("chief_only_hooks", chief_only_hooks))
        summary_dir = summary_dir or checkpoint_dir
        if summary_dir:
            if log_step_count_steps and log_step_count_steps > 0:
                all_hooks.append(StepCounterHook(output_dir=summary_dir, every_n_steps=log_step_count_steps))
            if save_summaries_steps or save_summaries_secs:
                all_hooks.append(SummarySaverHook(scaffold=scaffold, save_steps=save_summaries_steps or None,
                                                  save_secs=save_summaries_secs or None, output_dir=summary_dir))
        if checkpoint_dir and (save_checkpoint_secs or save_checkpoint_steps):
            all_hooks.append(CheckpointSaverHook(checkpoint_dir, save_steps=save_checkpoint_steps or None,
                                                 save_secs=save_checkpoint_secs or None, scaffold=scaffold,
                                                 save_graph_def=save_graph_def,
                                                 incremental_save_secs=save_incremental_checkpoint_secs))
    return MonitoredSession(creator, list(hooks or []) + all_hooks, stop_grace_period_secs)
