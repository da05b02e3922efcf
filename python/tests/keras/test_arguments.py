"""tf.keras: arguments, modules and names of TensorFlow 1.15 that the library Keras has not."""

import os
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.runner import api

layers = tf.keras.layers


class ArgumentsTest(tf.test.TestCase):
    def setUp(self):
        tf.keras.backend.clear_session()

    def test_losses_with_a_reduction(self):
        kinds, y, p = tf.keras.losses.Reduction, tf.constant([[0.0], [2.0]]), tf.constant([[1.0], [0.0]])
        for reduction, expected in ((kinds.NONE, [1.0, 4.0]), (kinds.SUM, 5.0), (kinds.SUM_OVER_BATCH_SIZE, 2.5),
                                    (kinds.AUTO, 2.5), ("auto", 2.5)):
            self.assertAllEqual(self.evaluate(tf.keras.losses.MeanSquaredError(reduction=reduction)(y, p)), expected)
        with self.assertRaisesRegex(ValueError, "mean"):
            tf.keras.losses.MeanSquaredError(reduction="mean")(y, p)

    def test_losses_of_tensors_of_unknown_rank(self):
        y, p = tf.placeholder(tf.int32, [None]), tf.squeeze(tf.placeholder(tf.float32, [None, 1], name="p"))
        kind = tf.keras.losses.BinaryCrossentropy
        losses = [kind()(y, p), kind(reduction="none")(y, p), kind()(y, p, sample_weight=0.5)]
        with self.session() as session:
            values = session.run(losses, {y: [0, 1], "p:0": [[0.5], [0.25]]})
        self.assertAllClose(values, [(np.log(2) + np.log(4)) / 2] * 2 + [(np.log(2) + np.log(4)) / 4])

    def test_input_with_a_number_of_samples(self):
        for inputs in (tf.keras.Input((3,), batch_size=5), tf.keras.layers.Input((3,), 5),
                       tf.keras.Input(batch_shape=(5, 3))):
            self.assertEqual(inputs.shape.as_list(), [5, 3])
        self.assertEqual(tf.keras.Input([3], name="x", dtype=tf.int32).dtype, tf.int32)
        with self.assertRaisesRegex(ValueError, "samples"):
            tf.keras.Input((3,), samples=5)

    def test_initializers_take_a_dtype(self):
        kind = tf.keras.initializers
        for initializer in (kind.RandomNormal(0.0, 0.1, seed=1, dtype=tf.float32), kind.Constant(2.0, dtype=tf.float32),
                            kind.VarianceScaling(dtype="float32")):
            self.assertEqual(initializer((2, 2), dtype=tf.float32).shape.as_list(), [2, 2])
            self.assertNotIn("dtype", initializer.get_config())

    def test_a_checkpoint_after_a_number_of_samples(self):
        model = tf.keras.Sequential([layers.Dense(1, input_shape=(1,))])
        model.compile("sgd", "mse")
        saved = []
        model.save_weights = lambda path, **kwargs: saved.append(os.path.basename(path))
        kind, x = tf.keras.callbacks.ModelCheckpoint, np.zeros((8, 1))
        model.fit(x, x, batch_size=2, epochs=2, verbose=0, callbacks=[
            kind(os.path.join(self.get_temp_dir(), "w-{epoch}"), save_weights_only=True, save_freq=4)])
        self.assertEqual(saved, ["w-1", "w-1", "w-2", "w-2"])
        saved.clear()
        model.fit(x, x, epochs=2, verbose=0, callbacks=[kind("v-{epoch}", save_weights_only=True, save_freq="epoch")])
        self.assertEqual(saved, ["v-1", "v-2"])
        with self.assertRaisesRegex(ValueError, "save_freq"):
            kind("v", save_freq="batch")
        tf.keras.callbacks.TensorBoard(self.get_temp_dir(), profile_batch=0)

    def test_registered_classes_are_found(self):
        self.addCleanup(tf.keras.utils.get_custom_objects().clear)

        @tf.keras.utils.register_keras_serializable(package="Tests")
        class Twice(layers.Layer):
            def call(self, inputs):
                return inputs * 2.0

        model = tf.keras.Sequential([Twice(input_shape=(1,))])
        copy = tf.keras.Sequential.from_config(model.get_config())
        self.assertIsInstance(copy.layers[0], Twice)
        self.assertIs(tf.keras.utils.get_custom_objects()["Tests>Twice"], Twice)

    def test_modules_of_older_versions(self):
        self.assertEqual(tf.keras.__version__, "2.2.4-tf")
        dense = tf.keras.layers.Dense
        for path in ("contrib.keras.layers.Dense", "contrib.keras.python.keras.layers.Dense",
                     "contrib.keras.api.keras.layers.Dense", "python.keras.layers.core.Dense",
                     "python.keras._impl.keras.layers.Dense"):
            self.assertIs(api.find(path), dense, path)
            self.assertIsNone(api.refusal(path), path)
        self.assertIs(api.find("python.keras.optimizer_v2.adam.Adam"), tf.keras.optimizers.Adam)
        self.assertIs(api.find("python.keras.optimizer_v2.learning_rate_schedule.ExponentialDecay"),
                      tf.keras.optimizers.schedules.ExponentialDecay)
        self.assertEqual(api.find("python.keras.backend_config.epsilon")(), 1e-7)
        self.assertIs(api.find("python.keras.utils.losses_utils.ReductionV2"), tf.keras.losses.Reduction)

    def test_functions_of_tensorflow_python_keras(self):
        cast = api.find("python.keras.engine.training_utils.cast_if_floating_dtype")
        self.assertEqual([x.dtype for x in cast([tf.constant([1.0], tf.float64), tf.constant([1])])],
                         [tf.float32, tf.int32])
        serialize = api.find("python.keras.utils.serialize_keras_class_and_config")
        find = api.find("python.keras.utils.class_and_config_for_serialized_keras_object")
        self.assertEqual(find(serialize("A", {"x": 1}), module_objects={"A": int}), (int, {"x": 1}))
        with self.assertRaisesRegex(ValueError, "Unknown object: B"):
            find(serialize("B", {}))

    def test_data_sets_of_lists_of_different_lengths(self):
        path = os.path.join(self.get_temp_dir(), "imdb.npz")
        texts = np.array([[3, 4], [5], [6, 7, 8]], dtype=object)
        np.savez(path, x_train=texts, y_train=np.array([0, 1, 1]), x_test=texts, y_test=np.array([0, 1, 1]))
        utils = tf.keras.datasets.imdb
        get_file, utils.get_file = utils.get_file, lambda name, **kwargs: path
        try:
            (x, y), _ = utils.load_data(num_words=8)
        finally:
            utils.get_file = get_file
        self.assertEqual(sorted(map(len, x)), [2, 3, 4])
        self.assertEqual(y.shape, (3,))


class PositionsTest(tf.test.TestCase):
    def test_layers_take_arguments_by_position(self):
        for layer, wanted in ((layers.Dense(3, "relu", False), {"activation": "relu", "use_bias": False}),
                              (layers.Conv2D(3, 2, 3, "same"), {"kernel_size": (2, 2), "strides": (3, 3),
                                                                "padding": "same"}),
                              (layers.Conv2D(3, 3, 3), {"kernel_size": (3, 3), "strides": (3, 3)}),  # not of Keras 1
                              (layers.Conv1D(3, 2, 1, "causal"), {"padding": "causal"}),
                              (layers.Conv2DTranspose(3, 2, 2, "same"), {"strides": (2, 2), "padding": "same"}),
                              (layers.MaxPooling2D(2, 1, "same"), {"strides": (1, 1), "padding": "same"}),
                              (layers.LSTM(3, "relu"), {"activation": "relu"}),
                              (layers.Embedding(5, 3, "zeros"), {"input_dim": 5, "output_dim": 3}),
                              (layers.Dropout(0.5, [1, 3]), {"noise_shape": [1, 3]}),
                              (layers.BatchNormalization(1, 0.5, 0.1, False, True, "ones"), {
                                  "axis": 1, "momentum": 0.5, "center": False})):
            config = layer.get_config()
            self.assertEqual({name: config[name] for name in wanted}, wanted)
        with self.assertRaises(TypeError):
            layers.Dense(3, *["relu"] * 12)


class SeedsTest(tf.test.TestCase):
    def values_of_one_training(self):
        tf.reset_default_graph()
        tf.keras.backend.clear_session()
        tf.set_random_seed(3)
        x = np.ones([8, 5, 4], "f")
        model = tf.keras.Sequential([layers.LSTM(3, input_shape=(5, 4)), layers.Dropout(0.5), layers.Dense(2)])
        model.compile("sgd", "mse")
        first = model.get_weights()
        return [*first, model.train_on_batch(x, np.ones([8, 2])), *model.get_weights()]

    def test_the_seed_of_the_graph_repeats_a_training(self):
        np.random.seed(0)
        before = np.random.get_state()[1].tolist()
        for found, wanted in zip(self.values_of_one_training(), self.values_of_one_training()):
            np.testing.assert_allclose(found, wanted, rtol=1e-6)
        self.assertEqual(np.random.get_state()[1].tolist(), before)  # it drew no numbers from NumPy

    def test_initializers_with_a_seed_are_those_of_tensorflow(self):
        for kind, of_graph in (("glorot_uniform", tf.glorot_uniform_initializer(seed=5)),
                               ("Orthogonal", tf.orthogonal_initializer(seed=5)),
                               ("TruncatedNormal", tf.truncated_normal_initializer(0.0, 0.05, seed=5))):
            found = getattr(tf.keras.initializers, kind)(seed=5)((4, 3))
            with tf.Session() as session:
                np.testing.assert_array_equal(*session.run([found, of_graph([4, 3])]), kind)


if __name__ == "__main__":
    unittest.main()
