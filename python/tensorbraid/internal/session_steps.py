"""Prepared steps of a session: fetches and feeds are resolved once for all steps that have the same ones."""

from tensorbraid import _core, dtypes, nest
from tensorbraid.internal import arguments, graphs
from tensorbraid.ops.sparse_tensor import SparseTensor, SparseTensorValue


class Fetches:
    """A structure of fetches, flattened, with each fetch once."""

    def __init__(self, graph, fetches):
        self.unique = []
        self._positions = {}
        self._graph = graph
        self.restore = self._flatten(fetches)  # gives the values of `unique` the structure of `fetches`

    def _flatten(self, fetch):
        if isinstance(fetch, dict):
            keys = list(fetch)
            return lambda values, parts=[self._flatten(fetch[k]) for k in keys]: type(fetch)(
                (key, part(values)) for key, part in zip(keys, parts))
        if isinstance(fetch, tuple) and hasattr(fetch, "_fields"):
            return lambda values, parts=[self._flatten(f) for f in fetch]: type(fetch)(*[p(values) for p in parts])
        if isinstance(fetch, (list, tuple)):
            return lambda values, parts=[self._flatten(f) for f in fetch]: type(fetch)([p(values) for p in parts])
        if fetch is None:
            raise TypeError("Fetch argument None has invalid type <class 'NoneType'>")
        if isinstance(fetch, SparseTensor):
            parts = (fetch.indices, fetch.values, fetch.dense_shape)
            return lambda values, parts=[self._flatten(p) for p in parts]: SparseTensorValue(
                *[p(values) for p in parts])
        if isinstance(fetch, graphs.IndexedSlices):
            parts = (fetch.values, fetch.indices, fetch.dense_shape)
            parts = [part if part is None else self._flatten(part) for part in parts]
            return lambda values: graphs.IndexedSlicesValue(*[p if p is None else p(values) for p in parts])
        position = self._position(self._element(fetch))
        return lambda values: values[position]

    def _element(self, fetch):
        """The tensor, operation or variable of the graph that a fetch names."""
        element = fetch
        if not isinstance(fetch, _core.Variable):
            try:
                if isinstance(fetch, str):
                    element = self._graph._element_by_name(fetch, allow_tensor=True, allow_operation=True)
                else:
                    element = self._graph.as_graph_element(fetch)
            except (KeyError, ValueError) as error:
                raise ValueError(f"Fetch argument {fetch!r} cannot be interpreted as a Tensor. ({error})") from None
            except TypeError:
                raise TypeError(f"Fetch argument {fetch!r} has invalid type {type(fetch)}, must be a string or Tensor. "
                                f"(Can not convert a {type(fetch).__name__} into a Tensor or Operation.)") from None
            element = _variable_of(element)
        if element.graph is not self._graph:
            raise ValueError(f"Tensor {element} is not an element of this graph.")
        if not self._graph.is_fetchable(element):
            raise ValueError(f"Operation {fetch!r} has been marked as not fetchable.")
        return element

    def _position(self, element):
        if element not in self._positions:
            self._positions[element] = len(self.unique)
            self.unique.append(element)
        return self._positions[element]


def _variable_of(element):
    """The variable if a tensor is its handle, which has the variable's name; otherwise the element itself."""
    if getattr(element, "dtype", None) != dtypes.resource:
        return element
    variable = _core.variable_of(element)
    return element if variable is None else variable


def _fed_tensor(graph, key):
    try:
        tensor = graph.as_graph_element(key, allow_operation=False)
    except (KeyError, TypeError, ValueError) as error:
        raise TypeError(f"Cannot interpret feed_dict key as Tensor: {error}") from None
    if not graph.is_feedable(tensor):
        raise ValueError(f"Tensor {tensor} may not be fed.")
    return tensor


def _parts(key):
    """The tensors of a key of a feed: several for a tuple, a SparseTensor or IndexedSlices."""
    if isinstance(key, tuple):
        return nest.flatten(key)
    if isinstance(key, SparseTensor):
        return key.indices, key.values, key.dense_shape
    if isinstance(key, graphs.IndexedSlices):
        return (key.values, key.indices) + (() if key.dense_shape is None else (key.dense_shape,))
    return (key,)


def _values(key, value):
    """The values of the tensors of a key."""
    if isinstance(key, tuple):
        values = nest.flatten(value)
        if len(values) != len(_parts(key)):
            raise ValueError(f"Could not flatten dictionary. Key had {len(_parts(key))} elements, but value had "
                             f"{len(values)} elements. Key: {key}, value: {value}.")
        return values
    return value if len(_parts(key)) > 1 else (value,)


class Step:
    """One combination of fetches and fed tensors.

    `connections` are pairs of tensors: the consumers of the second get the value of the first.
    """

    __slots__ = ("signature", "restore", "prepared", "feeds", "_composite")

    def __init__(self, graph, fetches, keys, connections=()):
        wanted = Fetches(graph, fetches)
        self.feeds = [_fed_tensor(graph, tensor) for key in keys for tensor in _parts(key)]
        sources, sinks = [source for source, _ in connections], [_fed_tensor(graph, sink) for _, sink in connections]
        self.signature = _core.Signature(graph, wanted.unique, self.feeds, sources, sinks)
        self.restore = wanted.restore
        self.prepared = None  # by the session
        self._composite = any(isinstance(key, (tuple, SparseTensor, graphs.IndexedSlices)) for key in keys)

    def values(self, feed_dict):
        """The values of a dict with the keys of this step, one for each fed tensor."""
        if not feed_dict:
            return ()
        if not self._composite:
            return list(feed_dict.values())
        return [part for key, value in feed_dict.items() for part in _values(key, value)]


class Steps:
    """The steps that a session has run. Thread-safe."""

    _MOST = 200

    def __init__(self, graph):
        self._graph = graph
        self._steps = {}
        self._restrictions = graph.restrictions

    def find(self, fetches, feed_dict):
        """The step that fetches and feeds these. Raises TypeError or ValueError as tf.Session.run does."""
        try:
            kind = type(fetches)
            if isinstance(fetches, (list, tuple)):
                key = (kind, *fetches)
            elif isinstance(fetches, dict):
                key = (kind, *fetches.items())
            else:
                key = fetches
            if feed_dict:
                key = (Step, key, *feed_dict)
            if self._restrictions == self._graph.restrictions:
                return self._steps[key]
        except KeyError:
            pass
        except TypeError:  # a part of the structure has no hash
            arguments.check(feed_dict is None or hasattr(feed_dict, "items"), "feed_dict",
                            "a dictionary with a value for each tensor", feed_dict)
            return Step(self._graph, fetches, feed_dict or ())
        arguments.check(feed_dict is None or hasattr(feed_dict, "items"), "feed_dict",
                        "a dictionary with a value for each tensor", feed_dict)
        step = Step(self._graph, fetches, feed_dict or ())
        if len(self._steps) >= self._MOST or self._restrictions != self._graph.restrictions:
            self._steps = {}
            self._restrictions = self._graph.restrictions
        self._steps[key] = step
        return step


def checked_feeds(graph, feed_dict):
    """The pairs of a tensor and its value in a dict of feeds, for a step that C++ runs later."""
    step = Step(graph, [], feed_dict or ())
    return list(zip(step.feeds, step.values(feed_dict)))
