"""tensorflow.python.ops.control_flow_ops: single nodes of conditionals and loops, and control dependencies."""

import collections

from tensorbraid.internal.graphs import control_dependencies, convert_to_tensor, make_op, name_scope

__all__ = ["merge", "switch", "with_dependencies"]

_Merged = collections.namedtuple("Merge", ["output", "value_index"])


def switch(data, pred, dtype=None, name=None):
    """A pair of tensors: only the second one has the data if `pred` is true, only the first one otherwise."""
    return tuple(make_op("Switch", [convert_to_tensor(data, dtype), pred], name).outputs)


def merge(inputs, name=None):
    """The tensor of a list that has a value, and its position. All others must be outputs of untaken branches."""
    if any(value is None for value in inputs):
        raise ValueError("At least one of the merge inputs is None: %s" % inputs)
    return _Merged(*make_op("Merge", [[convert_to_tensor(value) for value in inputs]], name).outputs)


def with_dependencies(dependencies, output_tensor, name=None):
    """A tensor equal to `output_tensor` that is available only after all `dependencies` have run."""
    with name_scope(name, "control_dependency", [*dependencies, output_tensor]) as scope, \
            control_dependencies([getattr(value, "op", value) for value in dependencies]):
        return make_op("Identity", [convert_to_tensor(output_tensor)], scope).outputs[0]
