"""Ops by their names in Python: operators, slices, sparse tensors in sessions, errors."""

import unittest

import numpy as np
import tensorbraid as tf


class OpsTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def run_all(self, *tensors):
        with tf.Session() as session:
            return session.run(list(tensors))

    def test_a_wrong_dtype_is_a_type_error_and_a_wrong_shape_a_value_error(self):
        x = tf.constant([1.0, 2.0])
        for wrong in (lambda: tf.add(x, tf.constant(1)), lambda: tf.sin(tf.constant(1)),
                      lambda: tf.constant([1]) + 1.5):
            with self.assertRaises(TypeError):
                wrong()
        with self.assertRaises(ValueError):
            tf.add(x, [1.0, 2.0, 3.0])
        with self.assertRaises(LookupError):
            z = tf.constant([3.0])
            tf.gradients(tf.truncatemod(z, [2.0]), z)

    def test_lists_of_tensors_are_packed(self):
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.reshape(x, [tf.shape(x)[0] * 2, 1])
        with tf.Session() as session:
            np.testing.assert_array_equal(session.run(y, {x: [[1, 2]]}), [[1], [2]])

    def test_slices_are_those_of_numpy(self):
        array = np.arange(24).reshape(2, 3, 4)
        x = tf.constant(array)
        keys = (0, -1, slice(1, None), (slice(None), slice(None, None, -1)), (Ellipsis, 2), (0, None, slice(0, 2)))
        for key, value in zip(keys, self.run_all(*[x[key] for key in keys])):
            np.testing.assert_array_equal(value, array[key])

    def test_values_of_numpy_stand_on_either_side_of_an_operator(self):
        x = tf.constant([1.0, 2.0])
        left, right = self.run_all(np.float64(3) * x, x * np.array([3.0, 4.0]))
        np.testing.assert_array_equal(left, [3, 6])
        np.testing.assert_array_equal(right, [3, 8])
        self.assertEqual(left.dtype, np.float32)

    def test_large_integers_are_int64(self):
        self.assertEqual(tf.constant(2**40).dtype, tf.int64)
        self.assertEqual(tf.constant([1, -5]).dtype, tf.int32)

    def test_sparse_tensors_are_fed_and_fetched(self):
        sp = tf.sparse_placeholder(tf.float32, [None, 3])
        value = tf.SparseTensorValue(np.array([[0, 1]]), np.array([7.0], np.float32), np.array([2, 3]))
        with tf.Session() as session:
            dense, fetched = session.run([tf.sparse_tensor_to_dense(sp), sp], {sp: value})
        np.testing.assert_array_equal(dense, [[0, 7, 0], [0, 0, 0]])
        self.assertIsInstance(fetched, tf.SparseTensorValue)
        np.testing.assert_array_equal(fetched.indices, [[0, 1]])

    def test_equal_seeds_give_equal_numbers(self):
        def numbers():
            with tf.Graph().as_default():
                tf.set_random_seed(3)
                with tf.Session() as session:
                    return session.run([tf.random_normal([3]), tf.random_normal([3])])

        first, second = numbers(), numbers()
        np.testing.assert_array_equal(first, second)
        self.assertFalse(np.array_equal(first[0], first[1]))

    def test_a_failed_assertion_names_its_message(self):
        x = tf.placeholder(tf.int32, [None])
        with tf.control_dependencies([tf.assert_positive(x, message="x must be positive")]):
            y = tf.identity(x)
        with tf.Session() as session, self.assertRaisesRegex(tf.errors.InvalidArgumentError, "x must be positive"):
            session.run(y, {x: [-1]})

    def test_tables_are_filled_by_their_initializer(self):
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
        value = table.lookup(tf.constant(["b", "x"]))
        with tf.Session() as session:
            session.run(tf.tables_initializer())
            np.testing.assert_array_equal(session.run(value), [2, -1])


if __name__ == "__main__":
    unittest.main()
