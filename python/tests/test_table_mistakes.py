"""Arguments of growing tables that are mistakes: an error says what to do, and nothing changes."""

import unittest

import tensorbraid as tf


class MistakesTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def refused(self, error, words, **arguments):
        with self.assertRaisesRegex(error, words):
            tf.get_embedding_variable("ids", **{"embedding_dim": 2, **arguments})

    def test_numbers_of_parts(self):
        for parts in (0, -1):
            self.refused(ValueError, f"table 'ids' must return a number of parts from 1 to 1000, got {parts}: give it the "
                         "number of parameter servers", partitioner=tf.fixed_size_partitioner(parts))
        self.refused(ValueError, "from 1 to 1000, got 1001: give it the number of parameter servers",
                     partitioner=tf.fixed_size_partitioner(1001))

    def test_numbers_that_are_not_whole(self):
        option = tf.EmbeddingVariableOption
        for value in ("8", 2.5, None, [2]):
            self.refused(TypeError, "'embedding_dim' must be an integer", embedding_dim=value)
        for made in (option(evict_option=tf.GlobalStepEvict(0.5)), option(evict_option=tf.SizeEvict(max_rows=0.5)),
                     option(filter_option=tf.CounterFilter(1.5)), option(filter_option=tf.CBFFilter(2, 10.5, 0.01))):
            self.refused(TypeError, "must be an integer", ev_option=made)
        table = tf.get_embedding_variable("ids", 2.0, ev_option=option(evict_option=tf.SizeEvict(max_rows=1e6)))
        self.assertEqual(table.shape.as_list(), [None, 2])

    def test_an_eviction_without_a_limit(self):
        for evict in (tf.SizeEvict(), tf.SizeEvict(max_rows=0)):
            self.refused(ValueError, "tf.SizeEvict of the growing table 'ids' has no limit; give it max_rows",
                         ev_option=tf.EmbeddingVariableOption(evict_option=evict))

    def test_an_option_of_another_kind(self):
        self.refused(TypeError, "ev_option of the growing table 'ids' must be a tf.EmbeddingVariableOption",
                     ev_option=tf.CounterFilter(3))

    def test_a_table_that_exists(self):
        with tf.variable_scope("", reuse=tf.AUTO_REUSE):
            for name, parts in (("whole", 0), ("parted", 2)):
                partitioner = parts and tf.fixed_size_partitioner(parts)
                table = tf.get_embedding_variable(name, 2, partitioner=partitioner or None)
                self.assertIs(tf.get_embedding_variable(name, 2), table)
                self.assertIs(tf.get_embedding_variable(name, 2, partitioner=partitioner or None), table)
                with self.assertRaisesRegex(ValueError, f"'{name}' has {parts or 1} parts, not 3; give it the same"):
                    tf.get_embedding_variable(name, 2, partitioner=tf.fixed_size_partitioner(3))
                with self.assertRaisesRegex(ValueError, f"'{name}' has rows of 2 numbers, not of 4; give the other table"):
                    tf.get_embedding_variable(name, 4)

    def test_increments_need_a_directory(self):
        with self.assertRaisesRegex(ValueError, "save_incremental_checkpoint_secs needs a checkpoint_dir"):
            tf.train.MonitoredTrainingSession(save_incremental_checkpoint_secs=60)

    def test_a_gather_is_a_lookup(self):
        table = tf.get_embedding_variable("ids", 2)
        keys = tf.constant([7, -1], tf.int64)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            expected, *found = session.run([tf.nn.embedding_lookup(table, keys), tf.gather(table, keys),
                                            table.sparse_read(keys)])
        for rows in found:
            self.assertEqual(rows.tolist(), expected.tolist())


if __name__ == "__main__":
    unittest.main()
