"""Lookups ahead of the steps (tf.staged with do_smart_stage)."""

import tempfile
import unittest

import numpy as np

import tensorbraid as tf

ROWS = 12


def smart(on=True):
    config = tf.ConfigProto()
    config.graph_options.optimizer_options.do_smart_stage = on
    return config


class Model:
    """A training on batches of which neighbours share no key, if `apart`, and its session."""

    def __init__(self, stage=lambda value: value, config=None, apart=True, steps=20, optimizer=None, target="",
                 device=None):
        self.graph = tf.Graph()
        with self.graph.as_default(), tf.device(device):
            number = tf.data.make_one_shot_iterator(tf.data.Dataset.range(steps)).get_next()
            number = tf.cast(number, tf.int64)
            first = number % 3 * 4 if apart else tf.zeros_like(number)
            ids = tf.SparseTensor([[0, 0], [1, 0], [1, 1]], first + [number % 2, 2, 3], [2, 2])
            words = tf.strings.as_string(first + [0, 1])
            features, label = stage(({"ids": ids, "words": words}, tf.cast(number, tf.float32)))
            parts = tf.fixed_size_partitioner(2)
            table = tf.get_embedding_variable("grows", 2, partitioner=parts, initializer=tf.constant_initializer(0.5))
            static = tf.get_variable("static", [ROWS, 2], initializer=tf.constant_initializer(0.25))
            column = tf.feature_column.categorical_column_with_embedding("words")
            deep = tf.feature_column.input_layer(features, tf.feature_column.embedding_column(
                column, 2, initializer=tf.zeros_initializer()))
            self.rows = tf.nn.safe_embedding_lookup_sparse(table, features["ids"])
            found = self.rows + tf.nn.safe_embedding_lookup_sparse(static, features["ids"]) + deep
            weight = tf.get_variable("weight", [2, 1], initializer=tf.constant_initializer(0.5))
            self.loss = tf.reduce_mean(tf.square(tf.matmul(found, weight) - label / 10))
            self.label, self.step = label, tf.train.get_or_create_global_step()
            optimizer = tf.train.AdagradOptimizer(0.1) if optimizer is None else optimizer()
            self.train = optimizer.minimize(self.loss, global_step=self.step)
            self.folder = tempfile.mkdtemp()
            self.session = tf.train.MonitoredTrainingSession(target, config=config, checkpoint_dir=self.folder)

    def run(self):
        """The values of all steps, and of the variables at the end."""
        found = []
        with self.session:
            while not self.session.should_stop():
                loss, _, label = self.session.run([self.loss, self.train, self.label])
                found.append((float(label), float(loss)))
        reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(self.folder))
        return found, {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


class StagedLookupsTest(unittest.TestCase):
    def test_a_training_has_the_bits_of_a_plain_one(self):
        for optimizer in (None, lambda: tf.train.AdamAsyncOptimizer(0.05)):
            steps, variables = Model(optimizer=optimizer).run()
            model = Model(tf.staged, smart(), optimizer=optimizer)
            self.assertTrue(any(op.type.startswith("KvResourceGather") and "ahead" in op.name
                                for op in model.graph.get_operations()))
            found, values = model.run()
            self.assertEqual(found, steps)
            self.assertEqual(values.keys(), variables.keys())
            for name, value in variables.items():
                np.testing.assert_array_equal(values[name], value, name)

    def test_a_lookup_is_at_most_one_step_ahead(self):
        """Each step adds 1 to the row that all steps look up, so the row says how many steps its lookup has seen."""
        with tf.Graph().as_default():
            number = tf.data.make_one_shot_iterator(tf.data.Dataset.range(30)).get_next()
            ids = tf.staged(tf.reshape(tf.cast(number, tf.int64) * 0, [1]), num_threads=4, capacity=40)
            table = tf.get_embedding_variable("t", 1, initializer=tf.zeros_initializer())
            row = tf.nn.embedding_lookup(table, ids)
            seen = row + 0.0
            train = tf.train.GradientDescentOptimizer(1.0).minimize(-tf.reduce_sum(row),
                                                                    tf.train.get_or_create_global_step())
            counts = []
            with tf.train.MonitoredTrainingSession(config=smart()) as session:
                while not session.should_stop():
                    value = session.run(seen)[0][0]
                    session.run(train)
                    counts.append(value)
            # Two runs take two batches; the first of them may miss the update of the second run before it.
            self.assertEqual(len(counts), 15)
            for i, count in enumerate(counts):
                self.assertIn(count, (i, i - 1))

    def test_the_lookup_waits_in_the_step_if_it_depends_on_more_than_the_batch(self):
        with tf.Graph().as_default() as graph:
            ids = tf.staged(tf.constant([1, 2], tf.int64))
            offset = tf.get_variable("offset", [], tf.int64, initializer=tf.zeros_initializer())
            table = tf.get_embedding_variable("t", 2)
            tf.nn.embedding_lookup(table, ids + offset)
            with tf.control_dependencies([tf.debugging.assert_positive(ids)]):
                tf.nn.embedding_lookup(table, ids * 2)
            tf.train.create_global_step()
            with tf.train.MonitoredTrainingSession(config=smart()):
                self.assertFalse([op for op in graph.get_operations() if "staged_lookups" in op.name])

    def test_marked_nodes_are_computed_ahead(self):
        with tf.Graph().as_default() as graph:
            number = tf.staged(tf.data.make_one_shot_iterator(tf.data.Dataset.range(5)).get_next())
            square = number * number
            tf.train.mark_target_node([square])
            result = square + 1
            tf.train.create_global_step()
            with tf.train.MonitoredTrainingSession(config=smart()) as session:
                self.assertEqual([int(session.run(result)) for _ in range(5)], [1, 2, 5, 10, 17])
                self.assertTrue([op for op in graph.get_operations() if op.name.startswith("staged_lookups/ahead/mul")])
                with self.assertRaises(tf.errors.OutOfRangeError):
                    session.run(result)
                with self.assertRaises(tf.errors.OutOfRangeError):
                    session.run(number)

    def test_batches_and_moved_nodes_can_be_fetched(self):
        model = Model(tf.staged, smart(), apart=False, steps=4)
        with model.session as session:
            taken = [session.run([model.label, model.rows])[0] for _ in range(2)] + [session.run(model.label),
                                                                                   session.run([model.label, model.loss])[0]]
        self.assertEqual([float(label) for label in taken], [0, 1, 2, 3])

    def test_a_session_without_the_option_and_a_second_session(self):
        model = Model(tf.staged, smart(False), steps=4)
        self.assertFalse([op for op in model.graph.get_operations() if "staged_lookups" in op.name])
        model.session.close()
        with model.graph.as_default():
            for _ in range(2):  # the second one finds the stage of the first
                with tf.train.MonitoredTrainingSession(config=smart()) as session:
                    self.assertEqual([float(session.run([model.label, model.train])[0]) for _ in range(4)], [0, 1, 2, 3])

    def test_a_plain_session(self):
        with tf.Graph().as_default():
            number = tf.staged(tf.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next())
            table = tf.get_embedding_variable("t", 1, initializer=tf.ones_initializer())
            row = tf.nn.embedding_lookup(table, tf.reshape(number, [1])) + tf.cast(number, tf.float32)
            with tf.Session(config=smart()) as session:
                session.run(tf.global_variables_initializer())
                coordinator = tf.train.Coordinator()
                threads = tf.train.start_queue_runners(session, coordinator)
                self.assertEqual(len(threads), 2)
                self.assertEqual([float(session.run(row)[0][0]) for _ in range(3)], [1, 2, 3])
                coordinator.request_stop()
                coordinator.join(threads)

    def test_a_training_on_servers(self):
        workers, servers = tf.test.create_local_cluster(num_workers=1, num_ps=2)
        device = tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:0")
        steps, _ = Model(target=workers[0].target, device=device).run()
        tf.Session.reset(workers[0].target)
        tf.Session.reset(servers[0].target)
        tf.Session.reset(servers[1].target)
        found, _ = Model(tf.staged, smart(), target=workers[0].target, device=device).run()
        self.assertEqual(found, steps)


if __name__ == "__main__":
    unittest.main()
