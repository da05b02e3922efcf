"""Library functions, whose bodies are built by functions of the program."""

import re

from tensorbraid import _core
from tensorbraid.internal import graphs

__all__ = []


class FunctionGraph(graphs.Graph):
    """The graph of a function's body. Tensors of the graphs around it that a node takes are captured."""

    building_function = True

    def __init__(self, outer_graph):
        super().__init__()
        self.outer_graph = outer_graph
        self._has_seed = getattr(outer_graph, "_has_seed", bool(outer_graph.seed))


def define(graph, name, args, build):
    """Adds a function to the library of `graph`.

    `args` describes the arguments, as pairs of the number of a dtype and a list of sizes. build(tensors) gets them with
    the body as default graph, and returns the list of the results.
    """
    body = FunctionGraph(graph)
    builder = _core.FunctionBuilder(graph, body, re.sub(r"\W", "_", name), args)
    with body.as_default():
        results = [graphs.convert_to_tensor(result) for result in build(builder.args)]
        made = builder.finish(graph, results)
    body.finalize("its function is finished")
    return made
