"""Mistakes of a program: the message names the thing and how to mend it."""

import gzip
import inspect
import os
import tempfile
import types
import unittest

import numpy as np
import tensorbraid as tf


def _public_modules(module, path="tf", seen=None):
    """Yields (path, module) for each module that is reachable by dir(), once."""
    seen = set() if seen is None else seen
    if module not in seen:
        seen.add(module)
        yield path, module
        for name in dir(module) if module.__name__.startswith("tensorbraid") else ():
            if name == "ray" or name.startswith("_"):  # tensorbraid.ray is not part of tf, but other tests import it
                continue
            value = getattr(module, name)
            if isinstance(value, types.ModuleType):
                yield from _public_modules(value, f"{path}.{name}", seen)


class NamesTest(unittest.TestCase):
    def test_a_misspelt_name_is_answered_with_the_nearest_one(self):
        with self.assertRaisesRegex(AttributeError, "'Variabel'; did you mean 'Variable'"):
            tf.Variabel
        with self.assertRaisesRegex(AttributeError, "'AdamOptimiser'; did you mean 'AdamOptimizer'"):
            tf.train.AdamOptimiser

    def test_hints_are_given_below_every_module(self):
        for module, name, near in (
                (tf.nn, "reluu", "relu"), (tf.logging, "set_verbosty", "set_verbosity"), (tf.gfile, "Exist", "Exists"),
                (tf.errors, "OutOfRangeEror", "OutOfRangeError"), (tf.app, "runn", "run"),
                (tf.flags, "DEFINE_strin", "DEFINE_string"), (tf.compat, "as_byte", "as_bytes"),
                (tf.test, "TestCse", "TestCase"), (tf.signal, "fftt", "fft"), (tf.raw_ops, "MatMull", "MatMul"),
                (tf.graph_util, "extract_subgraph", "extract_sub_graph"), (tf.summary, "scalr", "scalar"),
                (tf.train, "Exampel", "Example"), (tf.contrib.slim, "conv2", "conv2d")):
            with self.assertRaisesRegex(AttributeError, f"'{name}'; did you mean '{near}'"):
                getattr(module, name)
        with self.assertRaisesRegex(AttributeError, "module 'tensorbraid.logging' has no attribute 'qqqq'"):
            tf.logging.qqqq

    def test_no_private_module_is_shown_or_proposed(self):
        for path, module in _public_modules(tf):
            name = module.__name__
            for outside in ("ops", "internal", "runner", "tensorflow_python", "_core"):
                self.assertFalse(name.startswith("tensorbraid." + outside), f"{path} is {name}")
            self.assertTrue(name.startswith("tensorbraid") or name == "unittest.mock", f"{path} is {name}")
        for module, names in ((tf.nn, ["cells", "losses"]), (tf.train, ["hooks", "basic_hooks", "saver"]),
                              (tf.estimator, ["heads", "canned"]), (tf.app, ["sys"]), (tf.compat, ["np"])):
            self.assertFalse(set(names) & set(dir(module)), module)
        for call in (lambda: tf.nn.cels, lambda: tf.train.hookz, lambda: tf.train.basic_hook, lambda: tf.op):
            with self.assertRaises(AttributeError) as error:
                call()
            self.assertNotRegex(str(error.exception), "cells|hooks|tf.losses.op")

    def test_public_modules_of_modules_are_shown(self):
        for module, name in ((tf.nn, "rnn_cell"), (tf.contrib, "slim"), (tf.contrib.slim.nets, "vgg"), (tf, "logging"),
                             (tf.test, "mock"), (tf.estimator, "inputs"), (tf.saved_model, "tag_constants"),
                             (tf.contrib.tensorboard.plugins, "projector"), (tf.train, "Example")):
            self.assertIn(name, dir(module))

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


class ArgumentsTest(unittest.TestCase):
    def setUp(self):
        graph = tf.Graph().as_default()
        graph.__enter__()
        self.addCleanup(graph.__exit__, None, None, None)

    def test_an_argument_of_a_wrong_type_is_named_with_its_function(self):
        w = tf.get_variable("w", [2])
        loss = tf.reduce_sum(w)
        directory = tempfile.mkdtemp()
        descent = tf.train.GradientDescentOptimizer
        for call, words in (
                (lambda: tf.get_variable(3, [2]), "get_variable: the argument 'name' must be a string, but got 3"),
                (lambda: tf.container(3).__enter__(), "container.*: .* must be a string, but got 3"),
                (lambda: tf.device(3.5).__enter__(), "device"),
                (lambda: tf.set_random_seed("a"), "set_random_seed: the argument 'seed' must be an integer, but got 'a'"),
                (lambda: tf.train.Saver(max_to_keep="a"), "'max_to_keep' must be an integer, but got 'a'"),
                (lambda: tf.train.Saver(keep_checkpoint_every_n_hours="a"),
                 "Saver: the argument 'keep_checkpoint_every_n_hours' must be a number, but got 'a'"),
                (lambda: tf.train.Saver(name=3), "Saver: the argument 'name' must be a string, but got 3"),
                (lambda: tf.train.Saver({3: w}), "the name of a saved variable must be a string, but got 3"),
                (lambda: tf.train.AdamOptimizer(0.1, beta1="z").minimize(loss), "'beta1' must be a number, but got 'z'"),
                (lambda: descent(0.1, name=4).minimize(loss), "'name' must be a string, but got 4"),
                (lambda: tf.summary.FileWriter(directory, flush_secs="a"), "'flush_secs' must be a number, but got 'a'"),
                (lambda: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], parallel_iterations="a"),
                 "while_loop: the argument 'parallel_iterations' must be an integer, but got 'a'"),
                (lambda: tf.fixed_size_partitioner("a"), "fixed_size_partitioner: .* must be an integer, but got 'a'"),
                (lambda: tf.train.Coordinator().wait_for_stop("a"), "'timeout' must be a number, but got 'a'"),
                (lambda: tf.losses.mean_squared_error(w, w, scope=3), "'scope' must be a string, but got 3"),
                (lambda: tf.FIFOQueue("a", tf.float32), "'capacity' of FIFOQueueV2 must be of type int, but got 'a'"),
                (lambda: tf.stack([w], axis="a"), "'axis' of Pack must be of type int, but got 'a'"),
                (lambda: tf.train.Supervisor(logdir=3), "'logdir' must be a path, but got 3"),
                (lambda: tf.train.MonitoredTrainingSession(master=3),
                 "MonitoredTrainingSession: the argument 'master' must be a string, but got 3")):
            with self.assertRaisesRegex(TypeError, words) as error:
                call()
            self.assertNotRegex(str(error.exception), r"incompatible function arguments|std::|_core|arg0|Invoked")

    def test_no_function_of_the_module_shows_its_signature(self):
        refused = 0
        for name, function in vars(tf._core).items():
            if name.startswith("__") or inspect.isclass(function) or not callable(function) or name == "pass_log_to":
                continue
            try:
                function(*[NamesTest] * 30)
            except TypeError as error:
                refused += 1
                self.assertNotRegex(str(error), r"incompatible function arguments|Invoked with|_core\.", name)
        self.assertGreater(refused, 50)

    def test_the_config_of_a_session_is_not_its_target(self):
        with self.assertRaisesRegex(TypeError, r"got a ConfigProto; write tf\.Session\(config=\.\.\.\)"):
            tf.Session(tf.ConfigProto())
        with self.assertRaisesRegex(TypeError, r"got a Graph; write tf\.InteractiveSession\(graph=\.\.\.\)"):
            tf.InteractiveSession(tf.get_default_graph())

    def test_a_cast_of_strings_names_the_ops_that_convert_them(self):
        for call in (lambda: tf.cast(tf.constant("3"), tf.float32), lambda: tf.to_float(["3"])):
            with self.assertRaisesRegex(tf.errors.UnimplementedError,
                                        "Cast string to float32 is not supported: .*tf.strings.to_number"):
                call()
        with self.assertRaisesRegex(tf.errors.UnimplementedError, "Cast int32 to string .*tf.as_string"):
            tf.cast(tf.constant(3), tf.string)
        self.assertEqual(tf.cast(tf.constant("3"), tf.string).dtype, tf.string)


class CompressedFilesTest(unittest.TestCase):
    def test_a_gzip_file_is_recognised(self):
        directory = tempfile.mkdtemp()
        path = os.path.join(directory, "file.index")
        with gzip.open(path, "wb") as file:
            file.write(bytes(range(256)) * 20)
        magic = "it has the magic number of a gzip file"
        with tf.Graph().as_default(), tf.Session() as session:
            weights = tf.get_variable("w", [2])
            image = tf.image.decode_image(tf.read_file(path))
            records = tf.data.TFRecordDataset(path).make_one_shot_iterator().get_next()
            rows = tf.data.FixedLengthRecordDataset(path, 7).make_one_shot_iterator().get_next()
            for error, call in (
                    (tf.errors.InvalidArgumentError, lambda: session.run(image)),
                    (tf.errors.DataLossError, lambda: session.run(records)),
                    (tf.errors.InvalidArgumentError, lambda: session.run(rows)),
                    (tf.errors.DataLossError, lambda: list(tf.python_io.tf_record_iterator(path))),
                    (tf.errors.DataLossError, lambda: tf.train.Saver([weights]).restore(session, path[:-6])),
                    (tf.errors.DataLossError, lambda: tf.train.NewCheckpointReader(path[:-6])),
                    (OSError, lambda: tf.train.import_meta_graph(path)),
                    (ValueError, lambda: tf.keras.datasets.mnist.load_data(path))):
                with self.assertRaisesRegex(error, magic):
                    call()


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
