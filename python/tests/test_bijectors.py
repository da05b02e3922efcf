"""tf.contrib.distributions.bijectors and TransformedDistribution, compared with their formulas."""

import unittest

import numpy as np
import tensorbraid as tf

distributions = tf.contrib.distributions
bijectors = distributions.bijectors


class BijectorsTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def evaluate(self, values):
        with tf.Session() as session:
            return session.run(values)

    def test_values_inverses_and_jacobians(self):
        x = np.array([[-1.5, 0.2], [0.7, 2.0]])
        for bijector, function, derivative in (
                (bijectors.Identity(), lambda x: x, lambda x: np.ones_like(x)),
                (bijectors.Exp(), np.exp, np.exp),
                (bijectors.Softplus(), lambda x: np.log1p(np.exp(x)), lambda x: 1 / (1 + np.exp(-x))),
                (bijectors.Softplus(2.0), lambda x: 2 * np.log1p(np.exp(x / 2)), lambda x: 1 / (1 + np.exp(-x / 2))),
                (bijectors.Sigmoid(), lambda x: 1 / (1 + np.exp(-x)), lambda x: np.exp(-x) / (1 + np.exp(-x)) ** 2),
                (bijectors.AffineScalar(tf.constant(1.0, tf.float64), tf.constant(-3.0, tf.float64)),
                 lambda x: 1 - 3 * x, lambda x: 3 * np.ones_like(x)),
                (bijectors.Chain([bijectors.Exp(), bijectors.Sigmoid()]), lambda x: np.exp(1 / (1 + np.exp(-x))),
                 lambda x: np.exp(1 / (1 + np.exp(-x))) * np.exp(-x) / (1 + np.exp(-x)) ** 2)):
            y, logs = function(x), np.log(derivative(x))
            found = self.evaluate([
                bijector.forward(x), bijector.inverse(y), bijectors.Invert(bijector).forward(y),
                bijector.forward_log_det_jacobian(x, 0) + np.zeros_like(x), bijector.inverse_log_det_jacobian(y, 1),
                bijector.forward_log_det_jacobian(x, 2), bijectors.Invert(bijector).forward_log_det_jacobian(y, 1)])
            for value, wanted in zip(found, (y, x, x, logs, -logs.sum(1), logs.sum(), -logs.sum(1))):
                np.testing.assert_allclose(value, wanted, rtol=1e-6, atol=1e-9, err_msg=bijector.name)
        self.assertEqual(bijectors.Invert(bijectors.Exp()).name, "invert_exp")
        self.assertEqual(bijectors.Exp().forward_event_shape([2]).as_list(), [2])
        with self.assertRaisesRegex(ValueError, "must be larger than min_event_ndims"):
            bijectors.Exp().forward_log_det_jacobian(x, -1)

    def test_the_inverse_of_softplus_is_exact_where_exponentials_overflow(self):
        self.assertEqual(self.evaluate(bijectors.Softplus().inverse(1000.0)), 1000.0)

    def test_a_transformed_distribution(self):
        log_normal = distributions.TransformedDistribution(distributions.Normal(0.5, [1.0, 2.0]), bijectors.Exp())
        y, scale = np.array([0.4, 3.0], np.float32), np.array([1.0, 2.0])
        expected = np.exp(-0.5 * ((np.log(y) - 0.5) / scale) ** 2) / (y * scale * np.sqrt(2 * np.pi))
        normal = distributions.Normal(0.5, [1.0, 2.0])
        prob, log_prob, cdf, of_normal, samples = self.evaluate([
            log_normal.prob(y), log_normal.log_prob(y), log_normal.cdf(y), normal.cdf(np.log(y)),
            log_normal.sample(20000, seed=1)])
        np.testing.assert_allclose(prob, expected, rtol=1e-5)
        np.testing.assert_allclose(log_prob, np.log(expected), rtol=1e-5)
        np.testing.assert_allclose(cdf, of_normal, rtol=1e-6)
        np.testing.assert_allclose(np.log(samples).mean(0), [0.5, 0.5], atol=0.05)
        self.assertEqual((log_normal.name, log_normal.batch_shape.as_list()), ("expNormal/", [2]))
        with self.assertRaisesRegex(NotImplementedError, "mean is not implemented"):
            log_normal.mean()

    def test_statistics_of_an_affine_transformation(self):
        moved = distributions.TransformedDistribution(
            distributions.Normal([1.0, 2.0], 1.0), bijectors.AffineScalar(shift=3.0, scale=2.0))
        mean, entropy = self.evaluate([moved.mean(), moved.entropy()])
        self.assertEqual(mean.tolist(), [5.0, 7.0])
        np.testing.assert_allclose(entropy, 0.5 * np.log(2 * np.pi * np.e) + np.log(2.0) + np.zeros(2), rtol=1e-6)
        vectors = distributions.TransformedDistribution(
            distributions.MultivariateNormalDiag([0.0, 0.0], [1.0, 1.0]), bijectors.AffineScalar(scale=2.0))
        self.assertAlmostEqual(self.evaluate(vectors.log_prob([2.0, 0.0])), -0.5 - np.log(2 * np.pi) - 2 * np.log(2.0),
                               places=5)


if __name__ == "__main__":
    unittest.main()
