"""Strategies for tf.train.replica_device_setter: functions of a node that return the number of a parameter server."""

import numpy as np

import tensorbraid as tf
from tensorbraid.internal import arguments

__all__ = ["GreedyLoadBalancingStrategy", "RandomStrategy", "byte_size_load_fn"]


class RandomStrategy:
    """Any of the servers."""

    def __init__(self, num_tasks, seed=0):
        self._count = num_tasks
        self._random = np.random.RandomState(arguments.seed(seed))

    def __call__(self, op):
        return self._random.randint(self._count)


class GreedyLoadBalancingStrategy:
    """The server with the least load so far; load_fn(op) is the load of a node."""

    def __init__(self, num_tasks, load_fn):
        self._load_fn = load_fn
        self._loads = np.zeros(num_tasks)

    def __call__(self, op):
        task = int(np.argmin(self._loads))
        self._loads[task] += self._load_fn(op)
        return task


def byte_size_load_fn(op):
    """The bytes of a variable or of a node's first output. Raises ValueError if the shape is not known.

    A growing table, or a part of one, counts as 1,000,000 rows.
    """
    if op.type == "KvVarHandleOp":
        dtype, shape = tf.as_dtype(op.get_attr("dtype")), tf.TensorShape(op.get_attr("shape"))
        shape = tf.TensorShape([1_000_000]).concatenate(shape)
    elif op.type == "VarHandleOp":
        dtype, shape = tf.as_dtype(op.get_attr("dtype")), tf.TensorShape(op.get_attr("shape"))
    else:
        dtype, shape = op.outputs[0].dtype.base_dtype, op.outputs[0].shape
    shape.assert_is_fully_defined()
    return shape.num_elements() * dtype.size
