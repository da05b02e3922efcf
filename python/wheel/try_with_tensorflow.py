"""Imports TensorFlow and the package in one process, in both orders, and trains with each in turn, over gRPC.

TensorFlow makes its symbols visible to all libraries that are loaded later. If TensorFlow is imported, the package
makes its own libraries take precedence (internal/native_module.py). In a third run, TensorFlow is hidden from the
package, as if a package that it does not know had loaded such symbols.
"""

import subprocess
import sys

PROGRAM = """
import importlib
import sys

import numpy as np

NAMES = {"tensorflow": "tensorflow.compat.v1", "tensorbraid": "tensorbraid"}


def load(name):
    if name != "unseen":
        return importlib.import_module(NAMES[name])
    hidden = sys.modules.pop("tensorflow")
    module = importlib.import_module("tensorbraid")
    sys.modules["tensorflow"] = hidden
    return module


modules = [load(name) for name in sys.argv[1:]]
values = np.random.RandomState(0).randn(300, 4).astype(np.float32)
targets = values @ np.float32([[1], [-2], [3], [0.5]])


class Training:
    def __init__(self, tf):
        with tf.Graph().as_default() as graph:
            self.x, self.y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 1])
            weights = tf.get_variable("weights", [4, 1], initializer=tf.zeros_initializer())
            self.loss = tf.reduce_mean(tf.square(tf.matmul(self.x, weights) - self.y))
            self.step = tf.train.AdamOptimizer(0.1).minimize(self.loss)
            self.server = tf.train.Server.create_local_server()
            self.session = tf.Session(self.server.target, graph=graph)
            self.session.run(tf.global_variables_initializer())

    def run(self):
        for _ in range(100):
            loss, _ = self.session.run([self.loss, self.step], {self.x: values, self.y: targets})
        return float(loss)


trainings = [Training(tf) for tf in modules]
losses = [[training.run() for training in trainings] for _ in range(3)]
print(" then ".join(sys.argv[1:]), losses[-1])
assert max(losses[-1]) < 0.01, losses
np.testing.assert_allclose(*losses[0], rtol=1e-2)
"""

for order in (["tensorflow", "tensorbraid"], ["tensorbraid", "tensorflow"], ["tensorflow", "unseen"]):
    subprocess.run([sys.executable, "-c", PROGRAM, *order], check=True)
