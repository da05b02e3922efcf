"""Variables that the body of a function makes in the graph around it, since a function has no state.

A FunctionGraph whose `lifted_variables` is a list allows it, and the list gets the variables.
"""

import functools

from tensorbraid.internal import graphs

__all__ = []


def lifted(make):
    """A decorator of a function that makes a variable in the default graph, or returns one that exists."""
    @functools.wraps(make)
    def lift(*args, **kwargs):
        body = graphs.get_default_graph()
        if body.lifted_variables is None:
            return make(*args, **kwargs)
        scope = body.get_name_scope()
        outer = body.outer_graph
        with outer.as_default(), outer.control_dependencies(None), outer.name_scope(scope + "/" if scope else None):
            variable = lift(*args, **kwargs)
        if not any(variable is known for known in body.lifted_variables):
            body.lifted_variables.append(variable)
        return variable

    return lift
