"""tf.contrib.gan: InfoGAN, ACGAN and CycleGAN, summaries, features, scores and the estimator."""

import tempfile
import unittest

import numpy as np
import tensorbraid as tf

gan = tf.contrib.gan
ONES = tf.ones_initializer()


def generator(inputs):
    return tf.layers.dense(tf.concat(inputs, 1) if isinstance(inputs, list) else inputs, 2, kernel_initializer=ONES,
                           name="layer")


def discriminator(data, _):
    return tf.layers.dense(data, 1, kernel_initializer=ONES, name="layer")


def discriminator_with_classes(data, _):
    return discriminator(data, _), tf.layers.dense(data, 2, kernel_initializer=ONES, name="classes")


def discriminator_with_distribution(data, _):
    return discriminator(data, _), [tf.distributions.Normal(tf.reduce_sum(data, 1, keepdims=True), 1.0)]


class GanModelsTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.real = np.array([[0.5, 1.0], [1.5, 2.0]], np.float32)
        self.noise = np.array([[1.0], [2.0]], np.float32)

    def evaluate(self, values):
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            return session.run(values)

    def test_infogan_loses_by_the_predicted_distributions(self):
        model = gan.infogan_model(generator, discriminator_with_distribution, self.real, [tf.constant(self.noise)],
                                  [tf.constant([[3.0], [4.0]])])
        plain = gan.gan_loss(model, add_summaries=False)
        loss = gan.gan_loss(model, mutual_information_penalty_weight=2.0, add_summaries=False)
        found = self.evaluate([*plain, *loss, model.discriminator_gen_outputs])
        # Generated are [4, 4] and [6, 6]; the distributions' means 8 and 12 are 5 and 8 off.
        penalty = np.mean([25, 64]) / 2 + np.log(2 * np.pi) / 2
        np.testing.assert_allclose(found[4], [[8.0], [12.0]])
        np.testing.assert_allclose(found[2:4], [found[0] + 2 * penalty, found[1] + 2 * penalty], rtol=1e-5)
        with self.assertRaisesRegex(ValueError, "must be an ACGANModel"):
            gan.gan_loss(model, aux_cond_generator_weight=1.0)
        with self.assertRaisesRegex(ValueError, "must be the same length"):
            gan.infogan_model(generator, discriminator_with_distribution, self.real, [tf.constant(self.noise)], [],
                              "G", "D")

    def test_acgan_loses_by_the_classes(self):
        labels = tf.constant([[1.0, 0.0], [0.0, 1.0]])
        model = gan.acgan_model(generator, discriminator_with_classes, self.real, tf.constant(self.noise), labels)
        plain = gan.gan_loss(model, add_summaries=False)
        loss = gan.gan_loss(model, aux_cond_generator_weight=1.0, aux_cond_discriminator_weight=0.5,
                            add_summaries=False)
        found = self.evaluate([*plain, *loss])
        entropy = np.log(2)  # both logits are equal
        np.testing.assert_allclose(found[2:], [found[0] + entropy, found[1] + 0.5 * 2 * entropy], rtol=1e-5)

    def test_cyclegan_loses_by_the_cycle(self):
        model = gan.cyclegan_model(generator, discriminator, self.real, self.real + 1)
        loss = gan.cyclegan_loss(model, cycle_consistency_loss_weight=3.0, add_summaries=False)
        plain = gan.gan_loss(model.model_x2y, gan.losses.least_squares_generator_loss,
                             gan.losses.least_squares_discriminator_loss, add_summaries=False)
        found = self.evaluate([loss.loss_x2y.generator_loss, loss.loss_x2y.discriminator_loss, *plain])
        # A cycle makes [2a + 2b, 2a + 2b] of [a, b].
        cycle = np.mean([[2.5, 2.0, 5.5, 5.0], [5.5, 5.0, 8.5, 8.0]])
        np.testing.assert_allclose(found[:2], [found[2] + 3 * cycle, found[3]], rtol=1e-5)
        self.assertEqual([v.name for v in model.model_y2x.generator_variables],
                         ["ModelY2X/Generator/layer/kernel:0", "ModelY2X/Generator/layer/bias:0"])
        ops = gan.gan_train_ops(model, loss, tf.train.GradientDescentOptimizer(0.1),
                                tf.train.GradientDescentOptimizer(0.1))
        self.assertEqual(len(ops.generator_train_op), 2)
        gan.gan_train(ops, "", hooks=[tf.train.StopAtStepHook(2)])

    def stargan(self):
        def translate(data, targets):
            return data * tf.get_variable("factor", [], initializer=ONES) + tf.matmul(targets, [[1.0, 0.0], [0.0, 1.0]])

        def judge(data, domains):
            self.assertEqual(domains, 2)
            return tf.reduce_sum(data, 1) * tf.get_variable("factor", [], initializer=ONES), data

        labels = [np.array([[0.0, 1.0]], np.float32), np.array([[1.0, 0.0]], np.float32)]
        return gan.stargan_model(translate, judge, [self.real[:1], self.real[1:]], labels)

    def test_stargan_translates_to_random_domains_and_back(self):
        model = self.stargan()
        made, targets, back, of_real, of_made, real_logits, made_logits = self.evaluate([
            model.generated_data, model.generated_data_domain_target, model.reconstructed_data,
            model.discriminator_input_data_source_predication, model.discriminator_generated_data_source_predication,
            model.discriminator_input_data_domain_predication, model.discriminator_generated_data_domain_predication])
        np.testing.assert_array_equal(targets.sum(1), [1.0, 1.0])
        np.testing.assert_array_equal(made, self.real + targets)
        np.testing.assert_array_equal(back, made + [[0.0, 1.0], [1.0, 0.0]])
        np.testing.assert_array_equal(of_real, self.real.sum(1))
        np.testing.assert_array_equal(of_made, self.real.sum(1) + 1)
        np.testing.assert_array_equal([real_logits, made_logits], [self.real, made])
        self.assertEqual([v.name for v in model.generator_variables + model.discriminator_variables],
                         ["Generator/factor:0", "Discriminator/factor:0"])
        with self.assertRaisesRegex(ValueError, "not fully defined"):
            gan.stargan_model(None, None, self.real, tf.placeholder(tf.float32, [None, 2]))

    def test_stargan_loses_by_the_reconstruction_the_domains_and_the_gradient(self):
        model = self.stargan()
        plain = gan.stargan_loss(model, gradient_penalty_weight=None, reconstruction_loss_weight=0.0,
                                 classification_loss_weight=0.0, add_summaries=False)
        loss = gan.stargan_loss(model, gradient_penalty_weight=3.0, reconstruction_loss_weight=2.0)
        by_bits = gan.stargan_loss(
            model, gradient_penalty_weight=0, classification_one_hot=False, add_summaries=False,
            classification_loss_fn=lambda onehot_labels, logits: tf.nn.sigmoid_cross_entropy_with_logits(
                labels=onehot_labels, logits=logits))
        found = self.evaluate([*plain, *loss, *by_bits, model.generated_data, model.generated_data_domain_target])
        made, targets = found[6:]
        sums = self.real.sum(1)
        np.testing.assert_allclose(found[:2], [-(sums + 1).mean(), 1.0], rtol=1e-6)  # 1: generated minus real
        own = np.array([[0.0, 1.0], [1.0, 0.0]])
        lost_back = 2.0 * (targets + own).mean()

        def entropy(labels, logits):
            return -(labels * (logits - np.log(np.exp(logits).sum(1, keepdims=True)))).sum(1).mean()

        penalty = 3.0 * (np.sqrt(2.0) - 1.0) ** 2  # the gradient of a sum of two numbers has the norm sqrt(2)
        np.testing.assert_allclose(found[2:4], [found[0] + lost_back + entropy(targets, made),
                                                found[1] + penalty + entropy(own, self.real)], rtol=1e-5)
        bits = (np.log1p(np.exp(self.real)) - own * self.real).sum(1).mean()
        np.testing.assert_allclose(found[5], found[1] + bits, rtol=1e-5)
        tags = [value.tag for value in tf.Summary.FromString(self.evaluate(tf.summary.merge_all())).value]
        for tag in ("reconstruction_loss", "/generator_classification_loss", "/discriminator_classification_loss",
                    "generator_wass_loss", "gradient_penalty_loss"):
            self.assertTrue(any(found.endswith(tag) for found in tags), (tag, tags))
        ops = gan.gan_train_ops(model, loss, tf.train.GradientDescentOptimizer(0.1),
                                tf.train.GradientDescentOptimizer(0.1))
        gan.gan_train(ops, "", hooks=[tf.train.StopAtStepHook(2)])

    def test_stargan_images(self):
        model = gan.stargan_model(
            lambda images, targets: images + tf.get_variable("shift", [], initializer=ONES) + tf.reshape(
                tf.matmul(targets, [[0.0], [10.0]]), [-1, 1, 1, 1]),
            lambda images, domains: (tf.reduce_mean(images, [1, 2, 3]), tf.zeros([tf.shape(images)[0], domains])),
            np.full([3, 2, 2, 1], 5.0, np.float32), np.eye(2, dtype=np.float32)[[0, 1, 0]])
        gan.eval.add_stargan_image_summaries(model, 2, display_diffs=True)
        gan.eval.add_gan_model_summaries(model)
        merged = tf.Summary.FromString(self.evaluate(tf.summary.merge_all()))
        images = {value.tag: value.image for value in merged.value if value.HasField("image")}
        self.assertEqual(sorted(images), [f"stargan_image_generation/image/{i}" for i in range(2)])
        image = self.evaluate(tf.image.decode_png(images["stargan_image_generation/image/0"].encoded_image_string))
        self.assertEqual(image.shape, (4, 6, 1))
        # The image is 5, its translations 6 and 16; below them are the differences. The brightest is white.
        np.testing.assert_allclose(image[::2, ::2, 0] / 255, np.array([[5, 6, 16], [0, 1, 11]]) / 16, atol=0.01)

    def test_stargan_estimator(self):
        def translate(data, targets):
            return data * tf.get_variable("factor", [], initializer=ONES) + targets

        def inputs(epochs=None):
            pairs = self.real, np.array([[0.0, 1.0], [1.0, 0.0]], np.float32)
            return tf.data.Dataset.from_tensors(pairs).repeat(epochs).make_one_shot_iterator().get_next()

        with tempfile.TemporaryDirectory() as folder:
            estimator = gan.estimator.StarGANEstimator(
                folder, translate, lambda data, domains: (tf.layers.dense(data, 1), tf.layers.dense(data, domains)),
                gan.stargan_loss, tf.train.GradientDescentOptimizer(0.0), tf.train.GradientDescentOptimizer(0.01),
                add_summaries=gan.estimator.SummaryType.VARIABLES)
            estimator.train(inputs, steps=2)
            result = estimator.evaluate(inputs, steps=1)
            self.assertEqual(result["global_step"], 2)
            self.assertAlmostEqual(result["loss"], result["generator_loss"] + result["discriminator_loss"], places=4)
            predicted = list(estimator.predict(gan.estimator.stargan_prediction_input_fn_wrapper(
                lambda: inputs(1))))
        np.testing.assert_allclose(predicted, self.real + [[0.0, 1.0], [1.0, 0.0]])
        with self.assertRaisesRegex(ValueError, "loss_fn must be callable"):
            gan.estimator.StarGANEstimator()

    def test_adversarial_losses_are_combined_by_their_gradients(self):
        w = tf.get_variable("w", [2], initializer=tf.constant_initializer(1.0))
        main, other = tf.reduce_sum(w * [3.0, 4.0]), tf.reduce_sum(w * [0.6, 0.8])
        wargs = gan.losses.wargs
        found = self.evaluate([
            wargs.combine_adversarial_loss(main, other, gradient_ratio=2.0, gradient_ratio_epsilon=0.0),
            wargs.combine_adversarial_loss(main, other, weight_factor=0.5),
            gan.losses.combine_adversarial_loss(gan.GANLoss(other, other), _WithVariables([w]), main,
                                                weight_factor=0.5).generator_loss])
        np.testing.assert_allclose(found, [7.0 + 2.5 * 1.4, 7.7, 7.7], rtol=1e-5)
        self.assertIs(wargs.combine_adversarial_loss(main, other, weight_factor=0), main)
        with self.assertRaisesRegex(ValueError, "cannot both be `None.`"):
            wargs.combine_adversarial_loss(main, other)

    def test_images_are_laid_side_by_side(self):
        images = np.arange(6 * 2 * 3 * 1, dtype=np.float32).reshape(6, 2, 3, 1)
        grid, flat, columns = self.evaluate([
            gan.eval.image_grid(tf.constant(images), (2, 3), (2, 3), 1),
            gan.eval.image_grid(tf.constant(images.reshape(6, -1)), (2, 3), (2, 3), 1),
            gan.eval.image_reshaper(tf.constant(images[:5]), 3)])
        expected = np.concatenate([np.concatenate(list(row), 1) for row in (images[:3], images[3:])], 0)[np.newaxis]
        np.testing.assert_array_equal(grid, expected)
        np.testing.assert_array_equal(flat, expected)
        expected[:, 2:, 6:] = 0
        np.testing.assert_array_equal(columns, expected)
        np.testing.assert_array_equal(gan.eval.python_image_grid(images, (2, 3)), grid[0])

    def test_summaries(self):
        def image_generator(images):
            return images + tf.get_variable("shift", [])

        def image_discriminator(images, _):
            return tf.reduce_mean(images, [1, 2, 3]) * tf.get_variable("factor", [])

        images = tf.constant(np.ones([4, 2, 2, 3], np.float32))
        model = gan.gan_model(image_generator, image_discriminator, images, images)
        gan.eval.add_gan_model_image_summaries(model, 2)
        gan.eval.add_image_comparison_summaries(model, display_diffs=True)
        gan.eval.add_regularization_loss_summaries(model)
        cycle = gan.cyclegan_model(image_generator, image_discriminator, images, images)
        gan.eval.add_cyclegan_image_summaries(cycle)
        gan.eval.add_gan_model_summaries(cycle)
        tags = [value.tag for value in tf.Summary.FromString(self.evaluate(tf.summary.merge_all())).value]
        for tag in ("real_data/image", "generated_data/image", "image_comparison/image",
                    "generator_variables/Generator/shift_0", "generator_regularization_loss",
                    "x2y_image_comparison_summaries/image_comparison/image"):
            self.assertTrue(any(tag in found for found in tags), (tag, tags))

    def test_conditions_and_pool(self):
        with tf.variable_scope("c", initializer=ONES):
            conditioned = gan.features.condition_tensor_from_onehot(tf.zeros([2, 3]), tf.one_hot([1, 0], 4), 5)
        self.assertEqual(conditioned.shape.as_list(), [2, 3])
        step = tf.placeholder(tf.float32, [])
        pooled = gan.features.tensor_pool((step, [step * 2]), 2, 1.0)
        self.assertEqual(gan.features.tensor_pool(step, 0), step)
        with tf.Session() as session:
            seen = [session.run(pooled, {step: i}) for i in range(6)]
        for value, (double,) in seen:
            self.assertEqual(double, 2 * value)
        self.assertEqual([seen[0][0], seen[1][0]], [0.0, 1.0])
        for i in range(2, 6):  # each result is an earlier value, and none is returned twice
            self.assertLess(seen[i][0], i)
        self.assertEqual(len({value for value, _ in seen[2:]}), 4)

    def test_scores(self):
        rng = np.random.RandomState(0)
        logits = rng.randn(6, 3)
        probs = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
        score = np.exp(np.mean((probs * (np.log(probs) - np.log(probs.mean(0)))).sum(1)))
        real, made = rng.randn(8, 2), rng.randn(8, 2) + 1
        a, b = np.cov(real.T), np.cov(made.T)
        roots = np.sqrt(np.linalg.eigvals(a @ b)).sum()
        distance = np.trace(a + b) - 2 * roots + ((real.mean(0) - made.mean(0)) ** 2).sum()
        found = self.evaluate([
            gan.eval.classifier_score_from_logits(tf.constant(logits)),
            gan.eval.classifier_score(tf.constant(logits), lambda x: x, 3),
            gan.eval.frechet_classifier_distance(tf.constant(real), tf.constant(made), lambda x: x, 2)])
        np.testing.assert_allclose(found, [score, score, distance], rtol=1e-6)

    def test_estimator(self):
        def inputs():
            return tf.constant(self.noise), tf.constant(self.real)

        folder = tempfile.mkdtemp()
        estimator = gan.estimator.GANEstimator(
            folder, generator, discriminator, gan.losses.least_squares_generator_loss,
            gan.losses.least_squares_discriminator_loss, tf.train.GradientDescentOptimizer(0.01),
            lambda: tf.train.GradientDescentOptimizer(0.01), add_summaries=gan.estimator.SummaryType.VARIABLES,
            get_eval_metric_ops_fn=lambda model: {"made": tf.metrics.mean(model.generated_data)})
        estimator.train(inputs, steps=3)
        result = estimator.evaluate(inputs, steps=1)
        self.assertEqual(result["global_step"], 3)
        self.assertEqual(result["loss"], result["discriminator_loss"])
        predicted = list(estimator.predict(lambda: tf.data.Dataset.from_tensors(self.noise)))
        self.assertAlmostEqual(np.mean(predicted), result["made"], places=5)
        with self.assertRaisesRegex(ValueError, "generator_loss_fn must be callable"):
            gan.estimator.GANEstimator()


class _WithVariables:
    def __init__(self, variables):
        self.generator_variables = variables


if __name__ == "__main__":
    unittest.main()
