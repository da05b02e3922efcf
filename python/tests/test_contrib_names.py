"""Names of tf.contrib that public programs use."""

import os
import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.runner import api

slim = tf.contrib.slim


class ContribNamesTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_files_below_python_are_found(self):
        for path, wanted in {
                "contrib.distributions.python.ops.bernoulli.Bernoulli": tf.distributions.Bernoulli,
                "contrib.estimator.python.estimator.early_stopping.stop_if_no_increase_hook":
                    tf.contrib.estimator.stop_if_no_increase_hook,
                "contrib.layers.python.layers.utils.collect_named_outputs": slim.utils.collect_named_outputs,
                "contrib.losses.python.metric_learning.metric_loss_ops.npairs_loss":
                    tf.contrib.losses.metric_learning.npairs_loss,
                "contrib.metrics.python.ops.confusion_matrix_ops.confusion_matrix": tf.confusion_matrix,
                "contrib.rnn.python.ops.core_rnn_cell._Linear": tf.contrib.rnn._Linear,
                "contrib.seq2seq.python.ops.beam_search_ops.gather_tree": tf.contrib.seq2seq.gather_tree,
                "contrib.slim.python.slim.data.data_decoder.DataDecoder": slim.data_decoder.DataDecoder,
                "python.ops.distributions.categorical.Categorical": tf.distributions.Categorical,
                "python.ops.gradient_checker.compute_gradient_error": tf.test.compute_gradient_error,
        }.items():
            api.declare_module(path.rpartition(".")[0])
            self.assertIs(api.find(path), wanted, path)
        self.assertTrue(callable(api.find("contrib.seq2seq.python.ops.decoder._transpose_batch_time")))
        with self.assertRaises(api.Missing):
            api.find("contrib.rnn.python.ops.core_rnn_cell._no_such_function")

    def test_utils_of_layers(self):
        utils = tf.contrib.layers.utils
        self.assertEqual(utils.get_variable_collections({"weights": ["a"]}, "weights"), ["a"])
        self.assertIsNone(utils.get_variable_collections({"weights": ["a"]}, "biases"))
        self.assertEqual(utils.get_variable_collections(["b"], "biases"), ["b"])
        self.assertEqual(utils.channel_dimension(tf.TensorShape([1, 2, 3, 4]), "NCHW"), 2)
        self.assertEqual(utils.channel_dimension(tf.TensorShape([1, 2, 3, 4]), "NHWC"), 4)
        self.assertEqual(utils.static_cond(1, lambda: "yes", lambda: "no"), "yes")
        self.assertEqual(utils.smart_cond(False, lambda: "yes", lambda: "no"), "no")

        @slim.add_arg_scope
        def layer(x, size=1):
            return size

        with slim.arg_scope([layer], size=3) as scope:
            self.assertEqual(scope[slim.arg_scope_func_key(layer)], {"size": 3})

    def test_gradients_are_clipped_by_an_optimizer(self):
        v = tf.get_variable("v", initializer=[3.0, 4.0])
        w = tf.get_variable("w", initializer=[1.0])
        optimizer = tf.contrib.estimator.clip_gradients_by_norm(tf.train.MomentumOptimizer(1.0, 0.9), 1.0)
        step = optimizer.minimize(tf.reduce_sum(v * v) / 2.0 + tf.reduce_sum(w) * 0.5, tf.train.create_global_step())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            np.testing.assert_allclose(session.run(v), [3 - 0.6, 4 - 0.8], rtol=1e-6)
            np.testing.assert_allclose(session.run(w), [0.5], rtol=1e-6)
            self.assertEqual(session.run(tf.train.get_global_step()), 1)
        self.assertEqual(optimizer.get_slot_names(), ["momentum"])
        self.assertEqual(optimizer.get_slot(v, "momentum").shape.as_list(), [2])
        self.assertIsInstance(optimizer, tf.train.Optimizer)

    def test_a_file_is_fetched_once(self):
        folder = tempfile.mkdtemp()
        source = os.path.join(folder, "source")
        for text in ("first", "second"):
            with open(source, "w") as file:
                file.write(text)
            path = tf.contrib.learn.datasets.base.maybe_download("data", os.path.join(folder, "a", "b"),
                                                                 "file://" + source)
            with open(path) as file:
                self.assertEqual(file.read(), "first")
        self.assertEqual(os.listdir(os.path.dirname(path)), ["data"])

    def test_old_decorators(self):
        @tf.RegisterShape("Add")
        def shape(op):
            return [1]

        self.assertEqual(shape(None), [1])

        @tf.contrib.framework.deprecated("2020-01-01", "Use another one.")
        def function():
            return 2

        self.assertEqual(function(), 2)


if __name__ == "__main__":
    unittest.main()
