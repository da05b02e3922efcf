"""tensorflow.python.ops.control_flow_ops: single nodes of conditionals."""

import collections

from tensorbraid.internal.graphs import convert_to_tensor, make_op

__all__ = ["merge", "switch"]

_Merged = collections.namedtuple("Merge", ["output", "value_index"])


def switch(data, pred, dtype=None, name=None):
    """A pair of tensors: only the second one has the data if `pred` is true, only the first one otherwise."""
    return tuple(make_op("Switch", [convert_to_tensor(data, dtype), pred], name).outputs)


def merge(inputs, name=None):
    """The tensor of a list that has a value, and its position. All others must be outputs of untaken branches."""
    if any(value is None for value in inputs):
        raise ValueError("At least one of the merge inputs is None: %s" % inputs)
    return _Merged(*make_op("Merge", [[convert_to_tensor(value) for value in inputs]], name).outputs)
