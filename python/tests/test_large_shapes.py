"""Sizes and positions above 2^31 - 1, which int32 does not hold."""

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

    def test_a_variable_of_more_than_2_31_bytes_can_be_read_in_parts(self):
        v = tf.get_variable("v", [LARGE], tf.uint8, initializer=tf.constant_initializer(7))
        with tf.Session() as session:
            session.run(v.initializer)
            self.assertEqual(session.run(v[2**31:]).tolist(), [7] * 5)
            self.assertEqual(session.run(v[2**31 + 4]), 7)


if __name__ == "__main__":
    unittest.main()
