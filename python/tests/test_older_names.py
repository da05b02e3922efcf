"""Names from before TensorFlow 1.0 stand for the functions that replaced them.

Errors of missing names propose others.
"""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.internal import old_names
from tensorbraid.runner import api


class OlderNamesTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_each_older_name_is_found_as_a_path_and_as_an_attribute(self):
        for path in [*old_names._NOW, "models.rnn.rnn_cell", "models.rnn.rnn.static_rnn"]:
            found = api.find(path)
            value = tf
            for part in path.split("."):
                value = getattr(value, part)
            self.assertIs(value, found, path)
            self.assertNotIn(path.split(".")[-1], dir(tf))
        self.assertIs(tf.mul, tf.multiply)
        self.assertIs(tf.train.SummaryWriter, tf.summary.FileWriter)

    def test_functions_with_other_arguments_take_those_of_their_time(self):
        x = np.arange(6, dtype=np.float32).reshape(1, 2, 3)
        product = tf.batch_matmul(x, x, adj_y=True)
        chosen = tf.select(condition=[True, False], t=[1, 2], e=[3, 4])
        with tf.name_scope("scope"):
            several = tf.scalar_summary(["a", "b"], [1.0, 2.0])
            image = tf.image_summary("picture", tf.zeros([2, 2, 2, 1]), max_images=1)
        merged = tf.merge_summary([several, tf.histogram_summary("h", [1.0])])
        with tf.Session() as session:
            np.testing.assert_array_equal(session.run(product), x @ x.transpose(0, 2, 1))
            self.assertEqual(session.run(chosen).tolist(), [1, 4])
            tags = [value.tag for value in tf.Summary.FromString(session.run(merged)).value]
            self.assertEqual(tags, ["a", "b", "h"])
            self.assertEqual([value.tag for value in tf.Summary.FromString(session.run(image)).value],
                             ["picture/image"])
        self.assertIs(tf.contrib.deprecated.scalar_summary, tf.scalar_summary)

    def test_modules_of_older_releases_are_imported(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "script.py")
            with open(path, "w") as file:
                file.write("import tensorflow as tf\n"
                           "from tensorflow.models.rnn import rnn_cell, seq2seq\n"
                           "import tensorflow.models.rnn.rnn\n"
                           "print(rnn_cell is tf.nn.rnn_cell, tf.sub(3, 1).op.type)\n")
            ran = subprocess.run([sys.executable, "-m", "tensorbraid", path], capture_output=True, text=True)
        self.assertEqual((ran.returncode, ran.stdout), (0, "True Sub\n"), ran.stderr)

    def test_a_missing_name_is_told_the_nearest_public_one(self):
        for module, name, expected in (
                (tf.nn, "reluu", "module 'tensorbraid.nn' has no attribute 'reluu'; did you mean 'relu'?"),
                (tf.nn, "AdamOptimizer", "module 'tensorbraid.nn' has no attribute 'AdamOptimizer'; there is "
                                         "tf.train.AdamOptimizer"),
                (tf.contrib.layers, "conv2dd", "did you mean 'conv2d'?"),
                (tf.contrib, "boosted_trees", "tf.contrib.boosted_trees: boosted trees are not part"),
                (tf.train, "AdamOptimiser", "did you mean 'AdamOptimizer'?")):
            with self.assertRaises(AttributeError) as caught:
                getattr(module, name)
            self.assertIn(expected, str(caught.exception))
        for module in (tf, tf.nn, tf.contrib.layers, tf.losses):
            with self.assertRaises(AttributeError) as caught:
                module.no_such_name_at_all
            self.assertNotIn("internal", str(caught.exception))
            self.assertNotIn("; ", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
