"""Sessions in which the model is ready: restored from a checkpoint, initialised, or made ready by another task."""

from tensorbraid import _core, errors
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.session import Session
from tensorbraid.internal.session_config import session_options
from tensorbraid.internal.session_steps import checked_feeds
from tensorbraid.train import session_arguments
from tensorbraid.train.checkpoints import get_checkpoint_state

__all__ = ["SessionManager"]


class SessionManager:
    """Makes sessions of one graph. Source: tf.train.SessionManager.

    A model is ready when `ready_op` names no variable. The library also tries again while tasks cannot be reached.
    """

    def __init__(self, local_init_op=None, ready_op=None, ready_for_local_init_op=None, graph=None,
                 recovery_wait_secs=30, local_init_run_options=None, local_init_feed_dict=None):
        if local_init_run_options is not None or local_init_feed_dict is not None:
            raise NotImplementedError("local_init_run_options and local_init_feed_dict of a SessionManager")
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError("If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                             f"ready_for_local_init_op [{ready_for_local_init_op}]")
        session_arguments.check(local_init_op=local_init_op, ready_op=ready_op, graph=graph,
                                ready_for_local_init_op=ready_for_local_init_op, recovery_wait_secs=recovery_wait_secs)
        self._graph = graphs.get_default_graph() if graph is None else graph
        self._options = dict(local_init_op=local_init_op, ready_op=ready_op,
                             ready_for_local_init_op=ready_for_local_init_op, recovery_wait_secs=recovery_wait_secs)

    def _ready(self, master, config, is_chief, **options):
        """The session that the library makes ready."""
        given = {name: value for name, value in dict(self._options, **options).items() if value is not None}
        with self._graph.as_default():
            given.update({name: session_arguments.single(given[name]) for name in ("init_op", "local_init_op")
                          if name in given})
        try:
            core = _core.ready_session(self._graph, master or "", session_options(config, master), is_chief, given)
        except errors.FailedPreconditionError as error:
            errors.add_operation(error, self._graph)
            if error.op is not None:  # an operation has failed
                raise
            raise RuntimeError(error.message) from None
        return Session._wrap(core)

    def prepare_session(self, master, init_op=None, saver=None, checkpoint_dir=None,
                        checkpoint_filename_with_path=None, wait_for_checkpoint=False, max_wait_secs=7200, config=None,
                        init_feed_dict=None, init_fn=None):
        """A session whose variables a checkpoint restores or, without one, init_op and init_fn(session) initialize."""
        session_arguments.check(master=master, init_op=init_op, init_feed_dict=init_feed_dict, init_fn=init_fn,
                                max_wait_secs=max_wait_secs)
        restore = _restorer(saver, checkpoint_dir, checkpoint_filename_with_path)
        local = self._options["local_init_op"]
        if restore is None and init_op is None and init_fn is None and local is None:
            raise RuntimeError("Model is not initialized and no init_op or init_fn or local_init_op was given")
        feed = None if init_feed_dict is None else checked_feeds(self._graph, init_feed_dict)
        return self._ready(master, config, True, restore=restore, init_op=init_op, init_feed=feed, init_fn=init_fn,
                           wait_for_checkpoint=bool(wait_for_checkpoint and restore), max_wait_secs=max_wait_secs)

    def recover_session(self, master, saver=None, checkpoint_dir=None, checkpoint_filename_with_path=None,
                        wait_for_checkpoint=False, max_wait_secs=7200, config=None):
        """A session, and whether it has the model of a checkpoint and is ready."""
        session_arguments.check(master=master, max_wait_secs=max_wait_secs)
        restore = _restorer(saver, checkpoint_dir, checkpoint_filename_with_path)
        session = Session(master, self._graph, config)
        if restore is None:
            return session, False
        try:
            return self._ready(master, config, True, restore=restore, wait_for_checkpoint=bool(wait_for_checkpoint),
                               init_fn=_nothing_restored, max_wait_secs=max_wait_secs), True
        except _NothingRestored:
            return session, False
        except RuntimeError:  # the checkpoint lacks variables
            restore(session)
            return session, False

    def wait_for_session(self, master, config=None, max_wait_secs=float("Inf")):
        """A session with the model that another task, the chief, makes ready."""
        session_arguments.check(master=master, max_wait_secs=max_wait_secs)
        longest = 10 * 365 * 24 * 3600
        return self._ready(master, config, False, max_wait_secs=min(max_wait_secs, longest))


class _NothingRestored(Exception):
    """There is no checkpoint."""


def _nothing_restored(_):
    raise _NothingRestored


def _restorer(saver, checkpoint_dir, path):
    """A function that restores a session, and returns whether there was a checkpoint; None if none is asked for."""
    arguments.check(saver is None or hasattr(saver, "restore"), "saver", "a tf.train.Saver", saver)
    for name, value in (("checkpoint_dir", checkpoint_dir), ("checkpoint_filename_with_path", path)):
        if value is not None:
            arguments.path(name, value)
    if checkpoint_dir and path:
        raise ValueError("Can not provide both checkpoint_dir and checkpoint_filename_with_path.")
    if not saver or not (checkpoint_dir or path):
        return None

    def restore(session):
        if path:
            saver.restore(session, path)
            return True
        state = get_checkpoint_state(checkpoint_dir)
        if not state or not state.model_checkpoint_path:
            return False
        saver.restore(session, state.model_checkpoint_path)
        saver.recover_last_checkpoints(state.all_model_checkpoint_paths)
        return True

    return restore
