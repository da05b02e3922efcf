"""Mistakes of a program: the message names the thing and how to mend it."""

import unittest

import numpy as np
import tensorbraid as tf


class NamesTest(unittest.TestCase):
    def test_a_misspelt_name_is_answered_with_the_nearest_one(self):
        with self.assertRaisesRegex(AttributeError, "'Variabel'; did you mean 'Variable'"):
            tf.Variabel
        with self.assertRaisesRegex(AttributeError, "'AdamOptimiser'; did you mean 'AdamOptimizer'"):
            tf.train.AdamOptimiser

    def test_a_refused_name_says_why(self):
        with self.assertRaisesRegex(AttributeError, "boosted trees are not part of this package"):
            tf.contrib.boosted_trees

    def test_a_name_that_nothing_is_like_is_an_attribute_error(self):
        self.assertFalse(hasattr(tf, "qqqqqqqqqq"))
        self.assertFalse(hasattr(tf.contrib, "qqqqqqqqqq"))


class GraphTest(unittest.TestCase):
    def setUp(self):
        graph = tf.Graph().as_default()
        graph.__enter__()
        self.addCleanup(graph.__exit__, None, None, None)

    def test_concat_with_its_arguments_swapped_is_refused(self):
        with self.assertRaisesRegex(ValueError, "must have rank 0"):
            tf.concat(0, [tf.zeros([2]), tf.zeros([2])])

    def test_a_wrong_name_or_device_of_a_constant_is_a_value_error(self):
        with self.assertRaisesRegex(ValueError, "'a b' is not a valid node name"):
            tf.constant(1.0, name="a b")
        with self.assertRaisesRegex(ValueError, "'nonsense' is not a device name"), tf.device("nonsense"):
            tf.constant(1.0)

    def test_labels_and_logits_cannot_be_mixed_up(self):
        for function in (tf.nn.softmax_cross_entropy_with_logits, tf.nn.sparse_softmax_cross_entropy_with_logits,
                         tf.nn.sigmoid_cross_entropy_with_logits):
            with self.assertRaisesRegex(ValueError, f"Only call `{function.__name__}` with named arguments"):
                function([[1.0]], [[1.0]])

    def test_the_target_of_a_session_is_a_string(self):
        with self.assertRaisesRegex(TypeError, "target must be a string, but got 3"):
            tf.Session(3)
        tf.Session(None).close()

    def test_texts_and_arrays_that_no_tensor_can_hold_are_named(self):
        text, dates = "caf\udce9", np.array(["2020-01-01"], "datetime64[D]")
        texts, numbers = tf.placeholder(tf.string, name="texts"), tf.placeholder(tf.float32, name="numbers")
        with tf.Session() as session:
            for value in (text, [text], np.array([text]), np.array([text], dtype=object)):
                with self.assertRaisesRegex(ValueError, "Cannot feed Tensor 'texts:0': .*surrogates not allowed"):
                    session.run(texts, {texts: value})
            for function, error in ((lambda: text, "surrogates not allowed"), (lambda: dates, r"datetime64\[D\]")):
                with self.assertRaisesRegex(tf.errors.InvalidArgumentError, error):
                    session.run(tf.py_func(function, [], tf.string if error[0] == "s" else tf.int64))
            self.assertEqual(session.run(numbers, {numbers: dates}).tolist(), [18262])  # as in TensorFlow
        for call in (lambda: tf.constant(text), lambda: tf.constant([["x"], [text]]),
                     lambda: tf.data.Dataset.from_tensor_slices([text]), lambda: tf.data.TextLineDataset(text)):
            with self.assertRaisesRegex(UnicodeEncodeError, "surrogates not allowed"):
                call()
        with self.assertRaisesRegex(ValueError, "input 'records' of DecodeCSV: .*surrogates not allowed"):
            tf.decode_csv([text], [[1]])
        for array in (dates, dates - dates, dates[0], np.zeros(1, [("a", "i4")]), np.zeros(1, np.longdouble)):
            with self.assertRaisesRegex(TypeError, "have no TensorFlow dtype"):
                tf.constant(array)
        with self.assertRaisesRegex(TypeError, r"input 'x' of Neg: NumPy arrays of datetime64\[D\] have no"):
            tf.negative(dates)

    def test_a_wrong_feed_names_the_tensor(self):
        number = tf.placeholder(tf.int32, [None], "number")
        rows = tf.placeholder(tf.float32, [None, None], "rows")
        with tf.Session() as session:
            for value in (["a"], None):
                with self.assertRaisesRegex(TypeError, "Tensor 'number:0': expected int32, got"):
                    session.run(number, {number: value})
            with self.assertRaisesRegex(ValueError, "Tensor 'rows:0': .*inhomogeneous"):
                session.run(rows, {rows: [[1.0], [1.0, 2.0]]})
            np.testing.assert_array_equal(session.run(number, {number: [1]}), [1])

    def test_messages_have_no_names_of_cpp(self):
        weights = tf.get_variable("w", [1])
        with tf.Session() as session, self.assertRaises(tf.errors.FailedPreconditionError) as uninitialized:
            session.run(weights)
        with self.assertRaises(ValueError) as twice:
            tf.get_variable("w", [1])
        with tf.variable_scope("a", reuse=True), self.assertRaises(ValueError) as lacking:
            tf.get_variable("w", [1])
        for caught in (uninitialized, twice, lacking):
            self.assertNotRegex(str(caught.exception), r"\.reuse|kAuto|GlobalVariables|Minimize")


class ServerTest(unittest.TestCase):
    def test_a_target_without_a_port_is_refused(self):
        with tf.Graph().as_default():
            for target in ("grpc://localhost", "localhost:2222"):
                with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "grpc://localhost:2222"):
                    tf.Session(target).run(tf.constant(1.0))

    def test_a_server_without_certificates_names_the_variables_of_python(self):
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError,
                                    "TENSORBRAID_TLS_CERT, TENSORBRAID_TLS_KEY .* TENSORBRAID_INSECURE=1"):
            tf.train.Server({"ps": ["example.com:2222"]}, job_name="ps", task_index=0)


if __name__ == "__main__":
    unittest.main()
