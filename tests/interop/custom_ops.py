#!/usr/bin/env python3
"""TensorFlow's clients use an op of a library that servers were started with (--load). The op is one that TensorFlow has
and Tensorbraid lacks. The first argument is the library, tests/custom_op/libraries/test_ops.cc."""
import os
import sys
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

from cluster import Cluster, program_path

tf1 = tf.compat.v1
LIBRARY = sys.argv.pop(1)
POINTS = np.array([[0, 0], [5, 5], [1, 0]], np.float32)
CENTERS = np.array([[4, 4], [0, 1]], np.float32)


def nearest(device, k=1):
    """The two outputs of NearestNeighbors, of which the points come from worker 0."""
    with tf1.device("/job:worker/task:0"):
        points = tf.constant(POINTS) + 0.0
    with tf1.device(device):
        return tf.raw_ops.NearestNeighbors(points=points, centers=CENTERS, k=np.int64(k))


class CustomOps(unittest.TestCase):
    def test_tasks_that_have_loaded_the_library_run_the_op(self):
        with Cluster(program_path(), {"ps": 1, "worker": 1}, flags=["--load=" + LIBRARY]) as cluster:
            with tf.Graph().as_default(), tf1.Session(cluster.target) as session:
                for device in ("/job:ps/task:0", "/job:worker/task:0"):
                    indices, distances = session.run(nearest(device))
                    np.testing.assert_array_equal(indices, [[1], [0], [1]])
                    np.testing.assert_array_equal(distances, [[1], [2], [2]])
                failing = nearest("/job:ps/task:0", k=2)
                for _ in range(2):
                    with self.assertRaisesRegex(tf.errors.UnimplementedError, "k must be 1"):
                        session.run(failing)
            self.assertEqual(cluster.dead(), [])

    def test_without_the_library_the_error_names_the_op_and_the_flag(self):
        with Cluster(program_path(), {"ps": 1, "worker": 1}) as cluster:
            with tf.Graph().as_default(), tf1.Session(cluster.target) as session:
                with self.assertRaisesRegex(tf.errors.NotFoundError, "(?s)'NearestNeighbors'.*--load=LIBRARY"):
                    session.run(nearest("/job:ps/task:0"))
            self.assertEqual(cluster.dead(), [])


if __name__ == "__main__":
    unittest.main()
