"""A function read a resource variable before an update that another input of the call waits for."""
import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
P0, P1, W0, W1 = "/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0", "/job:worker/task:1"


STEPS = [['s22_0']]


def full(*numbers):
    return np.resize(np.array(numbers, np.float32), 3)


def build():
    with tf.device(W0):
        v1 = tf.get_variable('v1', initializer=full(0, 0, 0), use_resource=True)
    with tf.device(W0):
        s17 = tf.assign_add(v1, full(1, 2, 3))
    @tf.function(autograph=False)
    def s22_function(s22_p0):
        with tf.device(W0):
            s24 = tf.identity(v1)
        with tf.device(W0):
            s26 = tf.identity(s24)
        return [s26]
    with tf.device(W0), tf.control_dependencies([s17.op]):
        s22_0, = tf.nest.flatten(s22_function(full(1, 2, 3)))
    results = {'s22_0': s22_0}
    return results, {}, [v1]


EXPECTED = [
    [[1.0, 2.0, 3.0]],
    [[1.0, 2.0, 3.0]],
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
