"""tf.keras.optimizers.Optimizer: subclasses of a program with the methods of TensorFlow's OptimizerV2."""

import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.runner import api

layers, K = tf.keras.layers, tf.keras.backend


class HeavyBall(api.find("python.keras.optimizer_v2.optimizer_v2.OptimizerV2")):
    """Gradients with a momentum."""

    def __init__(self, learning_rate=0.1, rho=0.5, name="HeavyBall", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", kwargs.get("lr", learning_rate))
        self._set_hyper("rho", rho)
        self._set_hyper("decay", self._initial_decay)

    def _create_slots(self, var_list):
        for variable in var_list:
            self.add_slot(variable, "speed")

    def _resource_apply_dense(self, grad, var):
        dtype = var.dtype.base_dtype
        speed = tf.assign(self.get_slot(var, "speed"), self._get_hyper("rho", dtype) * self.get_slot(var, "speed") + grad)
        return tf.assign_sub(var, self._decayed_lr(dtype) * speed)

    def _resource_apply_sparse(self, grad, var, indices):
        return self._resource_scatter_add(var, indices, -self._decayed_lr(var.dtype.base_dtype) * grad)

    def get_config(self):
        return {**super().get_config(), "learning_rate": self._serialize_hyperparameter("learning_rate"),
                "rho": self._serialize_hyperparameter("rho")}


class WithState(tf.keras.optimizers.Optimizer):
    """Takes the learning rate that is computed once in a step."""

    def __init__(self, learning_rate=0.1, **kwargs):
        super().__init__(**kwargs)
        self._set_hyper("learning_rate", learning_rate)

    def _resource_apply_dense(self, grad, var, apply_state=None):
        return tf.assign_sub(var, apply_state[(var.device, var.dtype.base_dtype)]["lr_t"] * grad)


def clipped_by_samples(base):
    """An optimizer of tf.train that clips the gradient of each sample before it takes their mean."""
    class Clipped(base):
        def __init__(self, norm, **kwargs):
            super().__init__(**kwargs)
            self.norm = norm

        def compute_gradients(self, loss, var_list, **kwargs):
            def of_sample(value):
                gradients = tf.gradients(value, var_list)
                norm = tf.sqrt(tf.add_n([tf.reduce_sum(tf.square(gradient)) for gradient in gradients]))
                return [gradient / tf.maximum(norm / self.norm, 1.0) for gradient in gradients]

            size = loss.shape.as_list()[0]
            each = [of_sample(value) for value in tf.unstack(loss, size)]
            return [(tf.add_n(list(gradients)) / size, var) for gradients, var in zip(zip(*each), var_list)]

    return Clipped


class ClippedBySamples(tf.keras.optimizers.SGD):
    """The same as an optimizer of tf.keras."""

    def get_gradients(self, loss, params):
        return [gradient for gradient, _ in
                clipped_by_samples(tf.train.GradientDescentOptimizer)(0.5, learning_rate=1.0).compute_gradients(
                    loss, params)]


class OwnOptimizersTest(tf.test.TestCase):
    def setUp(self):
        K.clear_session()

    def test_a_step_applies_the_rule_to_each_variable_and_counts(self):
        optimizer = HeavyBall(0.5, decay=1.0)
        w = tf.Variable([1.0, 2.0], name="w")
        step = optimizer.minimize(tf.reduce_sum(w * w), [w])
        with self.session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            self.assertAllClose(session.run(w), [0.0, 0.0])  # 1 - 0.5 * 2
            session.run(step)
            self.assertAllClose(session.run(w), [-0.25, -0.5])  # the speed is 1, the rate 0.5 / (1 + 1)
            self.assertEqual(session.run(optimizer.iterations), 2)
        self.assertEqual([weight.op.name for weight in optimizer.weights],
                         ["training/HeavyBall/iter", "training/HeavyBall/w/speed"])
        self.assertEqual(optimizer.get_slot_names(), ["speed"])
        self.assertAllEqual(w in tf.trainable_variables(), True)
        self.assertEqual(len(tf.trainable_variables()), 1)

    def test_rows_of_embeddings_and_constraints(self):
        model = tf.keras.Sequential([layers.Embedding(4, 1, input_length=2, embeddings_constraint="nonneg",
                                                      embeddings_initializer="ones"), layers.Flatten(),
                                     layers.Lambda(lambda x: tf.reduce_sum(x, 1, keep_dims=True))])
        model.compile(HeavyBall(5.0), lambda y_true, y_pred: y_pred)
        model.train_on_batch(np.array([[1, 1]]), np.zeros((1, 1)))
        self.assertAllEqual(model.get_weights()[0].ravel(), [1, 0, 1, 1])  # 1 - 5 * 2 would be negative

    def test_numbers_are_attributes_that_fit_sees(self):
        model = tf.keras.Sequential([layers.Dense(1, input_shape=(1,), use_bias=False, kernel_initializer="ones")])
        optimizer = HeavyBall(0.0)
        model.compile(optimizer, "mse")
        x, y = np.ones((4, 1)), np.zeros((4, 1))
        model.fit(x, y, verbose=0)
        self.assertAllEqual(model.get_weights()[0], [[1.0]])
        rates = tf.keras.callbacks.LearningRateScheduler(lambda epoch: 0.25)
        model.fit(x, y, verbose=0, callbacks=[rates])
        self.assertAllClose(model.get_weights()[0], [[0.25]])  # the speed is 0.5 * 2 + 2
        optimizer.learning_rate = 0.125
        self.assertEqual(K.get_value(optimizer.lr), 0.125)
        self.assertEqual(optimizer.get_config(), {"name": "HeavyBall", "learning_rate": 0.125, "rho": 0.5})

    def test_configurations_and_schedules(self):
        schedule = tf.keras.optimizers.schedules.PiecewiseConstantDecay([0], [1.0, 0.25])
        optimizer = HeavyBall(schedule, rho=0.0, clipvalue=1.0)
        copy = HeavyBall.from_config(optimizer.get_config())
        w = tf.Variable([8.0])
        step = copy.minimize(w * w, [w])
        with self.session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            session.run(step)
            self.assertAllClose(session.run(w), [8.0 - 1.0 - 0.25])
        copied = tf.keras.optimizers.deserialize({"class_name": "HeavyBall", "config": {"rho": 0.25}},
                                                 custom_objects={"HeavyBall": HeavyBall})
        self.assertEqual((type(copied), copied.get_config()["rho"]), (HeavyBall, 0.25))

    def test_values_that_are_computed_once_in_a_step(self):
        w = tf.Variable([1.0])
        step = WithState(0.5).minimize(w * w, [w])
        with self.session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            self.assertAllEqual(session.run(w), [0.0])

    def test_an_optimizer_without_a_rule_is_an_error(self):
        class Empty(tf.keras.optimizers.Optimizer):
            pass

        w = tf.Variable([1.0])
        with self.assertRaisesRegex(NotImplementedError, "Empty has neither _resource_apply_dense nor get_updates"):
            Empty().minimize(w * w, [w])

    def test_an_optimizer_gets_the_losses_of_samples_that_are_not_reduced(self):
        x, y = np.random.RandomState(0).rand(12, 3).astype("f"), np.random.RandomState(1).rand(12, 1).astype("f")
        kernel, wanted = np.ones([3, 1], "f"), []
        for start in (0, 4, 8):
            inputs, errors = x[start:start + 4], x[start:start + 4] @ kernel - y[start:start + 4]
            wanted.append(np.mean(errors ** 2))
            gradients = 2 * errors * inputs
            norms = np.linalg.norm(gradients, axis=1, keepdims=True)
            kernel = kernel - 0.1 * np.mean(gradients / np.maximum(norms / 0.5, 1), axis=0)[:, None]
        for make in (lambda: clipped_by_samples(tf.train.GradientDescentOptimizer)(0.5, learning_rate=0.1),
                     lambda: ClippedBySamples(0.1)):
            K.clear_session()
            model = tf.keras.Sequential([layers.Dense(1, use_bias=False, kernel_initializer="ones",
                                                      batch_input_shape=(4, 3))])
            model.compile(make(), tf.keras.losses.MeanSquaredError(reduction=tf.losses.Reduction.NONE), ["mae"])
            self.assertEqual(model.total_loss.shape.as_list(), [4])
            history = model.fit(x, y, batch_size=4, shuffle=False, verbose=0).history
            self.assertAllClose(history["loss"], [np.mean(wanted)])
            self.assertAllClose(model.get_weights()[0], kernel)
            self.assertAllClose(model.evaluate(x, y, batch_size=4, verbose=0)[0], np.mean((x @ kernel - y) ** 2))
            self.assertEqual(np.shape(model.train_on_batch(x[:4], y[:4])[0]), ())

    def test_the_gradient_of_losses_of_samples_is_that_of_their_sum(self):
        inputs = tf.keras.Input((3,))
        outputs = layers.Dense(1, use_bias=False, kernel_initializer="ones")(inputs)
        model = tf.keras.Model(inputs, outputs)
        model.add_loss(tf.reduce_sum(tf.square(outputs), -1))
        model.compile(tf.train.GradientDescentOptimizer(0.01))
        x = np.random.rand(6, 3).astype("f")
        for rows in (slice(0, 4), slice(4, 6)):
            before = model.get_weights()[0]
            self.assertAllClose(model.train_on_batch(x[rows], None), np.mean((x[rows] @ before) ** 2))
            self.assertAllClose(model.get_weights()[0], before - 0.02 * x[rows].T @ (x[rows] @ before))


if __name__ == "__main__":
    unittest.main()
