#!/usr/bin/env python3
"""Trains a CRNN under tf.compat.v1.train.Supervisor, as users did: by one replica, by two replicas asynchronously and
synchronously, and by a chief that is killed and started again."""
import argparse
import os
import subprocess
import sys
import tempfile
import threading
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

from cluster import Cluster, program_path
from models import Crnn, train_op
from replicas import GRACE_SECONDS, Threads, config

tf1 = tf.compat.v1


class Replica:
    """One replica's graph and Supervisor. `setter` is the device function of its model; the chief writes to `logdir`."""

    def __init__(self, setter, index=0, replicas=1, sync=False, logdir=None, save_model_secs=1):
        self.chief, self.losses, self.errors = index == 0, [], []
        self._random = np.random.RandomState(index)
        self._graph = tf.Graph()
        with self._graph.as_default(), tf1.device(setter):
            self.step = tf1.train.get_or_create_global_step()
            self.model = Crnn()
            optimizer = tf1.train.AdadeltaOptimizer(1.0, epsilon=1e-6)
            if sync:
                optimizer = tf1.train.SyncReplicasOptimizer(optimizer, replicas_to_aggregate=replicas,
                                                            total_num_replicas=replicas)
            self.train, _ = train_op(self.model.loss, optimizer, 3.0, self.step)
            local_init = tf1.group(tf1.local_variables_initializer(), tf1.tables_initializer())
            arguments = {"local_init_op": local_init}
            self._queue_runner = None
            if sync:
                self._queue_runner = optimizer.get_chief_queue_runner()
                # Tokens at the start let replicas compute one gradient more than is used. A single replica gets none,
                # so that its steps are the same in every run.
                self._init_tokens = optimizer.get_init_tokens_op(-1 if replicas > 1 else 0)
                tokens = optimizer._sync_token_queue  # pylint: disable=protected-access
                self._close_tokens = tokens.close(cancel_pending_enqueues=True)
                arguments = {"local_init_op": tf1.group(local_init, optimizer.chief_init_op if self.chief else
                                                        optimizer.local_step_init_op),
                             "ready_for_local_init_op": optimizer.ready_for_local_init_op}
            kernel = next(v for v in tf1.trainable_variables() if v.op.name == "conv1/kernel")
            tf1.summary.histogram("kernel", kernel)
            loaded = tf1.placeholder(tf.float32, kernel.shape)
            load = tf1.assign(kernel, loaded)
            # These values stand for those of a model that was trained before.
            values = np.random.RandomState(3).uniform(-0.5, 0.5, kernel.shape.as_list())
            self.supervisor = tf1.train.Supervisor(
                is_chief=self.chief, init_fn=lambda session: session.run(load, {loaded: values}), logdir=logdir,
                global_step=self.step, save_model_secs=save_model_secs, save_summaries_secs=1, recovery_wait_secs=1,
                stop_grace_secs=GRACE_SECONDS, **arguments)

    def run(self, target, steps, together=None, told=lambda step, loss: None):
        """Trains until the global step is `steps`. The first step waits for the barrier `together`. Calls
        told(global step, loss) after each step of this replica."""
        with self._graph.as_default():
            session = self.supervisor.prepare_or_wait_for_session(target, config(), start_standard_services=self.chief)
        if together is not None:
            together.wait(100)
        if self._queue_runner is not None and self.chief:
            self.supervisor.start_queue_runners(session, [self._queue_runner])
            session.run(self._init_tokens)
        step = session.run(self.step)
        try:
            while step < steps and not self.supervisor.should_stop():
                feeds = self.model.batch(self._random)
                _, loss = session.run([self.train, self.model.loss], feeds)
                step = session.run(self.step)
                self.losses.append(float(loss))
                told(step, loss)
            feeds = {**self.model.batch(np.random.RandomState(77), 20), self.model.training: False}
            self.errors = session.run([self.model.loss, self.model.error], feeds)
            if self.chief and self.supervisor.save_path is not None:
                self.supervisor.saver.save(session, self.supervisor.save_path, global_step=self.step)
            if self._queue_runner is not None and self.chief:
                # The other replica may wait for tokens of a step that never comes.
                session.run(self._close_tokens)
        # The chief has ended and closed the token queue, in which no token is left.
        except (tf.errors.OutOfRangeError, tf.errors.CancelledError):
            if self.chief:
                raise
        self.supervisor.stop(ignore_live_threads=True)
        session.close()


def setter_of(spec, index):
    return tf1.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=tf1.train.ClusterSpec(spec))


class CrnnTraining(unittest.TestCase):
    def setUp(self):
        self.cluster = Cluster(program_path())
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.logdir = folder.name

    def tearDown(self):
        dead = self.cluster.dead()
        self.cluster.stop()
        self.assertEqual(dead, [], self.cluster.log())

    def target(self, index):
        return self.cluster.tasks["worker"][index].target

    def train_alone(self, sync):
        steps = 12
        reference = Replica("/cpu:0", sync=sync, logdir=self.logdir + "/theirs", save_model_secs=0)
        reference.run("", steps)
        ours = Replica(setter_of(self.cluster.spec, 0), sync=sync, logdir=self.logdir + "/ours", save_model_secs=0)
        ours.run(self.target(0), steps)
        self.assertEqual((len(ours.losses), len(reference.losses)), (steps, steps))
        np.testing.assert_allclose(ours.losses, reference.losses, rtol=5e-3)
        np.testing.assert_allclose(ours.errors, reference.errors, rtol=2e-2)
        checkpoints = [tf1.train.load_checkpoint(self.logdir + folder) for folder in ("/ours", "/theirs")]
        for reader in checkpoints:
            self.assertEqual(reader.get_tensor("global_step"), steps)
        self.assertEqual(*[reader.get_variable_to_shape_map() for reader in checkpoints])
        for folder in ("/ours", "/theirs"):
            self.assertIn("kernel", self.tags_in(self.logdir + folder))

    def tags_in(self, logdir):
        return {value.tag for name in os.listdir(logdir) if "tfevents" in name
                for event in tf1.train.summary_iterator(os.path.join(logdir, name)) for value in event.summary.value}

    def test_one_replica_has_the_losses_of_tensorflow(self):
        self.train_alone(sync=False)

    def test_one_synchronous_replica_has_the_losses_of_tensorflow(self):
        self.train_alone(sync=True)

    def train_together(self, sync, steps):
        replicas = [Replica(setter_of(self.cluster.spec, i), i, 2, sync, self.logdir if i == 0 else None) for i in range(2)]
        together = threading.Barrier(len(replicas))
        threads = Threads()
        for i, replica in enumerate(replicas):
            threads.start(replica.run, self.target(i), steps, together)
        threads.join()
        for replica in replicas:
            self.assertGreater(len(replica.losses), steps // 8)
            self.assertLess(np.mean(replica.losses[-5:]), 0.7 * np.mean(replica.losses[:3]))
        self.assertLess(replicas[0].errors[1], 0.9)
        return replicas

    def test_two_asynchronous_replicas_learn(self):
        a, b = self.train_together(sync=False, steps=80)
        self.assertGreaterEqual(len(a.losses) + len(b.losses), 80)

    def test_two_synchronous_replicas_learn(self):
        replicas = self.train_together(sync=True, steps=40)
        # A step takes two gradients. Both may come from one replica.
        self.assertGreaterEqual(sum(len(r.losses) for r in replicas), 2 * 40 - 2)

    def test_a_chief_that_was_killed_goes_on_from_its_checkpoint(self):
        command = [sys.executable, __file__, f"--ps={self.cluster.spec['ps'][0]}", f"--worker={self.cluster.spec['worker'][0]}",
                   f"--logdir={self.logdir}"]

        def chief():
            process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
            self.addCleanup(process.stdout.close)
            self.addCleanup(process.wait)
            self.addCleanup(process.kill)
            return process

        def step_of(line):
            step, loss = line.split()
            return int(step), float(loss)

        first = chief()
        before = []

        def saved_step():
            path = tf1.train.latest_checkpoint(self.logdir)
            return int(tf1.train.load_checkpoint(path).get_tensor("global_step")) if path is not None else 0

        while len(before) < 40 or saved_step() < 20:
            before.append(step_of(first.stdout.readline()))
        first.kill()
        first.wait()
        # The variables on the parameter server are gone, too.
        self.cluster.tasks["ps"][0].restart()
        saved = saved_step()
        second = chief()
        after = [step_of(second.stdout.readline()) for _ in range(10)]
        self.assertEqual([step for step, _ in after], list(range(saved + 1, saved + 11)))
        self.assertLess(np.mean([loss for _, loss in after]), 0.8 * np.mean([loss for _, loss in before[:5]]))


def chief_process():
    """Runs in a process of the last test: a chief that trains until it is killed, and prints every step."""
    parser = argparse.ArgumentParser()
    for name in ("--ps", "--worker", "--logdir"):
        parser.add_argument(name, required=True)
    args = parser.parse_args()
    replica = Replica(setter_of({"ps": [args.ps], "worker": [args.worker]}, 0), logdir=args.logdir)
    replica.run("grpc://" + args.worker, 1000, told=lambda step, loss: print(step, loss, flush=True))


if __name__ == "__main__":
    tf1.disable_v2_behavior()
    if any(a.startswith("--logdir=") for a in sys.argv):
        chief_process()
    else:
        unittest.main(verbosity=2)
