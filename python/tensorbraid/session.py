"""Sessions: they run graphs in this process or on a cluster."""

import contextlib
import threading

import numpy as np

from tensorbraid import _core, dtypes, graphs, session_config
from tensorbraid.sparse_tensor import SparseTensor, SparseTensorValue


class _Stack(threading.local):
    def __init__(self):
        self.items = []


_sessions = _Stack()


def get_default_session():
    """The innermost session of this thread's `with session` blocks; None if there is none."""
    return _sessions.items[-1] if _sessions.items else None


class Fetches:
    """A structure of fetches, flattened, with each fetch once."""

    def __init__(self, graph, fetches):
        self.unique = []
        self._positions = {}
        self._is_operation = []
        self._graph = graph
        self._structure = self._flatten(fetches)

    def _flatten(self, fetch):
        if isinstance(fetch, dict):
            keys = list(fetch)
            return lambda values, parts=[self._flatten(fetch[k]) for k in keys]: type(fetch)(
                (key, part(values)) for key, part in zip(keys, parts))
        if isinstance(fetch, tuple) and hasattr(fetch, "_fields"):
            return lambda values, parts=[self._flatten(f) for f in fetch]: type(fetch)(*[p(values) for p in parts])
        if isinstance(fetch, (list, tuple)):
            return lambda values, parts=[self._flatten(f) for f in fetch]: type(fetch)(p(values) for p in parts)
        if fetch is None:
            raise TypeError("Fetch argument None has invalid type <class 'NoneType'>")
        if isinstance(fetch, SparseTensor):
            parts = (fetch.indices, fetch.values, fetch.dense_shape)
            return lambda values, parts=[self._flatten(p) for p in parts]: SparseTensorValue(*[p(values) for p in parts])
        if isinstance(fetch, graphs.IndexedSlices):
            parts = (fetch.values, fetch.indices, fetch.dense_shape)
            return lambda values, parts=[p if p is None else self._flatten(p) for p in parts]: graphs.IndexedSlicesValue(
                *[p if p is None else p(values) for p in parts])
        element = fetch
        if not isinstance(fetch, _core.Variable):
            try:
                element = self._graph.as_graph_element(fetch)
            except (KeyError, ValueError) as error:
                raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})") from None
            except TypeError:
                raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or Tensor. "
                                f"(Can not convert a {type(fetch).__name__} into a Tensor or Operation.)") from None
        if element.graph is not self._graph:
            raise ValueError(f"Tensor {element} is not an element of this graph.")
        if not self._graph.is_fetchable(element):
            raise ValueError(f"Operation {fetch!r} has been marked as not fetchable.")
        if element not in self._positions:
            self._positions[element] = len(self.unique)
            self.unique.append(element)
        position = self._positions[element]
        return lambda values: values[position]

    def restore(self, values):
        return self._structure(values)


def _fed_tensor(graph, key):
    try:
        tensor = graph.as_graph_element(key, allow_operation=False)
    except (KeyError, TypeError, ValueError) as error:
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from None
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor} may not be fed.")
    return tensor


def checked_feeds(graph, feed_dict):
    """The pairs of a tensor and its value in a dict of feeds."""
    feeds = []
    for key, value in _feeds(feed_dict or {}):
        tensor = _fed_tensor(graph, key)
        if isinstance(value, (graphs.Tensor, graphs.Operation)):
            raise TypeError("The value of a feed cannot be a tf.Tensor object. Acceptable feed values include Python "
                            "scalars, strings, lists, numpy ndarrays, or TensorHandles.")
        shape = np.shape(np.array(value, np.object_) if tensor.dtype == dtypes.string else value)
        if not _compatible(tensor.shape, shape):
            raise ValueError(f"Cannot feed value of shape {shape} for Tensor '{tensor.name}', which has shape "
                             f"'{tensor.shape}'")
        feeds.append((tensor, value))
    return feeds


class Session:
    """Runs the operations of a graph. Source: tf.Session."""

    def __init__(self, target="", graph=None, config=None):
        self.graph = graphs.get_default_graph() if graph is None else graph
        self.sess_str = target
        self._target = target
        self._options = session_config.session_options(config, target)
        self._core = None
        self._closed = False
        self._lock = threading.Lock()
        self._entered = []
        self._coordinators = set()  # of the queue runners that were started with this session

    @classmethod
    def _wrap(cls, core):
        """The session for a `_core.Session` that exists already."""
        session = cls(graph=core.graph)
        session._core = core
        return session

    def _session(self):
        with self._lock:
            if self._closed:
                raise RuntimeError("Attempted to use a closed Session.")
            if self._core is None:
                self._core = _core.Session(self.graph, target=self._target, **self._options)
            return self._core

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None):
        """Runs one step and returns the values of `fetches`, in their structure; None for an operation.

        A trace that `options` asks for is stored in `run_metadata`.
        """
        session = self._session()
        wanted = Fetches(self.graph, fetches)
        feeds = checked_feeds(self.graph, feed_dict)
        session_config.check_run_metadata(run_metadata)
        values, metadata = session._run(wanted.unique, feeds, *session_config.run_options(options))
        if run_metadata is not None:
            run_metadata.ParseFromString(metadata)
        return wanted.restore(values)

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function that runs a step with one argument for each tensor of `feed_list`, in this order.

        With `accept_options`, it also takes the arguments `options` and `run_metadata` of `run`.
        """
        fed = list(feed_list or [])

        def step(*values, **kwargs):
            if len(values) != len(fed):
                raise TypeError(f"the callable takes {len(fed)} arguments, one for each tensor of feed_list, not {len(values)}")
            if kwargs and not accept_options:
                raise TypeError(f"unexpected arguments {', '.join(kwargs)}")
            return self.run(fetches, dict(zip(fed, values)), **kwargs)

        Fetches(self.graph, fetches)  # raises errors here, not in the first step
        return step

    def list_devices(self):
        return self._session().list_devices()

    def close(self):
        with self._lock:
            self._closed = True
            if self._core is not None:
                self._core.close()

    def as_default(self):
        return _as_default(self)

    def __enter__(self):
        scopes = contextlib.ExitStack()
        scopes.enter_context(self.graph.as_default())
        scopes.enter_context(_as_default(self))
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
        self._default.enter_context(_as_default(self))

    def close(self):
        super().close()
        self._default.close()


def _feeds(feed_dict):
    """Pairs of a tensor and its value; the parts of SparseTensors and IndexedSlices one by one."""
    for key, value in feed_dict.items():
        if isinstance(key, SparseTensor):
            yield from zip((key.indices, key.values, key.dense_shape), value)
        elif isinstance(key, graphs.IndexedSlices):
            yield from zip((key.values, key.indices) + (() if key.dense_shape is None else (key.dense_shape,)), value)
        else:
            yield key, value


@contextlib.contextmanager
def _as_default(session):
    _sessions.items.append(session)
    try:
        yield session
    finally:
        _sessions.items.remove(session)


def _compatible(shape, dims):
    if shape.ndims is None:
        return True
    return shape.ndims == len(dims) and all(a is None or a == b for a, b in zip(shape.as_list(), dims))


def _eval(tensor, feed_dict=None, session=None):
    session = session or get_default_session()
    if session is None:
        raise ValueError("Cannot evaluate tensor using `eval()`: No default session is registered. "
                         "Use `with sess.as_default()` or pass an explicit session to `eval(session=sess)`")
    return session.run(tensor, feed_dict)


graphs.Tensor.eval = _eval
graphs.Operation.run = lambda self, feed_dict=None, session=None: _eval(self, feed_dict, session) and None
