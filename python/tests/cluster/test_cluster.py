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
