"""Reads of reference variables by other tasks were one update old."""
import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
P0, P1, W0, W1 = "/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0", "/job:worker/task:1"


READS = ("read_value", "sum of the reference", "product beside it", "branch beside it", "gather", "copy")
STEPS = [[f"{kind}, {between}, {reader}" for kind in READS for between in ("", P0, W0, P1) for reader in (P0, W0, W1)]]


def read(kind, v):
    if kind == "read_value":
        return v.read_value()
    if kind == "sum of the reference":
        return tf.add(v._ref(), 0.0)
    if kind == "gather":
        return tf.gather(v._ref(), [0, 1])
    if kind == "copy":
        copy = tf.Variable([0.0, 0.0], use_resource=False)
        return tf.assign(copy, v.read_value())
    with tf.device(P0):
        if kind == "product beside it":
            return tf.identity(v) * 1.0
        return tf.cond(tf.constant(True), v.read_value, lambda: tf.constant([7.0, 7.0]))


def build():
    results = {}
    for name in STEPS[0]:
        kind, between, reader = name.split(", ")
        with tf.device(P0):
            v = tf.Variable([0.0, 1.0], use_resource=False)
            update = v.assign_add([1.0, 1.0])
        if between:
            with tf.device(between), tf.control_dependencies([update]):
                update = tf.no_op()
        with tf.device(reader), tf.control_dependencies([update]):
            results[name] = tf.add(read(kind, v), [0.0, 0.0])
    return results, {}, []


EXPECTED = [[[1.0, 2.0]] * len(STEPS[0]), []]


if __name__ == "__main__":  # with the target of a session, for example grpc://localhost:2222
    results, feeds, variables = build()
    config = tf.ConfigProto(isolate_session_state=True, operation_timeout_in_ms=20000)
    config.graph_options.rewrite_options.disable_meta_optimizer = True
    with tf.Session(sys.argv[1], config=config) as session:
        session.run(tf.global_variables_initializer())
        values = [session.run([results[n] for n in names], feeds) for names in STEPS] + [session.run(variables)]
    for got, expected in zip(values, EXPECTED):
        for x, y in zip(got, expected):
            print(x[:8], "" if y is None or np.array_equal(x[:8], y) else f"instead of {y}")
