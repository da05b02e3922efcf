"""Growing tables whose initial rows are those of a matrix: default_value_dim, and initializers that need one."""

import os
import random
import tempfile
import unittest

import numpy as np

import tensorbraid as tf

KEYS = [0, 1, 4, 5, 9, -1, 2**40 + 4]


def option(count=None, **arguments):
    return tf.EmbeddingVariableOption(init_option=tf.InitializerOption(default_value_dim=count, **arguments))


class MatrixTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def rows(self, table, keys=KEYS):
        """What a lookup gives in a table that has no rows."""
        found = tf.nn.embedding_lookup(table, tf.constant(keys, tf.int64))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return session.run(found)

    def test_keys_share_the_rows_of_a_matrix(self):
        tf.set_random_seed(5)
        table = tf.get_embedding_variable("ids", 3, ev_option=option(5), partitioner=tf.fixed_size_partitioner(2))
        found = self.rows(table)
        remainders = np.array(KEYS) % 5
        for i in range(len(KEYS)):
            for j in range(len(KEYS)):
                self.assertEqual((found[i] == found[j]).all(), remainders[i] == remainders[j])
        tf.reset_default_graph()
        tf.set_random_seed(5)
        np.testing.assert_array_equal(self.rows(tf.get_embedding_variable("ids", 3), remainders), found)

    def test_the_program_says_whether_there_is_a_matrix(self):
        self.assertEqual(tf.InitializerOption().default_value_dim, 4096)
        later = tf.InitializerOption()
        later.default_value_dim = 1
        first, second = self.rows(tf.get_embedding_variable(
            "ids", 3, ev_option=tf.EmbeddingVariableOption(init_option=later)), [7, 8])
        np.testing.assert_array_equal(first, second)
        first, second = self.rows(tf.get_embedding_variable("others", 3, ev_option=option()), [7, 4096 + 7])
        self.assertFalse((first == second).all())
        with self.assertRaisesRegex(ValueError, "default_value_dim must be positive, got 0"):
            later.default_value_dim = 0

    def test_a_function_that_draws_without_a_seed_makes_the_same_matrix_in_each_program(self):
        def drawn(shape, dtype=None, partition_info=None):
            return np.random.normal(size=shape) + random.random()

        found = []
        for program in range(2):
            np.random.seed(program)
            random.seed(program)
            tf.reset_default_graph()
            table = tf.get_embedding_variable("ids", 3, initializer=drawn, ev_option=option(5))
            others = tf.get_embedding_variable("others", 3, initializer=drawn, ev_option=option(5))
            after = np.random.random(), random.random()
            np.random.seed(program)
            random.seed(program)
            self.assertEqual((np.random.random(), random.random()), after)  # the program's own numbers are as before
            found.append(self.rows(table))
            self.assertFalse((self.rows(others) == found[-1]).any())
        np.testing.assert_array_equal(*found)

    def test_variance_scaling_takes_the_number_of_rows(self):
        table = tf.get_embedding_variable("ids", 4, initializer=tf.glorot_uniform_initializer(), ev_option=option(2))
        largest = np.abs(self.rows(table, range(2))).max()
        self.assertLess(largest, 1.0)  # sqrt(6 / (2 + 4))
        self.assertGreater(largest, np.sqrt(6 / 4100))

    def test_initializers_whose_numbers_cannot_be_computed_by_key(self):
        def matrix():
            tf.reset_default_graph()
            tf.set_random_seed(3)
            table = tf.get_embedding_variable("ids", 4, initializer=tf.orthogonal_initializer(), ev_option=option(6))
            return self.rows(table, range(12))

        found = matrix()
        np.testing.assert_allclose(found[:6].T @ found[:6], np.eye(4), atol=1e-5)
        np.testing.assert_array_equal(found[:6], found[6:])
        np.testing.assert_array_equal(matrix(), found)
        tf.reset_default_graph()
        given = np.arange(8, dtype=np.float32).reshape(4, 2)
        for name, initializer in (("a", tf.constant_initializer(given)), ("b", lambda shape, dtype: tf.constant(given)),
                                  ("c", given)):
            table = tf.get_embedding_variable(name, 2, ev_option=option(4, initializer=initializer))
            np.testing.assert_array_equal(self.rows(table), given[np.array(KEYS) % 4])

    def test_without_default_value_dim_such_a_matrix_has_4096_rows(self):
        found = self.rows(tf.get_embedding_variable("ids", 2, initializer=lambda shape, dtype: tf.reshape(
            tf.range(shape[0] * shape[1], dtype=dtype), shape)), [4095, 4097])
        np.testing.assert_array_equal(found, [[8190, 8191], [2, 3]])

    def test_a_matrix_that_does_not_fit(self):
        for initializer, words in ((np.zeros([3, 2], np.float32), r"have the shape \[3, 2\].*default_value_dim"),
                                   (lambda shape: tf.zeros(shape), "'ids' cannot make its 4 .*default_value_dim"),
                                   (np.full([4, 2], np.nan, np.float32), "'ids' have a number that is not finite")):
            with self.assertRaisesRegex(ValueError, words):
                tf.get_embedding_variable("ids", 2, ev_option=option(4, initializer=initializer))


class CheckpointTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.folder = tempfile.mkdtemp()

    def model(self, **filtered):
        ids = tf.placeholder(tf.int64, [None], name="ids")
        one = tf.EmbeddingVariableOption(init_option=tf.InitializerOption(tf.orthogonal_initializer(seed=1), 5), **filtered)
        two = tf.EmbeddingVariableOption(init_option=tf.InitializerOption(None, 3, -2.0), **filtered)
        users = tf.get_embedding_variable("users", 4, ev_option=one, partitioner=tf.fixed_size_partitioner(3))
        items = tf.get_embedding_variable("items", 2, ev_option=two)
        rows = tf.concat([tf.nn.embedding_lookup(users, ids), tf.nn.embedding_lookup(items, ids)], 1, name="rows")
        train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(tf.square(rows - 1)),
                                                        global_step=tf.train.get_or_create_global_step())
        return ids, rows, train

    def trained(self, session, ids, rows, train):
        session.run(tf.global_variables_initializer())
        first = session.run(rows, {ids: KEYS})
        for _ in range(3):
            session.run(train, {ids: KEYS[:4]})
        return first, session.run(rows, {ids: KEYS})

    def test_a_restored_training_has_the_same_matrix(self):
        path = os.path.join(self.folder, "model")
        with tf.Session() as session:
            first, expected = self.trained(session, *self.model())
            tf.train.Saver().save(session, path)
        self.assertFalse((expected[:4] == first[:4]).any())
        np.testing.assert_array_equal(expected[4:], first[4:])
        for imported in (False, True):
            tf.reset_default_graph()
            if imported:
                saver = tf.train.import_meta_graph(path + ".meta")
                ids, rows = (tf.get_default_graph().get_tensor_by_name(name) for name in ("ids:0", "rows:0"))
            else:
                ids, rows, _ = self.model()
                saver = tf.train.Saver()
            with tf.Session() as session:
                saver.restore(session, path)
                np.testing.assert_array_equal(session.run(rows, {ids: KEYS}), expected)

    def served(self, keys):
        with tf.Session(graph=tf.Graph()) as session:
            meta_graph = tf.saved_model.loader.load(session, [tf.saved_model.tag_constants.SERVING],
                                                    os.path.join(self.folder, "serving"))
            self.assertFalse([node.op for node in meta_graph.graph_def.node if node.op.startswith(("Kv", "_"))])
            signature = meta_graph.signature_def["serving_default"]
            return session.run(signature.outputs["rows"].name, {signature.inputs["ids"].name: keys})

    def test_other_keys_read_the_matrix_where_it_is_served(self):
        with tf.Session() as session:
            ids, rows, train = self.model()
            _, expected = self.trained(session, ids, rows, train)
            tf.saved_model.simple_save(session, os.path.join(self.folder, "serving"), {"ids": ids}, {"rows": rows})
        np.testing.assert_array_equal(self.served(KEYS), expected)

    def test_with_a_filter_other_keys_have_their_own_value(self):
        with tf.Session() as session:
            ids, rows, train = self.model(filter_option=tf.CounterFilter(2))
            self.trained(session, ids, rows, train)
            tf.saved_model.simple_save(session, os.path.join(self.folder, "serving"), {"ids": ids}, {"rows": rows})
        np.testing.assert_array_equal(self.served([77]), [[0, 0, 0, 0, -2, -2]])


if __name__ == "__main__":
    unittest.main()
