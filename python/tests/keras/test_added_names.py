"""Names of TensorFlow 1.15's tf.keras that the library has not: metrics, constraints, cells, layers of columns."""

import os
import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.runner import api
from test_layers import KerasTestCase, layers, names

column = tf.feature_column


def tenth(x):
    return x / 10.0


class FeaturesTest(KerasTestCase):
    def setUp(self):
        super().setUp()
        self.columns = [column.numeric_column("age"), column.bucketized_column(column.numeric_column("h"), [1.0, 2.0]),
                        column.embedding_column(column.categorical_column_with_identity("id", 5), 3)]
        self.x = {"age": np.arange(4.0), "id": np.arange(4), "h": np.array([0.5, 1.5, 2.5, 1.0])}
        self.y = np.random.rand(4, 1)

    def features(self):
        return {name: tf.constant(values[:, None]) for name, values in self.x.items()}

    def test_names_and_values(self):
        layer = layers.DenseFeatures(self.columns)
        outputs = layer(self.features())
        self.assertEqual((outputs.name, outputs.shape.as_list()), ("dense_features/concat:0", [4, 7]))
        self.assertEqual(layer(self.features()).name, "dense_features_1/concat:0")
        self.assertEqual(names(layer.trainable_weights), ["dense_features/id_embedding/embedding_weights:0"])
        with tf.variable_scope("a"):
            other = layers.DenseFeatures(self.columns)
            other(self.features())
        self.assertEqual(names(other.weights), ["a/dense_features_1/id_embedding/embedding_weights:0"])
        found, wanted = self.values(outputs, tf.gather(layer.weights[0], self.x["id"]))
        np.testing.assert_array_equal(found[:, 0], self.x["age"])
        np.testing.assert_array_equal(found[:, 1:4], np.eye(3)[[0, 1, 2, 1]])
        np.testing.assert_array_equal(found[:, 4:], wanted)

    def test_configurations(self):
        word, number = column.categorical_column_with_vocabulary_list("word", ["a", "b"]), column.numeric_column("n")
        columns = [column.numeric_column("age", normalizer_fn=tenth), column.bucketized_column(number, [1.0, 2.0]),
                   column.embedding_column(word, 3), column.indicator_column(column.crossed_column([word, "k"], 5)),
                   column.indicator_column(column.weighted_categorical_column(
                       column.categorical_column_with_hash_bucket("k", 4), "n"))]
        data = {"age": np.random.rand(3), "n": np.arange(1.0, 4.0), "word": np.array(list("abc")),
                "k": np.array(list("xyz"))}
        kinds = {"age": "float32", "n": "float32", "word": "string", "k": "string"}
        inputs = {name: tf.keras.Input((1,), name=name, dtype=kinds[name]) for name in data}
        model = tf.keras.Model(inputs, layers.Dense(1)(layers.DenseFeatures(columns)(inputs)))
        first = model.layers[-2].get_config()["feature_columns"][0]
        self.assertEqual(first, {"class_name": "NumericColumn", "config": {
            "key": "age", "shape": [1], "default_value": None, "dtype": "float32", "normalizer_fn": "tenth"}})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model.h5")
            model.save(path)
            again = tf.keras.models.load_model(path, custom_objects={"tenth": tenth})
            with self.assertRaisesRegex(ValueError, "Unknown normalizer_fn of the column age: tenth"):
                tf.keras.models.load_model(path)
        np.testing.assert_array_equal(again.predict(data), model.predict(data))
        self.assertEqual(again.layers[-2]._feature_columns[0], columns[0])

    def test_in_models(self):
        class Net(tf.keras.Model):
            def __init__(self, columns):
                super().__init__()
                self.features, self.dense = layers.DenseFeatures(columns), layers.Dense(1)

            def call(self, inputs):
                return self.dense(self.features(inputs))

        def sequential():
            return tf.keras.Sequential([layers.DenseFeatures(self.columns), layers.Dense(1)])

        def functional():
            inputs = {name: tf.keras.Input((1,), name=name, dtype=values.dtype) for name, values in self.x.items()}
            return tf.keras.Model(inputs, layers.Dense(1)(layers.DenseFeatures(self.columns)(inputs)))

        dataset = tf.data.Dataset.from_tensor_slices((self.x, self.y)).batch(2)
        for make in (sequential, functional, lambda: Net(self.columns)):
            for data in ((self.x, self.y), (dataset,)):
                model = make()
                model.compile(tf.keras.optimizers.Adam(0.1), "mse")
                before = model.fit(*data, verbose=0).history["loss"][0]
                self.assertLess(model.fit(*data, epochs=10, verbose=0).history["loss"][-1], before)
                self.assertEqual(model.input_names, ["age", "h", "id"])
                self.assertEqual(model.predict(self.x).shape, (4, 1))
                np.testing.assert_allclose(model.evaluate(self.x, self.y, verbose=0), model.evaluate(dataset, verbose=0),
                                           rtol=1e-5)
                self.assertEqual(len(model.trainable_weights), 3)

    def test_words_are_fed(self):
        words = column.indicator_column(column.categorical_column_with_vocabulary_list("w", ["a", "b"]))
        model = tf.keras.Sequential([layers.DenseFeatures(words)])
        model.compile("sgd", "mse")
        data = tf.data.Dataset.from_tensor_slices({"w": ["b", "a", "c"]}).batch(3)
        np.testing.assert_array_equal(model.predict(data), [[0, 1], [1, 0], [0, 0]])
        np.testing.assert_array_equal(model.predict({"w": np.array(["b", "a", "c"])}), [[0, 1], [1, 0], [0, 0]])

    def test_columns_of_sequences(self):
        numbers = tf.contrib.feature_column.sequence_numeric_column("n")
        ids = tf.contrib.feature_column.sequence_categorical_column_with_identity("i", 4)
        layer = tf.keras.experimental.SequenceFeatures([numbers, column.embedding_column(ids, 2)])
        sparse = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1.0, 2.0, 3.0], [2, 2])
        outputs, lengths = layer({"n": sparse, "i": tf.cast(sparse, tf.int64)})
        self.assertEqual(names(layer.weights), ["sequence_features/i_embedding/embedding_weights:0"])
        outputs, lengths = self.values(outputs, lengths)
        self.assertEqual(lengths.tolist(), [2, 1])
        np.testing.assert_array_equal(outputs[:, :, 2], [[1, 2], [3, 0]])

    def test_mistakes(self):
        with self.assertRaisesRegex(ValueError, "must be a DenseColumn, .* with an embedding_column"):
            layers.DenseFeatures(column.categorical_column_with_identity("id", 5))
        with self.assertRaisesRegex(ValueError, "We expected a dictionary here.*dense_features.* takes"):
            layers.DenseFeatures(self.columns)(tf.ones([2, 2]))


class NamesTest(KerasTestCase):
    def test_metrics(self):
        metric, relative = tf.keras.metrics.MeanTensor(), tf.keras.metrics.MeanRelativeError([1.0, 0.0, 4.0])
        first, second = metric([1.0, 2.0, 3.0]), metric([5.0, 4.0, 3.0], sample_weight=[1.0, 3.0, 0.0])
        error = relative([1.0, 3.0, 2.0], [2.0, 3.0, 4.0])
        session = tf.keras.backend.get_session()
        self.assertEqual(session.run(first).tolist(), [1.0, 2.0, 3.0])
        self.assertEqual(session.run(second).tolist(), [3.0, 3.5, 3.0])
        self.assertAlmostEqual(session.run(error), 0.5)
        self.assertIs(tf.keras.metrics.KLD, tf.keras.metrics.kullback_leibler_divergence)
        with self.assertRaisesRegex(ValueError, "must always have the same shape"):
            metric([1.0])

    def test_mean_iou(self):
        metric = tf.keras.metrics.MeanIoU(4)
        first = metric([0, 1, 1, 2, 2, 0], [0, 1, 2, 2, 2, 1])
        second = metric([[0, 1], [1, 2]], [[0, 1], [1, 1]], sample_weight=[[0.5, 1.0], [1.0, 2.0]])
        session = tf.keras.backend.get_session()
        self.assertAlmostEqual(session.run(first), 0.5)  # as TensorFlow 2.21 computes
        self.assertAlmostEqual(session.run(second), 0.47619048)
        metric.reset_states()
        self.assertEqual(session.run(metric.total_cm).sum(), 0)

    def test_a_loss(self):
        loss = tf.keras.losses.CosineSimilarity(axis=1, reduction="auto")([[0.0, 1.0], [1.0, 1.0]],
                                                                          [[1.0, 0.0], [1.0, 1.0]])
        self.assertAlmostEqual(self.values(loss)[0], -0.5, 5)

    def test_a_constraint(self):
        # What TensorFlow 2.21 computes.
        for size, wanted in ((3, [[4, 4, 4], [4, 0, 4], [4, 4, 4]]),
                             (4, [[15, 15, 15, 15], [15, 5, 5, 15], [15, 5, 5, 15], [15, 15, 15, 15]])):
            weights = tf.reshape(tf.range(float(size * size)), [size, size, 1, 1])
            found, = self.values(tf.keras.constraints.RadialConstraint()(weights))
            self.assertEqual(found[:, :, 0, 0].tolist(), wanted)
        with self.assertRaisesRegex(ValueError, "must be of rank 4"):
            tf.keras.constraints.get("RadialConstraint")(tf.ones([2, 2]))

    def test_cells(self):
        class Add(layers.AbstractRNNCell):
            state_size = output_size = 2

            def call(self, inputs, states):
                return inputs + states[0], [inputs + states[0]]

        x = np.arange(12.0, dtype="f").reshape(2, 3, 2)
        sums, states = self.values(layers.RNN(Add())(tf.constant(x)),
                                   Add().get_initial_state(batch_size=3, dtype=tf.float32))
        np.testing.assert_allclose(sums, x.sum(1))
        self.assertEqual(states.shape, (3, 2))
        cell = tf.keras.experimental.PeepholeLSTMCell(4)
        layer = layers.RNN(cell, return_sequences=True)
        outputs = layer(tf.constant(x))
        self.assertEqual([weight.shape.as_list() for weight in layer.weights], [[2, 16], [4, 16], [16], [4], [4], [4]])
        self.assertEqual(self.values(outputs)[0].shape, (2, 3, 4))

    def test_a_layer_for_the_way_back(self):
        both = layers.Bidirectional(layers.LSTM(3, return_sequences=True), input_shape=(3, 4),
                                    backward_layer=layers.GRU(2, return_sequences=True, go_backwards=True))
        model = tf.keras.Sequential([both])
        self.assertEqual(model.output_shape, (None, 3, 5))
        copy, x = tf.keras.Sequential.from_config(model.get_config()), np.random.rand(2, 3, 4)
        copy.set_weights(model.get_weights())
        np.testing.assert_array_equal(copy.predict(x), model.predict(x))
        with self.assertRaisesRegex(ValueError, "must have another go_backwards"):
            layers.Bidirectional(layers.LSTM(3), backward_layer=layers.LSTM(3))

    def test_saved_models(self):
        model = tf.keras.Sequential([layers.Dense(3, input_shape=(4,), name="d"), layers.BatchNormalization(),
                                     layers.Dropout(0.5), layers.Dense(2, name="e")])
        model.compile("adam", "mse")
        x = np.random.rand(8, 4)
        model.fit(x, np.ones([8, 2]), verbose=0)
        wanted = model.predict(x)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "model")
            tf.keras.experimental.export_saved_model(model, path)
            copy = tf.keras.experimental.load_from_saved_model(path)
            np.testing.assert_array_equal(copy.predict(x), wanted)
            with tf.Graph().as_default(), tf.Session() as session:
                loaded = tf.saved_model.loader.load(session, ["serve"], path).signature_def["serving_default"]
                found = session.run(loaded.outputs["e"].name, {loaded.inputs["d_input"].name: x})
            np.testing.assert_allclose(found, wanted, rtol=1e-6)
            with self.assertRaisesRegex(FileNotFoundError, "there is no .*saved_model.json"):
                tf.keras.experimental.load_from_saved_model(folder)
            with self.assertRaisesRegex(NotImplementedError, "save_format='tf' of save.*export_saved_model"):
                model.save(path, save_format="tf")
            tf.keras.models.save_model(model, path + ".h5", save_format="h5")
            np.testing.assert_array_equal(tf.keras.models.load_model(path + ".h5").predict(x), wanted)

    def test_arguments_of_the_backend(self):
        backend = tf.keras.backend
        backend.set_epsilon(value=1e-6)
        self.assertEqual(backend.epsilon(), 1e-6)
        backend.set_epsilon(1e-7)
        backend.set_floatx(value="float32")
        self.assertIs(backend.get_session([]), backend.get_session())

    def test_a_scope_of_the_learning_phase(self):
        backend = tf.keras.backend
        before = backend.learning_phase()
        with backend.learning_phase_scope(1):
            self.assertEqual(backend.learning_phase(), 1)
        self.assertIs(backend.learning_phase(), before)

    def test_other_names_of_classes(self):
        self.assertIs(layers.SeparableConvolution2D, layers.SeparableConv2D)
        self.assertTrue(issubclass(layers.TimeDistributed, layers.Wrapper))
        self.assertTrue(issubclass(tf.keras.utils.OrderedEnqueuer, tf.keras.utils.SequenceEnqueuer))

    def test_refused_names(self):
        with self.assertRaisesRegex(AttributeError, "tf.keras.mixed_precision is not part of this package: there are"):
            tf.keras.mixed_precision
        with self.assertRaisesRegex(AttributeError, "experimental.WideDeepModel .*DNNLinearCombinedClassifier"):
            tf.keras.experimental.WideDeepModel
        self.assertIn("policies", api.refusal("keras.mixed_precision.experimental.Policy"))
        self.assertIsNone(api.refusal("keras.experimental.CosineDecay"))


if __name__ == "__main__":
    unittest.main()
