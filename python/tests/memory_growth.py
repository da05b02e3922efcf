"""Makes graphs with variables, cells, hooks and closures that form cycles, and sessions, and drops them again.

usage: memory_growth.py [ROUNDS=10000]

Prints the resident memory at some rounds. Fails if it grows by more than 40 MiB after the first tenth of the rounds.
"""

import gc
import sys

import numpy as np

import tensorbraid as tf


def resident():
    """The resident memory of this process, in MiB."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096 / 2**20


class Recorder(tf.train.SessionRunHook):
    """Refers to tensors of the graph, and is referred to by its collections."""

    def __init__(self, loss, step):
        self.loss, self.steps = loss, []
        tf.add_to_collection("recorders", self)
        self.every = lambda: (self, step)

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        self.steps.append(run_values.results)


def train():
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3, 4])
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.LSTMCell(5) for _ in range(2)])
        outputs, _ = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
        loss = tf.reduce_mean(tf.square(tf.layers.dense(outputs[:, -1], 1)))
        step = tf.train.get_or_create_global_step()
        train_op = tf.train.AdamOptimizer().minimize(loss, global_step=step)
        hook = Recorder(loss, step)
        graph.of_program = [graph, hook, lambda: graph]
        with tf.train.MonitoredTrainingSession(hooks=[hook]) as session:
            session.run(train_op, {x: np.ones([2, 3, 4])})


def pipeline():
    with tf.Graph().as_default() as graph:
        offset = tf.constant(1, tf.int64)
        data = tf.data.Dataset.range(10).map(lambda i: i + offset).shuffle(5).batch(2).prefetch(1)
        following = tf.data.make_one_shot_iterator(data).get_next()
        total = tf.while_loop(lambda i, s: i < 3, lambda i, s: (i + 1, s + tf.cond(i > 1, lambda: i, lambda: i * 2)),
                              [0, 0])
        graph.add_to_collection("self", graph)
        session = tf.Session()
        session.run([following, total])
        if np.random.rand() < 0.5:
            session.close()  # the others are dropped as they are


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10000
    tf.logging.set_verbosity(tf.logging.FATAL)
    begin, most = None, max(1, rounds // 10)
    for number in range(rounds):
        (train if number % 2 else pipeline)()
        if number % 25 == 24:
            gc.collect()
        if number == most:
            begin = resident()
        if number % most == 0:
            print(f"round {number}: {resident():.1f} MiB", flush=True)
    gc.collect()
    grown = resident() - begin
    print(f"after {rounds} rounds: {resident():.1f} MiB, {grown:.1f} MiB more than after {most}")
    sys.exit(0 if grown <= 40 else 1)


main()
