"""Models of tf.keras: any operations between layers, classes of a program, training."""

import os
import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from test_layers import KerasTestCase, names

layers = tf.keras.layers


def _masked():
    x = tf.keras.Input([3, 2])
    return tf.keras.Model(x, layers.Dense(2)(layers.Masking()(x)))


class ModelsTest(KerasTestCase):
    def test_a_model_of_a_program(self):
        class Two(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.a, self.b = layers.Dense(2), layers.Dense(3)

            def call(self, inputs):
                return self.b(self.a(inputs))

        model = Two()
        y = model(tf.placeholder(tf.float32, [None, 4]))
        self.assertEqual(y.name, "two/dense_1/BiasAdd:0")
        self.assertEqual(names(model.weights), ["two/dense/kernel:0", "two/dense/bias:0", "two/dense_1/kernel:0",
                                                "two/dense_1/bias:0"])
        other = Two()
        other.compile("sgd", "mse")
        history = other.fit(np.ones([8, 4]), np.ones([8, 3]), epochs=3, verbose=0).history["loss"]
        self.assertLess(history[-1], history[0])

    def test_sequential_on_plain_tensors(self):
        model = tf.keras.Sequential([layers.Dense(3), layers.Dense(2)])
        x = tf.placeholder(tf.float32, [None, 4])
        self.assertEqual(names([model(x), model(x)]), ["sequential/dense_1/BiasAdd:0", "sequential_1/dense_1/BiasAdd:0"])
        self.assertEqual(names(model.weights)[0], "sequential/dense/kernel:0")
        built = tf.keras.Sequential([layers.Dense(3, input_shape=(4,)), layers.Dense(2)])
        self.assertEqual(names(built.weights)[0], "dense_2/kernel:0")
        self.assertEqual(names(built.inputs), ["dense_2_input:0"])

    def test_training_is_passed_to_the_layers_of_a_model(self):
        x = tf.keras.Input([4])
        model = tf.keras.Model(x, layers.Dropout(0.5)(x))
        one = tf.ones([50, 4])
        dropped, kept = self.values(model(one, training=True), model(one))
        self.assertGreater((dropped == 0).sum(), 20)
        self.assertEqual((kept == 0).sum(), 0)

    def test_operations_between_layers(self):
        x = tf.keras.Input([4])
        y = layers.Dense(3, kernel_initializer="ones")(x)
        weight = tf.Variable(2.0, name="weight")
        z = tf.nn.relu(y) * weight + tf.reduce_mean(y, 1, keepdims=True)
        model = tf.keras.Model(x, layers.Dense(2, kernel_initializer="ones")(z))
        self.assertEqual([layer.name for layer in model.layers],
                         ["input_1", "dense", "tf_op_layer_Relu", "tf_op_layer_mul", "tf_op_layer_Mean",
                          "tf_op_layer_add", "dense_1"])
        called = model(tf.ones([1, 4]))
        self.assertEqual(called.name, "model/dense_1/BiasAdd:0")
        self.assertEqual(self.values(called)[0].tolist(), [[36.0, 36.0]])
        self.assertEqual(model.predict(np.ones([2, 4])).tolist(), [[36.0, 36.0]] * 2)
        copy = tf.keras.Model.from_config(model.get_config())  # the variable is a constant there, as in TensorFlow
        self.assertEqual(copy.predict(np.ones([1, 4])).shape, (1, 2))

    def test_outputs_of_several_parts(self):
        x = tf.keras.Input([6])
        a, b = tf.split(layers.Dense(4)(x), 2, axis=1)
        model = tf.keras.Model(x, [a, tf.concat([b, a], 1)])
        first, second = model(tf.ones([2, 6]))
        self.assertEqual((first.shape.as_list(), second.shape.as_list()), ([2, 2], [2, 4]))
        first, second = self.values(first, second)
        np.testing.assert_array_equal(first, second[:, 2:])

    def test_a_model_of_other_tensors_is_refused(self):
        x = tf.keras.Input([4])
        other = layers.Dense(3)(tf.ones([2, 4]))
        with self.assertRaisesRegex(ValueError, "must come from tf.keras.Input"):
            tf.keras.Model(x, other)
        looped = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * 2), [0, layers.Dense(4)(x)])[1]
        with self.assertRaisesRegex(ValueError, "tf.keras.layers.Lambda"):
            tf.keras.Model(x, layers.Dense(2)(looped))

    def test_weights_in_files(self):
        def model():
            return tf.keras.Sequential([layers.Dense(3, input_shape=(4,), activation="relu"), layers.Dense(2)])

        first, second, x = model(), model(), np.random.rand(5, 4)
        first.compile(tf.keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
        first.fit(x, np.random.rand(5, 2), verbose=0)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.h5")
            first.save_weights(path)
            second.load_weights(path)
            np.testing.assert_array_equal(first.predict(x), second.predict(x))
            first.save(path)
            third = tf.keras.models.load_model(path)
            first.save_weights(os.path.join(folder, "checkpoint"))
            fourth = tf.keras.models.model_from_json(first.to_json())
            fourth.load_weights(os.path.join(folder, "checkpoint"))
            np.testing.assert_array_equal(first.predict(x), fourth.predict(x))
            first.set_weights([weight * 0 for weight in first.get_weights()])
            first.load_weights(os.path.join(folder, "checkpoint"))
            self.assertEqual(len(fourth.weights), 4)
        np.testing.assert_array_equal(first.predict(x), third.predict(x))
        self.assertEqual(len(third.optimizer.get_weights()), len(first.optimizer.get_weights()))

    def test_objects_of_a_program_in_files(self):
        class Scale(layers.Layer):
            def __init__(self, by=2.0, **kwargs):
                super().__init__(**kwargs)
                self.by = by

            def call(self, inputs):
                return inputs * self.by

            def get_config(self):
                return {**super().get_config(), "by": self.by}

        def own_loss(y_true, y_pred):
            return tf.reduce_mean(tf.abs(y_true - y_pred), -1)

        model = tf.keras.Sequential([layers.Dense(3, input_shape=(4,)), Scale(3.0)])
        model.compile("sgd", own_loss, metrics=[own_loss, tf.keras.metrics.MeanSquaredError(name="s")])
        x, y = np.random.rand(8, 4), np.random.rand(8, 3)
        model.fit(x, y, verbose=0)
        objects = {"Scale": Scale, "own_loss": own_loss}
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.h5")
            model.save(path)
            loaded = tf.keras.models.load_model(path, custom_objects=objects)
            with tf.keras.utils.CustomObjectScope(objects):
                scoped = tf.keras.models.load_model(path, compile=False)
            with self.assertRaisesRegex(ValueError, "Unknown layer: Scale"):
                tf.keras.models.load_model(path)
        np.testing.assert_array_equal(scoped.predict(x), model.predict(x))
        np.testing.assert_allclose(loaded.evaluate(x, y, verbose=0), model.evaluate(x, y, verbose=0), rtol=1e-6)
        self.assertEqual(loaded.metrics_names, ["loss", "own_loss", "s"])

    def test_configurations_of_functions_and_cells(self):
        layer = layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)])
        config = {**layer.get_config(), "time_major": False, "dtype": "float32"}  # as TensorFlow 1.15 writes it
        copy = layers.deserialize({"class_name": "RNN", "config": config})
        self.assertEqual(copy(tf.ones([2, 3, 4])).shape.as_list(), [2, 2])
        with self.assertRaisesRegex(NotImplementedError, "time_major=True"):
            layers.deserialize({"class_name": "RNN", "config": {**config, "time_major": True}})
        double = layers.Lambda(lambda x: x * 2)
        config = {**double.get_config(), "module": "__main__", "output_shape_module": None}
        copy = layers.deserialize({"class_name": "Lambda", "config": config})
        self.assertEqual(self.values(copy(tf.constant([1.0])))[0].tolist(), [2.0])

    def test_configurations_of_tensorflow(self):
        dense = {"name": "d", "trainable": True, "dtype": "float32", "units": 2, "activation": "linear",
                 "use_bias": True, "kernel_initializer": {"class_name": "GlorotUniform",
                                                          "config": {"seed": None, "dtype": "float32"}},
                 "bias_initializer": {"class_name": "Zeros", "config": {"dtype": "float32"}},
                 "kernel_regularizer": None, "bias_regularizer": None, "activity_regularizer": None,
                 "kernel_constraint": None, "bias_constraint": None}
        input_layer = {"batch_input_shape": [None, 3], "dtype": "float32", "sparse": False, "ragged": False, "name": "i"}
        model = tf.keras.Model.from_config({
            "name": "model", "input_layers": [["i", 0, 0]], "output_layers": [["d", 0, 0]],
            "layers": [{"name": "i", "class_name": "InputLayer", "config": input_layer, "inbound_nodes": []},
                       {"name": "d", "class_name": "Dense", "config": dense, "inbound_nodes": [[["i", 0, 0, {}]]]}]})
        self.assertEqual(model.output_shape, (None, 2))
        layer = layers.deserialize({"class_name": "BatchNormalization", "config": {"name": "bn", "axis": [-1]}})
        self.assertEqual(layer(tf.ones([2, 3])).shape.as_list(), [2, 3])

    def test_updates_and_losses_of_layers_in_layers(self):
        class Block(layers.Layer):
            def __init__(self):
                super().__init__()
                self.dense = layers.Dense(3, kernel_regularizer="l2", activity_regularizer="l2")
                self.normal = layers.BatchNormalization()

            def call(self, inputs, training=None):
                return self.normal(self.dense(inputs), training=training)

        nested = tf.keras.Sequential([layers.Dense(3, kernel_regularizer="l2", activity_regularizer="l2",
                                                   input_shape=(4,)), layers.BatchNormalization()])
        for inner in (Block(), nested):
            x = tf.keras.Input([4])
            model = tf.keras.Model(x, layers.Dense(2)(inner(x)))
            self.assertEqual((len(model.updates), len(model.losses)), (2, 2))
            plain = tf.ones([2, 4])
            model(plain)  # a model has no part in calls with other tensors
            self.assertEqual((len(model.updates), len(model.losses)), (2, 2))
            self.assertEqual((len(model.get_updates_for(plain)), len(model.get_losses_for(plain))), (2, 1))
            self.assertEqual((len(model.get_updates_for(None)), len(model.get_losses_for(None))), (0, 1))
            normal = [layer for layer in inner._layers if isinstance(layer, layers.BatchNormalization)][0]
            model.compile("sgd", "mse")
            model.train_on_batch(np.ones([5, 4]), np.ones([5, 2]))
            np.testing.assert_allclose(normal.get_weights()[3], [0.99] * 3)  # of equal samples
        self.assertEqual(len(nested.updates), 2)
        nested.trainable = False
        self.assertEqual(model.updates, [])

    def test_updates_of_wrapped_layers(self):
        x = tf.keras.Input([3, 4])
        self.assertEqual(len(tf.keras.Model(x, layers.TimeDistributed(layers.BatchNormalization())(x)).updates), 2)
        x = tf.keras.Input(batch_shape=[2, 3, 4])
        inner = tf.keras.Sequential([layers.Bidirectional(layers.GRU(3, stateful=True), batch_input_shape=(2, 3, 4))])
        model = tf.keras.Model(x, inner(x))
        self.assertEqual(len(model.state_updates), 2)
        first, second = model.predict(np.ones([2, 3, 4])), model.predict(np.ones([2, 3, 4]))
        self.assertFalse(np.allclose(first, second))

    def test_masks_reach_losses_and_metrics(self):
        x = np.random.rand(4, 3, 2)
        x[0, 1:] = x[1, 2:] = 0.0
        seen = x.any(-1)
        for make in (lambda: tf.keras.Sequential([layers.Masking(input_shape=(3, 2)), layers.Dense(2)]), _masked):
            model = make()
            model.compile("sgd", "mse", metrics=["mae"])
            set_to_ones = [np.ones_like(weight) for weight in model.get_weights()]
            model.set_weights(set_to_ones)
            errors = (model.predict(x) - 5.0)[seen]
            loss, mean = model.evaluate(x, np.full([4, 3, 2], 5.0), verbose=0)
            self.assertAlmostEqual(loss, (errors ** 2).sum() / x.size, 4)  # as in TensorFlow 1.15, divided by all
            self.assertAlmostEqual(mean, np.abs(errors).mean(), 5)
        both = layers.Bidirectional(layers.LSTM(2, return_sequences=True))
        outputs, = self.values(both(layers.Masking()(tf.constant(x.astype("f")))))
        np.testing.assert_array_equal(outputs.any(-1), seen)

    def test_a_stateful_layer_keeps_its_state(self):
        model = tf.keras.Sequential([layers.LSTM(3, stateful=True, batch_input_shape=(2, 5, 4))])
        x = np.ones([2, 5, 4])
        first, second = model.predict(x), model.predict(x)
        model.reset_states()
        np.testing.assert_array_equal(model.predict(x), first)
        self.assertFalse(np.allclose(first, second))

    def test_layers_that_only_tensorflow_has(self):
        x = np.random.RandomState(0).rand(2, 3, 4).astype("f")
        normal = self.values(layers.LayerNormalization()(tf.constant(x)))[0]
        np.testing.assert_allclose(normal.mean(-1), np.zeros([2, 3]), atol=1e-5)
        np.testing.assert_allclose(normal.var(-1), x.var(-1) / (x.var(-1) + 1e-3), rtol=1e-4)
        attention, added = self.values(layers.Attention()([tf.constant(x), tf.constant(x)]),
                                       layers.AdditiveAttention(use_scale=False)([tf.constant(x), tf.constant(x)]))
        scores = np.exp(x @ x.transpose(0, 2, 1))
        np.testing.assert_allclose(attention, scores / scores.sum(-1, keepdims=True) @ x, rtol=1e-4)
        scores = np.exp(np.tanh(x[:, :, None] + x[:, None]).sum(-1))
        np.testing.assert_allclose(added, scores / scores.sum(-1, keepdims=True) @ x, rtol=1e-4)


if __name__ == "__main__":
    unittest.main()
