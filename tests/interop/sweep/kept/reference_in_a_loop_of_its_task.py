"""A loop on the task of a variable read, in each iteration, the value that the variable had before the loop."""
import sys

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
P0, P1, W0, W1 = "/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0", "/job:worker/task:1"


STEPS = [["updated before the loop", "updated in the loop", "read by reference"]]


def build():
    results = {}
    for name in STEPS[0]:
        with tf.device(P0):
            v = tf.Variable([0.0, 1.0], use_resource=False)
            before = v.assign_add([1.0, 1.0])

            def body(i, total):
                update = total
                if name != "updated before the loop":
                    with tf.control_dependencies([total]):
                        update = tf.assign_add(v, [1.0, 1.0])
                with tf.control_dependencies([update]):
                    total += tf.add(v._ref(), [0.0, 0.0]) if name == "read by reference" else v + 0.0
                with tf.control_dependencies([total]):
                    return [i + 1, total]

            with tf.control_dependencies([before]):
                results[name] = tf.while_loop(lambda i, total: i < 4, body, [0, tf.zeros([2])])[1]
    return results, {}, []


EXPECTED = [[[4.0, 8.0], [14.0, 18.0], [14.0, 18.0]], []]


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
