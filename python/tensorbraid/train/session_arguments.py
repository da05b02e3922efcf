"""The arguments of sessions, supervisors and scaffolds that say how a model becomes ready."""

import numbers

import numpy as np

from tensorbraid import _core, nest, summary
from tensorbraid.internal import arguments, graphs
from tensorbraid.ops import control
from tensorbraid.train.saver import Saver

__all__ = []

_OPERATIONS = (graphs.Operation, graphs.Tensor, _core.Variable)


def _is_operation(value):
    return all(isinstance(element, _OPERATIONS) for element in nest.flatten(value))


def _is(*kinds):
    return lambda value: isinstance(value, kinds)


_OPERATION = _is_operation, "an operation, or a list of operations"
_TENSOR = _is(graphs.Tensor), "a tensor"
_SECONDS = _is(numbers.Real), "a number of seconds"
# For each argument, which values it takes besides None, and their description in messages.
_WANTED = {
    "checkpoint_basename": (_is(str), "a string"),
    "global_step": (_is(_core.Variable), "a tf.Variable"),
    "graph": (_is(graphs.Graph), "a tf.Graph"),
    "init_feed_dict": (lambda value: hasattr(value, "items"), "a dictionary with a value for each tensor"),
    "init_fn": (callable, "a function"),
    "init_op": _OPERATION,
    "is_chief": (_is(bool, np.bool_, numbers.Integral), "True or False"),
    "local_init_op": _OPERATION,
    "master": (_is(str), "a string"),
    "max_wait_secs": _SECONDS,
    "ready_for_local_init_op": _TENSOR,
    "ready_op": _TENSOR,
    "recovery_wait_secs": _SECONDS,
    "save_incremental_checkpoint_secs": _SECONDS,
    "save_model_secs": _SECONDS,
    "save_summaries_secs": _SECONDS,
    "saver": (_is(Saver), "a tf.train.Saver"),
    "stop_grace_secs": _SECONDS,
    "summary_op": _TENSOR,
    "summary_writer": (_is(summary.FileWriter), "a tf.summary.FileWriter"),
}


def check(**given):
    """Raises TypeError, with the name of the argument, for a value of a wrong type. None fits every argument."""
    for name, value in given.items():
        fits, wanted = _WANTED[name]
        arguments.check(value is None or fits(value), name, wanted, value)


def single(operations):
    """One operation for a list of them, which a session can run as well."""
    return control.group(*operations) if isinstance(operations, (list, tuple)) else operations
