"""tf.contrib.losses.metric_learning, compared with the formulas of the papers."""

import unittest

import numpy as np
import tensorbraid as tf

metric_learning = tf.contrib.losses.metric_learning


class MetricLearningTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        rng = np.random.RandomState(0)
        self.a, self.b = rng.randn(7, 4).astype(np.float32), rng.randn(7, 4).astype(np.float32)
        self.labels = np.array([0, 0, 1, 1, 2, 1, 0])
        self.squares = ((self.a[:, None] - self.a[None]) ** 2).sum(-1)
        self.pairs = [(i, j) for i in range(7) for j in range(7) if i != j and self.labels[i] == self.labels[j]]

    def run_of(self, function, *arguments, **options):
        loss = function(*map(tf.constant, arguments), **options)
        gradients = tf.gradients(loss, loss.graph.get_tensor_by_name("Const_1:0"))
        with tf.Session() as session:
            value, gradient = session.run([loss, gradients])
        self.assertTrue(np.isfinite(gradient).all())
        return value

    def negatives(self, i):
        return [k for k in range(7) if self.labels[k] != self.labels[i]]

    def test_triplet_semihard_loss(self):
        losses = []
        for i, j in self.pairs:
            distances = [self.squares[i, k] for k in self.negatives(i)]
            farther = [distance for distance in distances if distance > self.squares[i, j]]
            losses.append(max(0, 1.5 + self.squares[i, j] - (min(farther) if farther else max(distances))))
        found = self.run_of(metric_learning.triplet_semihard_loss, self.labels, self.a, margin=1.5)
        self.assertAlmostEqual(found, np.mean(losses), places=4)

    def test_lifted_struct_loss(self):
        roots, losses = np.sqrt(self.squares), []
        for i, j in self.pairs:
            total = sum(np.exp(1 - roots[x, k]) for x in (i, j) for k in self.negatives(i))
            losses.append(max(0, np.log(total) + roots[i, j]) ** 2)
        found = self.run_of(metric_learning.lifted_struct_loss, self.labels, self.a)
        self.assertAlmostEqual(found, np.mean(losses) / 2, places=4)

    def test_npairs_loss(self):
        products = self.a @ self.b.T
        log_probs = products - np.log(np.exp(products).sum(1, keepdims=True))
        same = (self.labels[:, None] == self.labels[None]) * 1.0
        entropy = -(same / same.sum(1, keepdims=True) * log_probs).sum(1).mean()
        norms = (self.a ** 2).sum(1).mean() + (self.b ** 2).sum(1).mean()
        found = self.run_of(metric_learning.npairs_loss, self.labels, self.a, self.b, reg_lambda=0.1)
        self.assertAlmostEqual(found, entropy + 0.25 * 0.1 * norms, places=4)

    def test_contrastive_loss(self):
        same = (self.labels % 2).astype(np.int32)
        distances = np.sqrt(((self.a - self.b) ** 2).sum(1))
        expected = np.mean(same * distances ** 2 + (1 - same) * np.maximum(3 - distances, 0) ** 2)
        found = self.run_of(metric_learning.contrastive_loss, same, self.a, self.b, margin=3.0)
        self.assertAlmostEqual(found, expected, places=4)


if __name__ == "__main__":
    unittest.main()
