"""Variables that C++ makes, such as the slots of optimizers, join the collections of the Python graph."""

import contextlib

from tensorbraid import _core
from tensorbraid.internal.graph_keys import GraphKeys


@contextlib.contextmanager
def collected(graph):
    """Adds the variables that are made inside of the `with` to the collections. Yields a list, which then has them.

    Those that are in their collection already were made by Python, or by another `with collected` inside.
    """
    known = len(_core.variables(graph))
    made = []
    try:
        yield made
    finally:
        _collect(graph, known, made)


def _collect(graph, known, made):
    names = {key: {getattr(variable, "name", None) for variable in graph.get_collection(key)}
             for key in (GraphKeys.LOCAL_VARIABLES, GraphKeys.GLOBAL_VARIABLES)}
    for variable in _core.variables(graph)[known:]:
        key = GraphKeys.LOCAL_VARIABLES if variable._local else GraphKeys.GLOBAL_VARIABLES
        if variable.name not in names[key]:
            graph.add_to_collection(key, variable)
        made.append(variable)
