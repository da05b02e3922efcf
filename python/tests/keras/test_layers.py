"""Layers of tf.keras: names, shapes and variables as TensorFlow 1.15 makes them, and calls with any tensors."""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import tensorbraid as tf

layers = tf.keras.layers


def names(values):
    return [value.name for value in values]


class KerasTestCase(unittest.TestCase):
    def setUp(self):
        tf.keras.backend.clear_session()
        tf.set_random_seed(1)
        np.random.seed(1)

    def values(self, *tensors):
        session = tf.keras.backend.get_session()
        return session.run(tensors)


class LibraryTest(unittest.TestCase):
    def test_modules_of_that_name_are_not_touched(self):
        code = ("import collections, sys, numpy as np\n"
                "import tensorbraid as tf\ntf.keras.layers.Dense, tf.keras.preprocessing.image.ImageDataGenerator\n"
                "from tensorbraid.keras.layers import LSTM\n"
                "roots = {name.partition('.')[0] for name in sys.modules}\n"
                "print(sorted(roots & {'keras', 'tensorflow', 'keras_preprocessing', 'keras_applications'}))\n"
                "print(hasattr(np, 'string_'), hasattr(collections, 'Iterable'))\n")
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        self.assertEqual((ran.stdout, ran.stderr), ("[]\nFalse False\n", ""))

    def test_module_paths_of_tensorflow(self):
        script = ("import tensorflow as tf, keras\n"
                  "from tensorflow.keras import layers\n"
                  "from tensorflow.keras.layers import Dense\n"
                  "from tensorflow.python.keras.layers import Dense as D2\n"
                  "from tensorflow.python.keras.layers.core import Dense as D3\n"
                  "from tensorflow.python.keras.engine.base_layer import Layer\n"
                  "from tensorflow.python.keras import backend as K\n"
                  "from tensorflow.keras.preprocessing.text import Tokenizer\n"
                  "from tensorflow.contrib.keras import models\n"
                  "import tensorflow.keras.backend as K2\n"
                  "assert Dense is D2 is D3 is tf.keras.layers.Dense and issubclass(Dense, Layer)\n"
                  "assert K.dot is K2.dot and keras.layers.Dense is not Dense\n"
                  "print('all found')\n")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "script.py")
            with open(path, "w") as file:
                file.write(script)
            ran = subprocess.run([sys.executable, "-m", "tensorbraid", path], capture_output=True, text=True)
        self.assertIn("all found", ran.stdout, ran.stderr)


class NamesTest(KerasTestCase):
    def test_names_count_from_zero(self):
        x = tf.placeholder(tf.float32, [None, 4])
        self.assertEqual(layers.Dense(3)(x).name, "dense/BiasAdd:0")
        self.assertEqual(layers.Dense(3, activation="relu")(x).name, "dense_1/Relu:0")
        self.assertEqual(names(tf.global_variables()),
                         ["dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0"])
        self.assertEqual(layers.BatchNormalization().name, "batch_normalization")
        self.assertEqual(tf.keras.Sequential().name, "sequential")
        self.assertEqual(tf.keras.Sequential().name, "sequential_1")
        self.assertEqual(tf.keras.Input([3]).name, "input_1:0")

    def test_scopes_around_a_layer_count(self):
        x = tf.placeholder(tf.float32, [None, 4])
        with tf.variable_scope("a"):
            layers.Dense(3)(x)
            with tf.name_scope("b"):
                layers.Dense(3, name="own")(x)
        with tf.variable_scope("a"):
            layers.Dense(3)(x)
        self.assertEqual(names(tf.global_variables())[::2],
                         ["a/dense/kernel:0", "a/b/own/kernel:0", "a_1/dense_1/kernel:0"])

    def test_a_second_call_shares_the_variables(self):
        layer, x = layers.Dense(3), tf.placeholder(tf.float32, [None, 4])
        self.assertEqual(names([layer(x), layer(x), layers.Dense(3)(x)]),
                         ["dense/BiasAdd:0", "dense_1/BiasAdd:0", "dense_1_1/BiasAdd:0"])
        self.assertEqual(len(tf.global_variables()), 4)

    def test_recurrent_layers(self):
        x = tf.placeholder(tf.float32, [None, 5, 4])
        layers.LSTM(3)(x)
        layers.Bidirectional(layers.GRU(2))(x)
        self.assertEqual(names(tf.trainable_variables())[:4],
                         ["lstm/kernel:0", "lstm/recurrent_kernel:0", "lstm/bias:0",
                          "bidirectional/forward_gru/kernel:0"])

    def test_a_saver_restores_by_name(self):
        x = tf.constant([[1.0, 2.0]])
        with tempfile.TemporaryDirectory() as folder:
            with tf.Graph().as_default(), tf.Session() as session:
                with tf.variable_scope("dense"):
                    tf.get_variable("kernel", initializer=[[1.0], [10.0]])
                    tf.get_variable("bias", initializer=[100.0])
                session.run(tf.global_variables_initializer())
                path = tf.train.Saver().save(session, os.path.join(folder, "model"))
            y = layers.Dense(1)(x)
            with tf.Session() as session:
                tf.train.Saver().restore(session, path)
                self.assertEqual(session.run(y).tolist(), [[121.0]])


class CallsTest(KerasTestCase):
    def test_collections_have_the_variables(self):
        x = tf.placeholder(tf.float32, [None, 4])
        layer = layers.BatchNormalization()
        layer(x, training=True)
        self.assertEqual(names(tf.trainable_variables()), ["batch_normalization/gamma:0", "batch_normalization/beta:0"])
        self.assertEqual(len(tf.global_variables()), 4)
        self.assertEqual(len(layer.trainable_variables), 2)
        self.assertEqual(len(layer.non_trainable_variables), 2)
        self.assertEqual(len(layer.updates), 2)

    def test_shapes_of_variable_inputs(self):
        x = tf.placeholder(tf.float32, [None, None, 4])
        self.assertEqual(layers.LSTM(3, return_sequences=True)(x).shape.as_list(), [None, None, 3])
        self.assertEqual(layers.Conv1D(5, 2, padding="same")(x).shape.as_list(), [None, None, 5])

    def test_an_optimizer_of_tf_train_trains_them(self):
        x, y = tf.constant(np.random.rand(8, 2).astype("f")), tf.constant(np.random.rand(8, 1).astype("f"))
        loss = tf.losses.mean_squared_error(y, layers.Dense(1)(layers.Dense(4, activation="tanh")(x)))
        train = tf.train.AdamOptimizer(0.1).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            before = session.run(loss)
            for _ in range(20):
                session.run(train)
            self.assertLess(session.run(loss), before)

    def test_a_layer_of_a_program(self):
        class Scale(layers.Layer):
            def __init__(self, count, **kwargs):
                super().__init__(**kwargs)
                self.count = count

            def build(self, input_shape):
                self.shape = input_shape
                self.scale = self.add_weight("scale", shape=[input_shape[-1], self.count], initializer="ones")
                self.steps = self.add_variable("steps", (), trainable=False, dtype=tf.int64)
                super().build(input_shape)

            def call(self, inputs):
                return tf.matmul(inputs, self.scale)

        layer = Scale(3)
        y = layer(tf.placeholder(tf.float32, [None, 4]))
        self.assertIsInstance(layer.shape, tf.TensorShape)
        self.assertEqual((y.name, y.shape.as_list()), ("scale/MatMul:0", [None, 3]))
        self.assertEqual(names(layer.variables), ["scale/scale:0", "scale/steps:0"])
        self.assertEqual(names(layer.trainable_weights), ["scale/scale:0"])
        x = tf.keras.Input([4])
        self.assertEqual(tf.keras.Model(x, layer(x)).output_shape, (None, 3))  # without compute_output_shape

    def test_layers_in_lists_are_tracked_and_training_reaches_them(self):
        class Block(layers.Layer):
            def __init__(self):
                super().__init__()
                self.parts = [layers.Dense(2), layers.Dense(3)]
                self.parts.append(layers.Dropout(0.5))

            def call(self, inputs, training=None):
                for part in self.parts:
                    inputs = part(inputs)
                return inputs

        block = Block()
        x = tf.ones([100, 4])
        kept, dropped = block(x), block(x, training=True)
        self.assertEqual(names(block.trainable_variables), ["block/dense/kernel:0", "block/dense/bias:0",
                                                            "block/dense_1/kernel:0", "block/dense_1/bias:0"])
        kept, dropped = self.values(kept, dropped)
        self.assertEqual((kept == 0).sum(), 0)
        self.assertGreater((dropped == 0).sum(), 50)

    def test_losses_of_regularizers(self):
        layer = layers.Dense(2, kernel_regularizer=tf.keras.regularizers.l2(0.5), kernel_initializer="ones",
                             activity_regularizer=tf.keras.regularizers.l1(1.0))
        layer(tf.ones([3, 2]))
        self.assertEqual(sorted(self.values(*layer.losses)), [2.0, 4.0])  # the activity's loss is the mean of the samples

    def test_masks_pass_between_layers(self):
        ids = tf.placeholder(tf.int32, [None, 4])
        y = layers.LSTM(3)(layers.Embedding(10, 3, mask_zero=True)(ids))
        session = tf.keras.backend.get_session()
        short, padded = session.run(y, {ids: [[1, 2, 0, 0]]}), session.run(y, {ids: [[1, 2, 0, 0]]})
        np.testing.assert_array_equal(short, padded)
        self.assertNotEqual(session.run(y, {ids: [[1, 2, 0, 3]]}).tolist(), short.tolist())

    def test_mistakes(self):
        x = tf.placeholder(tf.float32, [None, 4])
        layer = layers.Dense(3)
        layer(x)
        with self.assertRaisesRegex(ValueError, "dense: expected axis -1 of input shape to have value 4"):
            layer(tf.placeholder(tf.float32, [None, 5]))
        with self.assertRaisesRegex(NotImplementedError, "own with dynamic=True: there is no eager execution"):
            layers.Layer(name="own", dynamic=True)

        class Forgets(layers.Layer):
            def __init__(self):
                pass

        with self.assertRaisesRegex(RuntimeError, "Forgets must call super"):
            Forgets()(x)


class NormalizationTest(KerasTestCase):
    def test_averages_along_several_axes(self):
        x = np.random.rand(8, 3, 4, 2).astype("f")
        for axis, shape, others in (([1, 3], (1, 3, 1, 2), (0, 2)), ([-1, 1], (1, 3, 1, 2), (0, 2)),
                                    ([2], (4,), (0, 1, 3)), (-2, (4,), (0, 1, 3))):
            tf.keras.backend.clear_session()
            layer = layers.BatchNormalization(axis=axis, momentum=0.5)
            outputs = layer(tf.constant(x), training=True)
            self.assertEqual({tuple(weight.shape.as_list()) for weight in layer.weights}, {shape})
            mean, variance = x.mean(others, keepdims=True), x.var(others, keepdims=True)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                found, _ = session.run([outputs, layer.updates])
                np.testing.assert_allclose(found, (x - mean) / np.sqrt(variance + 1e-3), atol=1e-5)
                averages = session.run([layer.moving_mean, layer.moving_variance])
            np.testing.assert_allclose(averages[0].ravel(), mean.ravel() / 2, rtol=1e-5)
            np.testing.assert_allclose(averages[1].ravel(), 0.5 + variance.ravel() / 2, rtol=1e-5)
            again = layers.BatchNormalization.from_config(layer.get_config())
            self.assertEqual(again(tf.constant(x)).shape, x.shape)

    def test_mistakes(self):
        for axis in ([1, 1], 4, [0, -5], "a", 1.0):
            with self.assertRaisesRegex(ValueError, "Invalid axis of the layer batch_normalization.*rank 4"):
                layers.BatchNormalization(axis=axis)(tf.ones([2, 3, 4, 2]))
        with self.assertRaisesRegex(NotImplementedError, "renorm"):
            layers.BatchNormalization(renorm=True)


if __name__ == "__main__":
    unittest.main()
