"""tf.contrib.training's sampling, the metrics of covariance, and slim's decoders of examples."""

import unittest

import numpy as np
import tensorbraid as tf

training = tf.contrib.training


class SamplingTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        tf.set_random_seed(1)

    def collect(self, fetches, steps):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            values = [session.run(fetches) for _ in range(steps)]
            coordinator.request_stop()
            coordinator.join(threads)
        return values

    def test_examples_are_rejected(self):
        value = tf.floor(tf.random_uniform([], 0, 4))
        batch, = training.rejection_sample([value], lambda parts: tf.cond(parts[0] < 2, lambda: 0.0, lambda: 1.0), 8,
                                           runtime_checks=True)
        found = np.concatenate(self.collect(batch, 10))
        self.assertEqual(set(found.tolist()), {2.0, 3.0})

    def test_examples_of_batches_are_rejected(self):
        values = tf.constant([1.0, 2.0, 3.0])
        first, second = training.rejection_sample([values, values * 10], lambda parts: tf.cast(parts[0] > 1.5, tf.float32),
                                                  4, enqueue_many=True)
        for a, b in self.collect([first, second], 5):
            self.assertTrue((a > 1).all())
            np.testing.assert_allclose(b, a * 10)

    def test_classes_have_the_wanted_frequencies(self):
        label = tf.cast(tf.random_uniform([]) < 0.2, tf.int32)  # 80 % of the class 0
        for init_probs in ([0.8, 0.2], None):
            (data,), labels = training.stratified_sample([label * 7], label, [0.25, 0.75], 50, init_probs)
            found = self.collect([data, labels], 12)
            for a, b in found:
                np.testing.assert_array_equal(a, b * 7)
            # Without init_probs, the first examples are accepted by frequencies that no example has changed yet.
            frequency = np.mean([b for _, b in found[4:]])
            self.assertLess(abs(frequency - 0.75), 0.12)

    def test_rows_are_repeated_by_rates(self):
        rows = tf.constant([[1.0], [2.0], [3.0]])
        made, = training.resample_at_rate([rows], [0.0, 2.0, 5.0])
        found = np.concatenate(self.collect(made, 300)).ravel()
        counts = [np.sum(found == value) / 300 for value in (1.0, 2.0, 3.0)]
        self.assertEqual(counts[0], 0)
        np.testing.assert_allclose(counts[1:], [2, 5], rtol=0.15)

    def test_rows_are_repeated_by_weights(self):
        rows = tf.constant([1.0, 2.0])
        for decay in (None, 0.9):
            with tf.variable_scope(f"decay{decay}"):
                (made,), rates = training.weighted_resample([rows], tf.constant([1.0, 3.0]), 2.0, mean_decay=decay)
            found = self.collect([made, rates], 300)
            for values, its_rates in found:
                np.testing.assert_allclose(its_rates, np.where(values == 1.0, 1.0, 3.0), rtol=1e-3)
            self.assertLess(abs(sum(len(values) for values, _ in found) / 600 - 2.0), 0.2)


class CovarianceTest(unittest.TestCase):
    def test_covariance_and_correlation_of_all_batches(self):
        tf.reset_default_graph()
        rng = np.random.RandomState(0)
        a, b = rng.randn(3, 4).astype(np.float32), rng.randn(3, 4).astype(np.float32)
        weights = np.array([[1, 0, 2, 1]] * 3, np.float32)
        x, y, w = (tf.placeholder(tf.float32, [4]) for _ in range(3))
        metrics = [tf.contrib.metrics.streaming_covariance(x, y), tf.contrib.metrics.streaming_covariance(x, y, w),
                   tf.contrib.metrics.streaming_pearson_correlation(x, y, metrics_collections="m")]
        self.assertEqual(tf.get_collection("m"), [metrics[2][0]])
        values, updates = zip(*metrics)
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            for i in range(3):
                updated = session.run(updates, {x: a[i], y: b[i], w: weights[i]})
                found = session.run(values)
                np.testing.assert_allclose(updated, found, rtol=1e-5)
                p, q, r = (z[:i + 1].ravel() for z in (a, b, weights))
                np.testing.assert_allclose(found, [np.cov(p, q)[0, 1], np.cov(p, q, fweights=r.astype(int))[0, 1],
                                                   np.corrcoef(p, q)[0, 1]], rtol=1e-4, atol=1e-5)


class DecoderTest(unittest.TestCase):
    def test_items(self):
        tf.reset_default_graph()
        decoder = tf.contrib.slim.tfexample_decoder
        example = tf.train.SequenceExample()
        example.context.feature["id"].int64_list.value.append(7)
        for number in (1.0, 2.0):
            example.feature_lists.feature_list["data"].feature.add().float_list.value.append(number)
        sequences = decoder.TFSequenceExampleDecoder(
            {"id": tf.FixedLenFeature([], tf.int64)}, {"data": tf.FixedLenSequenceFeature([1], tf.float32)},
            {"number": decoder.Tensor("id"), "values": decoder.Tensor("data")})
        self.assertEqual(sequences.list_items(), ["number", "values"])
        flat = tf.train.Example()
        flat.features.feature["boxes"].float_list.value.extend([1.0, 2.0, 3.0])
        flat.features.feature["empty"].float_list.value.extend([])
        examples = decoder.TFExampleDecoder(
            {"boxes": tf.VarLenFeature(tf.float32), "empty": tf.VarLenFeature(tf.float32)},
            {"count": decoder.NumberOfBoundingBoxesHandler("boxes"),
             "backup": decoder.BackupHandler(decoder.Tensor("empty"), decoder.Tensor("boxes"))})
        with tf.Session() as session:
            number, values = session.run(sequences.decode(tf.constant(example.SerializeToString())))
            count, backup = session.run(examples.decode(tf.constant(flat.SerializeToString())))
        self.assertEqual((number, values.tolist(), count, backup.tolist()), (7, [[1.0], [2.0]], 3, [1.0, 2.0, 3.0]))
        with self.assertRaisesRegex(ValueError, "must not be the same"):
            decoder.TFSequenceExampleDecoder({"a": 1}, {"a": 1}, {})


if __name__ == "__main__":
    unittest.main()
