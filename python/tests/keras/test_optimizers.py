"""Optimizers of tf.keras: values, names of variables, and learning rates that change with the steps."""

import unittest

import numpy as np
import tensorbraid as tf
from test_layers import KerasTestCase, layers, names
from test_training import mlp, set_weights

optimizers = tf.keras.optimizers
schedules = optimizers.schedules
experimental = tf.keras.experimental

# What tf_values.py has not: the losses of three epochs of TensorFlow 2.21 with tf-keras in graph mode, which begin with
# equal weights.
WANTED_LOSSES = [
    (lambda: optimizers.SGD(0.05, 0.9, True), [0.4207806, 0.0973101, 0.1164751]),
    (lambda: optimizers.SGD(0.05, decay=0.1), [0.5156241, 0.3040494, 0.2206824]),
    (lambda: optimizers.SGD(0.05, clipnorm=0.1), [0.6227624, 0.5760091, 0.5321132]),
    (lambda: optimizers.SGD(schedules.ExponentialDecay(0.1, 3, 0.5, True), momentum=0.9),
     [0.4022839, 0.1503707, 0.2851047]),
    (lambda: optimizers.SGD(tf.constant(0.05) * 2), [0.4289191, 0.1562491, 0.0998511]),
    (lambda: optimizers.RMSprop(0.01, centered=True), [0.4487225, 0.2202909, 0.1487603]),
    (lambda: optimizers.RMSprop(0.01, momentum=0.5, centered=True, epsilon=1e-3, decay=0.1),
     [0.4490157, 0.1509237, 0.0961164]),
    (lambda: optimizers.RMSprop(experimental.CosineDecay(0.1, 5, 0.1)), [0.2811283, 0.0852589, 0.0785586]),
    (lambda: optimizers.RMSprop(experimental.CosineDecayRestarts(0.1, 3, 1.5, 0.9)), [0.276188, 0.0819816, 0.0818754]),
    (lambda: optimizers.Adagrad(lambda: 0.05), [0.4514268, 0.2082083, 0.1411976]),
    (lambda: optimizers.Adagrad(0.1, 0.3), [0.3916816, 0.1326683, 0.0924675]),
    (lambda: optimizers.Adam(0.01, 0.9, 0.99, 1e-3), [0.5663753, 0.385361, 0.2665862]),
    (lambda: optimizers.Adam(schedules.PolynomialDecay(0.1, 4, 0.01, 2.0)), [0.3053441, 0.0903028, 0.0827176]),
    (lambda: optimizers.Adam(schedules.PolynomialDecay(0.1, 2, 0.01, 2.0, True)), [0.3116021, 0.1132345, 0.0937867]),
    (lambda: optimizers.Adam(schedules.InverseTimeDecay(0.1, 2, 0.5), decay=0.1), [0.3036925, 0.0821323, 0.077456]),
    (lambda: optimizers.Adamax(experimental.LinearCosineDecay(0.1, 5)), [0.3058804, 0.0940592, 0.0926582]),
    (lambda: optimizers.Ftrl(0.1, l1_regularization_strength=0.01, l2_regularization_strength=0.02,
                             l2_shrinkage_regularization_strength=0.03), [0.3153563, 0.1266412, 0.1038909]),
]


class OptimizersTest(KerasTestCase):
    def setUp(self):
        super().setUp()
        random = np.random.RandomState(0)
        self.x, self.y = random.rand(12, 4).astype("f"), random.rand(12, 3).astype("f")

    def losses(self, optimizer):
        model = mlp()
        model.compile(optimizer, "mse")
        set_weights(model)
        return model.fit(self.x, self.y, batch_size=4, epochs=3, shuffle=False, verbose=0).history["loss"]

    def test_losses_are_those_of_tensorflow(self):
        for make, wanted in WANTED_LOSSES:
            tf.keras.backend.clear_session()
            optimizer = make()
            config = optimizer.get_config()
            np.testing.assert_allclose(self.losses(optimizer), wanted, rtol=2e-5, err_msg=str(config))
            copy = optimizers.deserialize(optimizers.serialize(optimizer))
            self.assertEqual(copy.get_config().keys(), config.keys())
            if isinstance(config["learning_rate"], dict):
                self.assertEqual(copy.get_config()["learning_rate"], config["learning_rate"])

    def test_names_of_an_optimizers_variables(self):
        model = mlp()
        optimizer = optimizers.Adam(0.01)
        model.compile(optimizer, "mse", metrics=["accuracy"])
        model.train_on_batch(self.x, self.y)
        self.assertEqual(names(optimizer.weights)[:3], ["training/Adam/iter:0", "training/Adam/dense/kernel/m:0",
                                                        "training/Adam/dense/bias/m:0"])
        self.assertEqual(len(optimizer.weights), 9)
        self.assertEqual(len(tf.trainable_variables()), 4)
        self.assertEqual(model.metrics_names, ["loss", "acc"])
        self.assertEqual(optimizer.get_weights()[0], 1)

    def test_slots_are_those_of_tensorflow(self):
        for make, wanted in ((optimizers.SGD, []), (lambda: optimizers.SGD(momentum=0.5), ["momentum"]),
                             (lambda: optimizers.RMSprop(momentum=0.5, centered=True), ["rms", "momentum", "mg"]),
                             (optimizers.Ftrl, ["accumulator", "linear"])):
            optimizer, layer = make(), layers.Dense(1, use_bias=False, name="d")
            model = tf.keras.Sequential([layers.Flatten(input_shape=(4,)), layer])
            model.compile(optimizer, "mse")
            model.train_on_batch(self.x, self.y[:, :1])
            self.assertEqual([name.rpartition("/")[2] for name in names(optimizer.weights)[1:]],
                             [f"{slot}:0" for slot in wanted])
            tf.keras.backend.clear_session()

    def test_learning_rates_are_assigned(self):
        optimizer = optimizers.SGD(0.1, momentum=0.5)
        for attribute in ("lr", "learning_rate", "momentum"):
            setattr(optimizer, attribute, 0.25)
            self.assertEqual(tf.keras.backend.get_value(getattr(optimizer, attribute)), 0.25)
        model = mlp()
        model.compile(optimizer, "mse")
        set_weights(model)
        before = model.get_weights()
        model.train_on_batch(self.x, self.y)
        self.assertFalse(np.array_equal(model.get_weights()[0], before[0]))
        optimizer.learning_rate = 0.0
        optimizer.momentum = 0.0
        before = model.get_weights()
        model.train_on_batch(self.x, self.y)
        np.testing.assert_array_equal(model.get_weights()[0], before[0])

    def test_a_schedule_of_a_program(self):
        class Warmup(schedules.LearningRateSchedule):
            def __call__(self, step):
                return tf.minimum(0.1, 0.01 * (step + 1))

            def get_config(self):
                return {}

        step = tf.placeholder(tf.float32, [])
        session = tf.keras.backend.get_session()
        self.assertAlmostEqual(session.run(Warmup()(step), {step: 3}), 0.04, 6)
        config = schedules.serialize(Warmup())
        self.assertIsInstance(schedules.deserialize(config, {"Warmup": Warmup}), Warmup)
        self.losses(optimizers.Adam(Warmup()))
        with self.assertRaisesRegex(NotImplementedError, "Learning rate schedule must override get_config: Bare"):
            type("Bare", (schedules.LearningRateSchedule,), {})().get_config()
        with self.assertRaisesRegex(ValueError, "length of boundaries should be 1 less"):
            schedules.PiecewiseConstantDecay([1], [0.1])


if __name__ == "__main__":
    unittest.main()
