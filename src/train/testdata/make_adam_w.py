#!/usr/bin/env python3
"""Prints the expected values of adam_w_test.cc: weights decay, and then TensorFlow's AdamOptimizer updates them.

TensorFlow 2 has no tf.contrib.opt.AdamWOptimizer, so this is its definition. Run with TensorFlow 2.21.
"""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
DECAY, RATE = 0.02, 0.1


class AdamW(tf.train.AdamOptimizer):
    """Variables decay before their update: all, or only `a`."""

    def __init__(self, only_a):
        super().__init__(RATE, name="AdamW")
        self.only_a = only_a

    def _decayed(self, var, change):
        return tf.control_dependencies([] if self.only_a and var.op.name != "a" else [change()])

    def _resource_apply_dense(self, grad, var):
        with self._decayed(var, lambda: var.assign_sub(DECAY * var.read_value())):
            return super()._resource_apply_dense(grad, var)

    def _resource_apply_sparse(self, grad, var, indices):
        def change():
            return tf.raw_ops.ResourceScatterSub(resource=var.handle, indices=indices,
                                                 updates=DECAY * tf.gather(var, indices))

        with self._decayed(var, change):
            return super()._resource_apply_sparse(grad, var, indices)


def train(only_a, sparse):
    tf.reset_default_graph()
    a = tf.get_variable("a", initializer=np.array([[1, -2], [3, -4], [5, -6]], np.float32), use_resource=True)
    b = tf.get_variable("b", initializer=np.array([0.5, 2], np.float32), use_resource=True)
    used = tf.gather(a, [2, 0, 2]) if sparse else a
    step = AdamW(only_a).minimize(tf.reduce_sum(tf.square(used)) + tf.reduce_sum(tf.square(b) * b))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(step)
        return session.run([a, b])


for only_a, sparse in [(False, False), (True, False), (False, True)]:
    a, b = train(only_a, sparse)
    print(f"only_a={only_a} sparse={sparse}: a {a.ravel().tolist()}, b {b.tolist()}")
