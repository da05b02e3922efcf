"""Variables, variable scopes and initial values: what is refused, and with which error."""

import unittest

import numpy as np
import tensorbraid as tf


class VariablesTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_a_variable_is_made_once_unless_the_scope_reuses(self):
        with tf.variable_scope("a"):
            w = tf.get_variable("w", [2])
            with self.assertRaisesRegex(ValueError, "'a/w'.*exists already"):
                tf.get_variable("w", [2])
            tf.get_variable_scope().reuse_variables()
            self.assertIs(tf.get_variable("w", [2]), w)
            with self.assertRaisesRegex(ValueError, "'a/other'.*does not exist"):
                tf.get_variable("other", [2])
            with self.assertRaisesRegex(ValueError, "shape"):
                tf.get_variable("w", [3])
            with self.assertRaisesRegex(ValueError, "dtype"):
                tf.get_variable("w", [2], tf.float64)
        tf.get_variable("w", [2])  # the scope at the top level does not reuse

    def test_the_scope_at_the_top_level_can_reuse_and_be_opened_again(self):
        top = tf.get_variable_scope()
        w = tf.get_variable("w", [2])
        with tf.variable_scope("inner"), tf.variable_scope(top, reuse=True):
            self.assertIs(tf.get_variable("w", [2]), w)
        top.reuse_variables()
        self.assertIs(tf.get_variable("w", [2]), w)

    def test_a_failing_initializer_leaves_the_graph_usable(self):
        def fails(shape, dtype, partition_info):
            raise KeyError("initializer")

        with self.assertRaises(KeyError):
            tf.get_variable("w", [4, 2], initializer=fails, partitioner=tf.fixed_size_partitioner(2))
        v = tf.get_variable("v", [2, 2], initializer=tf.initializers.identity())
        with tf.Session() as session:
            session.run(tf.variables_initializer([v]))
            self.assertEqual(session.run(v).tolist(), [[1, 0], [0, 1]])

    def test_initializers_get_the_part_that_they_make(self):
        seen = []

        def rows(shape, dtype, partition_info):
            seen.append((shape, dtype, partition_info.full_shape, partition_info.var_offset))
            return tf.zeros(shape, dtype)

        table = tf.get_variable("table", [5, 2], initializer=rows, partitioner=tf.fixed_size_partitioner(2))
        self.assertEqual(seen, [([3, 2], tf.float32, [5, 2], [0, 0]), ([2, 2], tf.float32, [5, 2], [3, 0])])
        self.assertEqual([part.name for part in table], ["table/part_0:0", "table/part_1:0"])
        self.assertEqual(table.get_shape().as_list(), [5, 2])
        with self.assertRaisesRegex(NotImplementedError, "another axis"):
            tf.fixed_size_partitioner(2, axis=1)
        for count in (0, -1):  # the number of parameter servers of a program that runs alone
            partitioner = tf.min_max_variable_partitioner(max_partitions=count, min_slice_size=1)
            self.assertEqual(partitioner(shape=tf.TensorShape([6, 2]), dtype=tf.float32), [1, 1])

    def test_the_gain_of_an_identity_may_be_a_matrix(self):
        v = tf.get_variable("v", [2, 3], initializer=tf.initializers.identity(np.arange(6.0).reshape(2, 3)))
        with tf.Session() as session:
            session.run(v.initializer)
            np.testing.assert_array_equal(session.run(v), [[0, 0, 0], [0, 4, 0]])

    def test_a_variable_without_a_fixed_shape_takes_values_of_other_shapes(self):
        v = tf.Variable([1, 2], validate_shape=False)
        grown = v.assign([1, 2, 3])
        with tf.Session() as session:
            session.run(v.initializer)
            self.assertEqual(session.run(grown).tolist(), [1, 2, 3])
        with self.assertRaisesRegex(ValueError, "Shape mismatch"):
            tf.Variable([1, 2]).assign([1, 2, 3])

    def test_what_is_not_supported_is_refused(self):
        with self.assertRaisesRegex(ValueError, "callable"):
            tf.Variable(1.0, constraint=3)
        with self.assertRaisesRegex(ValueError, "variable_def and initial_value are mutually exclusive"):
            tf.Variable(1.0, variable_def=object())
        with self.assertRaisesRegex(TypeError, "variable_def must be a VariableDef"):
            tf.Variable(variable_def=object())

    def test_an_initial_value_may_be_that_of_another_variable(self):
        first = tf.Variable(2.0, name="first")
        others = [tf.Variable(first), tf.Variable(first.read_value())]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())  # in one step
            self.assertEqual(session.run(others), [2.0, 2.0])
            session.run(first.assign(3.0))
            session.run(others[0].initializer)
            self.assertEqual(session.run(others), [3.0, 2.0])

    def test_regularizers_are_called_once_for_a_shared_variable(self):
        calls = []

        def regularizer(value):
            calls.append(value)
            return tf.reduce_sum(value)

        for _ in range(2):
            with tf.variable_scope("a", reuse=tf.AUTO_REUSE, regularizer=regularizer):
                tf.get_variable("w", [2])
        self.assertEqual(len(calls), 1)
        self.assertEqual(len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)), 1)


if __name__ == "__main__":
    unittest.main()
