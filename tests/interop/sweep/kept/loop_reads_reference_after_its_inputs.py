"""The body of a loop of control flow v2 read a reference variable before an update that the loop waits for."""
import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
P0, P1, W0, W1 = "/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0", "/job:worker/task:1"


STEPS = [['s64_0']]


def full(*numbers):
    return np.resize(np.array(numbers, np.float32), 3)


def build():
    with tf.device(P1):
        v1 = tf.get_variable('v1', initializer=full(0, 0, 0), use_resource=False)
    with tf.device(P1):
        s41 = tf.assign_add(v1, full(2, 9, -4))
    tf.enable_control_flow_v2()
    with tf.device(W0), tf.control_dependencies([s41.op]):
        def s64_test(i, s64_p0):
            return i < 1
        def s64_body(i, s64_p0):
            with tf.device(W0):
                s66 = tf.identity(v1)
            with tf.device(W0), tf.control_dependencies([s66]):
                return [i + 1, s66]
        _, s64_0 = tf.while_loop(s64_test, s64_body, [0, full(1, 2, 3)], parallel_iterations=2)
    tf.disable_control_flow_v2()
    results = {'s64_0': s64_0}
    return results, {}, [v1]


EXPECTED = [
    [[2.0, 9.0, -4.0]],
    [[2.0, 9.0, -4.0]],
]


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
