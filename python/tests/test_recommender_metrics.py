"""What recommenders have besides tables: metrics over workers, in-batch negatives, crossed columns with a table."""

import unittest

import numpy as np

import tensorbraid as tf


def auc(scores, clicks, weights=None):
    """The probability that a click has a higher score than another example, by counting pairs."""
    weights = np.ones(len(scores)) if weights is None else weights
    above = (scores[:, None] > scores).astype(float) + (scores[:, None] == scores) / 2
    pairs = np.outer(weights * clicks, weights * (1 - clicks))
    return (above * pairs).sum() / pairs.sum()


class SharedMetricsTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        random = np.random.RandomState(1)
        self.clicks = random.randint(2, size=600)
        self.users = random.randint(20, size=600)
        self.scores = np.round(np.clip(self.clicks * 0.2 + 0.7 * random.rand(600), 0, 1) * 50) / 50

    def build(self, shared, **arguments):
        self.inputs = [tf.placeholder(tf.float32, [None]) for _ in range(2)] + [tf.placeholder(tf.int64, [None])]
        labels, scores, users = self.inputs
        return [tf.metrics.auc(labels, scores, num_thresholds=101, shared=shared, **arguments),
                tf.metrics.grouped_auc(labels, scores, users, 20, num_thresholds=101, shared=shared, **arguments),
                tf.metrics.calibration(labels, scores, shared=shared, **arguments)]

    def feed(self, part):
        return dict(zip(self.inputs, (self.clicks[part], self.scores[part], self.users[part])))

    def expected(self):
        sizes = np.bincount(self.users)
        areas = [auc(self.scores[self.users == user], self.clicks[self.users == user]) for user in range(20)]
        return [auc(self.scores, self.clicks), (areas * sizes).sum() / 600, self.scores.sum() / self.clicks.sum()]

    def test_values_over_the_workers_of_a_cluster(self):
        workers, _ = tf.test.create_local_cluster(num_workers=2, num_ps=2)
        sessions = []
        for task, worker in enumerate(workers):
            with tf.Graph().as_default() as graph:
                with tf.device(tf.train.replica_device_setter(2, worker_device=f"/job:worker/task:{task}")):
                    metrics = self.build(True)
                self.assertFalse(tf.local_variables())
                self.assertEqual(len(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)), 3)
                session = tf.Session(worker.target, graph=graph)
                if task == 0:
                    session.run(tf.global_variables_initializer())
                sessions.append((session, metrics, self.inputs))
        for begin in range(0, 600, 100):
            session, metrics, self.inputs = sessions[begin // 100 % 2]
            session.run([update for _, update in metrics], self.feed(slice(begin, begin + 100)))
        for session, metrics, _ in sessions:
            np.testing.assert_allclose(session.run([value for value, _ in metrics]), self.expected(), rtol=1e-6)

    def test_the_area_is_that_of_the_metric_of_one_worker(self):
        metrics = self.build(True)
        area, update = tf.metrics.auc(*self.inputs[:2], num_thresholds=101)
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            for part in (slice(0, 50), slice(50, 600)):
                found, _, wanted = session.run([metrics[0][1], metrics[1][1], update], self.feed(part))
            np.testing.assert_allclose(found, wanted, rtol=1e-5)
            np.testing.assert_allclose(session.run([metrics[0][0], area]), [wanted, wanted], rtol=1e-5)
            session.run(tf.variables_initializer(tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)))
            self.assertEqual(session.run([value for value, _ in metrics]), [0, 0, 0])

    def test_local_sums_and_weights(self):
        weights = 1.0 + self.users % 3
        metrics = self.build(False, weights=tf.constant(weights, tf.float32))
        self.assertEqual(len(tf.global_variables()), 0)
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            session.run([update for _, update in metrics], self.feed(slice(None)))
            area, _, ratio = session.run([value for value, _ in metrics])
        np.testing.assert_allclose(area, auc(self.scores, self.clicks, weights), rtol=1e-5)
        np.testing.assert_allclose(ratio, (weights * self.scores).sum() / (weights * self.clicks).sum(), rtol=1e-5)

    def test_groups_of_one_kind_do_not_count(self):
        labels, scores = [1, 1, 0, 1, 0], [0.1, 0.2, 0.9, 0.8, 0.3]
        value, update = tf.metrics.grouped_auc(labels, scores, ["a", "a", "b", "c", "c"], 1000)
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            self.assertEqual(session.run(value), 0)
            session.run(update)
            self.assertEqual(session.run(value), 1)

    def test_mistakes(self):
        labels, scores = tf.constant([1.0]), tf.constant([0.5])
        with self.assertRaisesRegex(NotImplementedError, "another curve than ROC"):
            tf.metrics.auc(labels, scores, curve="PR", shared=True)
        with self.assertRaisesRegex(ValueError, "num_thresholds must be at least 2, got 1"):
            tf.metrics.auc(labels, scores, num_thresholds=1, shared=True)
        with self.assertRaisesRegex(ValueError, "num_groups must be positive, got 0"):
            tf.metrics.grouped_auc(labels, scores, tf.constant([1]), 0)
        with self.assertRaisesRegex(TypeError, "'groups' must be integers or strings, but got 'float32'"):
            tf.metrics.grouped_auc(labels, scores, tf.constant([1.5]), 4)


class InBatchTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_the_loss_and_its_correction(self):
        random = np.random.RandomState(2)
        queries, items = random.randn(4, 3), random.randn(4, 3)
        ids, often = np.array([7, 8, 7, 9]), np.array([0.5, 0.2, 0.5, 0.1])
        scores = queries @ items.T / 0.5 - np.log(often)
        scores[0, 2] = scores[2, 0] = -np.inf  # the same item
        wanted = np.log(np.exp(scores).sum(1)) - np.diag(scores)
        plain = queries @ items.T
        losses = [tf.nn.in_batch_softmax_loss(queries, items, often, ids, temperature=0.5),
                  tf.nn.in_batch_softmax_loss(tf.constant(queries, tf.float32), tf.constant(items, tf.float32))]
        with tf.Session() as session:
            found, without = session.run(losses)
        np.testing.assert_allclose(found, wanted, rtol=1e-6)
        np.testing.assert_allclose(without, np.log(np.exp(plain).sum(1)) - np.diag(plain), rtol=1e-5)
        with self.assertRaisesRegex(ValueError, r"queries of in_batch_softmax_loss must have the shape \[batch, dim\]"):
            tf.nn.in_batch_softmax_loss(tf.ones([2]), tf.ones([2, 1]))


class CrossedTableTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_combinations_have_rows_of_their_own(self):
        features = {"user": tf.constant([["a"], ["a"], ["b"]]), "item": tf.constant([[1], [2], [1]], tf.int64)}
        item = tf.feature_column.categorical_column_with_embedding("item", dtype=tf.int64)
        crossed = tf.feature_column.crossed_column_with_embedding(["user", item])
        self.assertEqual(crossed.name, "item_X_user")
        layer = tf.feature_column.input_layer(features, tf.feature_column.embedding_column(crossed, 2))
        linear = tf.feature_column.linear_model(features, [crossed])
        tables = tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)
        self.assertEqual([table.shape.as_list() for table in tables], [[None, 2], [None, 1]])
        train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(layer) + tf.reduce_sum(linear))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            rows = session.run([train, layer])[1]
            self.assertEqual(len({tuple(row) for row in rows}), 3)
            self.assertEqual(session.run([table.total_count() for table in tables]), [3, 3])

    def test_mistakes(self):
        with self.assertRaisesRegex(ValueError, "keys must be a list with length > 1"):
            tf.feature_column.crossed_column_with_embedding(["user"])
        with self.assertRaisesRegex(ValueError, "partition_num must be at least 1"):
            tf.feature_column.crossed_column_with_embedding(["user", "item"], partition_num=0)


if __name__ == "__main__":
    unittest.main()
