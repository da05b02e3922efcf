"""Batches that are made ahead of steps (tf.staged), and other names of DeepRec's programs."""

import tempfile
import unittest

import numpy as np

import tensorbraid as tf


def numbers(count):
    """Elements {"a": i, "words": a SparseTensor}, and a tensor, from a dataset of `count` elements."""
    dataset = tf.data.Dataset.range(count)
    number = tf.data.make_one_shot_iterator(dataset).get_next()
    words = tf.SparseTensor([[0, 0]], tf.reshape(number * 10, [1]), [1, 3])
    return ({"a": number, "words": words}, None, tf.strings.as_string(number))


class StagedTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_the_batches_keep_their_order(self):
        features = tf.staged(numbers(20), num_threads=4, capacity=40)
        self.assertIsNone(features[1])
        tf.train.create_global_step()
        taken = []
        with tf.train.MonitoredTrainingSession(hooks=[tf.make_prefetch_hook()]) as session:
            while not session.should_stop():
                a, words, text = session.run([features[0]["a"], features[0]["words"], features[2]])
                taken.append((int(a), int(words.values[0]), list(words.dense_shape), text))
        self.assertEqual(taken, [(i, 10 * i, [1, 3], b"%d" % i) for i in range(20)])

    def test_a_training_has_the_values_of_one_without_it(self):
        def train(stage):
            with tf.Graph().as_default():
                number = stage(tf.data.make_one_shot_iterator(tf.data.Dataset.range(12)).get_next())
                table = tf.get_embedding_variable("t", 2, initializer=tf.constant_initializer(0.5))
                ids = tf.reshape(number % 4, [1])
                rows = tf.nn.embedding_lookup(table, ids)
                step = tf.train.get_or_create_global_step()
                loss = tf.reduce_sum(tf.square(rows * tf.cast(number, tf.float32) - 1))
                update = tf.train.AdagradOptimizer(0.1).minimize(loss, global_step=step)
                folder = tempfile.mkdtemp()
                with tf.train.MonitoredTrainingSession(checkpoint_dir=folder) as session:
                    while not session.should_stop():
                        session.run(update)
                reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(folder))
                return reader.get_tensor("t-keys"), reader.get_tensor("t-values")

        for found, wanted in zip(train(tf.staged), train(lambda value: value)):
            np.testing.assert_array_equal(found, wanted)

    def test_a_plain_session_starts_queue_runners(self):
        value = tf.staged(tf.constant([1.0, 2.0]))
        self.assertEqual(value.shape.as_list(), [2])
        with tf.Session() as session:
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            np.testing.assert_array_equal(session.run(value), [1.0, 2.0])
            coordinator.request_stop()
            coordinator.join(threads)

    def test_inputs_of_several_threads_are_joined(self):
        sources = [tf.data.make_one_shot_iterator(tf.data.Dataset.range(first, first + 3)).get_next()
                   for first in (0, 10)]
        value = tf.prefetch_join(sources)
        tf.train.create_global_step()
        taken = []
        with tf.train.MonitoredTrainingSession() as session:
            while not session.should_stop():
                taken.append(int(session.run(value)))
        self.assertEqual(sorted(taken), [0, 1, 2, 10, 11, 12])
        self.assertEqual([i for i in taken if i < 10], [0, 1, 2])

    def test_mistakes(self):
        with self.assertRaisesRegex(ValueError, "num_threads of tf.staged must be at least 1"):
            tf.staged(tf.constant(1), num_threads=0)
        with self.assertRaisesRegex(ValueError, "at least one tensor"):
            tf.staged(None)
        with self.assertRaisesRegex(NotImplementedError, "feed_dict of tf.staged: let a dataset give these values"):
            tf.staged(tf.constant(1), feed_dict={tf.placeholder(tf.int32): 1})
        with self.assertRaisesRegex(NotImplementedError, "apply tf.data.experimental.ignore_errors"):
            tf.staged(tf.constant(1), ignored_exception_types=(tf.errors.InvalidArgumentError,))


class OtherNamesTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_the_options_of_deeprec_are_accepted(self):
        config = tf.ConfigProto()
        config.graph_options.optimizer_options.do_smart_stage = True
        config.graph_options.optimizer_options.do_op_fusion = True
        config.graph_options.optimizer_options.micro_batch_num = 2
        with tf.Session(config=config) as session:
            self.assertEqual(session.run(tf.constant(3)), 3)
        tf.train.mark_target_node([tf.constant(1.0)])
        for protocol in ("grpc++", "star_server"):
            tf.distribute.Server({"local": ["localhost:0"]}, "local", 0, protocol=protocol, start=False)

    def test_lookups_of_a_group(self):
        first = tf.get_embedding_variable("first", 2, initializer=tf.constant_initializer(1.0))
        second = tf.get_embedding_variable("second", 3, initializer=tf.constant_initializer(2.0))
        ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], tf.constant([5, 6, 7], tf.int64), [2, 2])
        rows = tf.nn.group_embedding_lookup_sparse([first, second], [ids, ids], ["sum", "mean"])
        with self.assertRaisesRegex(ValueError, "one item for each table, got 2, 1, 2 and 2"):
            tf.nn.group_embedding_lookup_sparse([first, second], [ids], ["sum", "mean"])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            summed, means = session.run(rows)
        np.testing.assert_array_equal(summed, [[2, 2], [1, 1]])
        np.testing.assert_array_equal(means, [[2, 2, 2], [2, 2, 2]])

    def test_columns_of_a_group(self):
        with tf.feature_column.group_embedding_column_scope("deep"):
            column = tf.feature_column.embedding_column(
                tf.feature_column.categorical_column_with_hash_bucket("word", 10), 4)
        layer = tf.feature_column.input_layer({"word": tf.constant([["a"], ["b"]])}, [column])
        self.assertEqual(layer.shape.as_list(), [2, 4])


if __name__ == "__main__":
    unittest.main()
