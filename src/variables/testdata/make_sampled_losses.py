#!/usr/bin/env python3
"""Prints the expected values of sampled_loss_test.cc. Run with TensorFlow 2.21."""

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
CLASSES, WIDTH = 7, 3


def losses(loss, parts, num_true, strategy, **options):
    tf.reset_default_graph()
    table = np.sin(np.arange(CLASSES * WIDTH, dtype=np.float32)).reshape(CLASSES, WIDTH)
    bias = np.cos(np.arange(CLASSES, dtype=np.float32))
    rows = [list(range(CLASSES))[i::parts] for i in range(parts)] if strategy == "mod" else np.array_split(
        np.arange(CLASSES), parts)
    weights = [tf.get_variable(f"w{i}", initializer=table[r], use_resource=True) for i, r in enumerate(rows)]
    biases = [tf.get_variable(f"b{i}", initializer=bias[r], use_resource=True) for i, r in enumerate(rows)]
    labels = tf.constant([[1, 4], [2, 6]] if num_true == 2 else [[4], [2]], tf.int64)
    inputs = tf.constant([[0.5, -1, 2], [1, 0.25, -0.5]], tf.float32)
    sampled = (tf.constant([0, 4, 5], tf.int64), tf.constant(np.linspace(0.3, 0.9, 2 * num_true).reshape(2, num_true),
                                                             tf.float32),
               tf.constant([0.7, 0.5, 0.2], tf.float32))
    values = loss(weights, biases, labels, inputs, 3, CLASSES, num_true=num_true, sampled_values=sampled,
                  partition_strategy=strategy, **options)
    grads = tf.gradients(tf.reduce_sum(values * [1.0, 2.0]), [inputs] + weights + biases)
    dense = [tf.reduce_sum(tf.convert_to_tensor(g)) for g in grads[1:]]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        got, of_inputs, sums = session.run([values, grads[0], dense])
    print(loss.__name__, parts, num_true, strategy, options)
    print("  losses", got.tolist(), "\n  inputs", of_inputs.ravel().tolist(), "\n  sums", [float(s) for s in sums])


losses(tf.nn.sampled_softmax_loss, 1, 1, "mod")
losses(tf.nn.sampled_softmax_loss, 2, 2, "mod")
losses(tf.nn.sampled_softmax_loss, 3, 2, "div", remove_accidental_hits=False)
losses(tf.nn.nce_loss, 1, 1, "mod")
losses(tf.nn.nce_loss, 3, 2, "div", remove_accidental_hits=True)
