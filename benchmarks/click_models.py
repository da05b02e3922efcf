"""Asynchronous training of models for clicks on 1 parameter server and 2 workers: this package beside TensorFlow.

  python benchmarks/click_models.py --tensorflow_python=PATH [--model=deepfm] [--sizes=zoo]

The models are wide and deep (wdl) and DeepFM, with 13 numbers and 26 ids per example; ids follow Zipf's law with the
exponent 1.05 over 1e8 ids. The program is the same for both libraries. In TensorFlow, and here as "static", tables are
variables, with the ids mod their number of rows. "growing" has growing tables. "fed" has no tables: the worker feeds
the numbers that it would look up, so only the dense layers are trained. "gradients" is the same and computes the
gradients of these numbers, too, as a model with tables has to. Each process is new for each measurement.

The same batches are trained twice: from empty tables, so that growing tables make rows (the first quarter of the steps
is not counted), and then with known keys, as a training without end has mostly. Prints steps per second of both workers
together, the time of processors for a step on the server and on a worker, and ratios.
"""

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import time

import numpy as np

COLUMNS, NUMBERS, EXPONENT, KEYS = 26, 13, 1.05, 1e8
SIZES = {"small": {"layers": [64, 32], "dim": 16, "batch": 2048, "rows": 1 << 18},
         "zoo": {"layers": [1024, 512, 256], "dim": 64, "batch": 512, "rows": 1 << 16}}


def library(name):
    """The module `tf` of a library, with TensorFlow 1's names."""
    if name == "tensorbraid":
        import tensorbraid as tf
    else:
        os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
        import tensorflow.compat.v1 as tf
        tf.disable_v2_behavior()
    return tf


class Model:
    """A model's graph for one worker. `tables` is static, growing, fed or gradients."""

    def __init__(self, tf, model, tables, sizes):
        self.tf, self.tables, self.sizes = tf, tables, sizes
        self.ids = tf.placeholder(tf.int64, [COLUMNS, sizes["batch"]])
        self.numbers = tf.placeholder(tf.float32, [sizes["batch"], NUMBERS])
        self.labels = tf.placeholder(tf.float32, [sizes["batch"], 1])
        self.fed = []  # placeholders
        logits = {"wdl": self._wide_deep, "deepfm": self._deepfm}[model]()
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=self.labels, logits=logits))
        step = tf.train.get_or_create_global_step()
        wide = [v for v in tf.trainable_variables() if v.op.name.startswith("wide")]
        deep = [v for v in tf.trainable_variables() if not v.op.name.startswith("wide")]
        train = [tf.train.AdagradOptimizer(0.01).minimize(loss, var_list=deep, global_step=step)]
        if wide:
            train.append(tf.train.FtrlOptimizer(0.01).minimize(loss, var_list=wide))
        if tables == "gradients":
            train += [gradient.op for gradient in tf.gradients(loss, self.fed)]
        self.train = tf.group(*train)

    def _rows(self, name, dim):
        """The rows of all columns, a list of [batch, dim]."""
        tf = self.tf
        if self.tables in ("fed", "gradients"):
            rows = [tf.placeholder(tf.float32, [self.sizes["batch"], dim]) for _ in range(COLUMNS)]
            self.fed += rows
            return rows
        rows = []
        for i in range(COLUMNS):
            if self.tables == "growing":
                rows.append(tf.nn.embedding_lookup(tf.get_embedding_variable(f"{name}/table_{i}", dim), self.ids[i]))
            else:
                table = tf.get_variable(f"{name}/table_{i}", [self.sizes["rows"], dim],
                                        initializer=tf.random_uniform_initializer(-0.01, 0.01))
                rows.append(tf.nn.embedding_lookup(table, tf.floormod(self.ids[i], self.sizes["rows"])))
        return rows

    def _dense(self, name, x, size, relu=True):
        tf = self.tf
        weights = tf.get_variable(f"{name}/weights", [x.shape.as_list()[1], size])
        y = tf.nn.bias_add(tf.matmul(x, weights), tf.get_variable(f"{name}/biases", [size]))
        return tf.nn.relu(y) if relu else y

    def _deep(self, rows):
        x = self.tf.concat([self.numbers, *rows], 1)
        for i, size in enumerate(self.sizes["layers"]):
            x = self._dense(f"deep_{i}", x, size)
        return self._dense("logits", x, 1, relu=False)

    def _wide_deep(self):
        rows = self._rows("deep", self.sizes["dim"])
        return self._deep(rows) + self.tf.add_n(self._rows("wide", 1))

    def _deepfm(self):
        tf = self.tf
        rows = self._rows("factors", self.sizes["dim"])
        total = tf.add_n(rows)
        pairs = tf.square(total) - tf.add_n([tf.square(x) for x in rows])
        return self._deep(rows) + 0.5 * tf.reduce_sum(pairs, 1, keepdims=True) + tf.add_n(self._rows("linear", 1))

    def feeds(self, random):
        """A batch."""
        u = random.uniform(size=(COLUMNS, self.sizes["batch"]))
        ids = (((KEYS ** (1 - EXPONENT) - 1) * u + 1) ** (1 / (1 - EXPONENT))).astype(np.int64)
        feeds = {self.numbers: random.uniform(size=self.numbers.shape.as_list()).astype(np.float32),
                 self.labels: (random.uniform(size=self.labels.shape.as_list()) < 0.3).astype(np.float32)}
        if not self.fed:
            feeds[self.ids] = ids
        for placeholder in self.fed:
            feeds[placeholder] = random.uniform(-0.01, 0.01, placeholder.shape.as_list()).astype(np.float32)
        return feeds


def run_task(flags):
    """Is a parameter server, or a worker that prints its steps per second as a line of JSON."""
    tf = library(flags.library)
    job, task = flags.task.split("/")
    server = tf.train.Server(tf.train.ClusterSpec(flags.cluster), job_name=job, task_index=int(task))
    if job == "ps":
        server.join()
    with tf.device(tf.train.replica_device_setter(cluster=tf.train.ClusterSpec(flags.cluster),
                                                  worker_device=f"/job:worker/task:{task}")):
        model = Model(tf, flags.model, flags.tables, SIZES[flags.sizes])
        started = tf.get_variable("started", [], initializer=tf.zeros_initializer(), trainable=False)
        start = started.assign_add(1)
    random = np.random.RandomState(int(task))
    batches = [model.feeds(random) for _ in range(flags.steps)]
    results = {}
    with tf.train.MonitoredTrainingSession(server.target, is_chief=task == "0") as session:
        for number, (name, skipped) in enumerate({"empty": flags.steps // 4, "known": 0}.items()):
            session.run(start)
            while session.run(started) < 2 * (number + 1):  # the other worker makes its batches, or is not done yet
                time.sleep(0.05)
            for feeds in batches[:skipped]:
                session.run(model.train, feeds)
            begin, worker, server_s = time.perf_counter(), time.process_time(), processor_seconds(flags.server)
            for feeds in batches[skipped:]:
                session.run(model.train, feeds)
            took = time.perf_counter() - begin
            steps = flags.steps - skipped
            results[name] = {"steps_per_s": steps / took, "worker_ms": 1e3 * (time.process_time() - worker) / steps,
                             # The other worker has made about as many steps meanwhile.
                             "server_ms": 1e3 * (processor_seconds(flags.server) - server_s) / (2 * steps)}
    print(json.dumps(results), flush=True)


def processor_seconds(process):
    """The time of processors that a process has used."""
    with open(f"/proc/{process}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def free_address():
    with socket.socket() as listener:
        listener.bind(("localhost", 0))
        return f"localhost:{listener.getsockname()[1]}"


def measure(python, name, tables, flags):
    """What workers say about both passes, with new processes: the sum of their speeds, and means of their times."""
    cluster = {"ps": [free_address()], "worker": [free_address(), free_address()]}
    command = [python, __file__, f"--library={name}", f"--tables={tables}", f"--model={flags.model}",
               f"--sizes={flags.sizes}", f"--steps={flags.steps}", f"--cluster={json.dumps(cluster)}"]
    tasks = []
    for task in ("ps/0", "worker/0", "worker/1"):
        server = [f"--server={tasks[0].pid}"] if tasks else []
        tasks.append(subprocess.Popen(command + server + [f"--task={task}"], stdout=subprocess.PIPE,
                                      stderr=subprocess.DEVNULL, text=True))
    try:
        lines = [task.communicate()[0] for task in tasks[1:]]
        if any(task.returncode for task in tasks[1:]):
            sys.exit("a worker failed; run it alone to see why: " + " ".join(command))
        first, second = (json.loads(line.splitlines()[-1]) for line in lines)
        return {key: {what: (of[what] + second[key][what]) / (1 if what == "steps_per_s" else 2) for what in of}
                for key, of in first.items()}
    finally:
        for task in tasks:
            task.kill()
            task.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tensorflow_python", help="a Python that has TensorFlow; without it, this package alone")
    parser.add_argument("--model", choices=["wdl", "deepfm"], default="wdl")
    parser.add_argument("--sizes", choices=list(SIZES), default="small")
    parser.add_argument("--steps", type=int, default=120, help="of each worker; the first quarter is not counted")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--library", choices=["tensorbraid", "tensorflow"], help="is one process of a measurement")
    parser.add_argument("--tables", choices=["static", "growing", "fed", "gradients"], default="growing")
    parser.add_argument("--task", help="of a process of a measurement: worker/1")
    parser.add_argument("--cluster", type=json.loads)
    parser.add_argument("--server", type=int, help="the process of the parameter server, for a worker")
    parser.add_argument("--kinds", default="growing,static,fed,gradients", help="of tables that this package is measured with")
    flags = parser.parse_args()
    if flags.task:
        run_task(flags)
        return
    kinds = [(sys.executable, "tensorbraid", tables) for tables in flags.kinds.split(",")]
    if flags.tensorflow_python:
        kinds.append((flags.tensorflow_python, "tensorflow", "static"))
    titles = {"empty": "from empty tables", "known": "with known keys"}
    speeds = {key: {} for key in titles}
    for _ in range(flags.rounds):
        for kind in kinds:
            for key, of in measure(*kind, flags).items():
                speeds[key].setdefault(kind[1:], []).append(of["steps_per_s"])
                print(f"{flags.model}, {flags.sizes}, {titles[key]:>17}: {kind[1]:>11}, {kind[2]:>9}: "
                      f"{of['steps_per_s']:7.1f} steps/s; processors: {of['server_ms']:6.1f} ms a step on the server, "
                      f"{of['worker_ms']:6.1f} on a worker", flush=True)
    for key, title in titles.items():
        growing = speeds[key].pop(("tensorbraid", "growing"), None)
        if growing is None:
            break
        for kind, of_kind in speeds[key].items():
            ratio = statistics.median(growing) / statistics.median(of_kind)
            print(f"{title}, growing tables make {ratio:.2f} times the steps of {kind[0]}, {kind[1]}")


if __name__ == "__main__":
    main()
