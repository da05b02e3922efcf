"""Sessions: they run graphs in this process or on a cluster."""

import collections
import contextlib
import threading
from typing import Any

from tensorbraid import _core, errors
from tensorbraid.internal import graphs, session_callables, session_config
from tensorbraid.internal.default_stack import DefaultStack
from tensorbraid.internal.session_steps import Steps
from tensorbraid.ops.sparse_tensor import SparseTensor


class _DeviceAttributes(collections.namedtuple("_DeviceAttributes", ["name", "device_type", "memory_limit_bytes",
                                                                     "incarnation", "physical_device_desc"])):
    """A device of a session. `physical_device_desc` names the model of an accelerator, and is empty for others."""

    __slots__ = ()

    def __repr__(self):
        return "_DeviceAttributes(%s, %s, %d, %d)" % self[:4]


_default_sessions = DefaultStack()


def get_default_session():
    """The innermost session of this thread's `with session` blocks; None if there is none."""
    return _default_sessions.innermost


class Session:
    """Runs the operations of a graph. Source: tf.Session."""

    def __init__(self, target="", graph=None, config=None):
        if graph is not None and not isinstance(graph, graphs.Graph):
            raise TypeError(f"Argument `graph` must be a tf.Graph, but got {graph!r}")
        target = "" if target is None else target
        if not isinstance(target, str):
            argument = {"ConfigProto": "config", "Graph": "graph"}.get(type(target).__name__)
            if argument:
                raise TypeError(f"target must be a string, but got a {type(target).__name__}; write "
                                f"tf.{type(self).__name__}({argument}=...)")
            raise TypeError(f"target must be a string, but got {target!r}")
        self.graph = graphs.get_default_graph() if graph is None else graph
        self.sess_str = target
        self._target = target
        self._config = config
        self._options = session_config.session_options(config, target)
        session_config.stage_lookups(config, self.graph)
        self._core = None
        self._closed = False
        self._steps = Steps(self.graph)
        self._lock = threading.Lock()
        self._entered = []
        self._coordinators = set()  # of the queue runners that were started with this session

    @classmethod
    def _wrap(cls, core):
        """The session for a `_core.Session` that exists already."""
        session = cls(graph=core.graph)
        session._core = core
        return session

    @staticmethod
    def reset(target, containers=None, config=None):
        """Clears containers of the servers of a cluster, all if none is named: variables, queues and other state."""
        names = [containers] if isinstance(containers, str) else list(containers or [])
        _core.reset_session(target, session_config.session_options(config, target), names)

    def _session(self):
        with self._lock:
            if self._closed:
                raise RuntimeError("Attempted to use a closed Session.")
            if self._core is None:
                self._core = _core.Session(self.graph, self._target, self._options)
            return self._core

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None) -> Any:
        """Runs one step and returns the values of `fetches`, in their structure; None for an operation.

        A value is a NumPy array or scalar; strings are bytes. `feed_dict` has values for tensors, which must fit their
        shapes (ValueError) and dtypes (TypeError). An error of an op has the class of tf.errors for its code. A trace
        that `options` asks for is stored in `run_metadata`.
        """
        session = self._core if self._core is not None and not self._closed else self._session()
        step = self._steps.find(fetches, feed_dict)
        try:
            return self._run(session, step, feed_dict, options, run_metadata)
        except errors.OpError as error:
            errors.add_operation(error, self.graph)
            raise

    def _run(self, session, step, feed_dict, options, run_metadata):
        if options is None and run_metadata is None:
            if step.prepared is None:
                step.prepared = session._prepare(step.signature)
            return step.restore(step.prepared.run(step.values(feed_dict)))
        session_config.check_run_metadata(run_metadata)
        values, metadata = session._run_with_options(step.signature, step.values(feed_dict),
                                                     session_config.run_options(options))
        if run_metadata is not None:
            run_metadata.ParseFromString(metadata)
        return step.restore(values)

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function that runs a step with one argument for each tensor of `feed_list`, in this order.

        With `accept_options`, it also takes the arguments `options` and `run_metadata` of `run`.
        """
        fed = list(feed_list or [])

        def step(*values, **kwargs):
            if len(values) != len(fed):
                raise TypeError(f"the callable takes {len(fed)} arguments, one for each tensor of feed_list, not "
                                f"{len(values)}")
            if kwargs and not accept_options:
                raise TypeError(f"unexpected arguments {', '.join(kwargs)}")
            return self.run(fetches, dict(zip(fed, values)), **kwargs)

        self._steps.find(fetches, dict.fromkeys(fed))  # raises errors here, not in the first step
        return step

    def _make_callable_from_options(self, callable_options):
        """A function that runs the step which a CallableOptions describes by the names of tensors, as Keras does."""
        return session_callables.from_options(self, callable_options)

    @property
    def graph_def(self):
        """The graph as a GraphDef."""
        return self.graph.as_graph_def()

    def list_devices(self):
        """The devices that operations can run on, each with its name, type and memory.

        Starts the accelerators of a session in this process, to ask for their memory. The memory limit of one that
        cannot be started is 0, and the log says why.
        """
        return [_DeviceAttributes(name, device_type, memory, incarnation - (incarnation >> 63 << 64), physical)
                for name, device_type, memory, incarnation, physical in self._session().describe_devices()]

    def close(self):
        """Cancels steps that run, and releases the session's resources."""
        with self._lock:
            self._closed = True
            if self._core is not None:
                self._core.close()

    def as_default(self):
        """A scope in which this is the default session. Its end does not close the session."""
        return _default_sessions.as_default(self)

    def __enter__(self):
        scopes = contextlib.ExitStack()
        scopes.enter_context(self.graph.as_default())
        scopes.enter_context(_default_sessions.as_default(self))
        self._entered.append(scopes)
        return self

    def __exit__(self, *error):
        self._entered.pop().__exit__(*error)
        self.close()


class InteractiveSession(Session):
    """A session that is the default session from its construction on."""

    def __init__(self, target="", graph=None, config=None):
        super().__init__(target, graph, config)
        self._default = contextlib.ExitStack()
        self._default.enter_context(self.graph.as_default())
        self._default.enter_context(_default_sessions.as_default(self))

    def close(self):
        """Closes the session, which then is no longer the default one."""
        super().close()
        self._default.close()


def _eval(tensor, feed_dict=None, session=None):
    """The tensor's value, fetched with the default session or this one."""
    session = session or get_default_session()
    if session is None:
        raise ValueError("Cannot evaluate tensor using `eval()`: No default session is registered. "
                         "Use `with sess.as_default()` or pass an explicit session to `eval(session=sess)`")
    return session.run(tensor, feed_dict)


def _run_operation(operation, feed_dict=None, session=None):
    """Runs the operation with the default session or this one."""
    _eval(operation, feed_dict, session)


_eval.__name__, _run_operation.__name__ = "eval", "run"  # the names that help() shows
graphs.Tensor.eval = SparseTensor.eval = _eval
graphs.Operation.run = _run_operation
