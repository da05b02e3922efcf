"""tf.test: unit tests that compare arrays, with sessions and a folder of their own."""

import contextlib
import os
import random
import re
import socket
import sys
import tempfile
import unittest
from unittest import mock as mock  # noqa: F401

import numpy as np

from tensorbraid import _core, dtypes, errors, nest
from tensorbraid.internal import benchmarks, devices, graphs, session
from tensorbraid.internal.benchmarks import Benchmark, benchmark_config  # noqa: F401
from tensorbraid.internal.gradient_check import compute_gradient, compute_gradient_error  # noqa: F401

__all__ = []

_SEED = 87654321  # of every test, as TensorFlow's


def get_temp_dir():
    """A folder for the files of the tests of this program: $TEST_TMPDIR, or a new one."""
    global _temp_dir
    if _temp_dir is None:
        _temp_dir = os.environ.get("TEST_TMPDIR") or tempfile.mkdtemp()
    return _temp_dir


_temp_dir = None


def _local_gpus():
    from tensorbraid.tensorflow_python import device_lib

    return [device for device in device_lib.list_local_devices() if device.device_type == "GPU"]


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """Whether this process has a GPU that can be started, perhaps of at least a compute capability such as (7, 0).

    Starts the GPUs. With `cuda_only`, a GPU must have a compute capability.
    """
    for gpu in _local_gpus():
        capability = re.search(r"compute capability: (\d+)\.(\d+)", gpu.physical_device_desc)
        if capability is None:
            if not cuda_only and min_cuda_compute_capability is None:
                return True
        elif tuple(map(int, capability.groups())) >= tuple(min_cuda_compute_capability or ()):
            return True
    return False


def gpu_device_name():
    """The name of the first GPU, "/device:GPU:0"; "" if there is none that can be started."""
    return next((gpu.name for gpu in _local_gpus()), "")


def is_built_with_cuda():
    """Whether a plugin for GPUs of NVIDIA is installed, which is what computes there. It is not loaded."""
    return "cuda" in _core.find_plugin("GPU")[0]


def is_built_with_rocm():
    """Whether a plugin for GPUs of AMD is installed. It is not loaded."""
    return "rocm" in _core.find_plugin("GPU")[0]


def is_built_with_gpu_support():
    """Whether a plugin for GPUs is installed. It is not loaded."""
    return devices.has_plugin("GPU")


def is_built_with_xla():
    """Whether a plugin is installed: they are the compilers of XLA. It is not loaded."""
    return devices.has_plugin("GPU") or devices.has_plugin("XLA_CPU")


def test_src_dir_path(relative_path):
    """The path of a file that is given relative to the folder of the program."""
    return os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), relative_path)


def create_local_cluster(num_workers, num_ps, protocol="grpc", worker_config=None, ps_config=None):
    """Starts the servers of a cluster in this process. Returns (servers of workers, servers of parameter servers).

    They serve until the program ends.
    """
    from tensorbraid.train.cluster import ClusterSpec, Server

    # The sockets reserve the ports until the servers listen.
    held = {job: [_held_port() for _ in range(count)] for job, count in (("worker", num_workers), ("ps", num_ps))}
    cluster = ClusterSpec({job: ["localhost:%d" % each.getsockname()[1] for each in sockets]
                           for job, sockets in held.items()})
    configs = {"worker": worker_config, "ps": ps_config}
    servers = {job: [Server(cluster, job, index, protocol, configs[job]) for index in range(len(sockets))]
               for job, sockets in held.items()}
    for each in held["worker"] + held["ps"]:
        each.close()
    return servers["worker"], servers["ps"]


def _held_port():
    """A socket that reserves a free port, at which a server of this process can also listen."""
    held = socket.socket()
    held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held.bind(("localhost", 0))
    return held


def main(argv=None):
    """Parses the flags of the program and runs the tests of its main module.

    With the flag --benchmarks=EXPRESSION, it runs the methods of Benchmarks whose names match the regular expression.
    """
    from tensorbraid import flags

    chosen = benchmarks.chosen(sys.argv if argv is None else argv)
    if chosen is not None:
        flags.FLAGS([argument for argument in (sys.argv if argv is None else argv)
                     if not argument.startswith("--benchmarks=")], known_only=True)
        benchmarks.run(chosen)
        return
    argv = flags.FLAGS(list(sys.argv if argv is None else argv), known_only=True)
    unittest.main(module="__main__", argv=argv)


class _OnInstances:
    """The method cached_session under the name test_session, which unittest would take for a test of the class."""

    def __get__(self, instance, owner):
        return None if instance is None else instance.cached_session


class TestCase(unittest.TestCase):
    """A test that begins with an empty default graph and fixed seeds. An argument may be a tensor: it is evaluated."""

    def __init__(self, methodName="runTest"):
        super().__init__(methodName)
        self._temp = None
        self._cached = None

    def setUp(self):
        super().setUp()
        random.seed(_SEED)
        np.random.seed(_SEED)
        graphs.reset_default_graph()
        graphs.get_default_graph().seed = _SEED

    def tearDown(self):
        if self._cached is not None:
            self._cached.close()
            self._cached = None
        super().tearDown()

    def get_temp_dir(self):
        """A folder of this test."""
        if self._temp is None:
            self._temp = tempfile.mkdtemp(dir=get_temp_dir())
        return self._temp

    @contextlib.contextmanager
    def session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """A context manager with a session that is the default session in it.

        Without a config, placement is soft: nodes for devices that do not exist run on others. Without `use_gpu`, nodes
        that are made in the context are placed on the CPU; with `force_gpu`, on the first GPU, which must exist.
        """
        with session.Session(graph=graph, config=_session_config(config, force_gpu)) as made:
            with _devices(made.graph, use_gpu, force_gpu):
                yield made

    @contextlib.contextmanager
    def cached_session(self, graph=None, config=None, use_gpu=False, force_gpu=False):
        """As session(), but the same session for the whole test."""
        config = _session_config(config, force_gpu)
        if self._cached is None:
            self._cached = session.Session(graph=graph, config=config)
        elif graph is not None and graph is not self._cached.graph:
            raise ValueError("the graph is not the one of the cached session")
        with self._cached.graph.as_default(), self._cached.as_default(), _devices(self._cached.graph, use_gpu,
                                                                                             force_gpu):
            yield self._cached

    test_session = _OnInstances()

    def evaluate(self, tensors):
        """The values of the tensors, in their structure."""
        current = session.get_default_session()
        if current is not None:
            return current.run(tensors)
        with self.session() as made:
            return made.run(tensors)

    def _array(self, value):
        if isinstance(value, (graphs.Tensor, _core.Variable)):
            value = self.evaluate(value)
        return value if isinstance(value, np.ndarray) else np.array(value)

    # Comparisons.

    def assertAllEqual(self, a, b, msg=None):
        """Fails unless the arrays have the same shape and values."""
        a, b = self._array(a), self._array(b)
        self.assertEqual(a.shape, b.shape, msg or "the shapes differ")
        same = a == b
        if a.dtype.kind in "fc" and b.dtype.kind in "fc":
            same = np.logical_or(same, np.logical_and(np.isnan(a), np.isnan(b)))
        if not np.all(same):
            wrong = [tuple(int(i) for i in index) for index in np.argwhere(np.logical_not(same))[:10]]
            self.fail(f"{msg or 'the arrays differ'} at {wrong}: {a} != {b}")

    def assertNotAllEqual(self, a, b, msg=None):
        """Fails if the arrays have the same shape and values."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        self.fail(msg or "the arrays are equal")

    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Compares arrays, or structures of arrays."""
        if isinstance(a, dict) or isinstance(b, dict):
            self.assertEqual(sorted(a), sorted(b), msg)
            for key in a:
                self.assertAllClose(a[key], b[key], rtol, atol, f"{msg or ''} in {key!r}")
            return
        try:
            first, second = self._array(a), self._array(b)
        except ValueError:  # lists of arrays of several shapes
            self.assertEqual(len(a), len(b), msg)
            for i, (x, y) in enumerate(zip(a, b)):
                self.assertAllClose(x, y, rtol, atol, f"{msg or ''} in [{i}]")
            return
        self.assertEqual(first.shape, second.shape, msg or "the shapes differ")
        np.testing.assert_allclose(first, second, rtol, atol, err_msg=msg or "")

    def assertNotAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Fails if all values are nearly the same."""
        try:
            self.assertAllClose(a, b, rtol, atol)
        except AssertionError:
            return
        self.fail(msg or "the arrays are close")

    def assertAllCloseAccordingToType(self, a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6,
                                      half_rtol=1e-3, half_atol=1e-3, bfloat16_rtol=1e-2, bfloat16_atol=1e-2, msg=None):
        """assertAllClose with the tolerance of the less precise dtype."""
        a, b = self._array(a), self._array(b)
        for names, more_rtol, more_atol in ((("float32", "complex64"), float_rtol, float_atol),
                                            (("float16",), half_rtol, half_atol),
                                            (("bfloat16",), bfloat16_rtol, bfloat16_atol)):
            if a.dtype.name in names or b.dtype.name in names:
                rtol, atol = max(rtol, more_rtol), max(atol, more_atol)
        self.assertAllClose(a, b, rtol, atol, msg)

    def _all(self, condition, text, a):
        self.assertTrue(np.all(condition), f"not all elements are {text}: {a}")

    def assertAllGreater(self, a, comparison_target):
        """Fails unless all values are greater than this one."""
        a = self._array(a)
        self._all(a > comparison_target, f"> {comparison_target}", a)

    def assertAllGreaterEqual(self, a, comparison_target):
        """Fails if a value is smaller than this one."""
        a = self._array(a)
        self._all(a >= comparison_target, f">= {comparison_target}", a)

    def assertAllLess(self, a, comparison_target):
        """Fails unless all values are smaller than this one."""
        a = self._array(a)
        self._all(a < comparison_target, f"< {comparison_target}", a)

    def assertAllLessEqual(self, a, comparison_target):
        """Fails if a value is greater than this one."""
        a = self._array(a)
        self._all(a <= comparison_target, f"<= {comparison_target}", a)

    def assertAllInRange(self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False):
        """Fails if a value is outside of the bounds."""
        a = self._array(target)
        self._all(a > lower_bound if open_lower_bound else a >= lower_bound, f"above {lower_bound}", a)
        self._all(a < upper_bound if open_upper_bound else a <= upper_bound, f"below {upper_bound}", a)

    def assertAllInSet(self, target, expected_set):
        """Fails if a value is not one of these."""
        found = set(self._array(target).ravel().tolist())
        self.assertLessEqual(found, set(expected_set), "elements that are not in the set")

    def assertNear(self, f1, f2, err, msg=None):
        """Fails if the numbers differ by more than `err`."""
        self.assertTrue(f1 == f2 or abs(f1 - f2) <= err, f"{f1} != {f2} +/- {err}: {msg or ''}")

    def assertArrayNear(self, farray1, farray2, err, msg=None):
        """Fails if two numbers of the lists differ by more than `err`."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):
        """Fails if the norm of the difference is `err` or more."""
        self.assertTrue(np.linalg.norm(ndarray1 - ndarray2) < err, msg or f"{ndarray1} is not near {ndarray2}")

    def assertShapeEqual(self, np_array, tf_tensor, msg=None):
        """Fails unless the array and the tensor have the same shape."""
        self.assertEqual(list(np_array.shape), tf_tensor.get_shape().as_list(), msg)

    def assertDTypeEqual(self, target, expected_dtype):
        """Fails unless the array or tensor has this dtype."""
        dtype = target.dtype if hasattr(target, "dtype") else np.array(target).dtype
        self.assertEqual(dtypes.as_dtype(dtype), dtypes.as_dtype(expected_dtype))

    def assertSameStructure(self, a, b, aname="a", bname="b", msg=None):
        """Fails unless the structures are the same."""
        try:
            nest.assert_same_structure(a, b)
        except (TypeError, ValueError) as error:
            self.fail(f"{aname} and {bname}: {error} {msg or ''}")

    # Text, containers and errors.

    def assertStartsWith(self, actual, expected_start, msg=None):
        """Fails unless the text begins so."""
        self.assertTrue(actual.startswith(expected_start), msg or f"{actual!r} does not start with {expected_start!r}")

    def assertEndsWith(self, actual, expected_end, msg=None):
        """Fails unless the text ends so."""
        self.assertTrue(actual.endswith(expected_end), msg or f"{actual!r} does not end with {expected_end!r}")

    def assertEmpty(self, container, msg=None):
        """Fails unless there is nothing in it."""
        self.assertEqual(len(container), 0, msg)

    def assertNotEmpty(self, container, msg=None):
        """Fails if there is nothing in it."""
        self.assertNotEqual(len(container), 0, msg)

    def assertLen(self, container, expected_len, msg=None):
        """Fails unless it has this length."""
        self.assertEqual(len(container), expected_len, msg)

    def assertBetween(self, value, minv, maxv, msg=None):
        """Fails if the value is outside of the bounds."""
        self.assertTrue(minv <= value <= maxv, msg or f"{value} is not between {minv} and {maxv}")

    def assertItemsEqual(self, first, second, msg=None):
        """Fails unless both have the same items, in any order."""
        self.assertCountEqual(first, second, msg)

    def assertProtoEquals(self, expected_message_maybe_ascii, message, msg=None):
        """Compares messages; the expected one may be text."""
        expected = expected_message_maybe_ascii
        if isinstance(expected, str):
            from google.protobuf import text_format

            expected = text_format.Parse(expected, type(message)())
        self.assertEqual(str(expected), str(message), msg)

    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type, expected_err_re_or_predicate):
        """Expects an error that the predicate accepts, or whose message has the regular expression."""
        wanted = expected_err_re_or_predicate
        matches = wanted if callable(wanted) else lambda error: re.search(wanted, str(error))
        try:
            yield
        except exception_type as error:
            if not matches(error):
                raise AssertionError(f"the error is not the expected one: {type(error).__name__}: {error}") from error
        else:
            self.fail(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate):
        """A scope that must raise an OpError with such a message."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)


def _session_config(config, force_gpu):
    """The ConfigProto of a test's session."""
    if force_gpu and not is_gpu_available():
        problem = _core.find_plugin("GPU")[2] or "the log says why none can be started"
        raise errors.InvalidArgumentError(None, None, f"force_gpu=True, but there is no GPU: {problem}")
    if config is not None:
        return config
    from tensorbraid import proto

    return proto.ConfigProto(allow_soft_placement=not force_gpu)


def _devices(graph, use_gpu, force_gpu):
    """The scope in which a test's nodes are made."""
    if force_gpu:
        return graph.device("/device:GPU:0")
    return contextlib.nullcontext() if use_gpu else graph.device("/device:CPU:0")
