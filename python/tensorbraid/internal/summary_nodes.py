"""The tag, the name scope and the collections of summary ops."""

import contextlib
import re

from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graph_keys import GraphKeys

__all__ = []


def clean_name(name):
    """Replaces each character that is not allowed in a node's name by "_", and removes leading "/"."""
    return re.sub(r"[^-/\w.]", "_", name).lstrip("/") if name else name


@contextlib.contextmanager
def summary_scope(name, family, value, default_name=None):
    """A context manager that opens the name scope of a summary and yields its tag and the scope's name."""
    arguments.check(isinstance(name, str), "name", "a string", name)
    arguments.check(family is None or isinstance(family, str), "family", "a string", family)
    name = clean_name(name)
    family = clean_name(family)
    scoped = name if family is None else f"{family}/{name}"
    with graphs.name_scope(scoped, default_name, [value]) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def collected(operation, collections) -> graphs.Tensor:
    """Adds the output of a summary op to the collections, by default GraphKeys.SUMMARIES, and returns it."""
    output = operation.outputs[0]
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        output.graph.add_to_collection(key, output)
    return output
