"""Library functions, whose bodies are built by functions of the program."""

import re

from tensorbraid import _core
from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys

__all__ = []


class FunctionGraph(graphs.Graph):
    """The graph of a function's body. Tensors of the graphs around it that a node takes are captured."""

    building_function = True

    def __init__(self, outer_graph, lifts_variables=False):
        super().__init__()
        self.outer_graph = outer_graph
        self.lifted_variables = [] if lifts_variables else None
        self._has_seed = getattr(outer_graph, "_has_seed", bool(outer_graph.seed))

    def _holder(self, name):
        """What has the collection: for variables, the graph in which the body makes them."""
        is_outer = self.lifted_variables is not None and name in GraphKeys._VARIABLE_COLLECTIONS
        return self.outer_graph if is_outer else super()

    def add_to_collection(self, name, value):
        """Adds a value to the collection of this name."""
        self._holder(name).add_to_collection(name, value)

    def get_collection(self, name, scope=None):
        """The items of a collection; with a `scope`, those whose names begin with this regular expression."""
        return self._holder(name).get_collection(name, scope)

    def get_collection_ref(self, name):
        """The collection itself: a change of the list changes it."""
        return self._holder(name).get_collection_ref(name)


def define(graph, name, args, build, lifts_variables=False):
    """Adds a function to the library of `graph`.

    `args` describes the arguments, as pairs of the number of a dtype and a list of sizes. build(tensors) gets them with
    the body as default graph, and returns the list of the results. With `lifts_variables`, variables that it makes are
    made in `graph`; without it, they are a mistake.
    """
    body = FunctionGraph(graph, lifts_variables)
    builder = _core.FunctionBuilder(graph, body, re.sub(r"\W", "_", name), args)
    with body.as_default():
        results = [graphs.convert_to_tensor(result) for result in build(builder.args)]
        made = builder.finish(graph, results)
    body.finalize("its function is finished")
    return made
