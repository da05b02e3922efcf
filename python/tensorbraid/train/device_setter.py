"""Placement of a replica's nodes with a strategy of the program."""

import itertools

from tensorbraid.internal.device_spec import DeviceSpec

__all__ = []

# The ops whose state parameter servers hold, of those that TensorFlow names.
PS_OPS = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
          "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
          "MutableDenseHashTableV2", "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp",
          "BoostedTreesQuantileStreamResourceHandleOp", "ResourceConditionalAccumulator",
          "DecisionTreeResource")


def device_function(tasks, ps_device, worker_device, ps_ops, strategy):
    """The function that says for a node where it is: on the parameter server strategy(op), or on the worker."""
    if strategy is not None and not callable(strategy):
        raise TypeError("ps_strategy must be callable")
    ps, worker = DeviceSpec.from_string(ps_device), worker_device or ""
    types = frozenset(PS_OPS if ps_ops is None else ps_ops)
    turns = itertools.cycle(range(tasks))

    def place(op):
        if op.type not in types or not ps_device:
            return worker
        if ps.job is None or DeviceSpec.from_string(op.device).job not in (None, ps.job):
            return ps_device  # the device that the program has set comes before it
        return ps.replace(task=next(turns) if strategy is None else strategy(op)).to_string()

    return place
