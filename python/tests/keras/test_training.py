"""fit, evaluate and predict of tf.keras, its optimizers and metrics, and models as estimators."""

import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from test_layers import KerasTestCase

layers = tf.keras.layers


def set_weights(model):
    random = np.random.RandomState(1)
    model.set_weights([(random.rand(*weight.shape) - 0.3).astype("f") for weight in model.get_weights()])


def mlp(activation=None):
    return tf.keras.Sequential([layers.Dense(5, activation="relu", input_shape=(4,)),
                                layers.Dense(3, activation=activation)])


class TrainingTest(KerasTestCase):
    def setUp(self):
        super().setUp()
        random = np.random.RandomState(0)
        self.x, self.y = random.rand(12, 4).astype("f"), random.rand(12, 3).astype("f")

    def losses(self, optimizer, loss="mse"):
        model = mlp()
        model.compile(optimizer, loss, metrics=["mae"])
        set_weights(model)
        history = model.fit(self.x, self.y, batch_size=4, epochs=3, shuffle=False, verbose=0).history
        return history["loss"]

    def test_minimize_in_a_session(self):
        y = layers.Dense(1)(tf.constant(self.x))
        loss = tf.reduce_mean(tf.keras.losses.mean_squared_error(tf.constant(self.y[:, :1]), y))
        train = tf.keras.optimizers.SGD(0.1).minimize(loss)
        with tf.train.MonitoredTrainingSession() as session:
            before = session.run(loss)
            for _ in range(10):
                session.run(train)
            self.assertLess(session.run(loss), before)

    def test_datasets(self):
        def dataset():
            return tf.data.Dataset.from_tensor_slices((self.x, self.y)).batch(4)

        model = mlp()
        model.compile("sgd", "mse", metrics=["mae"])
        results = []
        for data in (dict(x=dataset()), dict(x=dataset().repeat(), steps_per_epoch=3),
                     dict(x=dataset().repeat().make_one_shot_iterator(), steps_per_epoch=3),
                     dict(x=self.x, y=self.y, batch_size=4)):
            for validation in (dict(validation_data=dataset(), validation_steps=3), dict(validation_data=dataset())):
                set_weights(model)
                results.append(model.fit(epochs=2, verbose=0, shuffle=False, **data, **validation).history)
        for result in results[1:]:
            for key, value in results[0].items():
                np.testing.assert_allclose(result[key], value, rtol=1e-5, err_msg=key)
        np.testing.assert_allclose(model.evaluate(dataset(), verbose=0),
                                   model.evaluate(self.x, self.y, verbose=0), rtol=1e-5)
        np.testing.assert_allclose(model.predict(dataset()), model.predict(self.x), rtol=1e-5)
        np.testing.assert_allclose(model.predict(tf.data.Dataset.from_tensor_slices(self.x).batch(5)),
                                   model.predict(self.x), rtol=1e-5)
        with self.assertRaisesRegex(ValueError, "infinitely repeating dataset, you must specify the `steps_per_epoch`"):
            model.fit(dataset().repeat())
        with self.assertRaisesRegex(ValueError, "ran out of data after 3 batches.*`repeat"):
            model.fit(dataset(), epochs=2, steps_per_epoch=3, verbose=0)
        with self.assertRaisesRegex(ValueError, "`batch_size` argument is not supported when the input is a dataset"):
            model.fit(dataset(), batch_size=4)

    def test_a_model_of_a_program_learns_its_shapes_from_data(self):
        class Net(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.a, self.normal, self.b = layers.Dense(5), layers.BatchNormalization(), layers.Dense(3)

            def call(self, inputs, training=None):
                return self.b(self.normal(self.a(inputs), training=training))

        dataset = tf.data.Dataset.from_tensor_slices((self.x, self.y)).batch(4)
        model = Net()
        model.compile("sgd", "mse")
        model.fit(dataset, epochs=2, verbose=0)
        self.assertEqual(model.predict(self.x).shape, (12, 3))
        called = Net()  # its updates for other placeholders are no part of the training
        called(tf.placeholder(tf.float32, [None, 4]))
        called.compile("sgd", "mse")
        called.fit(self.x, self.y, verbose=0)
        self.assertEqual(len(called.updates), 2)

    def test_a_metric_of_a_program_may_return_nothing(self):
        class Sum(tf.keras.metrics.Metric):
            def __init__(self, name="sum", **kwargs):
                super().__init__(name=name, **kwargs)
                self.total = self.add_weight("total", initializer="zeros")

            def update_state(self, y_true, y_pred, sample_weight=None):
                self.total.assign_add(tf.reduce_sum(y_true))

            def result(self):
                return self.total

        model = mlp()
        model.compile("sgd", "mse", metrics=[Sum()])
        history = model.fit(self.x, self.y, batch_size=4, epochs=2, verbose=0).history
        np.testing.assert_allclose(history["sum"], [self.y.sum()] * 2, rtol=1e-5)

    def test_an_optimizer_of_tf_train(self):
        self.assertLess(self.losses(tf.train.AdamOptimizer(0.01))[-1], 0.7)

    def test_mistakes(self):
        with self.assertRaisesRegex(NotImplementedError, "run_eagerly=True of compile"):
            mlp().compile("sgd", "mse", run_eagerly=True)
        with self.assertRaisesRegex(ValueError, "No gradients provided"):
            tf.keras.optimizers.SGD(0.1).apply_gradients([(None, None)])


class EstimatorTest(KerasTestCase):
    def test_a_model_becomes_an_estimator(self):
        x = np.random.rand(40, 4).astype("f")
        y = (x[:, 0] > 0.5).astype(np.int32)
        model = tf.keras.Sequential([layers.Dense(8, activation="relu", input_shape=(4,), name="first"),
                                     layers.Dense(2, activation="softmax")])
        model.compile(tf.keras.optimizers.Adam(0.02), "sparse_categorical_crossentropy", metrics=["accuracy"])
        wanted = model.predict(x)
        with tempfile.TemporaryDirectory() as folder:
            estimator = tf.keras.estimator.model_to_estimator(model, model_dir=folder)
            name = model.input_names[0]
            once = tf.estimator.inputs.numpy_input_fn({name: x}, y, 40, num_epochs=1, shuffle=False)
            more = tf.estimator.inputs.numpy_input_fn({name: x}, y, 10, num_epochs=None, shuffle=True)
            estimator.train(more, steps=1)
            first = np.stack([result[model.output_names[0]] for result in estimator.predict(once)])
            np.testing.assert_allclose(first, wanted, atol=0.1)  # it began with the model's weights
            estimator.train(more, steps=150)
            results = estimator.evaluate(once)
            self.assertGreater(results["acc"], 0.9)
            self.assertIn("first/kernel", estimator.get_variable_names())
            exported = estimator.export_saved_model(
                folder + "/export", tf.estimator.export.build_raw_serving_input_receiver_fn(
                    {name: tf.placeholder(tf.float32, [None, 4])}))
            self.assertTrue(tf.gfile.Exists(exported))
        with self.assertRaisesRegex(ValueError, "has not been compiled yet"):
            tf.keras.estimator.model_to_estimator(mlp())

    def test_losses_that_are_not_reduced(self):
        x, y = np.random.rand(6, 3).astype("f"), np.random.rand(6, 1).astype("f")
        model = tf.keras.Sequential([layers.Dense(1, input_shape=(3,))])
        model.compile(tf.train.GradientDescentOptimizer(0.01), tf.keras.losses.MeanSquaredError(reduction="none"))
        wanted = model.evaluate(x, y, verbose=0)
        with tempfile.TemporaryDirectory() as folder:
            estimator = tf.keras.estimator.model_to_estimator(model, model_dir=folder)
            data = tf.estimator.inputs.numpy_input_fn({model.input_names[0]: x}, y, 6, num_epochs=1, shuffle=False)
            estimator.train(data)
            self.assertLess(estimator.evaluate(data)["loss"], wanted)


if __name__ == "__main__":
    unittest.main()
