"""Variables that C++ makes, such as the slots of optimizers, join the collections of the Python graph."""

import contextlib

from tensorbraid import _core
from tensorbraid.graphs import GraphKeys


@contextlib.contextmanager
def collected(graph):
    """Adds the variables that are made inside of the `with` to the collections. Yields a list, which then has them."""
    known = len(_core.variables(graph))
    made = []
    yield made
    for variable in _core.variables(graph)[known:]:
        graph.add_to_collection(GraphKeys.LOCAL_VARIABLES if variable._local else GraphKeys.GLOBAL_VARIABLES, variable)
        made.append(variable)
