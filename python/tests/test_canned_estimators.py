"""Canned estimators: training from given initial values, evaluation, prediction, and what is refused."""

import tempfile
import unittest

import numpy as np

import tensorbraid as tf

fc = tf.feature_column

# What TensorFlow 2.15 (tf.compat.v1.estimator) gives for MODELS with the features, labels and initial values below: the
# loss of each of 8 steps, the evaluation, and the logits or predictions for the first example.
EXPECTED = {
    "dnn_classifier": (
        [2.824084, 2.85693, 2.81326, 2.788642, 2.813578, 2.788521, 2.776323, 2.797223],
        {"accuracy": 0.5833333, "accuracy_baseline": 0.5, "auc": 0.3888889, "auc_precision_recall": 0.4002526,
         "average_loss": 0.6949785, "global_step": 8.0, "label/mean": 0.5, "loss": 2.779914, "precision": 0.5454546,
         "prediction/mean": 0.5068914, "recall": 1.0},
        "logits", [0.01644015]),
    "dnn_classifier_3": (
        [9.522428, 9.895656, 11.75105, 7.314253, 7.824288, 8.554159, 6.537466, 6.381109],
        {"accuracy": 0.6666667, "average_loss": 0.7759462, "global_step": 8.0, "loss": 6.20757},
        "logits", [0.04394585, 0.4365311, -1.569328]),
    "dnn_batch_norm": (
        [1.714677, 5.224883, 11.56078, 0.9888836, 3.253382, 8.786345, 0.7363932, 2.000369],
        {"average_loss": 2.949295, "global_step": 8.0, "label/mean": 1.875, "loss": 4.041429, "prediction/mean":
         0.7229249},
        "predictions", [1.219887, 0.2325443]),
    "linear_regressor": (
        [2.462994, 23.15647, 59.83813, 2.27656, 9.430579, 38.60889, 3.292621, 5.875388],
        {"average_loss": 3.002887, "global_step": 8.0, "label/mean": 2.75, "loss": 12.01155, "prediction/mean":
         1.868564},
        "predictions", [1.333696]),
    "linear_classifier": (
        [7.242805, 5.633896, 4.877525, 4.722774, 4.310378, 4.049857, 3.611854, 3.606146],
        {"accuracy": 0.8958333, "accuracy_baseline": 0.625, "auc": 0.9999999, "auc_precision_recall": 0.9999999,
         "average_loss": 0.4178971, "global_step": 8.0, "label/mean": 0.625, "loss": 3.343177, "precision": 0.8571429,
         "prediction/mean": 0.6268949, "recall": 1.0},
        "logits", [-0.8395894]),
    "combined_classifier": (
        [3.606269, 2.448489, 3.071853, 3.294062, 2.43962, 3.125808, 3.283783, 2.434177],
        {"accuracy": 0.5, "accuracy_baseline": 0.5, "auc": 0.4444444, "auc_precision_recall": 0.5487584,
         "average_loss": 0.7348241, "global_step": 8.0, "label/mean": 0.5, "loss": 2.939296, "precision": 0.5,
         "prediction/mean": 0.6133305, "recall": 1.0},
        "logits", [0.3488939]),
    "combined_regressor": (
        [0.4803833, 4.996829, 15.74559, 0.4409418, 4.620029, 15.05138, 0.4195195, 4.283595],
        {"average_loss": 6.3325, "global_step": 8.0, "label/mean": 2.75, "loss": 8.424714, "prediction/mean":
         0.8504677},
        "predictions", [0.3194099]),
    "baseline_3": (
        [3.730206, 3.676414, 3.086428, 3.528075, 2.896141, 2.738688, 3.440871, 2.705443],
        {"accuracy": 0.6666667, "average_loss": 0.7136414, "global_step": 8.0, "loss": 2.854566},
        "logits", [0.1958021, 0.9057326, -1.218273]),
}


FEATURES = {"a": np.linspace(-1, 1, 12, dtype=np.float32).reshape(12, 1), "b": np.arange(12).reshape(12, 1) % 3,
            "s": np.array([["x", "y", "z", "q"][i % 4] for i in range(12)]).reshape(12, 1),
            "w": (0.5 + np.arange(12, dtype=np.float32) % 4).reshape(12, 1)}
TWO, THREE = [[i % 2] for i in range(12)], [[i * i % 3] for i in range(12)]
WORDS = [[["no", "yes"][i % 2]] for i in range(12)]
NUMBERS, PAIRS = [[0.5 * i] for i in range(12)], [[0.5 * i, 1.0] for i in range(12)]


def number():
    return fc.numeric_column("a")


def ids():
    return fc.categorical_column_with_identity("b", 3)


def words():
    return fc.categorical_column_with_vocabulary_list("s", ["x", "y", "z"], num_oov_buckets=1)


def ranges():
    return fc.bucketized_column(number(), [-0.5, 0.0, 0.5])


def crossed():
    return fc.crossed_column([ranges(), words()], 5)


def table():
    return fc.embedding_column(words(), 2, combiner="sqrtn")


# Variables of optimizers in TensorFlow's checkpoints of some models. TensorFlow takes them apart at the wrong place if
# a variable scope is open while the training is built.
SLOTS = {
    "dnn_classifier": ["dnn/logits/bias/t_0/Adagrad", "dnn/hiddenlayer_1/kernel/t_0/Adagrad"],
    "dnn_classifier_3": ["dnn/head/beta1_power", "dnn/logits/bias/t_0/Adam_1"],
    "linear_regressor": ["linear/linear_model/a/weights/part_0/Ftrl", "linear/linear_model/b/weights/part_0/Ftrl_1"],
    "combined_classifier": ["dnn/logits/bias/Adagrad", "linear/linear_model/b/weights/Ftrl_1"],
    "baseline_3": ["baseline/bias/Ftrl"],
}


MODELS = {
    "dnn_classifier": (lambda d: tf.estimator.DNNClassifier([4, 3], [number(), table(), fc.indicator_column(ids())],
                                                            d), TWO),
    "dnn_classifier_3": (lambda d: tf.estimator.DNNClassifier(
        [4], [number(), table()], d, n_classes=3, optimizer="Adam", activation_fn=tf.nn.tanh, weight_column="w"),
        THREE),
    "dnn_batch_norm": (lambda d: tf.estimator.DNNRegressor(
        [4], [number(), fc.indicator_column(ids())], d, batch_norm=True, label_dimension=2,
        optimizer=tf.train.GradientDescentOptimizer(0.05), loss_reduction=tf.losses.Reduction.MEAN), PAIRS),
    "linear_regressor": (lambda d: tf.estimator.LinearRegressor([number(), ids(), crossed()], d), NUMBERS),
    "linear_classifier": (lambda d: tf.estimator.LinearClassifier(
        [number(), words(), ranges()], d, label_vocabulary=["no", "yes"], weight_column="w", sparse_combiner="mean"),
        WORDS),
    "combined_classifier": (lambda d: tf.estimator.DNNLinearCombinedClassifier(
        d, [ids(), crossed()], dnn_feature_columns=[number(), table()], dnn_hidden_units=[4]), TWO),
    "combined_regressor": (lambda d: tf.estimator.DNNLinearCombinedRegressor(
        d, [ids()], "SGD", [number()], "RMSProp", [3], loss_reduction=tf.losses.Reduction.SUM_OVER_BATCH_SIZE),
        NUMBERS),
    "baseline_3": (lambda d: tf.estimator.BaselineClassifier(d, n_classes=3), THREE),
}


def batches(labels, size, repeat=False):
    """An input_fn of the features and labels in batches."""
    def input_fn():
        data = tf.data.Dataset.from_tensor_slices((dict(FEATURES), np.array(labels)))
        return (data.repeat() if repeat else data).batch(size)

    return input_fn


class InitialValues(tf.train.SessionRunHook):
    """Sets the trainable variables to fixed values, and keeps the losses."""

    def __init__(self):
        self.losses = []

    def begin(self):
        self.loss, self.assign = tf.get_collection(tf.GraphKeys.LOSSES)[-1], []
        for variable in tf.trainable_variables():
            count = variable.shape.num_elements()
            values = np.sin(np.arange(count) * 1.7 + len(variable.op.name)) * 0.5
            self.assign.append(variable.assign(values.reshape(variable.shape.as_list()).astype(np.float32)))

    def after_create_session(self, session, coord):
        session.run(self.assign)

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        self.losses.append(float(run_values.results))


class TrainingTest(unittest.TestCase):
    def test_training_evaluation_and_predictions_are_those_of_tensorflow(self):
        for name, (losses, evaluation, key, prediction) in EXPECTED.items():
            make, labels = MODELS[name]
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                estimator, hook = make(folder), InitialValues()
                estimator.train(batches(labels, 4, repeat=True), hooks=[hook], steps=8)
                np.testing.assert_allclose(hook.losses, losses, rtol=1e-5)
                found = estimator.evaluate(batches(labels, 5))
                self.assertEqual(sorted(found), sorted(evaluation))
                saved = dict(tf.train.list_variables(folder))
                self.assertLessEqual(set(SLOTS.get(name, [])), set(saved))
                for metric, value in evaluation.items():
                    self.assertAlmostEqual(float(found[metric]), value, delta=1e-4 * max(1, abs(value)), msg=metric)
                first = next(estimator.predict(batches(labels, 5)))
                np.testing.assert_allclose(first[key], prediction, rtol=1e-4, atol=1e-5)


class SpecTest(unittest.TestCase):
    """The EstimatorSpec of a model, without a training."""

    def spec(self, estimator, labels=None, mode="train", features=None):
        tf.reset_default_graph()
        tf.train.create_global_step()
        features = {"a": tf.constant([[1.0], [2.0]]), "w": tf.constant([[1.0],
                                                                        [3.0]])} if features is None else features
        return estimator._call_model_fn(features, None if labels is None else tf.constant(labels), mode,
                                        estimator.config)

    def loss(self, labels, regressor=False, **options):
        kind = tf.estimator.LinearRegressor if regressor else tf.estimator.LinearClassifier
        spec = self.spec(kind([number()], **options), labels)
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.tables_initializer()])
            return float(session.run(spec.loss))

    def test_losses_are_weighted_and_reduced(self):
        reduction = tf.losses.Reduction
        for wanted, labels, options in (
                (1.3862944, [[0], [1]], {}), (1.3862944, [0, 1], {}), (1.3862944, [[0.0], [1.0]], {}),
                (2.7725887, [[0], [1]], {"weight_column": "w"}), (2.1972246, [0, 2], {"n_classes": 3}),
                (5.5451775, [[0], [1]], {"weight_column": fc.numeric_column("w", normalizer_fn=lambda x: x * 2)}),
                (0.6931472, [[0], [1]], {"weight_column": "w", "loss_reduction": reduction.MEAN}),
                (1.3862944, [[0], [1]], {"weight_column": "w", "loss_reduction": reduction.SUM_OVER_BATCH_SIZE}),
                (1.3862944, [["a"], ["b"]], {"label_vocabulary": ["a", "b"]}),
                (1.0, [0, 1], {"regressor": True}),
                (6.0, [[0.0, 1.0], [1.0, 2.0]], {"regressor": True, "label_dimension": 2}),
                (16.0, [[0.0, 1.0], [1.0, 2.0]], {"regressor": True, "label_dimension": 2, "weight_column": "w"})):
            with self.subTest(labels=labels, **options):
                self.assertAlmostEqual(self.loss(labels, **options), wanted, places=5)

    def test_labels_that_are_no_classes_end_the_step(self):
        for labels, options in (([[0], [2]], {}), ([[0], [-1]], {}), ([[0], [3]], {"n_classes": 3}),
                                ([["a"], ["q"]], {"label_vocabulary": ["a", "b"]})):
            with self.subTest(labels=labels), self.assertRaisesRegex(tf.errors.InvalidArgumentError, "Labels must"):
                self.loss(labels, **options)

    def test_labels_and_weights_of_other_forms_are_refused(self):
        for error, labels, options in (
                (ValueError, None, {}), (ValueError, [["a"], ["b"]], {}), (ValueError, [[0, 1], [1, 0]], {}),
                (ValueError, [[0.0], [2.0]], {"n_classes": 3}),
                (TypeError, [[0], [1]], {"label_vocabulary": ["a", "b"]}),
                (ValueError, [[0], [1]], {"weight_column": "missing"}), (ValueError, [[0], [1]], {"optimizer": "adam"}),
                (ValueError, [[0], [1]], {"optimizer": 3}), (ValueError, [[0.0, 1.0], [1.0, 2.0]], {"regressor": True}),
                (ValueError, [[0.0], [1.0], [2.0]], {"regressor": True}),
                (ValueError, [[0.0], [1.0]], {"regressor": True, "label_dimension": 2})):
            with self.subTest(labels=labels, **options), self.assertRaises(error):
                self.loss(labels, **options)
        with self.assertRaisesRegex(ValueError, "dictionary"):
            self.spec(tf.estimator.LinearClassifier([number()]), [[0], [1]], features=tf.constant([[1.0]]))

    def test_arguments_are_checked_when_the_estimator_is_made(self):
        for error, make in (
                (ValueError, lambda: tf.estimator.DNNClassifier([2], [number()], n_classes=1)),
                (TypeError, lambda: tf.estimator.DNNClassifier([2], [number()], label_vocabulary="ab")),
                (ValueError, lambda: tf.estimator.DNNClassifier([2], [number()], loss_reduction="none")),
                (ValueError, lambda: tf.estimator.DNNRegressor([2], [number()], label_dimension=0)),
                (ValueError, lambda: tf.estimator.DNNLinearCombinedClassifier())):
            with self.assertRaises(error):
                make()

    def test_variables_have_the_names_of_tensorflow(self):
        combined = tf.estimator.DNNLinearCombinedClassifier(
            None, [ids()], dnn_feature_columns=[number(), fc.embedding_column(ids(), 2)], dnn_hidden_units=[4])
        features = {"a": tf.constant([[1.0]]), "b": tf.constant([[1]])}
        tf.reset_default_graph()
        features = {"a": tf.constant([[1.0]]), "b": tf.constant([[1]])}
        tf.train.create_global_step()
        combined._call_model_fn(features, tf.constant([[1]]), "train", combined.config)
        self.assertEqual([variable.op.name for variable in tf.trainable_variables()], [
            "dnn/input_from_feature_columns/input_layer/b_embedding/embedding_weights/part_0",
            "dnn/hiddenlayer_0/kernel/part_0",
            "dnn/hiddenlayer_0/bias/part_0", "dnn/logits/kernel/part_0", "dnn/logits/bias/part_0",
            "linear/linear_model/b/weights/part_0", "linear/linear_model/bias_weights/part_0"])

    def test_predictions_and_signatures(self):
        spec = self.spec(tf.estimator.DNNClassifier([2], [number()]), mode="infer")
        self.assertEqual(sorted(spec.predictions), [
            "all_class_ids", "all_classes", "class_ids", "classes", "logistic", "logits", "probabilities"])
        self.assertEqual(sorted(spec.export_outputs), ["classification", "predict", "regression", "serving_default"])
        spec = self.spec(tf.estimator.DNNRegressor([2], [number()]), mode="infer")
        self.assertEqual(sorted(spec.export_outputs), ["predict", "regression", "serving_default"])

    def test_an_estimator_can_be_made_of_a_head(self):
        for head, labels in ((tf.estimator.MultiLabelHead(2), [[0, 1], [1, 1]]), (tf.estimator.RegressionHead(2),
                                                                                  [[1.0, 2.0]] * 2),
                             (tf.estimator.BinaryClassHead(thresholds=[0.3]), [[0], [1]]),
                             (tf.estimator.PoissonRegressionHead(), [[3.0], [1.0]]),
                             (tf.estimator.LogisticRegressionHead(), [[0.3], [0.1]])):
            for make in (lambda: tf.estimator.DNNEstimator(head, [2], [number()]),
                         lambda: tf.estimator.LinearEstimator(head, [number()]),
                         lambda: tf.estimator.BaselineEstimator(head)):
                with self.subTest(type(head).__name__):
                    spec = self.spec(make(), labels, "eval")
                    self.assertIn("average_loss", spec.eval_metric_ops)
                    with tf.Session() as session:
                        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
                        self.assertTrue(np.isfinite(session.run(spec.loss)))


class ParseSpecTest(unittest.TestCase):
    def test_the_label_and_the_weight_are_parsed_as_well(self):
        parse = tf.estimator.classifier_parse_example_spec
        self.assertEqual(parse([number()], "l", tf.string, "x", "w"), {
            "a": tf.FixedLenFeature((1,), tf.float32), "l": tf.FixedLenFeature((1,), tf.string, "x"),
            "w": tf.FixedLenFeature((1,), tf.float32)})
        self.assertEqual(tf.estimator.regressor_parse_example_spec([], "l", label_dimension=2), {
            "l": tf.FixedLenFeature((2,), tf.float32)})
        for given in (("a",), ("l", tf.int64, None, "a"), ("l", tf.int64, None, 3)):
            with self.assertRaises(ValueError):
                parse([number()], *given)


if __name__ == "__main__":
    unittest.main()
