"""Which keys of growing tables have rows: filters, and evictions."""

import contextlib
import os
import tempfile
import unittest

import numpy as np

import tensorbraid as tf


class FilterTest(unittest.TestCase):
    def table(self, parts, optimizer=lambda: tf.train.AdagradOptimizer(0.5)):
        """A table that admits keys after 3 occurrences, the rows of the placeholder's keys, and a step."""
        option = tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(filter_freq=3),
                                            init_option=tf.InitializerOption(default_value_no_permission=-7.0))
        table = tf.get_embedding_variable("ids", 1, initializer=tf.constant_initializer(2.0), ev_option=option,
                                          partitioner=tf.fixed_size_partitioner(parts) if parts else None)
        keys = tf.placeholder(tf.int64, [None])
        rows = tf.nn.embedding_lookup(table, keys)
        return table, keys, rows, optimizer().minimize(tf.reduce_sum(rows))

    def test_a_key_is_admitted_after_occurrences_in_updates(self):
        for parts in (0, 2):
            for optimizer in (lambda: tf.train.AdagradOptimizer(0.5), tf.contrib.opt.LazyAdamOptimizer):
                with self.subTest(parts=parts), tf.Graph().as_default(), tf.Session() as session:
                    table, keys, rows, train = self.table(parts, optimizer)
                    session.run(tf.global_variables_initializer())
                    self.assertEqual(session.run(rows, {keys: [5, 6, 6, 6]}).ravel().tolist(), [-7, 2, 2, 2])
                    session.run(train, {keys: [5, 5, 6]})
                    self.assertEqual(session.run(table.total_count()), 0)
                    self.assertEqual(session.run(rows, {keys: [5, 6]}).ravel().tolist(), [2, -7])
                    session.run(train, {keys: [5]})
                    self.assertEqual(session.run(table.total_count()), 1)
                    self.assertLess(session.run(rows, {keys: [5]})[0, 0], 2)

    def test_counts_of_distinct_keys_are_given(self):
        for parts in (0, 2):
            with tf.Graph().as_default(), tf.Session() as session:
                table, keys, _, _ = self.table(parts)
                unique, _, counts = tf.unique_with_counts(keys)
                rows = tf.nn.embedding_lookup(table, unique, counts=counts)
                train = tf.train.AdagradOptimizer(0.5).minimize(tf.reduce_sum(rows))
                session.run(tf.global_variables_initializer())
                self.assertEqual(session.run(rows, {keys: [5, 6, 6, 6]}).ravel().tolist(), [-7, 2])
                session.run(train, {keys: [5, 5, 6, 7, 7, 7]})
                self.assertEqual(session.run(table.total_count()), 1)
                session.run(train, {keys: [5]})
                self.assertEqual(session.run(table.total_count()), 2)
                with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "counts are float"):
                    tf.nn.embedding_lookup(table, unique, counts=tf.cast(counts, tf.float32))

    def test_counts_are_restored_into_other_numbers_of_parts(self):
        with tempfile.TemporaryDirectory() as folder:
            saved = None
            for step, parts in enumerate((1, 3, 0)):
                with tf.Graph().as_default(), tf.Session() as session:
                    table, keys, rows, train = self.table(parts)
                    saver = tf.train.Saver()
                    session.run(tf.global_variables_initializer())
                    if saved:
                        saver.restore(session, saved)
                    session.run(train, {keys: [8, -9]})
                    self.assertEqual(session.run(table.total_count()), 2 if step == 2 else 0)
                    saved = saver.save(session, os.path.join(folder, "model"), step)

    def test_mistakes_are_explained(self):
        for rule, error, words in (
                (tf.CounterFilter(-1), ValueError, "'ids' must not be negative, got -1"),
                (tf.CBFFilter(3, 100, 1.5), ValueError, "a filter_error between 0 and 1, got 3, 100")):
            with tf.Graph().as_default(), self.assertRaisesRegex(error, words):
                tf.get_embedding_variable("ids", 1, ev_option=tf.EmbeddingVariableOption(filter_option=rule))
        with self.assertRaisesRegex(ValueError, "given both, or neither"):
            tf.CBFFilter(3, 100)

    def test_a_bloom_filter_admits_keys_as_counts_do(self):
        # The settings of the zoo of DeepRec: 3 GB of counters of 2 bits, of which this touches little.
        for rule in (tf.CBFFilter(3, 2**30, 0.01, tf.int64), tf.CBFFilter(3)):
            option = tf.EmbeddingVariableOption(filter_option=rule)
            with tf.Graph().as_default(), tf.Session() as session:
                table = tf.get_embedding_variable("ids", 1, ev_option=option)
                keys = tf.placeholder(tf.int64, [None])
                train = tf.train.AdagradOptimizer(0.5).minimize(
                    tf.reduce_sum(tf.nn.embedding_lookup(table, keys)))
                session.run(tf.global_variables_initializer())
                for count in (0, 0, 500):
                    session.run(train, {keys: np.arange(500) * 1_000_003})
                    self.assertEqual(session.run(table.total_count()), count)

    def test_the_state_of_a_bloom_filter_needs_its_shape(self):
        def saver_of(session, keys):
            option = tf.EmbeddingVariableOption(filter_option=tf.CBFFilter(3, keys, 0.01))
            tf.get_embedding_variable("ids", 1, ev_option=option)
            session.run(tf.global_variables_initializer())
            return tf.train.Saver()

        with tempfile.TemporaryDirectory() as folder:
            with tf.Graph().as_default(), tf.Session() as session:
                saved = saver_of(session, 1_000_000).save(session, os.path.join(folder, "model"))
            with tf.Graph().as_default(), tf.Session() as session:
                saver_of(session, 1_000_000).restore(session, saved)
            with tf.Graph().as_default(), tf.Session() as session:
                saver = saver_of(session, 9_000_000)
                with self.assertRaisesRegex(tf.errors.FailedPreconditionError, "made for another number of keys"):
                    saver.restore(session, saved)

    def test_exact_counts_after_a_bloom_filter_begin_again_and_say_so(self):
        def model(rule):
            table = tf.get_embedding_variable("ids", 1, partitioner=tf.fixed_size_partitioner(2),
                                              ev_option=tf.EmbeddingVariableOption(filter_option=rule))
            keys = tf.placeholder(tf.int64, [None])
            rows = tf.nn.embedding_lookup(table, keys)
            return keys, tf.train.AdagradOptimizer(0.5).minimize(tf.reduce_sum(rows)), table.total_count()

        with tempfile.TemporaryDirectory() as folder:
            with tf.Graph().as_default(), tf.Session() as session:
                keys, train, _ = model(tf.CBFFilter(3, 1000, 0.01))
                session.run(tf.global_variables_initializer())
                session.run(train, {keys: [1, 1, 1, 2, 2]})
                saved = tf.train.Saver().save(session, os.path.join(folder, "model"))
            with tf.Graph().as_default(), tf.Session() as session:
                keys, train, count = model(tf.CounterFilter(3))
                session.run(tf.global_variables_initializer())
                with logged() as log:
                    tf.train.Saver().restore(session, saved)
                    said = log()
                self.assertRegex(said, "'ids' counts exactly, but .* counted from 0 again; .* CBFFilter")
                session.run(train, {keys: [1, 2]})
                self.assertEqual(session.run(count), 1)
                session.run(train, {keys: [2, 2]})
                self.assertEqual(session.run(count), 2)


@contextlib.contextmanager
def logged():
    """Gives a function that returns what this process has written to standard error meanwhile."""
    before = os.dup(2)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)

        def text():
            file.seek(0)
            return file.read().decode()

        try:
            yield text
        finally:
            os.dup2(before, 2)
            os.close(before)


class EvictionTest(unittest.TestCase):
    def counts(self, evict, steps, parts=2):
        """The number of rows before and after a save. Step i updates keys i and -i."""
        with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default(), tf.Session() as session:
            table = tf.get_embedding_variable("ids", 2, initializer=tf.zeros_initializer(),
                                              partitioner=tf.fixed_size_partitioner(parts),
                                              ev_option=tf.EmbeddingVariableOption(evict_option=evict))
            step = tf.train.get_or_create_global_step()
            rows = tf.nn.embedding_lookup(table, tf.stack([step, -step]))
            train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(rows), global_step=step)
            count, saver = table.total_count(), tf.train.Saver()
            session.run(tf.global_variables_initializer())
            for _ in range(steps):
                session.run(train)
            before = session.run(count)
            saver.save(session, os.path.join(folder, "model"))
            return before, session.run(count)

    def test_a_save_evicts(self):
        self.assertEqual(self.counts(tf.GlobalStepEvict(4), 20), (39, 10))
        self.assertEqual(self.counts(tf.GlobalStepEvict(), 20), (39, 39))
        # Half of the sum of the squares is 1, and 4 for key 0, which comes twice. 101 steps are spared.
        self.assertEqual(self.counts(tf.L2WeightEvict(1.0), 150), (299, 299))
        self.assertEqual(self.counts(tf.L2WeightEvict(1.5), 150), (299, 2 * 101 + 1))
        self.assertEqual(self.counts(tf.L2WeightEvict(), 150), (299, 299))
        self.assertLessEqual(self.counts(tf.SizeEvict(max_rows=10), 50)[1], 10)
        self.assertLessEqual(self.counts(tf.SizeEvict(max_bytes=320), 50)[1], 10)

    def test_mistakes_are_explained(self):
        for evict, error, words in (
                (tf.GlobalStepEvict(-1), ValueError, "steps_to_live of the growing table 'ids' must not be negative"),
                (tf.SizeEvict(max_rows=-1), ValueError, "max_rows of the growing table 'ids' must not be negative"),
                (tf.CounterFilter(3), TypeError, "evict_option of the growing table 'ids' must be")):
            with tf.Graph().as_default(), self.assertRaisesRegex(error, words):
                tf.get_embedding_variable("ids", 2, ev_option=tf.EmbeddingVariableOption(evict_option=evict))

    def test_gradients_that_are_not_finite_are_left_out(self):
        for skip in (False, True):
            with tf.Graph().as_default(), tf.Session() as session:
                table = tf.get_embedding_variable("ids", 1, initializer=tf.zeros_initializer(),
                                                  ev_option=tf.EmbeddingVariableOption(skip_not_finite=skip))
                rows = tf.nn.embedding_lookup(table, tf.constant([1, 2], tf.int64))
                loss = tf.reduce_sum(rows * tf.constant([[np.nan], [1.0]]))
                train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
                session.run(tf.global_variables_initializer())
                if skip:
                    session.run(train)
                else:
                    with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "gradient of key 1 of growing table 'ids'"):
                        session.run(train)
                self.assertEqual(session.run(rows).tolist(), [[0], [-1 if skip else 0]])


if __name__ == "__main__":
    unittest.main()
