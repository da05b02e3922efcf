"""Calls an input_fn, and takes features and labels from what it returns."""

import inspect

from tensorbraid.data.datasets import Dataset
from tensorbraid.data.iterators import make_initializable_iterator
from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.train.fed_input import has_fed_input
from tensorbraid.train.hooks import SessionRunHook

__all__ = []


def arguments_of(function):
    """The names of the arguments that a function can be given by name."""
    return set(inspect.signature(function).parameters)


def accepted(function, given):
    """The entries of the dict `given` whose names are parameters of the function."""
    names = arguments_of(function)
    return {name: value for name, value in given.items() if name in names}


class IteratorHook(SessionRunHook):
    """Begins a dataset in each new session."""

    def __init__(self, iterator):
        self._initializer = iterator.initializer

    def after_create_session(self, session, coord):
        session.run(self._initializer)


def features_and_labels(input_fn, mode, params, config):
    """The tensors of an input_fn, and the hooks that its session needs. Labels that it does not return are None."""
    with graphs.device("/cpu:0"):
        made = input_fn(**accepted(input_fn, {"mode": mode, "params": params, "config": config}))
        made, hooks = elements_of(made)
    if isinstance(made, (list, tuple)):
        if len(made) != 2:
            raise ValueError("input_fn should return (features, labels) as a len 2 tuple.")
        return made[0], made[1], hooks
    return made, None, hooks


def elements_of(made):
    """For a Dataset its next element and the hook that begins it; anything else as it is."""
    if not isinstance(made, Dataset):
        return made, []
    iterator = make_initializable_iterator(made)
    return iterator.get_next(), [IteratorHook(iterator)]


def has_end(graph, hooks):
    """Whether the input of the graph can end."""
    return bool(hooks) or has_fed_input(graph) or bool(graph.get_collection(GraphKeys.QUEUE_RUNNERS))
