"""Processes that are killed in the middle of a training come back from increments of checkpoints."""

import json
import os
import signal
import subprocess
import sys
import tempfile
import unittest

from test_cluster_training import free_ports

TASK = """
import json, sys
import tensorbraid as tf

job, index, folder = sys.argv[1], int(sys.argv[2]), sys.argv[4]
cluster = tf.train.ClusterSpec(json.loads(sys.argv[3]))
server = tf.train.Server(cluster, job_name=job, task_index=index)
if job == "ps":
    server.join()
    sys.exit()
with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:0", cluster=cluster)):
    step = tf.train.get_or_create_global_step()
    table = tf.get_embedding_variable("ids", 2, initializer=tf.zeros_initializer(),
                                      partitioner=tf.fixed_size_partitioner(2))
    # Step n takes 1 from the row of key n, so each row shows how often its step is in the state.
    key = tf.reshape(step.read_value(), [1])
    train = tf.train.GradientDescentOptimizer(1.0).minimize(
        tf.reduce_sum(tf.nn.embedding_lookup(table, key)), global_step=step)
    rows = tf.nn.embedding_lookup(table, tf.range(tf.cast(step, tf.int64)))
    count = table.total_count()
with tf.train.MonitoredTrainingSession(master=server.target, checkpoint_dir=folder, save_checkpoint_secs=3600,
                                       save_incremental_checkpoint_secs=0, save_summaries_steps=None,
                                       log_step_count_steps=None) as session:
    while not session.should_stop():
        now, found, number = session.run([step, rows, count])
        good = number == now and bool((found == -1).all()) and len(found) == now
        print("step", now, "good" if good else "bad: %d rows, %s" % (number, found.tolist()), flush=True)
        session.run(train)
"""


class IncrementsTest(unittest.TestCase):
    def start(self, job, index):
        task = subprocess.Popen([sys.executable, "-c", TASK, job, str(index), self.cluster, self.folder], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.tasks.append(task)
        return task

    def await_step(self, worker, last):
        """Reads until a step, and checks that all states on the way are states of whole steps."""
        step = -1
        while step < last:
            words = worker.stdout.readline().split()
            self.assertEqual(words[:1], ["step"])
            self.assertEqual(words[2:], ["good"])
            step = int(words[1])
        return step

    def test_killed_processes_come_back_from_increments(self):
        ports = ["localhost:%d" % port for port in free_ports(3)]
        self.cluster, self.tasks = json.dumps({"ps": ports[:2], "worker": ports[2:]}), []
        with tempfile.TemporaryDirectory() as self.folder:
            try:
                servers = [self.start("ps", 0), self.start("ps", 1)]
                worker = self.start("worker", 0)
                before = self.await_step(worker, 5)
                servers[1].send_signal(signal.SIGKILL)
                servers[1].wait()
                servers[1] = self.start("ps", 1)
                self.await_step(worker, before + 5)
                for task in (*servers, worker):
                    task.send_signal(signal.SIGKILL)
                    task.wait()
                for index in range(2):
                    self.start("ps", index)
                worker = self.start("worker", 0)
                words = worker.stdout.readline().split()
                self.assertEqual([words[0], words[2]], ["step", "good"], words)
                self.assertGreaterEqual(int(words[1]), before + 4)  # the last step may have been killed in its save
                with open(os.path.join(self.folder, "checkpoint")) as file:
                    self.assertIn('model_checkpoint_path: "model.ckpt-0"', file.read())  # no other full checkpoint
            finally:
                for task in self.tasks:
                    task.kill()
                    task.communicate()


if __name__ == "__main__":
    unittest.main()
