"""Growing tables on parameter servers that are killed, in steps, in saves and between them, against a dictionary."""

import copy
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import unittest

import tensorbraid as tf
from test_cluster_training import free_ports

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from test_random_tables import KEYS, Model, Settings, Training  # noqa: E402

SERVER = """
import json, sys
import tensorbraid as tf
tf.train.Server(json.loads(sys.argv[1]), job_name="ps", task_index=int(sys.argv[2])).join()
"""


class Cluster:
    """Parameter servers in processes of their own, and this process as the worker."""

    def __init__(self, servers):
        ports = [f"localhost:{port}" for port in free_ports(servers + 1)]
        self.spec = {"ps": ports[:servers], "worker": ports[servers:]}
        self.tasks = [self.start(index) for index in range(servers)]
        self.worker = tf.train.Server(self.spec, job_name="worker", task_index=0)
        self.device = tf.train.replica_device_setter(ps_tasks=servers, worker_device="/job:worker/task:0")

    def start(self, index):
        return subprocess.Popen([sys.executable, "-c", SERVER, json.dumps(self.spec), str(index)],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def kill(self, index):
        self.tasks[index].send_signal(signal.SIGKILL)
        self.tasks[index].wait()

    def end(self):
        for index in range(len(self.tasks)):
            self.kill(index)


class Life:
    """What has been saved in a folder, and what the dictionary was then."""

    def __init__(self, folder):
        self.folder, self.path = folder, os.path.join(folder, "model")
        self.saved = self.full = None
        self.listed = self.lists()

    def latest(self):
        return tf.train.latest_checkpoint(self.folder)

    def lists(self):
        """What identifies the latest full checkpoint and the latest increment."""
        paths = [tf.train.latest_checkpoint(os.path.join(self.folder, name))
                 for name in ("", ".incremental_checkpoint")]
        return [path and (path, os.stat(path + ".index").st_mtime_ns) for path in paths]

    def follow(self, as_full, as_increment):
        """Takes over the state that a save has left, whether it has ended or was killed."""
        now = self.lists()
        if now[0] != self.listed[0]:
            self.saved = self.full = as_full
        elif now[1] != self.listed[1]:
            self.saved = as_increment
        self.listed = now


class KilledTest(unittest.TestCase):
    def save(self, training, life, model, as_full, during=lambda done: None):
        """Saves; meanwhile calls during(done), where done() says whether the save has ended. Returns its error."""
        after_full = copy.deepcopy(model)
        after_full.evict_by_age()
        states = after_full.saved(None), model.saved(life.full)
        errors = []

        def work():
            try:
                saver = training.saver
                (saver.save if as_full else saver.incremental_save)(training.session, life.path, model.step)
            except tf.errors.OpError as error:
                errors.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        during(lambda: not thread.is_alive())
        thread.join()
        before = life.listed
        life.follow(*states)
        if life.listed[0] != before[0]:
            model.evict_by_age()
        if not errors:
            self.assertNotEqual(life.listed, before)
        return errors

    def one_life(self, rng, cluster, life, settings, parts, how):
        """Restores, trains, and kills a server: in a step, in a save or between them. Returns its number."""
        training = Training(settings, parts, cluster.worker.target, cluster.device)
        model = Model(settings)
        if life.saved is not None:
            training.saver.restore(training.session, life.latest())
            model = copy.deepcopy(life.saved)
        self.check(training, model)

        def step():
            keys = [rng.choice(KEYS) for _ in range(rng.randrange(1, 7))]
            factors = [0.5 * rng.randrange(1, 5) for _ in keys]
            training.session.run(training.train, {training.keys: keys, training.factors: factors})
            model.update(keys, factors)

        for _ in range(rng.randrange(8, 16)):
            if rng.random() < 0.7:
                step()
            else:
                self.assertEqual(self.save(training, life, model, rng.random() < 0.3), [])
        self.check(training, model)
        victim = rng.randrange(len(cluster.tasks))
        step()
        if how == "between":
            cluster.kill(victim)
        elif how == "save":
            begun = set(self.files(life.folder))

            def kill(done):
                while not done() and set(self.files(life.folder)) == begun:
                    pass
                cluster.kill(victim)

            self.save(training, life, model, rng.random() < 0.3, kill)
        else:
            killer = threading.Thread(target=cluster.kill, args=(victim,))
            killer.start()
            with self.assertRaises(tf.errors.OpError):
                while True:
                    step()
            killer.join()
        with self.assertRaises(tf.errors.OpError):  # a table on the lost server is not taken for an empty one
            for _ in range(2):
                training.read()
        training.session.close()
        return victim

    def check(self, training, model):
        self.assertEqual(training.read(), {key: model.read(key) for key in KEYS})
        self.assertEqual(sum(training.session.run(training.counts)), len(model.rows))

    def files(self, folder):
        return [name for _, folders, files in os.walk(folder) for name in folders + files]

    def run_one(self, seed, kind, lives):
        rng = random.Random(seed)
        settings, cluster = Settings(rng, kind), None
        with tempfile.TemporaryDirectory() as folder:
            life = Life(folder)
            try:
                for number in range(lives):
                    if cluster is None:
                        cluster = Cluster(rng.randrange(1, 4))
                        parts = max(rng.randrange(1, 5), len(cluster.tasks))
                    victim = self.one_life(rng, cluster, life, settings, parts,
                                           ("save", "step", "between")[(seed + number) % 3])
                    if rng.random() < 0.4:  # the others keep their parts
                        cluster.tasks[victim] = cluster.start(victim)
                    else:
                        cluster.end()
                        cluster = None
            finally:
                if cluster is not None:
                    cluster.end()

    def test_killed_servers(self):
        for seed, kind in enumerate(("none", "steps", "norm")):
            with self.subTest(seed=seed, kind=kind):
                self.run_one(seed, kind, 3)

    def test_a_training_whose_lookups_run_ahead(self):
        """The batches are the numbers from 0 on; each step takes 1 from the row of its number and of its turn."""
        steps, cluster = 30, Cluster(2)
        config = tf.ConfigProto()
        config.graph_options.optimizer_options.do_smart_stage = True
        try:
            with tempfile.TemporaryDirectory() as folder, tf.Graph().as_default():
                with tf.device(cluster.device):
                    number = tf.data.make_one_shot_iterator(tf.data.Dataset.range(steps)).get_next()
                    number = tf.staged(tf.cast(number, tf.int64))
                    table = tf.get_embedding_variable("t", 1, initializer=tf.zeros_initializer(),
                                                      partitioner=tf.fixed_size_partitioner(2))
                    row = tf.nn.embedding_lookup(table, tf.stack([number, number % 2 + 1000]))
                    step = tf.train.get_or_create_global_step()
                    train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(row), global_step=step)
                seen = []
                with tf.train.MonitoredTrainingSession(
                        cluster.worker.target, config=config, checkpoint_dir=folder, save_checkpoint_secs=3600,
                        save_incremental_checkpoint_secs=0, save_summaries_steps=None,
                        log_step_count_steps=None) as session:
                    while not session.should_stop():
                        seen.append(int(session.run([number, train])[0]))
                        if len(seen) in (10, 20):
                            index = len(seen) // 10 - 1
                            cluster.kill(index)
                            cluster.tasks[index] = cluster.start(index)
                reader = tf.train.load_checkpoint(tf.train.latest_checkpoint(folder))
                found = {}
                for part in range(2):
                    for key, value in zip(reader.get_tensor(f"t/part_{part}-keys"),
                                          reader.get_tensor(f"t/part_{part}-values")):
                        found[int(key)] = -float(value[0])
                # As without tf.staged, the input begins again in the session that follows a loss, and no step is lost.
                batches = [*range(10), *range(10), *range(steps)]
                self.assertEqual(seen, batches)
                wanted = {n: float(batches.count(n)) for n in range(steps)}
                self.assertEqual(found, wanted | {1000: len(batches) / 2, 1001: len(batches) / 2})
        finally:
            cluster.end()


if __name__ == "__main__":
    unittest.main()
