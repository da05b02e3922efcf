"""The reference that the first of two updates returned was read before the second one."""
import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
P0, P1, W0, W1 = "/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0", "/job:worker/task:1"


STEPS = [[P0, W0, P1]]


def build():
    results = {}
    for reader in STEPS[0]:
        with tf.device(P0):
            v = tf.Variable([0.0, 1.0], use_resource=False)
            first = v.assign_add([1.0, 1.0])
            with tf.control_dependencies([first]):
                second = v.assign_add([10.0, 10.0])
        with tf.device(reader), tf.control_dependencies([second]):
            results[reader] = tf.add(first, [0.0, 0.0])
    return results, {}, []


EXPECTED = [[[11.0, 12.0]] * 3, []]


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
