#!/usr/bin/env python3
"""Runs whole TensorFlow 1 scripts, such as users have, on a cluster of ours. Only the target of the session differs."""
import gzip
import os
import signal
import struct
import subprocess
import sys
import threading
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

from cluster import Cluster, program_path
from replicas import GRACE_SECONDS, Threads, config

tf1 = tf.compat.v1
HERE = os.path.dirname(os.path.abspath(__file__))
MNIST = os.path.join(os.path.dirname(os.path.dirname(HERE)), "examples", "data", "mnist")


def read_idx(name):
    with gzip.open(f"{MNIST}/{name}.gz") as f:
        data = f.read()
    rank = data[3]
    shape = struct.unpack(f">{rank}I", data[4:4 + 4 * rank])
    return np.frombuffer(data, np.uint8, offset=4 + 4 * rank).reshape(shape)


def mnist(kind):
    images = read_idx(f"{kind}-images-idx3-ubyte")
    return images.reshape(len(images), -1).astype(np.float32) / 255, read_idx(f"{kind}-labels-idx1-ubyte").astype(np.int64)


class Model:
    """Softmax regression of a replica: variables on the parameter servers, the rest on the worker."""

    def __init__(self, cluster, index, optimizer, use_resource=False):
        spec = tf1.train.ClusterSpec(cluster.spec)
        setter = tf1.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=spec)
        with tf1.device(setter):
            self.global_step = tf1.train.get_or_create_global_step()
            self.x = tf1.placeholder(tf.float32, [None, 784])
            self.labels = tf1.placeholder(tf.int64, [None])
            w = tf1.get_variable("w", [784, 10], initializer=tf1.zeros_initializer(), use_resource=use_resource)
            b = tf1.get_variable("b", [10], initializer=tf1.zeros_initializer(), use_resource=use_resource)
            logits = tf.matmul(self.x, w) + b
            self.loss = tf1.losses.sparse_softmax_cross_entropy(self.labels, logits)
            self.accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), self.labels), tf.float32))
            self.train = optimizer.minimize(self.loss, global_step=self.global_step)


class WholePrograms(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(program_path())
        self.images, self.labels = mnist("train")
        self.chief_is_ready = threading.Event()

    def tearDown(self):
        dead = self.cluster.dead()
        self.cluster.stop()
        self.assertEqual(dead, [], self.cluster.log())

    def batch(self, random):
        rows = random.randint(0, len(self.images), 100)
        return self.images[rows], self.labels[rows]

    def train(self, index, make_optimizer, steps, accuracies, hooks_of=None, use_resource=False):
        if index > 0:  # if the chief is not ready yet, a worker looks again only after half a minute
            self.chief_is_ready.wait(60)
        random = np.random.RandomState(index)
        with tf.Graph().as_default():
            optimizer = make_optimizer()
            model = Model(self.cluster, index, optimizer, use_resource)
            hooks = [tf1.train.StopAtStepHook(last_step=steps)]
            if hooks_of is not None:
                hooks += hooks_of(optimizer, index == 0)
            with tf1.train.MonitoredTrainingSession(
                    master=self.cluster.tasks["worker"][index].target, is_chief=index == 0, hooks=hooks,
                    config=config(), log_step_count_steps=None, stop_grace_period_secs=GRACE_SECONDS) as session:
                self.chief_is_ready.set()
                while not session.should_stop():
                    x, y = self.batch(random)
                    session.run(model.train, {model.x: x, model.labels: y})
            if index == 0:
                with tf1.Session(self.cluster.target, config=config()) as session:
                    x, y = mnist("t10k")
                    accuracies.append(session.run(model.accuracy, {model.x: x, model.labels: y}))

    def train_on_both_workers(self, *args, **kwargs):
        accuracies = []
        threads = Threads()
        for index in range(2):
            threads.start(self.train, index, *args, accuracies, *kwargs.values())
        threads.join()
        self.assertGreater(accuracies[0], 0.85)

    def test_asynchronous_training_in_monitored_sessions(self):
        self.train_on_both_workers(lambda: tf1.train.GradientDescentOptimizer(0.3), 400)

    def test_asynchronous_training_of_resource_variables(self):
        self.train_on_both_workers(lambda: tf1.train.MomentumOptimizer(0.1, 0.5), 400, hooks_of=None, use_resource=True)

    def test_synchronous_training(self):
        def optimizer():
            return tf1.train.SyncReplicasOptimizer(tf1.train.GradientDescentOptimizer(0.4), replicas_to_aggregate=2,
                                                   total_num_replicas=2)
        self.train_on_both_workers(optimizer, 200, hooks_of=lambda o, chief: [o.make_session_run_hook(chief)])

    def test_synchronous_training_in_a_supervisor(self):
        steps = 150
        accuracies = []

        def replica(index):
            random = np.random.RandomState(index)
            with tf.Graph().as_default():
                optimizer = tf1.train.SyncReplicasOptimizer(tf1.train.AdadeltaOptimizer(1.0), replicas_to_aggregate=2,
                                                            total_num_replicas=2)
                model = Model(self.cluster, index, optimizer)
                chief = index == 0
                init_tokens = optimizer.get_init_tokens_op()
                queue_runner = optimizer.get_chief_queue_runner()
                close_tokens = optimizer._sync_token_queue.close(cancel_pending_enqueues=True)  # pylint: disable=protected-access
                supervisor = tf1.train.Supervisor(
                    is_chief=chief, init_op=tf1.global_variables_initializer(), logdir=None, summary_op=None, saver=None,
                    local_init_op=optimizer.chief_init_op if chief else optimizer.local_step_init_op,
                    ready_for_local_init_op=optimizer.ready_for_local_init_op, global_step=model.global_step,
                    recovery_wait_secs=1, stop_grace_secs=GRACE_SECONDS)
                session = supervisor.prepare_or_wait_for_session(self.cluster.tasks["worker"][index].target, config())
                if chief:
                    supervisor.start_queue_runners(session, [queue_runner])
                    session.run(init_tokens)
                step = 0
                try:
                    while step < steps:
                        x, y = self.batch(random)
                        _, step = session.run([model.train, model.global_step], {model.x: x, model.labels: y})
                # The chief has ended and closed the token queue, in which no token is left.
                except (tf.errors.OutOfRangeError, tf.errors.CancelledError):
                    pass
                if chief:
                    x, y = mnist("t10k")
                    accuracies.append(session.run(model.accuracy, {model.x: x, model.labels: y}))
                    # The other replica may wait for tokens of a step that never comes.
                    session.run(close_tokens)
                supervisor.stop(close_summary_writer=False, ignore_live_threads=True)
                session.close()

        threads = Threads()
        for index in range(2):
            threads.start(replica, index)
        threads.join()
        self.assertGreater(accuracies[0], 0.8)

    def test_a_client_that_comes_back_finds_its_variables(self):
        def graph():
            with tf.device("/job:ps/task:0"):
                v = tf1.get_variable("v", initializer=1.0)
            return v, tf1.assign_add(v, 1.0)

        with tf.Graph().as_default():
            v, add = graph()
            with tf1.Session(self.cluster.tasks["worker"][0].target, config=config()) as session:
                session.run(tf1.global_variables_initializer())
                session.run(add)
        with tf.Graph().as_default():
            v, add = graph()
            with tf1.Session(self.cluster.tasks["worker"][1].target, config=config()) as session:
                self.assertEqual(session.run(v), 2.0)
            tf1.Session.reset(self.cluster.target)
            with tf1.Session(self.cluster.target, config=config()) as session:
                with self.assertRaises(tf.errors.FailedPreconditionError):
                    session.run(v)

    def test_a_client_killed_in_the_middle_of_a_step(self):
        script = f"""
import os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf
tf1 = tf.compat.v1
with tf.Graph().as_default():
    with tf.device("/job:ps/task:0"):
        q = tf1.FIFOQueue(1, [tf.float32], [[]], shared_name="q")
    with tf1.Session("{self.cluster.target}") as session:
        session.run(q.size())
        print("waits", flush=True)
        session.run(q.dequeue())
"""
        client = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
        self.addCleanup(client.stdout.close)
        self.assertEqual(client.stdout.readline().strip(), "waits")
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0"):
                q = tf1.FIFOQueue(1, [tf.float32], [[]], shared_name="q")
            with tf1.Session(self.cluster.target, config=config()) as session:
                client.send_signal(signal.SIGKILL)
                client.wait()
                # The dequeue of the killed client has been cancelled, so this client gets the next elements. The killed
                # client can have taken at most one of them before.
                for i in range(3):
                    session.run(q.enqueue(float(i)))
                    if session.run(q.size()) == 1:
                        break
                self.assertEqual(session.run(q.dequeue()), float(i))

    def test_a_server_that_is_restarted_between_and_during_sessions(self):
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0"):
                v = tf1.get_variable("v", initializer=1.0)
                init = tf1.global_variables_initializer()
            with tf.device("/job:worker/task:0"):
                twice = v * 2.0
            with tf1.Session(self.cluster.target, config=config()) as session:
                session.run(init)
                self.assertEqual(session.run(twice), 2.0)
                self.cluster.tasks["ps"][0].restart()
                with self.assertRaises((tf.errors.AbortedError, tf.errors.UnavailableError)):
                    for _ in range(100):
                        session.run(twice)
            with tf1.Session(self.cluster.target, config=config()) as session:
                with self.assertRaises(tf.errors.FailedPreconditionError):
                    session.run(twice)
                session.run(init)
                self.assertEqual(session.run(twice), 2.0)

    def test_several_clients_at_once(self):
        sums = []

        def client(index):
            with tf.Graph().as_default():
                with tf.device("/job:ps/task:0"):
                    v = tf1.get_variable(f"v{index}", initializer=0.0)
                    add = tf1.assign_add(v, 1.0)
                with tf1.Session(self.cluster.tasks["worker"][index % 2].target, config=config()) as session:
                    session.run(v.initializer)
                    for _ in range(50):
                        session.run(add)
                    sums.append(session.run(v))

        threads = Threads()
        for index in range(8):
            threads.start(client, index)
        threads.join()
        self.assertEqual(sums, [50.0] * 8)

    def test_five_hundred_sessions_opened_and_dropped(self):
        with tf.Graph().as_default():
            with tf.device("/job:ps/task:0"):
                x = tf.constant(1.0) + tf1.placeholder_with_default(2.0, [])
            for _ in range(500):
                session = tf1.Session(self.cluster.target, config=config())
                self.assertEqual(session.run(x), 3.0)
                session.close()


if __name__ == "__main__":
    tf1.disable_v2_behavior()
    unittest.main(verbosity=2)
