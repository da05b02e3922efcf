"""Hooks: code that runs before and after the steps of a training session."""

import collections
import time

from tensorbraid import _core
from tensorbraid.internal import graphs
from tensorbraid.internal.session_config import run_options, run_options_message
from tensorbraid.internal.session_steps import Fetches, checked_feeds

__all__ = [
    "FeedFnHook", "FinalOpsHook", "NanLossDuringTrainingError", "SecondOrStepTimer", "SessionRunArgs",
    "SessionRunContext", "SessionRunHook", "SessionRunValues"]


class SessionRunArgs(collections.namedtuple("SessionRunArgs", ["fetches", "feed_dict", "options"])):
    """The fetches and feeds that a hook adds to a run. `options` is a RunOptions, merged with those of other hooks.

    The run has the longest of their timeouts. It is traced, and returns graphs, if one of them says so.
    """

    def __new__(cls, fetches, feed_dict=None, options=None):
        return super().__new__(cls, fetches, feed_dict, options)


SessionRunValues = collections.namedtuple("SessionRunValues", ["results", "options", "run_metadata"])
SessionRunValues.__doc__ = """The results of what a hook added to a run, in the structure of its fetches.

`options` are the RunOptions of the run, and `run_metadata` is the RunMetadata with what they record."""


class _Values(SessionRunValues):
    """The values of a run, whose messages are made when a hook looks at them."""

    @property
    def options(self):
        return run_options_message(self[1])

    @property
    def run_metadata(self):
        from tensorbraid import proto

        return proto.RunMetadata.FromString(self[2] or b"")

    def __iter__(self):
        return iter((self.results, self.options, self.run_metadata))


def _values(results, options, run_metadata):
    """Makes a hook's arguments of those that C++ passes: `options` of run_options, and the metadata's bytes or None."""
    return _Values(results, options, run_metadata)


class SessionRunContext:
    """The present run, as hooks see it."""

    def __init__(self, original_args, session):
        self._original_args = original_args
        self._session = session
        self._stop_requested = False

    @property
    def original_args(self):
        """The SessionRunArgs of the call of run."""
        return self._original_args

    @property
    def session(self):
        """The tf.Session of the run. Its own runs bypass the hooks."""
        return self._session() if callable(self._session) else self._session

    @property
    def stop_requested(self):
        """Whether a hook has requested a stop."""
        return self._stop_requested

    def request_stop(self):
        """Ends the training after this run."""
        self._stop_requested = True


class SessionRunHook:
    """Takes part in every run of a monitored session. Subclasses replace the methods; C++ calls them.

    The calls come in this order: begin, after_create_session, then before_run and after_run for each run, end.
    """

    def begin(self):
        """Called before the session exists. The graph can be changed here, and no longer afterwards."""

    def after_create_session(self, session, coord):
        """Called with each new session: at the beginning, and when a lost session was replaced."""

    def before_run(self, run_context):
        """May return a SessionRunArgs, which joins the run."""
        return None

    def after_run(self, run_context, run_values):
        """Called after a run that succeeded."""

    def end(self, session):
        """Called before the session is closed, unless the training ended with an error."""


class NativeHook(SessionRunHook):
    """A hook of the library. C++ calls it directly; methods that a subclass replaces are called in addition."""

    def __init__(self, native):
        self._native = native

    def _hooks(self):
        """The hooks for C++."""
        replaced = any(getattr(type(self), name) is not getattr(SessionRunHook, name)
                       for name in ("begin", "after_create_session", "before_run", "after_run", "end"))
        return [self._native, _Begun(self)] if replaced else [self._native]


class _Begun:
    """A hook whose `begin` has been called already."""

    def __init__(self, hook):
        self._hook = hook

    def begin(self):
        pass

    def __getattr__(self, name):
        return getattr(self._hook, name)


def begin(hooks):
    """Calls `begin` of the hooks, before the scaffold is finalised: its saver then has the variables of the hooks."""
    for hook in hooks:
        hook.begin()


def native_hooks(hooks):
    """The hooks for C++, in their order. Their `begin` has been called."""
    flat = []
    for hook in hooks:
        flat.extend(hook._hooks() if isinstance(hook, NativeHook) else [_Begun(hook)])
    return flat


class NanLossDuringTrainingError(RuntimeError):
    """The loss of a NanTensorHook is not finite."""


class FinalOpsHook(SessionRunHook):
    """Runs `final_ops` at the end of a training without an error. `final_ops_values` then has their values."""

    def __init__(self, final_ops, final_ops_feed_dict=None):
        self._final_ops = final_ops
        self._feeds = final_ops_feed_dict
        self._values = None

    @property
    def final_ops_values(self):
        """The values that the last step fetched; None before the last step."""
        return self._values

    def end(self, session):
        if self._final_ops is not None:
            self._values = session.run(self._final_ops, feed_dict=self._feeds)


class FeedFnHook(SessionRunHook):
    """Adds the feeds that `feed_fn` returns to every run."""

    def __init__(self, feed_fn):
        self.feed_fn = feed_fn

    def before_run(self, run_context):
        return SessionRunArgs(fetches=None, feed_dict=self.feed_fn())


class SecondOrStepTimer:
    """Says when a hook of the user is due: after so many seconds or steps, not both."""

    def __init__(self, every_secs=None, every_steps=None):
        if every_secs is None and every_steps is None:
            raise ValueError("Either every_secs or every_steps should be provided.")
        if every_secs is not None and every_steps is not None:
            raise ValueError("Can not provide both every_secs and every_steps.")
        self._every_secs = every_secs
        self._every_steps = every_steps
        self.reset()

    def reset(self):
        """Forgets the last time."""
        self._last_step = self._last_time = None

    def should_trigger_for_step(self, step):
        """Whether it is time again at this step."""
        if self._last_step is None:
            return True
        if step == self._last_step:
            return False
        if self._every_secs is not None:
            return time.time() >= self._last_time + self._every_secs
        return step >= self._last_step + self._every_steps

    def update_last_triggered_step(self, step):
        """Returns the seconds and steps since the last call; None and None at the first."""
        now = time.time()
        passed = (None, None) if self._last_step is None else (now - self._last_time, step - self._last_step)
        self._last_step, self._last_time = step, now
        return passed

    def last_triggered_step(self):
        """The step of the last time; None before the first."""
        return self._last_step


def _flatten(args, graph):
    """For C++: the fetches, feeds and options of a SessionRunArgs, and a function that structures the results."""
    if not isinstance(args, SessionRunArgs):
        raise TypeError(f"before_run must return a SessionRunArgs or None, got {args!r}")
    options = run_options(args.options)
    feeds = checked_feeds(graph, args.feed_dict)
    if args.fetches is None:
        return [], feeds, lambda values: None, options
    fetches = Fetches(graph, args.fetches)
    return fetches.unique, feeds, fetches.restore, options


def tensor_of(value):
    """The tensor for a name, a tensor or a variable."""
    if isinstance(value, (graphs.Tensor, graphs.Operation, str)):
        return graphs.get_default_graph().as_graph_element(value)
    return value.value() if isinstance(value, _core.Variable) else graphs.convert_to_tensor(value)
