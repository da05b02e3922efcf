"""Two workers that describe the tables on a parameter server: alike, or with something else in one of them."""

import json
import os
import subprocess
import sys
import tempfile
import unittest

from test_cluster_training import free_ports

TASK = """
import json, sys
import tensorbraid as tf

job, index, cluster, how = sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]), json.loads(sys.argv[4])
server = tf.train.Server(cluster, job_name=job, task_index=index)
if job == "ps":
    server.join()
    sys.exit()
if "seed" in how:
    tf.set_random_seed(how["seed"])
filter_option = tf.CounterFilter(how["filter"]) if "filter" in how else None
evict_option = tf.GlobalStepEvict(how["steps"]) if "steps" in how else None
option = tf.EmbeddingVariableOption(filter_option=filter_option, evict_option=evict_option)
with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % index, cluster=cluster)):
    table = tf.get_embedding_variable("users", how.get("dim", 4), ev_option=option,
                                      partitioner=tf.fixed_size_partitioner(how.get("parts", 2)))
    rows = tf.nn.embedding_lookup(table, [1, 2, 3])
    step = tf.train.get_or_create_global_step()
    train = tf.no_op()
    if how.get("train", True):
        optimizer = tf.train.AdagradOptimizer(0.1, initial_accumulator_value=how.get("sum", 0.1))
        train = optimizer.minimize(tf.reduce_sum(rows), global_step=step)
    count = table.total_count()
config = tf.ConfigProto(device_filters=["/job:ps", "/job:worker/task:%d" % index])  # the other worker may have ended


def run():
    with tf.train.MonitoredTrainingSession(server.target, is_chief=index == 0, checkpoint_dir=how.get("folder"),
                                           config=config, save_checkpoint_steps=3) as session:
        for _ in range(3):
            session.run([train, rows])
        print("rows", session.run(count), "step", session.run(step), flush=True)
        if how.get("wait"):
            sys.stdin.read()


try:
    run()
except tf.errors.InvalidArgumentError as error:
    print("refused", str(error).replace("\\n", " "), flush=True)
    if how.get("reset"):
        tf.Session.reset(server.target)
        run()
"""


class DescribedTablesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        ports = ["localhost:%d" % port for port in free_ports(3)]
        self.cluster = {"ps": ports[:1], "worker": ports[1:]}
        self.log = os.path.join(self.folder, "log")
        self.ps = self.start("ps", 0)

    def start(self, job, index, **how):
        with open(self.log, "a") as log:
            task = subprocess.Popen([sys.executable, "-c", TASK, job, str(index), json.dumps(self.cluster), json.dumps(how)],
                                    text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log)
        self.addCleanup(self.end, task)
        return task

    @staticmethod
    def end(task):
        task.kill()
        task.communicate()

    def logged(self):
        with open(self.log) as log:
            return log.read()

    def says(self, task):
        """What a task writes before it ends."""
        try:
            output = task.communicate(timeout=100)[0]
        except subprocess.TimeoutExpired:
            self.fail(self.logged())
        self.assertEqual(task.returncode, 0, self.logged())
        return output.rstrip()

    def test_descriptions(self):
        usual = dict(filter=2, steps=1000, seed=5)
        checkpoints = os.path.join(self.folder, "checkpoints")
        chief = self.start("worker", 0, **usual, folder=checkpoints, wait=True)
        self.assertEqual(chief.stdout.readline(), "rows 3 step 3\n", self.logged())

        def worker(**how):
            return self.says(self.start("worker", 1, **{**usual, **how}))

        self.assertEqual(worker(), "rows 3 step 6")
        for how, theirs, ours in (
                (dict(filter=3), "CounterFilter(filter_freq=2)", "CounterFilter(filter_freq=3)"),
                (dict(steps=10), "GlobalStepEvict(steps_to_live=1000)", "GlobalStepEvict(steps_to_live=10)"),
                (dict(sum=0.2), "slot 'users/part_0/Adagrad' that begins with 0.1",
                 "slot 'users/part_0/Adagrad' that begins with 0.2")):
            text = worker(**how).replace("part_1", "part_0")
            self.assertIn(f"growing table 'users/part_0' on ps/0 was initialized or restored with {theirs}, but this "
                          f"program describes it with {ours}. All programs have to describe a table alike.", text)
        self.assertIn("on ps/0 has rows of 4 numbers, but 'users/part_", worker(dim=8))
        self.assertRegex(worker(parts=3), r"on ps/0 holds part \d of 2, and cannot become part \d of 3: give it the same "
                         "partitioner in all programs")
        # A program that only reads needs no optimizer and no eviction, and graphs have seeds of their own.
        reader = self.says(self.start("worker", 1, filter=2, seed=5, train=False))
        self.assertEqual(reader, "rows 3 step 6")
        self.assertNotIn("with other initial rows", self.logged())
        self.assertEqual(worker(seed=6), "rows 3 step 9")
        self.assertEqual(self.logged().count("with other initial rows than the program that has initialized or restored "
                                             "it: the graph has seed 6 and not 5"), 1)

        # The server keeps its values when the chief is killed. What the error says to do changes the table.
        self.end(chief)
        lines = self.says(self.start("worker", 0, filter=3, seed=7, parts=3, reset=True, folder=checkpoints)).splitlines()
        self.assertIn("end them, and reset its container (tf.Session.reset) or restart the parameter servers", lines[0])
        self.assertEqual(lines[1:], ["rows 3 step 6"])


if __name__ == "__main__":
    unittest.main()
