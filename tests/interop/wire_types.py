#!/usr/bin/env python3
"""TensorFlow's clients train on servers that were started with --wire: fewer bytes travel, and the loss is the same."""
import json
import os
import subprocess
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

from cluster import Cluster, program_path

tf1 = tf.compat.v1
FEATURES, CLASSES, EXAMPLES, STEPS = 500, 10, 200, 60


def received(cluster, job):
    """The bytes of tensors that task 0 of the job has received from other tasks."""
    text = subprocess.run([program_path(), "status", "--json", cluster.spec[job][0]], stdout=subprocess.PIPE,
                          text=True, check=True).stdout
    task = next(t for t in json.loads(text)["tasks"] if t["task"] == f"{job}/0")
    return sum(peer["tensor_bytes"] for peer in task["received"])


def train(use_resource, *flags):
    """Trains a softmax regression. Returns the loss, and the bytes that the PS and the worker have received."""
    random = np.random.RandomState(5)
    x, y = random.randn(EXAMPLES, FEATURES).astype(np.float32), random.randint(CLASSES, size=EXAMPLES)
    with Cluster(program_path(), {"ps": 1, "worker": 1}, flags=flags) as cluster, tf.Graph().as_default():
        with tf1.device(tf1.train.replica_device_setter(cluster=tf1.train.ClusterSpec(cluster.spec))):
            images = tf1.placeholder(tf.float32, [None, FEATURES])
            labels = tf1.placeholder(tf.int64, [None])
            weights = tf1.get_variable("weights", [FEATURES, CLASSES], initializer=tf1.zeros_initializer(),
                                       use_resource=use_resource)
            loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
                labels=labels, logits=tf.matmul(images, weights)))
            step = tf1.train.GradientDescentOptimizer(0.5).minimize(loss)
        with tf1.Session(cluster.target) as session:
            session.run(tf1.global_variables_initializer())
            feeds = {images: x, labels: y}
            before = received(cluster, "ps"), received(cluster, "worker")
            for _ in range(STEPS):
                session.run(step, feeds)
            bytes_received = [now - then for now, then in zip((received(cluster, "ps"), received(cluster, "worker")),
                                                              before)]
            return session.run(loss, feeds), *bytes_received


class WireTypes(unittest.TestCase):
    def check(self, use_resource):
        plain_loss, plain_to_ps, plain_to_worker = train(use_resource)
        self.assertLess(plain_loss, 0.2)
        # The shares follow from the encodings (src/kernels/cpu/wire/codec.h).
        for flags, gradients, values in [(["--wire=ps:int8"], 0.255, 1), (["--wire=ps:bfloat16"], 0.5, 0.5),
                                         (["--wire=ps:parameters=int8", "--wire=ps:gradients=1bit"], 0.04, 0.255)]:
            with self.subTest(flags=flags):
                loss, to_ps, to_worker = train(use_resource, *flags)
                self.assertAlmostEqual(loss, plain_loss, delta=0.1)
                self.assertAlmostEqual(to_ps / plain_to_ps, gradients, delta=0.03)
                self.assertAlmostEqual(to_worker / plain_to_worker, values, delta=0.03)

    def test_of_resource_variables(self):
        self.check(True)

    def test_of_reference_variables(self):
        self.check(False)


if __name__ == "__main__":
    unittest.main()
