"""tensorflow.python.framework.test_util: the base class of tests, and decorators of tests. All tests build graphs."""

import contextlib
import functools
import inspect
import unittest

import tensorbraid as tf
from tensorbraid.testing import TestCase as TensorFlowTestCase
from tensorbraid.testing import gpu_device_name, is_gpu_available  # noqa: F401

__all__ = ["TensorFlowTestCase", "assert_equal_graph_def", "assert_ops_in_graph"]


# Features of this build.

def IsGoogleCudaEnabled():
    """False, because this package has kernels for CPUs only."""
    return False


IsBuiltWithROCm = IsBuiltWithXLA = IsMklEnabled = CudaSupportsHalfMatMulAndConv = IsGoogleCudaEnabled
GpuSupportsHalfMatMulAndConv = is_xla_enabled = IsGoogleCudaEnabled


# Graphs.

def assert_ops_in_graph(expected_ops, graph):
    """Checks that a graph has the nodes `expected_ops`, {name: op}.

    Returns {name: NodeDef}; ValueError if one differs.
    """
    found = {}
    for node in graph.as_graph_def().node:
        if node.name in expected_ops:
            if expected_ops[node.name] != node.op:
                raise ValueError(f"Expected op for node {node.name} is different. {expected_ops[node.name]} vs {node.op}")
            found[node.name] = node
    if set(expected_ops) != set(found):
        raise ValueError(f"Not all expected ops are present. Expected {expected_ops.keys()}, found {found.keys()}")
    return found


def assert_equal_graph_def(actual, expected, checkpoint_v2=False, hash_table_shared_name=False):
    """Raises AssertionError unless two GraphDefs have the same nodes, in any order."""
    for name, value in (("actual", actual), ("expected", expected)):
        if not hasattr(value, "node"):
            raise TypeError(f"Expected tf.GraphDef for {name}, got {type(value).__name__}")
    nodes = [{node.name: node for node in graph_def.node} for graph_def in (actual, expected)]
    for name in sorted(set(nodes[0]) | set(nodes[1])):
        if name not in nodes[0] or name not in nodes[1]:
            raise AssertionError(f"the node '{name}' is in one of the GraphDefs only")
        if nodes[0][name].SerializeToString(deterministic=True) != nodes[1][name].SerializeToString(deterministic=True):
            raise AssertionError(f"the nodes '{name}' differ:\n{nodes[0][name]}\n{nodes[1][name]}")


def NHWCToNCHW(input_tensor):
    """Transposes a tensor of rank 4 or 5, or a list of its sizes, from NHWC (channels last) to NCHW."""
    return _reordered(input_tensor, {4: [0, 3, 1, 2], 5: [0, 4, 1, 2, 3]})


def NCHWToNHWC(input_tensor):
    """Transposes a tensor of rank 4 or 5, or a list of its sizes, from NCHW (channels first) to NHWC."""
    return _reordered(input_tensor, {4: [0, 2, 3, 1], 5: [0, 2, 3, 4, 1]})


def _reordered(value, orders):
    if isinstance(value, tf.Tensor):
        return tf.transpose(value, orders[value.shape.ndims])
    return [value[axis] for axis in orders[len(value)]]


# Decorators of tests and test classes, with or without arguments.

def _decorator(change):
    """Makes a decorator of the function `change`. It can also be called with options, or with None, first."""
    def decorator(func=None, **options):
        return functools.partial(decorator, **options) if func is None or isinstance(func, str) else change(func)

    return decorator


def _in_session(method):
    """Wraps a test method so that it runs in a session of its test class."""
    if inspect.isclass(method):
        raise ValueError("`run_in_graph_and_eager_modes` only supports test methods. Did you mean to use "
                         "`run_all_in_graph_and_eager_modes`?")

    @functools.wraps(method)
    def run(self, *args, **kwargs):
        with self.test_session():
            method(self, *args, **kwargs)

    return run


def _on_gpu(func):
    @functools.wraps(func)
    def run(self, *args, **kwargs):
        if not is_gpu_available():
            self.skipTest("there is no GPU that can be started")
        func(self, *args, **kwargs)

    return run


def _skipped(reason):
    return lambda func: unittest.skip(reason)(func)


def for_all_test_methods(decorator, *args, **kwargs):
    """A class decorator that applies `decorator` to each test method."""
    def change(cls):
        for name, value in list(vars(cls).items()):
            if callable(value) and name.startswith(unittest.TestLoader.testMethodPrefix):
                setattr(cls, name, decorator(*args, **kwargs)(value) if args or kwargs else decorator(value))
        return cls

    return change


run_in_graph_and_eager_modes = _decorator(_in_session)
run_all_in_graph_and_eager_modes = for_all_test_methods(_in_session)
run_deprecated_v1 = deprecated_graph_mode_only = run_v1_only = run_all_in_deprecated_graph_mode_only = _decorator(
    lambda func: func)
enable_c_shapes = with_c_shapes = enable_control_flow_v2 = with_control_flow_v2 = _decorator(lambda func: func)
disable_xla = disable_control_flow_v2 = no_xla_auto_jit = disable_mlir_bridge = lambda description: lambda func: func
run_v2_only = _decorator(_skipped("a test of TensorFlow 2"))
run_gpu_only = run_cuda_only = run_gpu_or_tpu = _decorator(_on_gpu)


def skip_if(condition):
    """A decorator: the test does nothing if `condition`, or its result if it is a function, is true."""
    def decorate(method):
        @functools.wraps(method)
        def run(self, *args, **kwargs):
            if not (condition() if callable(condition) else condition):
                method(self, *args, **kwargs)

        return run

    return decorate


@contextlib.contextmanager
def device(use_gpu):
    """A context manager that places nodes on the CPU or, with `use_gpu`, on the first GPU if there is one."""
    with tf.device(use_gpu and gpu_device_name() or "/device:CPU:0"):
        yield


def use_gpu():
    """A context manager that places nodes on the first GPU, or on the CPU if there is none."""
    return device(True)


def force_cpu():
    """A context manager that places nodes on the CPU."""
    return device(False)
