"""Sizes and positions above 2^31 - 1, the largest int32."""

import unittest

import numpy as np

import tensorbraid.compat.v1 as tf

LARGE = 2**31 + 5


class LargeShapesTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_shapes_have_the_sizes_that_the_program_gives(self):
        x = tf.placeholder(tf.uint8, [LARGE])
        cases = {
            "zeros": (tf.zeros([LARGE], tf.uint8), [LARGE]),
            "zeros of a product above 2^63": (tf.zeros([LARGE, 2**31], tf.uint8), [LARGE, 2**31]),
            "zeros of an array": (tf.zeros(np.array([LARGE]), tf.uint8), [LARGE]),
            "ones": (tf.ones((LARGE, 2)), [LARGE, 2]),
            "zeros_like": (tf.zeros_like(x), [LARGE]),
            "ones_like": (tf.ones_like(x), [LARGE]),
            "fill": (tf.fill([LARGE, 1], 1.0), [LARGE, 1]),
            "random_uniform": (tf.random_uniform([LARGE]), [LARGE]),
            "random_normal": (tf.random_normal([LARGE]), [LARGE]),
            "truncated_normal": (tf.truncated_normal([LARGE]), [LARGE]),
            "random_crop": (tf.random_crop(x, [LARGE - 1]), [LARGE - 1]),
            "reshape": (tf.reshape(x, [1, LARGE]), [1, LARGE]),
            "slice": (tf.slice(x, [2**31], [4]), [4]),
            "slice of a large size": (tf.slice(x, [0], [2**31]), [2**31]),
            "from a position": (x[2**31:], [5]),
            "an element": (x[2**31], []),
            "with a stride": (x[1:2**31 + 2:2], [2**30 + 1]),
            "range": (tf.range(LARGE), [LARGE]),
            "concat": (tf.concat([x, x], 0), [2 * LARGE]),
        }
        for name, (tensor, shape) in cases.items():
            with self.subTest(name):
                self.assertEqual(tensor.shape.as_list(), shape)
        self.assertEqual(cases["range"][0].dtype, tf.int64)

    def test_variables_of_large_shapes_have_initial_values(self):
        names = ["zeros", "ones", "constant", "random_uniform", "random_normal", "truncated_normal", "glorot_uniform",
                 "variance_scaling"]
        for name in names:
            with self.subTest(name):
                v = tf.get_variable(name, [LARGE, 2], initializer=getattr(tf, name + "_initializer")())
                self.assertEqual(v.initial_value.shape.as_list(), [LARGE, 2])

    def test_a_size_that_int32_does_not_hold_is_computed_in_the_step(self):
        x = tf.zeros([LARGE], tf.uint8)
        with tf.Session() as session:
            self.assertEqual(session.run(tf.shape(x, out_type=tf.int64)).tolist(), [LARGE])
            self.assertEqual(session.run(tf.size(x, out_type=tf.int64)), LARGE)
            for size in (tf.shape(x), tf.size(x)):
                with self.assertRaises(tf.errors.InvalidArgumentError):
                    session.run(size)

    def test_a_variable_of_more_than_2_31_bytes_can_be_read_in_parts(self):
        v = tf.get_variable("v", [LARGE], tf.uint8, initializer=tf.constant_initializer(7))
        with tf.Session() as session:
            session.run(v.initializer)
            self.assertEqual(session.run(v[2**31:]).tolist(), [7] * 5)
            self.assertEqual(session.run(v[2**31 + 4]), 7)


if __name__ == "__main__":
    unittest.main()
