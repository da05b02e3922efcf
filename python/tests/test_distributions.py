"""tf.distributions and tf.contrib.distributions."""

import unittest

import numpy as np
import tensorbraid as tf

ds = tf.contrib.distributions


def run(values):
    with tf.Session() as session:
        return session.run(values)


class DistributionsTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_a_policy_can_be_trained_with_a_normal_distribution(self):
        mean = tf.Variable(0.0)
        policy = tf.distributions.Normal(mean, 0.5)
        loss = -tf.reduce_mean(policy.log_prob([1.0, 3.0]))
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for _ in range(50):
                session.run(train)
            self.assertAlmostEqual(session.run(mean), 2.0, places=3)

    def test_samples_have_the_moments_of_the_distribution(self):
        tf.set_random_seed(1)
        for d in (tf.distributions.Normal(1.0, 2.0), tf.distributions.Laplace(1.0, 2.0),
                  tf.distributions.Uniform(1.0, 3.0), tf.distributions.Gamma(3.0, 2.0),
                  tf.distributions.Exponential(2.0), tf.distributions.Beta(2.0, 3.0),
                  tf.distributions.StudentT(9.0, 1.0, 2.0), tf.distributions.Bernoulli(probs=0.3),
                  ds.Logistic(1.0, 2.0)):
            samples, mean, deviation = run([d.sample(20000, seed=3), d.mean(), d.stddev()])
            self.assertAlmostEqual(samples.mean(), mean, delta=0.05 * max(1, deviation), msg=str(d))
            self.assertAlmostEqual(samples.std(), deviation, delta=0.05 * max(1, deviation), msg=str(d))

    def test_classes(self):
        probs = np.array([[0.2, 0.8], [0.5, 0.5]], np.float32)
        d = tf.distributions.Categorical(probs=probs)
        log_prob, entropy, mode, samples = run([d.log_prob([1, 0]), d.entropy(), d.mode(), d.sample(1000, seed=1)])
        np.testing.assert_allclose(log_prob, np.log([0.8, 0.5]), rtol=1e-5)
        np.testing.assert_allclose(entropy, -(probs * np.log(probs)).sum(1), rtol=1e-5)
        self.assertEqual(mode.tolist(), [1, 0])
        self.assertAlmostEqual(samples[:, 0].mean(), 0.8, delta=0.05)
        one_hot = ds.OneHotCategorical(probs=probs)
        log_prob, samples = run([one_hot.log_prob([[0, 1], [1, 0]]), one_hot.sample(seed=1)])
        np.testing.assert_allclose(log_prob, np.log([0.8, 0.5]), rtol=1e-5)
        self.assertEqual(samples.sum(1).tolist(), [1, 1])

    def test_vectors_of_independent_elements(self):
        loc, diagonal = np.array([1.0, 2.0, 3.0], np.float32), np.array([0.5, 1.0, 2.0], np.float32)
        d = ds.MultivariateNormalDiag(loc, diagonal)
        plain = tf.distributions.Normal(loc, diagonal)
        other = ds.MultivariateNormalDiag(tf.zeros([3]))
        x = np.ones([2, 3], np.float32)
        self.assertEqual((d.batch_shape.as_list(), d.event_shape.as_list()), ([], [3]))
        self.assertEqual(d.sample([4, 2]).shape.as_list(), [4, 2, 3])
        got, wanted = run([[d.log_prob(x), d.entropy(), kl] for d, kl in (
            (d, d.kl_divergence(other)), (plain, plain.kl_divergence(tf.distributions.Normal(0.0, 1.0))))])
        for a, b in zip(got, wanted):
            np.testing.assert_allclose(a, b.sum(-1), rtol=1e-5)
        self.assertEqual(run(d.covariance()).tolist(), np.diag(diagonal ** 2).tolist())
        scale = ds.MultivariateNormalDiag(loc, scale_identity_multiplier=3.0).stddev()
        self.assertEqual(run(scale).tolist(), [3.0, 3.0, 3.0])

    def test_parameters_may_be_softplus(self):
        d = ds.NormalWithSoftplusScale(0.0, [1.0, -2.0])
        np.testing.assert_allclose(run(d.stddev()), np.log1p(np.exp([1.0, -2.0])), rtol=1e-5)
        self.assertEqual(sorted(d.parameters), ["loc", "name", "scale"])

    def test_what_a_distribution_lacks_is_an_error(self):
        with self.assertRaisesRegex(NotImplementedError, "mean is not implemented: Categorical"):
            tf.distributions.Categorical([0.5, 1.0]).mean()
        with self.assertRaisesRegex(NotImplementedError, "No KL"):
            tf.distributions.Normal(0.0, 1.0).kl_divergence(tf.distributions.Laplace(0.0, 1.0))
        with self.assertRaises(tf.errors.InvalidArgumentError):
            run(tf.distributions.Normal(0.0, tf.placeholder_with_default(-1.0, []), validate_args=True).mean())
        with self.assertRaisesRegex(ValueError, "Must pass probs or logits, but not both"):
            tf.distributions.Bernoulli()


if __name__ == "__main__":
    unittest.main()
