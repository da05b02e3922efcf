"""Models in a cluster: their variables on parameter servers, their steps in a session of a worker."""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from test_layers import KerasTestCase

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "cluster"))
from test_cluster_training import free_ports  # noqa: E402

layers, backend = tf.keras.layers, tf.keras.backend
RANDOM = np.random.RandomState(0)
X, Y = RANDOM.rand(24, 4).astype("f"), RANDOM.rand(24, 3).astype("f")
SETTER = dict(ps_tasks=2, worker_device="/job:worker/task:0")


def mlp(weights=None):
    model = tf.keras.Sequential([layers.Dense(5, activation="relu", input_shape=(4,)), layers.BatchNormalization(),
                                 layers.Dense(3)])
    model.compile(tf.keras.optimizers.Adam(0.01), "mse", metrics=["mae"])
    if weights is not None:
        model.set_weights(weights)
    return model


def trained(weights):
    """What a training gives: by arrays, by a dataset, and then the evaluation and the outputs."""
    model = mlp(weights)
    dataset = tf.data.Dataset.from_tensor_slices((X, Y)).batch(4)
    found = [model.fit(X, Y, batch_size=4, epochs=2, shuffle=False, verbose=0).history["loss"],
             model.fit(dataset, epochs=2, verbose=0, validation_data=(X, Y)).history["val_loss"],
             model.evaluate(X, Y, verbose=0), model.evaluate(dataset, verbose=0), *model.predict(X),
             *model.predict(dataset)]
    return model, np.concatenate([np.ravel(value) for value in found])


class LocalClusterTest(KerasTestCase):
    """A cluster of servers in this process."""

    def setUp(self):
        super().setUp()
        self.workers, self.servers = tf.test.create_local_cluster(num_workers=2, num_ps=2)

    def test_fit_evaluate_and_predict(self):
        weights = mlp().get_weights()
        backend.clear_session()
        _, wanted = trained(weights)
        backend.clear_session()
        backend.set_session(tf.Session(self.workers[0].target))
        with tf.device(tf.train.replica_device_setter(**SETTER)):
            model, found = trained(weights)
        np.testing.assert_allclose(found, wanted, rtol=1e-4)
        self.assertEqual([weight.device for weight in model.weights],
                         [f"/job:ps/task:{index % 2}" for index in (0, 1, 0, 1, 0, 1, 0, 1)])
        self.assertEqual({variable.device for variable in model.optimizer.weights},
                         {"/job:ps/task:0", "/job:ps/task:1"})
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "weights.h5")
            model.save_weights(path)
            model.save_weights(os.path.join(folder, "checkpoint"))
            outputs, saved = model.predict(X), model.get_weights()
            for name in (path, os.path.join(folder, "checkpoint")):
                model.set_weights([value * 0 for value in saved])
                model.load_weights(name)
                np.testing.assert_array_equal(model.predict(X), outputs)
            backend.clear_session()
            local = mlp()
            local.load_weights(path)
            np.testing.assert_allclose(local.predict(X), outputs, rtol=1e-5)

    def test_two_workers_share_the_variables(self):
        backend.set_session(tf.Session(self.workers[0].target))
        with tf.device(tf.train.replica_device_setter(**SETTER)):
            model = mlp()
            model.fit(X, Y, verbose=0)
            outputs = model.predict(X)
            with tf.Session(self.workers[1].target) as session:  # the default session of the block is Keras's, too
                np.testing.assert_allclose(model.predict(X), outputs, rtol=1e-6)
                self.assertIs(backend.get_session(), session)

    def test_a_training_loop_of_the_program(self):
        with tf.device(tf.train.replica_device_setter(**SETTER)):
            x, y = tf.placeholder(tf.float32, [None, 4]), tf.placeholder(tf.float32, [None, 3])
            outputs = layers.Dense(3)(layers.Dense(5, activation="relu")(x))
            loss = tf.keras.losses.MeanSquaredError()(y, outputs)
            metric = tf.keras.metrics.MeanAbsoluteError()
            update = metric.update_state(y, outputs)
            error = metric.result()
            step = tf.train.get_or_create_global_step()
            train = tf.train.AdamOptimizer(0.01).minimize(loss, global_step=step)
        self.assertTrue(all(variable.device.startswith("/job:ps/") for variable in tf.global_variables()))
        hooks = [tf.train.StopAtStepHook(last_step=40)]
        losses = []
        with tf.train.MonitoredTrainingSession(self.workers[0].target, is_chief=True, hooks=hooks) as session:
            while not session.should_stop():
                now, _, _ = session.run([loss, update, train], {x: X, y: Y})
                losses.append(now)
                mean = session.run_step_fn(lambda step_context: step_context.session.run(error))
        self.assertEqual(len(losses), 40)
        self.assertLess(losses[-1], losses[0] / 2)
        self.assertGreater(mean, 0)
        self.assertLess(mean, 1)


TASK = """
import json, sys
import tensorbraid as tf

server = tf.train.Server(json.loads(sys.argv[3]), job_name=sys.argv[1], task_index=int(sys.argv[2]))
print("serves", flush=True)
server.join()
"""

# Trains by `fit` in a session of the worker, and kills a task in the third step. Prints the error.
TRAINING = """
import os, signal, sys
import numpy as np
import tensorbraid as tf

target, victim = sys.argv[1], int(sys.argv[2])
layers = tf.keras.layers


class Kill(tf.keras.callbacks.Callback):
    def on_batch_end(self, batch, logs=None):
        if batch == 2:
            os.kill(victim, signal.SIGKILL)


tf.keras.backend.set_session(tf.Session(target))
with tf.device(tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:0")):
    model = tf.keras.Sequential([layers.Dense(5, input_shape=(4,)), layers.Dense(3)])
    model.compile("sgd", "mse")
    try:
        model.fit(np.ones([40, 4]), np.ones([40, 3]), batch_size=1, verbose=0, callbacks=[Kill()])
    except tf.errors.OpError as error:
        print(type(error).__name__, error)
os._exit(0)  # the session cannot be closed in its cluster
"""

# A training with the library Keras itself, by the runner.
LIBRARY = """
import numpy as np
import tensorflow as tf
import keras
from keras.layers import Dense

cluster = tf.test.create_local_cluster(num_workers=1, num_ps=2)
keras.backend.set_session(tf.Session(cluster[0][0].target))
with tf.device(tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/task:0")):
    model = keras.models.Sequential([Dense(5, activation="relu", input_shape=(4,)), Dense(3)])
    model.compile(keras.optimizers.Adam(0.01), "mse")
    x, y = np.random.rand(40, 4), np.random.rand(40, 3)
    losses = model.fit(x, y, epochs=20, verbose=0).history["loss"]
    assert abs(model.evaluate(x, y, verbose=0) - np.mean((model.predict(x) - y) ** 2)) < 1e-5
    model.save_weights("weights.h5")
    weights = model.get_weights()
    model.set_weights([value * 0 for value in weights])
    model.load_weights("weights.h5")
    assert all((a == b).all() for a, b in zip(model.get_weights(), weights))
print(losses[-1] < losses[0], sorted({weight.device for weight in model.weights}))
"""


class ProcessesTest(unittest.TestCase):
    def tasks(self):
        """Two parameter servers and a worker, as processes, and the target of sessions."""
        ports = [f"localhost:{port}" for port in free_ports(3)]
        cluster = '{"ps": ["%s", "%s"], "worker": ["%s"]}' % tuple(ports)
        tasks = []
        for job, index in (("ps", "0"), ("ps", "1"), ("worker", "0")):
            task = subprocess.Popen([sys.executable, "-c", TASK, job, index, cluster], text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
            self.addCleanup(task.communicate)
            self.addCleanup(task.kill)
            tasks.append(task)
        for task in tasks:
            self.assertEqual(task.stdout.readline(), "serves\n")
        return tasks, f"grpc://{ports[2]}"

    def test_a_task_that_dies_ends_the_training(self):
        for victim, text in ((2, "the master worker/0 at grpc://.* is lost"), (1, "ps/1 .* is gone")):
            with self.subTest(text):
                tasks, target = self.tasks()
                done = subprocess.run([sys.executable, "-c", TRAINING, target, str(tasks[victim].pid)], text=True,
                                      stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
                self.assertRegex(done.stdout, f"(UnavailableError|AbortedError) .*{text}")

    def test_the_library_itself(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "program.py")
            with open(path, "w") as file:
                file.write(LIBRARY)
            done = subprocess.run([sys.executable, "-m", "tensorbraid", path], cwd=folder, stdout=subprocess.PIPE,
                                  stderr=subprocess.PIPE, text=True, timeout=300)
        self.assertEqual(done.stdout, "True ['/job:ps/task:0', '/job:ps/task:1']\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
