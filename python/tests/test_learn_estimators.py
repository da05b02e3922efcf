"""tf.contrib.learn: estimators with fit, over the feature columns of tf.contrib.layers, and small data sets."""

import os
import tempfile
import unittest

import numpy as np
import tensorbraid as tf

layers, learn = tf.contrib.layers, tf.contrib.learn
SEEDED = learn.RunConfig(tf_random_seed=1)  # the initial weights, and the order of the rows
RANDOM = np.random.RandomState(0)
LABELS = RANDOM.randint(0, 3, 90)
ROWS = RANDOM.randn(90, 4) * 0.3 + np.array([[0, 1, 2, 3], [2, 0, 1, 4], [4, 4, 0, 0]])[LABELS]
WORDS = np.array(["a", "b", "c"])[LABELS]


def words_input_fn():
    """Words as a SparseTensor, numbers as a vector; the label says whether the word is "a"."""
    words = tf.SparseTensor([[i, 0] for i in range(90)], list(WORDS), [90, 1])
    return {"word": words, "id": tf.constant(LABELS - 6), "x": tf.constant(ROWS[:, 0])}, tf.constant(
        (LABELS == 0).astype(np.int64))


class LearnEstimatorsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(tf.summary.FileWriterCache.clear)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def test_arrays_are_fitted(self):
        columns = learn.infer_real_valued_columns_from_input(ROWS)
        self.assertEqual([(column.key, column.shape) for column in columns], [("", (4,))])
        classifier = learn.DNNClassifier([10], columns, "model", n_classes=3, config=SEEDED)
        self.assertIs(classifier.fit(ROWS, LABELS, steps=60, batch_size=30), classifier)
        classes = list(classifier.predict(ROWS))
        self.assertGreater(np.mean(classes == LABELS), 0.9)
        np.testing.assert_array_equal(classifier.predict(ROWS, as_iterable=False), classes)
        np.testing.assert_array_equal(np.argmax(classifier.predict_proba(ROWS, as_iterable=False), 1), classes)
        both = next(classifier.predict(ROWS, outputs=["classes", "probabilities"]))
        self.assertEqual((both["classes"], len(both["probabilities"])), (classes[0], 3))
        metrics = {"own": learn.MetricSpec(tf.contrib.metrics.streaming_accuracy, learn.PredictionKey.CLASSES)}
        values = classifier.evaluate(ROWS, LABELS, metrics=metrics)
        self.assertEqual(values["own"], values["accuracy"])
        self.assertEqual(values["global_step"], 60)

    def test_one_tensor_is_the_features(self):
        def input_fn():
            return tf.constant(ROWS), tf.constant(ROWS[:, 0] * 2 + 1)

        regressor = learn.LinearRegressor([layers.real_valued_column("", dimension=4)], optimizer=tf.train.
                                          AdamOptimizer(0.1))
        regressor.fit(input_fn=input_fn, steps=300)
        self.assertLess(regressor.evaluate(input_fn=input_fn, steps=1)["loss"], 0.01)
        np.testing.assert_allclose(regressor.predict(ROWS, as_iterable=False), ROWS[:, 0] * 2 + 1, atol=0.5)
        network = learn.DNNRegressor([8], [layers.real_valued_column("", dimension=4)]).fit(input_fn=input_fn, steps=1)
        self.assertEqual(next(network.predict(ROWS, outputs=["scores"]))["scores"].shape, ())

    def test_wide_and_deep_over_old_columns(self):
        word = layers.sparse_column_with_keys("word", ["a", "b"])
        number = layers.sparse_column_with_integerized_feature("id", 3)
        x = layers.real_valued_column("x")
        ranges = layers.bucketized_column(x, [1.0, 3.0])
        hashed = layers.sparse_column_with_hash_bucket("word", 100)
        cross = layers.crossed_column([ranges, hashed], 50)
        classifier = learn.DNNLinearCombinedClassifier(
            linear_feature_columns=[word, number, ranges, cross], dnn_hidden_units=[4], label_keys=["no", "yes"],
            dnn_feature_columns=[x, layers.embedding_column(hashed, 3), layers.one_hot_column(number)],
            fix_global_step_increment_bug=True, config=SEEDED)
        classifier.fit(input_fn=lambda: (words_input_fn()[0], tf.where(
            tf.equal(words_input_fn()[1], 1), tf.fill([90], "yes"), tf.fill([90], "no"))), steps=40)
        classes = classifier.predict(input_fn=lambda: {
            key: value if key == "word" else tf.train.limit_epochs(value, 1)
            for key, value in words_input_fn()[0].items()}, as_iterable=False)
        np.testing.assert_array_equal(classes == b"yes", LABELS == 0)
        linear = learn.LinearClassifier([word, cross]).fit(input_fn=words_input_fn, steps=20)
        self.assertGreater(linear.evaluate(input_fn=words_input_fn, steps=1)["accuracy"], 0.99)
        self.assertIn("linear/linear_model/word/weights", linear.get_variable_names())

    def test_columns_make_the_ids_of_contrib(self):
        number = layers.sparse_column_with_integerized_feature("id", 3)
        with tf.Graph().as_default(), tf.Session() as session:
            inputs = layers.input_from_feature_columns({"id": tf.constant([[4], [-4]])},
                                                       [layers.one_hot_column(number)])
            np.testing.assert_array_equal(session.run(inputs), [[0, 1, 0], [0, 0, 1]])
        spec = layers.create_feature_spec_for_parsing([number, layers.real_valued_column("x", 2)])
        self.assertEqual(spec, {"id": tf.VarLenFeature(tf.int64), "x": tf.FixedLenFeature((2,), tf.float32)})
        with self.assertRaisesRegex(NotImplementedError, "combiner='mean' of crossed_column"):
            layers.crossed_column([number], 10, combiner="mean")

    def test_a_model_function_may_return_three_things(self):
        def model_fn(features, labels, mode, params):
            slope = tf.get_variable("slope", [], initializer=tf.zeros_initializer())
            predictions = slope * features
            loss = None if labels is None else tf.losses.mean_squared_error(labels, predictions)
            train = None if labels is None else layers.optimize_loss(
                loss, tf.train.get_global_step(), learning_rate=params["rate"], optimizer="SGD")
            return (predictions, loss, train) if mode != learn.ModeKeys.EVAL else learn.ModelFnOps(
                mode, predictions, loss, train)

        estimator = learn.Estimator(model_fn, params={"rate": 0.1}, feature_engineering_fn=lambda x, y: (x[:, 0], y))
        compatible = learn.SKCompat(estimator)
        compatible.fit(ROWS, ROWS[:, 0] * 3, steps=50)
        np.testing.assert_allclose(compatible.predict(ROWS), ROWS[:, 0] * 3, atol=0.1)
        self.assertEqual(list(compatible.score(ROWS, ROWS[:, 0] * 3)), ["loss"])
        experiment = learn.Experiment(estimator, lambda: (tf.constant(ROWS, tf.float32), tf.constant(ROWS[:, 0] * 3)),
                                      None, train_steps=60)
        experiment.train()
        self.assertEqual(estimator.get_variable_value("global_step"), 60)

    def test_data_sets_are_files(self):
        with self.assertRaisesRegex(FileNotFoundError, "no file iris.csv, and nothing is downloaded"):
            learn.datasets.load_dataset("iris")
        with open("iris.csv", "w", encoding="utf-8") as file:
            file.write("2,2,setosa,virginica\n1.5,2,0\n3,4,1\n")
        iris = learn.datasets.load_dataset("iris")
        np.testing.assert_array_equal(iris.data, [[1.5, 2], [3, 4]])
        np.testing.assert_array_equal(iris.target, [0, 1])
        with self.assertRaisesRegex(ValueError, "not found: no; there are boston, iris, mnist"):
            learn.datasets.load_dataset("no")


if __name__ == "__main__":
    unittest.main()
