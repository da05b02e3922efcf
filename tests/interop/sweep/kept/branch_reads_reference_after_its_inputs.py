"""A branch of control flow v2 read a reference variable before an update that another input of the branch waits for."""
import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
P0, P1, W0, W1 = "/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0", "/job:worker/task:1"


STEPS = [['s30', 's34_0'], ['s30', 's34_0']]


def full(*numbers):
    return np.resize(np.array(numbers, np.int32), 3000)


def build():
    with tf.device(P0):
        v0 = tf.get_variable('v0', initializer=full(-4, -4, 4), use_resource=False)
    with tf.device(P0):
        v1 = tf.get_variable('v1', initializer=full(-7, 3, -6), use_resource=False)
    with tf.device(P1):
        v2 = tf.get_variable('v2', initializer=full(-6, -5, -4), use_resource=False)
    with tf.device(P1):
        s11 = tf.assign_add(v2, full(9, -9, -4))
    with tf.device(P0), tf.control_dependencies([s11.op]):
        s30 = tf.identity(full(1, 2, 3))
    tf.enable_control_flow_v2()
    with tf.device(W0):
        def s34_then():
            with tf.device(P1):
                s35 = tf.floormod(tf.add(s30, v2), 64)
            with tf.device(P1):
                s37 = tf.floormod(tf.add(s35, s35), 64)
            return [s37]
        def s34_else():
            with tf.device(W1):
                s38 = tf.identity(v0)
            return [s38]
        s34_0, = tf.nest.flatten(tf.cond(tf.reduce_sum(v0) < 13, s34_then, s34_else))
    tf.disable_control_flow_v2()
    results = {'s30': s30, 's34_0': s34_0}
    return results, {}, [v0, v1, v2]


EXPECTED = [
    [[1, 2, 3, 1, 2, 3, 1, 2], [8, 40, 54, 8, 40, 54, 8, 40]],
    [[1, 2, 3, 1, 2, 3, 1, 2], [26, 22, 46, 26, 22, 46, 26, 22]],
    [[-4, -4, 4, -4, -4, 4, -4, -4], [-7, 3, -6, -7, 3, -6, -7, 3], [12, -23, -12, 12, -23, -12, 12, -23]],
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
