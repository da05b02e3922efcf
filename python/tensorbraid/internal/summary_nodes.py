"""What all summaries have: a tag, a scope and collections."""

import contextlib
import re

from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys

__all__ = []


def clean_name(name):
    """The name with "_" for each character that a node's name cannot have, and without a leading "/"."""
    return re.sub(r"[^-/\w.]", "_", name).lstrip("/") if name else name


@contextlib.contextmanager
def summary_scope(name, family, value, default_name=None):
    """Opens the scope of a summary. Yields its tag and the scope's name, as TensorFlow makes them."""
    name = clean_name(name)
    family = clean_name(family)
    scoped = name if family is None else f"{family}/{name}"
    with graphs.name_scope(scoped, default_name, [value]) as scope:
        tag = scope.rstrip("/")
        yield (tag if family is None else f"{family}/{tag}"), scope


def collected(operation, collections) -> graphs.Tensor:
    """The output of a summary's operation, after it was added to the collections; None stands for the usual one."""
    output = operation.outputs[0]
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        output.graph.add_to_collection(key, output)
    return output
