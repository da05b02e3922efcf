"""tf.contrib.gan: a generator and a discriminator, their losses, and their training."""

import unittest

import numpy as np
import tensorbraid as tf

gan = tf.contrib.gan


def generator(noise):
    return tf.layers.dense(noise, 2, kernel_initializer=tf.ones_initializer(), name="layer")


def discriminator(data, _):
    return tf.layers.dense(data, 1, kernel_initializer=tf.ones_initializer(), name="layer")


class GanTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.real = np.array([[0.5, 1.0], [1.5, 2.0]], np.float32)
        self.noise = np.array([[1.0], [2.0]], np.float32)

    def model(self, **options):
        return gan.gan_model(generator, discriminator, self.real, tf.constant(self.noise), **options)

    def evaluate(self, values):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return session.run(values)

    def test_the_discriminator_sees_both_kinds_of_data(self):
        model = self.model()
        self.assertEqual([v.name for v in model.generator_variables],
                         ["Generator/layer/kernel:0", "Generator/layer/bias:0"])
        self.assertEqual([v.name for v in model.discriminator_variables],
                         ["Discriminator/layer/kernel:0", "Discriminator/layer/bias:0"])
        real, made = self.evaluate([model.discriminator_real_outputs, model.discriminator_gen_outputs])
        self.assertEqual((real.tolist(), made.tolist()), ([[1.5], [3.5]], [[2.0], [4.0]]))
        self.real = self.real[:1]
        with self.assertRaisesRegex(ValueError, "must be the same shape as real data"):
            self.model(generator_scope="G", discriminator_scope="D")

    def test_losses(self):
        model = self.model()
        loss = gan.gan_loss(model)
        least_squares = [gan.losses.least_squares_generator_loss(model),
                         gan.losses.least_squares_discriminator_loss(model)]
        modified = gan.losses.wargs.modified_generator_loss(tf.constant([[0.0]]))
        minimax = gan.losses.wargs.minimax_discriminator_loss(tf.constant([0.0]), tf.constant([0.0]), 0.0)
        penalty = gan.losses.wasserstein_gradient_penalty(model)  # the gradient is [1, 1]
        found = self.evaluate([*loss, *least_squares, modified, minimax, penalty])
        expected = [-3.0, 0.5, (1 + 9) / 4, (0.25 + 6.25) / 4 + (4 + 16) / 4, np.log(2), 2 * np.log(2),
                    (np.sqrt(2) - 1) ** 2]
        np.testing.assert_allclose(found, expected, rtol=1e-5)

    def test_a_penalty_is_added_with_its_weight(self):
        loss = gan.gan_loss(self.model(), gradient_penalty_weight=2.0, add_summaries=False)
        self.assertAlmostEqual(self.evaluate(loss.discriminator_loss), 0.5 + 2 * (np.sqrt(2) - 1) ** 2, places=5)
        self.assertEqual(tf.get_collection(tf.GraphKeys.SUMMARIES), [])

    def train_ops(self):
        model = self.model()
        loss = gan.gan_loss(model, gan.losses.least_squares_generator_loss, gan.losses.least_squares_discriminator_loss)
        return gan.gan_train_ops(model, loss, tf.train.GradientDescentOptimizer(0.01),
                                 tf.train.GradientDescentOptimizer(0.01))

    def test_both_parts_are_trained_in_turn(self):
        ops = self.train_ops()
        counted = []

        class Count(tf.train.SessionRunHook):
            def before_run(self, run_context):
                counted.append(1)

        last = gan.gan_train(ops, None, save_checkpoint_secs=None, save_summaries_steps=None,
                             get_hooks_fn=gan.get_sequential_train_hooks(gan.GANTrainSteps(1, 2)),
                             hooks=[tf.train.StopAtStepHook(last_step=3), Count()])
        self.assertEqual((last, len(counted)), (3, 3))
        both = gan.get_joint_train_hooks(gan.GANTrainSteps(2, 3))(ops)
        self.assertEqual([(len(hook._train_ops), hook._train_steps) for hook in both], [(2, 2), (1, 1)])

    def synchronous(self):
        return tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.01), 1)

    def test_synchronous_optimizers_train_in_sequence(self):
        model = self.model()
        loss = gan.gan_loss(model, gan.losses.least_squares_generator_loss, gan.losses.least_squares_discriminator_loss)
        ops = gan.gan_train_ops(model, loss, self.synchronous(), self.synchronous())
        counts = [v for v in tf.global_variables() if "dummy" in v.op.name]
        self.assertEqual([v.op.name for v in counts],
                         ["dummy_global_step_generator", "dummy_global_step_discriminator"])
        weights = [*model.generator_variables, *model.discriminator_variables]
        found = []

        class AtEnd(tf.train.SessionRunHook):
            def end(self, session):
                found.extend(session.run([counts, weights]))

        last = gan.gan_train(ops, None, save_checkpoint_secs=None, save_summaries_steps=None,
                             get_hooks_fn=gan.get_sequential_train_hooks(gan.GANTrainSteps(2, 1)),
                             hooks=[tf.train.StopAtStepHook(last_step=5), AtEnd()])
        self.assertEqual((last, len(ops.train_hooks)), (5, 2))
        # The chief may still apply the gradients of the last two steps of each network.
        self.assertTrue(8 <= found[0][0] <= 10 and 3 <= found[0][1] <= 5, found[0])
        for kernel in found[1][::2]:
            self.assertFalse((kernel == 1).any())

    def test_synchronous_optimizers_do_not_train_in_one_run(self):
        model = self.model()
        loss = gan.gan_loss(model)
        one = self.synchronous()
        with self.assertRaisesRegex(ValueError, "a SyncReplicasOptimizer each"):
            gan.gan_train_ops(model, loss, one, one)
        ops = gan.gan_train_ops(model, loss, one, self.synchronous())
        with self.assertRaisesRegex(ValueError, "get_sequential_train_hooks"):
            gan.get_joint_train_hooks()(ops)

    def test_a_loop_of_slim_trains_it_too(self):
        ops = self.train_ops()
        loss = tf.contrib.slim.learning.train(ops, None, train_step_fn=gan.get_sequential_train_steps(),
                                              number_of_steps=2)
        self.assertTrue(np.isfinite(loss))


if __name__ == "__main__":
    unittest.main()
