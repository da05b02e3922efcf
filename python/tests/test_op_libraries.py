"""Libraries of custom ops. The build sets the variables with their paths (tests/custom_op)."""

import inspect
import os
import pathlib
import unittest

import numpy as np
import tensorbraid as tf

SCALED_TANH = os.environ.get("TENSORBRAID_SCALED_TANH")
TEST_OPS = os.environ.get("TENSORBRAID_TEST_OPS")


@unittest.skipUnless(SCALED_TANH and TEST_OPS, "no libraries were built")
class OpLibraryTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_an_op_becomes_a_function(self):
        module = tf.load_op_library(SCALED_TANH)
        self.assertEqual(str(inspect.signature(module.scaled_tanh)), "(x, scale=1.0, name=None)")
        self.assertEqual(module.scaled_tanh.__doc__, "Computes scale * tanh(x), element by element.")
        x = tf.placeholder(tf.float32, [None, 2])
        y = module.scaled_tanh(x, scale=2.0)
        self.assertEqual(y.op.type, "ScaledTanh")
        self.assertEqual(y.name, "ScaledTanh:0")
        self.assertEqual(y.shape.as_list(), [None, 2])
        (gradient,) = tf.gradients(y, x)
        at = np.array([[0, 1]], np.float32)
        with tf.Session() as session:
            value, slope = session.run([y, gradient], {x: at})
        np.testing.assert_allclose(value, 2 * np.tanh(at), rtol=1e-6)
        np.testing.assert_allclose(slope, 2 * (1 - np.tanh(at) ** 2), rtol=1e-5)

    def test_values_become_constants_of_the_dtype(self):
        y = tf.load_op_library(SCALED_TANH).scaled_tanh([0.0, 1.0], name="y")
        self.assertEqual((y.dtype, y.op.name), (tf.float32, "y"))
        with self.assertRaises(TypeError):
            tf.load_op_library(SCALED_TANH).scaled_tanh(tf.constant(1))

    def test_a_library_may_be_loaded_again(self):
        for path in (SCALED_TANH, pathlib.Path(SCALED_TANH)):
            self.assertTrue(callable(tf.load_op_library(path).scaled_tanh))

    def test_an_op_with_two_outputs_gives_a_named_tuple(self):
        module = tf.load_op_library(TEST_OPS)
        nearest = module.nearest_neighbors([[0.0], [5.0]], [[4.0], [1.0]], 1)
        self.assertEqual(nearest._fields, ("nearest_center_indices", "nearest_center_distances"))
        with tf.Session() as session:
            np.testing.assert_array_equal(session.run(nearest.nearest_center_indices), [[1], [0]])
            with self.assertRaisesRegex(tf.errors.DataLossError, "the kernel's own error"):
                session.run(module.may_fail(1.0, how="error"))
            with self.assertRaisesRegex(tf.errors.InternalError, "the kernel's own exception"):
                session.run(module.may_fail(1.0, how="throw"))
            self.assertEqual(session.run(module.may_fail(2.0)), 2.0)

    def test_files_that_are_no_op_libraries(self):
        with self.assertRaises(tf.errors.NotFoundError):
            tf.load_op_library("/nowhere/lib.so")
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "it is not a shared library"):
            tf.load_op_library(__file__)


class SnakeCaseTest(unittest.TestCase):
    def test_names_are_those_of_tensorflow(self):
        from tensorbraid.ops.op_libraries import _snake_case
        for op, name in (("ScaledTanh", "scaled_tanh"), ("MatMul", "mat_mul"), ("L2Loss", "l2_loss"),
                         ("Conv2D", "conv2d"), ("CTCLoss", "ctc_loss"), ("FFT2D", "fft2d")):
            self.assertEqual(_snake_case(op), name)


if __name__ == "__main__":
    unittest.main()
