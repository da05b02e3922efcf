#!/usr/bin/env python3
"""Sharded checkpoints with a partitioned variable: TensorFlow reads the checkpoints of our C++ API, and our C++ API
reads those of TensorFlow.

    python tests/interop/sharded_checkpoints.py PROGRAM

PROGRAM is the program of sharded_checkpoints.cc, which has the same values.
"""
import os
import subprocess
import sys
import tempfile
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

from cluster import Cluster, program_path

tf1 = tf.compat.v1


def filled(bits, dtype, shape, factor):
    count = int(np.prod(shape))
    return (np.arange(1, count + 1, dtype=bits) * np.array(factor, bits)).view(dtype).reshape(shape)


VALUES = {"table": filled(np.uint32, np.float32, (7, 3), 2654435761),
          "numbers": filled(np.uint64, np.float64, (4,), 0x9E3779B97F4A7C15),
          "count": filled(np.uint64, np.int64, (), 0xFFFFFB73AC2A3000)}


class ShardedCheckpoints(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="interop_sharded_")
        self.addCleanup(folder.cleanup)
        self.prefix = os.path.join(folder.name, "model")

    def ours(self, what, ps, parts):
        with Cluster(program_path(), {"ps": ps, "worker": 1}) as cluster:
            done = subprocess.run([PROGRAM, what, cluster.target, str(ps), str(parts), self.prefix], text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
            self.assertEqual(done.returncode, 0, done.stdout + cluster.log())

    def variables(self, parts):
        """Variables and parts, placed alternately on two CPU devices, so that a sharded Saver has two shards."""
        cpus = iter(range(1000))
        with tf1.device(lambda op: f"/cpu:{next(cpus) % 2}" if op.type == "VariableV2" else ""):
            table = tf1.get_variable("table", [7, 3], partitioner=tf1.fixed_size_partitioner(parts), use_resource=False)
            numbers = tf1.get_variable("numbers", [4], tf.float64, use_resource=False)
            count = tf1.get_variable("count", [], tf.int64, use_resource=False)
        return {"table": table, "numbers": numbers, "count": count}

    def session(self):
        return tf1.Session(config=tf1.ConfigProto(device_count={"CPU": 2}))

    def check(self, name, value):
        self.assertEqual(value.dtype, VALUES[name].dtype, name)
        self.assertEqual(value.shape, VALUES[name].shape, name)
        self.assertEqual(value.tobytes(), VALUES[name].tobytes(), name)

    def check_shards(self, count):
        files = [f for f in os.listdir(os.path.dirname(self.prefix)) if ".data-" in f]
        self.assertEqual(sorted(files), [f"model.data-{i:05}-of-{count:05}" for i in range(count)])

    def test_tensorflow_reads_ours(self):
        self.ours("save", ps=2, parts=3)
        self.check_shards(2)
        reader = tf1.train.load_checkpoint(self.prefix)
        self.assertEqual(sorted(reader.get_variable_to_shape_map()), sorted(VALUES))
        for name in VALUES:
            self.check(name, np.asarray(reader.get_tensor(name)))
        for parts in 2, 3:
            with tf.Graph().as_default(), self.session() as session:
                variables = self.variables(parts)
                whole = {name: tf.convert_to_tensor(v) for name, v in variables.items()}
                tf1.train.Saver(sharded=True).restore(session, self.prefix)
                for name, value in session.run(whole).items():
                    self.check(name, np.asarray(value))

    def test_we_read_tensorflows(self):
        with tf.Graph().as_default(), self.session() as session:
            variables = self.variables(3)
            first = 0
            for part in variables["table"]:
                rows = part.shape[0]
                part.load(VALUES["table"][first:first + rows], session)
                first += rows
            for name in "numbers", "count":
                variables[name].load(VALUES[name], session)
            tf1.train.Saver(sharded=True).save(session, self.prefix)
        self.check_shards(2)
        for ps, parts in (2, 3), (1, 1), (3, 4):
            with self.subTest(ps=ps, parts=parts):
                self.ours("restore", ps, parts)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main(verbosity=2)
