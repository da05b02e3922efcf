#!/usr/bin/env python3
"""TensorFlow's clients reach a cluster with TLS and tokens through `tensorbraid proxy`, although they support neither.
A proxy with a client's token, or with none, has fewer rights."""
import os
import signal
import subprocess
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

from cluster import Cluster, program_path

tf1 = tf.compat.v1
errors = tf.errors
PATIENCE_MS = 20000
TOKEN, GUEST, STRANGER = "the-token-of-the-cluster", "the-token-of-a-client", "the-token-of-a-stranger"


class Proxy:
    """`tensorbraid proxy` to a task; `target` is the address for sessions."""

    def __init__(self, task, flags):
        self.process = subprocess.Popen([program_path(), "proxy", "--target=" + task.target, *flags],
                                        stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if "serves at" not in line:
            raise RuntimeError(f"the proxy did not start (said {line!r})")
        self.target = line.split()[-1]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(120)
        self.process.stdout.close()
        return self.process.returncode


class TlsAndTokens(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.directory = tempfile.TemporaryDirectory()
        certs = cls.directory.name + "/certs"
        subprocess.run([program_path(), "certs", certs, "--hosts=localhost"], check=True, stdout=subprocess.DEVNULL)
        cls.tls = [f"--tls_cert={certs}/localhost.pem", f"--tls_key={certs}/localhost-key.pem",
                   f"--tls_ca={certs}/ca.pem"]
        cls.cluster = Cluster(program_path(), flags=[*cls.tls, "--token_file=" + cls.token_file(TOKEN),
                                                     "--client_token_file=" + cls.token_file(GUEST)])

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()
        cls.directory.cleanup()

    @classmethod
    def token_file(cls, token):
        path = f"{cls.directory.name}/{token}"
        with open(path, "w") as f:
            f.write(token + "\n")
        os.chmod(path, 0o600)
        return path

    def proxy(self, *flags):
        proxy = Proxy(self.cluster.tasks["worker"][0], [*self.tls, *flags])
        self.addCleanup(lambda: self.assertEqual(proxy.stop(), 0))
        return proxy

    def tearDown(self):
        self.assertEqual(self.cluster.dead(), [], self.cluster.log())

    def train(self, target):
        """Fits a line with its variable on ps/0 and its gradients on worker/1."""
        with tf.Graph().as_default():
            with tf1.device("/job:ps/task:0"):
                slope = tf1.get_variable("slope", initializer=0.0, use_resource=False)
            x = tf1.placeholder(tf.float32, [None])
            with tf1.device("/job:worker/task:1"):
                loss = tf.reduce_mean(tf.square(slope * x - 3.0 * x))
            step = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
            with tf1.Session(target, config=tf1.ConfigProto(operation_timeout_in_ms=PATIENCE_MS)) as session:
                session.run(slope.initializer)
                for _ in range(50):
                    session.run(step, {x: [1.0, 2.0]})
                self.assertAlmostEqual(float(session.run(slope)), 3.0, places=3)
                self.assertIn("/job:ps/replica:0/task:0/device:CPU:0", [d.name for d in session.list_devices()])

    def test_a_client_trains_through_the_proxy(self):
        proxy = self.proxy("--token_file=" + self.token_file(TOKEN))
        self.train(proxy.target)
        tf1.Session.reset(proxy.target)

    def test_many_large_and_small_requests_pass_the_proxy(self):
        proxy = self.proxy("--token_file=" + self.token_file(TOKEN))
        values = np.arange(1 << 22, dtype=np.float32)
        with tf.Graph().as_default():
            x = tf1.placeholder(tf.float32, [None])
            with tf1.device("/job:ps/task:0"):
                y = x + 1.0
            with tf1.Session(proxy.target) as session:
                for n in [1 << 22, 1, 100, 16 << 10, (16 << 10) + 1, 1 << 20, 0]:
                    np.testing.assert_array_equal(session.run(y, {x: values[:n]}), values[:n] + 1)
                for i in range(300):
                    self.assertEqual(session.run(y, {x: [i]}), [i + 1])

    def test_a_client_with_a_guests_token_trains_but_does_not_reset(self):
        proxy = self.proxy("--token_file=" + self.token_file(GUEST))
        self.train(proxy.target)
        with self.assertRaisesRegex(errors.PermissionDeniedError, "is for the tasks of the cluster"):
            tf1.Session.reset(proxy.target)
        with self.assertRaisesRegex(errors.PermissionDeniedError, "is for the tasks of the cluster"):
            own = tf1.train.ClusterSpec({"local": [self.cluster.spec["worker"][0]]}).as_cluster_def()
            with tf.Graph().as_default():
                tf1.Session(proxy.target, config=tf1.ConfigProto(cluster_def=own)).run(tf.constant(1))

    def test_without_the_token_nobody_comes_in(self):
        for flags, why in [([], "the server needs a token"),
                           (["--token_file=" + self.token_file(STRANGER)], "does not accept this token")]:
            with self.subTest(flags=flags), tf.Graph().as_default():
                with self.assertRaisesRegex(errors.UnauthenticatedError, why):
                    tf1.Session(self.proxy(*flags).target).run(tf.constant(1))


if __name__ == "__main__":
    unittest.main()
