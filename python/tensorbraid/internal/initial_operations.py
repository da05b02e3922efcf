"""Variables that take their first values from elsewhere: operations that take the place of initializers."""

from tensorbraid import _core
from tensorbraid.internal import graphs

__all__ = []

_native_initializer = _core.Variable.initializer


def _replacements(graph):
    """The operations of the graph that take the place of initializers, by variable."""
    if not hasattr(graph, "_initial_operations"):
        graph._initial_operations = {}
    return graph._initial_operations


def set_initializer(variable, operation):
    """From now on the variable is initialised by this operation."""
    _replacements(variable.graph)[variable] = operation


def native_initializer(variable):
    """The operation that gives the variable its own initial value."""
    return _native_initializer.__get__(variable)


def any_replaced(graph):
    """Whether the graph has such replacements."""
    return bool(_replacements(graph))


def initialize(graph, variables, name):
    """An operation that initialises the variables."""
    replaced = _replacements(graph)
    operations = [replaced[variable] for variable in variables if variable in replaced]
    if not operations:
        return _core.variables_initializer(graph, variables, name)
    with graph.as_default():
        rest = [variable for variable in variables if variable not in replaced]
        if rest:
            operations.append(_core.variables_initializer(graph, rest, f"{name}_rest"))
        with graph.control_dependencies(operations):
            return graphs.make_op("NoOp", [], name)


_core.Variable.initializer = property(
    lambda self: _replacements(self.graph).get(self) or _native_initializer.__get__(self))
