"""Initial values that use other variables, which may get their own values in the same step."""

from tensorbraid import _core
from tensorbraid.internal import graph_defs, graphs

__all__ = ["with_initialized_variables"]

_CONTROL_FLOW = {"Enter", "Exit", "Merge", "NextIteration", "Switch"}


def _variable_that(op):
    """The variable that an operation reads; None for other operations."""
    return _core.variable_of(op.inputs[0]) if op.type == "ReadVariableOp" else None


def _users_of_variables(tensor):
    """The variables that the tensor is made of, by the operation that reads them, and the operations in between.

    Conditionals and loops count as values: `initialized_value` is one.
    """
    reads, between, entered, waiting = {}, {}, set(), [(tensor.op, False)]
    while waiting:
        op, finished = waiting.pop()
        if finished:
            if any(x.op in reads or x.op in between for x in op.inputs):
                between[op] = None
        elif op not in entered:
            entered.add(op)
            variable = _variable_that(op)
            if variable is not None:
                reads[op] = variable
            elif op.type not in _CONTROL_FLOW:
                waiting.append((op, True))
                waiting.extend((x.op, False) for x in op.inputs)
    return reads, list(between)


def with_initialized_variables(value):
    """The initial value, in which each variable is its own initial value until it is initialised."""
    if isinstance(value, _core.Variable):
        return value.initialized_value()
    if not isinstance(value, graphs.Tensor):
        return value
    reads, between = _users_of_variables(value)
    if not reads:
        return value
    if value.op in reads:
        return reads[value.op].initialized_value()
    from tensorbraid import proto

    copied = proto.GraphDef(node=[op.node_def for op in between])
    inside = set(between)
    outer = {x.name: x for op in between for x in op.inputs if x.op not in inside}
    outer.update({op.outputs[0].name: variable.initialized_value() for op, variable in reads.items()})
    for node in copied.node:  # what an operation waits for is not copied
        node.input[:] = [name for name in node.input if not name.startswith("^")]
    with value.graph.as_default():
        return graph_defs.import_graph_def(copied, outer, [value.name], "initial_value")[0]
