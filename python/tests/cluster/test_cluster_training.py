"""Training on a cluster: a parameter server and two workers, asynchronous and synchronous, as public programs do it."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

TASK = """
import json, sys
import numpy as np
import tensorbraid as tf

how, job, index, folder = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[5]
cluster = tf.train.ClusterSpec(json.loads(sys.argv[4]))
server = tf.train.Server(cluster, job_name=job, task_index=index)
if job == "ps":
    server.join()
    sys.exit()
is_chief = index == 0
with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % index, cluster=cluster)):
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.placeholder(tf.float32, [None, 1])
    w = tf.Variable(tf.zeros([2, 1]), name="w")
    b = tf.Variable(tf.zeros([1]), name="b")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    step = tf.train.get_or_create_global_step()
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    sums = {}
    if "sums" in how:
        sums = dict(sum_per_host=True, cluster=cluster, worker_device="/job:worker/task:%d" % index)
    if "sync" in how:
        optimizer = tf.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=2, total_num_replicas=2, **sums)
    elif "sums" in how:
        optimizer = tf.train.AsyncReplicasOptimizer(optimizer, "max_age=100", index, **sums)
    train = optimizer.minimize(loss, global_step=step)
random = np.random.RandomState(index)
# With synchronous replicas the chief takes all tokens while it is alone. So it may train to the end, and close the queue
# of tokens, before the other worker has made its first step.
value, now = 0.0, 0


def batch():
    features = random.rand(16, 2).astype(np.float32)
    return {x: features, y: features @ np.array([[2.0], [-1.0]], np.float32) + 0.5}


if how.startswith("monitored"):
    hooks = [tf.train.StopAtStepHook(last_step=200)]
    if "sync" in how:
        hooks.append(optimizer.make_session_run_hook(is_chief))
    elif "sums" in how:
        hooks.append(optimizer.make_session_run_hook())
    with tf.train.MonitoredTrainingSession(master=server.target, is_chief=is_chief, checkpoint_dir=folder,
                                           hooks=hooks, save_checkpoint_secs=60) as session:
        while not session.should_stop():
            _, value, now = session.run([train, loss, step], feed_dict=batch())
elif how.startswith("scaffold"):
    # All of the replica's set-up is written out, as in programs from before the hook.
    chief = optimizer.chief_init_op if is_chief else optimizer.local_step_init_op
    scaffold = tf.train.Scaffold(init_op=tf.global_variables_initializer(), local_init_op=chief,
                                 ready_for_local_init_op=optimizer.ready_for_local_init_op)
    hooks = [optimizer.make_session_run_hook(is_chief), tf.train.StopAtStepHook(last_step=200)]
    with tf.train.MonitoredTrainingSession(server.target, is_chief, folder, scaffold=scaffold, hooks=hooks) as session:
        while not session.should_stop():
            _, value, now = session.run([train, loss, step], feed_dict=batch())
elif how.startswith("replica"):
    options = {}
    if "sync" in how:
        options = dict(local_init_op=optimizer.chief_init_op if is_chief else optimizer.local_step_init_op,
                       ready_for_local_init_op=optimizer.ready_for_local_init_op)
        chief_queue_runner = optimizer.get_chief_queue_runner()
        sync_init_op = optimizer.get_init_tokens_op()
    sv = tf.train.Supervisor(is_chief=is_chief, logdir=folder, init_op=tf.global_variables_initializer(),
                             recovery_wait_secs=1, global_step=step, **options)
    sess = sv.prepare_or_wait_for_session(server.target)
    if is_chief and "sync" in how:
        sess.run(sync_init_op)
        sv.start_queue_runners(sess, [chief_queue_runner])
    while now < 200:
        try:
            _, value = sess.run([train, loss], feed_dict=batch())
            now = sess.run(step)  # after the step, as below
        except tf.errors.OutOfRangeError:
            if is_chief or "sync" not in how:
                raise
            break
    # The program ends without a word to the supervisor.
else:
    supervisor = tf.train.Supervisor(is_chief=is_chief, logdir=folder, global_step=step, save_model_secs=60)
    with supervisor.managed_session(server.target) as session:
        if is_chief and "sync" in how:
            supervisor.start_queue_runners(session, [optimizer.get_chief_queue_runner()])
            session.run(optimizer.get_init_tokens_op())
        while not supervisor.should_stop():
            _, value = session.run([train, loss], feed_dict=batch())
            # After the step: within it, one worker may still see the global step of before when the other one does not.
            # The first one would then wait for a gradient of the other, which has ended.
            now = session.run(step)
            if now >= 200:
                break
print("ended", float(value), int(now), sorted({v.device for v in tf.trainable_variables()}))
"""

WAITING = """
import sys
import tensorbraid as tf

v = tf.Variable(1.0)
step = tf.train.get_or_create_global_step()
queue = tf.FIFOQueue(1, [tf.float32], [[]])
value = queue.dequeue()
try:
    if sys.argv[1] == "run":
        with tf.Session() as session:
            print("ready", flush=True)
            session.run(value)
    elif sys.argv[1] == "monitored":
        with tf.train.MonitoredTrainingSession() as session:
            print("ready", flush=True)
            session.run(value)
    elif sys.argv[1] == "no server":
        print("ready", flush=True)
        tf.Session("grpc://localhost:%s" % sys.argv[2]).run(v)
    elif sys.argv[1] == "no server for training":
        print("ready", flush=True)
        tf.train.MonitoredTrainingSession("grpc://localhost:%s" % sys.argv[2])
    elif sys.argv[1] == "coordinator":
        print("ready", flush=True)
        tf.train.Coordinator().wait_for_stop()
    else:
        server = tf.train.Server({"ps": ["localhost:0"], "worker": ["localhost:%s" % sys.argv[2]]}, "ps", 0)
        print("ready", flush=True)
        server.join()
except KeyboardInterrupt:
    print("interrupted")
"""


held = []  # sockets


def free_ports(count):
    """Ports that no other program gets until this one ends. A server that sets SO_REUSEADDR can listen there."""
    for _ in range(count):
        held.append(socket.socket())
        held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held[-1].bind(("localhost", 0))
    return [each.getsockname()[1] for each in held[len(held) - count:]]


class ClusterTrainingTest(unittest.TestCase):
    def train(self, how):
        """Runs the program on a cluster. Returns the last lines of the two workers, as lists of words."""
        ports = ["localhost:%d" % port for port in free_ports(3)]
        cluster = json.dumps({"ps": ports[:1], "worker": ports[1:]})
        with tempfile.TemporaryDirectory() as folder:
            tasks = [
                subprocess.Popen([sys.executable, "-c", TASK, how, job, index, cluster, folder], text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE)
                for job, index in (("ps", "0"), ("worker", "0"), ("worker", "1"))
            ]
            try:
                outputs = [task.communicate(timeout=300) for task in tasks]
            finally:
                for task in tasks:
                    task.kill()
                    task.communicate()
            for task, (_, log) in zip(tasks, outputs):
                self.assertEqual(task.returncode, 0, log)
                self.assertNotIn("Traceback", log)
                self.assertNotIn("leaked", log)
            files = os.listdir(folder)
            self.assertIn("checkpoint", files)
            with open(os.path.join(folder, "checkpoint"), encoding="utf-8") as file:
                self.saved_step = int(re.match(r'model_checkpoint_path: ".*-(\d+)"', file.read())[1])
        self.assertTrue(any(name.startswith("events.out.tfevents") for name in files))
        return [output.splitlines()[-1] for output, _ in outputs[1:]]

    def check(self, how):
        lines = self.train(how)
        for line in lines:
            words = line.split()
            self.assertEqual(words[0], "ended")
            # A synchronous worker's last step may be an early one, if the chief has taken all tokens since.
            if line is lines[0] or int(words[2]) >= 100:
                # It begins at 1.6. If an asynchronous worker's first gradient is applied last, it ends at 0.2.
                self.assertLess(float(words[1]), 0.05 if "sync" in how else 0.5)
            self.assertIn("/job:ps/task:0", line)
        # Hooks see the global step after the chief's last step, and save it. What this step itself fetched is older by
        # as many steps as the other worker has made meanwhile.
        by_hooks = how.startswith(("monitored", "scaffold"))
        self.assertGreaterEqual(self.saved_step if by_hooks else int(lines[0].split()[2]), 200)
        return lines

    def test_monitored_asynchronous(self):
        self.check("monitored")

    def test_monitored_synchronous(self):
        self.check("monitored_sync")

    def test_monitored_synchronous_with_sums_per_host(self):
        self.check("monitored_sync_sums")

    def test_monitored_asynchronous_with_sums_per_host(self):
        self.check("monitored_sums")

    def test_supervised_synchronous_with_sums_per_host(self):
        self.check("supervised_sync_sums")

    def test_monitored_synchronous_with_a_scaffold(self):
        self.check("scaffold_sync")

    def test_supervised_asynchronous_without_an_end(self):
        self.check("replica")

    def test_supervised_synchronous_without_an_end(self):
        self.check("replica_sync")

    def test_supervised_asynchronous(self):
        self.check("supervised")

    def test_supervised_synchronous(self):
        self.check("supervised_sync")


class InterruptTest(unittest.TestCase):
    def interrupt(self, what):
        """Sends SIGINT to a program that waits. It must end, with KeyboardInterrupt; without, it would wait for ever."""
        task = subprocess.Popen([sys.executable, "-c", WAITING, what, str(free_ports(1)[0])], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            self.assertEqual(task.stdout.readline(), "ready\n")
            task.send_signal(signal.SIGINT)
            output, log = task.communicate(timeout=120)
        finally:
            task.kill()
            task.communicate()
        self.assertEqual(output, "interrupted\n", log)
        self.assertEqual(task.returncode, 0, log)

    def test_ctrl_c_ends_a_step(self):
        self.interrupt("run")

    def test_ctrl_c_ends_a_step_of_a_training_session(self):
        self.interrupt("monitored")

    def test_ctrl_c_ends_the_wait_for_a_server(self):
        self.interrupt("no server")
        self.interrupt("no server for training")

    def test_ctrl_c_ends_the_wait_of_a_coordinator(self):
        self.interrupt("coordinator")

    def test_ctrl_c_ends_a_server_that_joins(self):
        self.interrupt("join")


if __name__ == "__main__":
    unittest.main()
