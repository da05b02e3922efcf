"""Servers in processes of their own: variables on a parameter server, training from a worker."""

import gc
import os
import subprocess
import sys
import unittest

import tensorbraid as tf
from test_cluster_training import free_ports

TASK = """
import json, sys
sys.path.insert(0, sys.argv[1])
import softmax
import tensorbraid as tf
cluster = tf.train.ClusterSpec(json.loads(sys.argv[2]))
server = tf.train.Server(cluster, job_name=sys.argv[3], task_index=0)
if sys.argv[3] == "ps":
    server.join()
    print("what follows a join is for workers only")
else:
    with tf.device(tf.train.replica_device_setter(cluster=cluster)):
        softmax.run(tf, server.target)
    print([v.device for v in tf.trainable_variables()])
"""
PROGRAMS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "programs")


class ClusterTest(unittest.TestCase):
    def test_a_worker_trains_variables_of_a_parameter_server(self):
        cluster = '{"ps": ["localhost:%d"], "worker": ["localhost:%d"]}' % tuple(free_ports(2))
        tasks = {
            job: subprocess.Popen([sys.executable, "-c", TASK, PROGRAMS, cluster, job], stdout=subprocess.PIPE,
                                  text=True)
            for job in ("ps", "worker")
        }
        try:
            output, _ = tasks["worker"].communicate(timeout=300)
            self.assertEqual(tasks["worker"].returncode, 0)
            said, _ = tasks["ps"].communicate(timeout=300)
            self.assertEqual((tasks["ps"].returncode, said), (0, ""), "a join ends the program with the cluster's work")
        finally:
            for task in tasks.values():
                task.kill()
                task.communicate()
        lines = output.splitlines()
        self.assertEqual(lines[-1], "['/job:ps/task:0', '/job:ps/task:0']")
        self.assertEqual(lines[-2], "1.0 50")

    def test_values_and_gradients_travel_in_the_types_of_the_device_setter(self):
        cluster = {job: ["localhost:%d" % port] for job, port in zip(("ps", "worker"), free_ports(2))}
        servers = [tf.train.Server(cluster, job_name=job, task_index=0) for job in cluster]
        found = []
        for wire in (None, "bfloat16"):
            with tf.Graph().as_default():
                with tf.device(tf.train.replica_device_setter(cluster=cluster, wire=wire)):
                    w = tf.get_variable(f"w_{wire}", [100], initializer=tf.constant_initializer(1.001))
                    read = w * 1.0  # on the worker
                    train = tf.train.GradientDescentOptimizer(1.0).apply_gradients([(tf.fill([100], 0.3333) * 1.0, w)])
                with tf.Session(servers[1].target) as session:
                    session.run(w.initializer)
                    found.append(session.run(read)[0])
                    session.run(train)
                    found.append(session.run(w)[0])
        # bfloat16 rounds 1.001 to 1, and 0.3333 to 0.33398.
        for value, wanted in zip(found, (1.001, 1.001 - 0.3333, 1.0, 1.001 - 0.333984)):
            self.assertAlmostEqual(value, wanted, 6)

    def test_a_cluster_spec_answers_questions(self):
        spec = tf.train.ClusterSpec({"worker": {1: "w1:2222"}, "ps": ["p0:2222", "p1:2222"]})
        self.assertEqual(spec.jobs, ["ps", "worker"])
        self.assertEqual(spec.task_indices("worker"), [1])
        self.assertEqual(spec.task_address("ps", 1), "p1:2222")
        with self.assertRaises(ValueError):
            spec.task_address("ps", 2)

    def test_a_server_that_the_program_forgets_goes_on(self):
        def target():
            return tf.train.Server.create_local_server().target

        address = target()
        gc.collect()
        with tf.Graph().as_default(), tf.Session(address) as session:
            self.assertEqual(session.run(tf.constant(3)), 3)

    def test_a_wrong_task_is_an_error_in_words(self):
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "wroker"):
            tf.train.Server({"worker": ["localhost:0"]}, job_name="wroker", task_index=0)


if __name__ == "__main__":
    unittest.main()
