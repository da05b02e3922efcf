#!/usr/bin/env python3
"""Trains a loop that TensorFlow's client has written on an accelerator of our servers, with a parameter server.

The servers use the plugin that TENSORBRAID_ACCELERATOR_PLUGIN names. The losses must be those of plain TensorFlow.
"""
import os
import unittest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import numpy as np
import tensorflow as tf

from cluster import Cluster, program_path

tf1 = tf.compat.v1
TIME, BATCH, WIDTH, STEPS = 6, 5, 4, 5


def build(ps, worker):
    """A recurrent network whose weights are on `ps`, and whose state is a variable of `worker`."""
    with tf.device(ps):
        weights = tf1.get_variable("weights", [WIDTH, WIDTH], initializer=tf1.constant_initializer(0.1))
    with tf.device(worker):
        inputs = tf1.placeholder(tf.float32, [TIME, BATCH, WIDTH], "inputs")
        recurrent = tf1.get_variable("recurrent", initializer=np.eye(WIDTH, dtype=np.float32) * 0.5)
        outputs = tf.TensorArray(tf.float32, TIME, element_shape=[BATCH, WIDTH])

        def body(step, state, outputs):
            state = tf.tanh(tf.matmul(inputs[step], weights) + tf.matmul(state, recurrent))
            return step + 1, state, outputs.write(step, state)

        _, _, outputs = tf1.while_loop(lambda step, *_: step < TIME, body,
                                       (0, tf.zeros([BATCH, WIDTH]), outputs))
        loss = tf.reduce_mean(tf.square(outputs.stack() - 0.5))
    return inputs, loss, tf1.train.MomentumOptimizer(0.5, 0.9).minimize(loss)


class Accelerators(unittest.TestCase):
    def losses(self, target, ps, worker, with_functions):
        batch = np.linspace(-1, 1, TIME * BATCH * WIDTH, dtype=np.float32).reshape(TIME, BATCH, WIDTH)
        (tf1.enable_control_flow_v2 if with_functions else tf1.disable_control_flow_v2)()
        with tf.Graph().as_default(), tf1.variable_scope("model", use_resource=with_functions):
            inputs, loss, train = build(ps, worker)
            kinds = {op.type for op in tf1.get_default_graph().get_operations()}
            self.assertEqual(bool(kinds & {"While", "StatelessWhile"}), with_functions, kinds)
            with tf1.Session(target, config=tf1.ConfigProto(operation_timeout_in_ms=60000)) as session:
                session.run(tf1.global_variables_initializer())
                return [session.run([loss, train], {inputs: batch})[0] for _ in range(STEPS)]

    def test_a_while_loop_trains(self):
        with Cluster(program_path(), {"ps": 1, "worker": 1}) as cluster:
            for with_functions in (False, True):
                with self.subTest(with_functions=with_functions):
                    expected = self.losses("", "/cpu:0", "/cpu:0", with_functions)
                    self.assertLess(expected[-1], expected[0])
                    found = self.losses(cluster.target, "/job:ps", "/job:worker/task:0/device:GPU:0", with_functions)
                    np.testing.assert_allclose(found, expected, rtol=1e-5)
            self.assertEqual(cluster.dead(), [], cluster.log())
            for body in ("model/while/Tanh", "model/while/body/Tanh"):  # of both kinds of loops
                self.assertRegex(cluster.log(10**6), f"compiled a program of [0-9]+ nodes that ends with '{body}'")


if __name__ == "__main__":
    tf1.disable_v2_behavior()
    unittest.main()
