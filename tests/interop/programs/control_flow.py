"""Loops and conditionals of TensorFlow 1.x: values, gradients, state, errors, and edges between tasks."""

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


def _v1_control_flow(program):
    """Builds the program with Switch, Merge and Enter, not with If and While."""

    def wrapped(s):
        was_on = tf1.control_flow_v2_enabled()
        tf1.disable_control_flow_v2()
        try:
            program(s)
        finally:
            if was_on:
                tf1.enable_control_flow_v2()

    wrapped.__name__ = program.__name__
    wrapped.__doc__ = program.__doc__
    return wrapped


@_v1_control_flow
def cond_both_sides(s):
    p = tf1.placeholder(tf.bool, [])
    x = tf1.placeholder(tf.float32, [3])
    y = tf1.cond(p, lambda: x * 2.0, lambda: tf.reduce_sum(x) + x)
    g = tf1.gradients(y, x)[0]
    for side in (True, False):
        s.run([y, g], {p: side, x: [1.0, 2.0, 3.0]})


@_v1_control_flow
def cond_state(s):
    with tf1.device(s.ps):
        v = tf1.get_variable("v", [], initializer=tf1.zeros_initializer(), use_resource=False)
        r = tf1.get_variable("r", [], initializer=tf1.zeros_initializer(), use_resource=True)
    p = tf1.placeholder(tf.bool, [])
    y = tf1.cond(
        p,
        lambda: tf.group(tf1.assign_add(v, 1.0), tf1.assign_add(r, 10.0)),
        lambda: tf.group(tf1.assign_sub(v, 5.0), tf1.assign_sub(r, 50.0)),
    )
    s.run(tf1.global_variables_initializer())
    for side in (True, True, False):
        s.run(y, {p: side})
    s.run([v, r])


@_v1_control_flow
def cond_nested(s):
    a = tf1.placeholder(tf.bool, [])
    b = tf1.placeholder(tf.bool, [])
    x = tf1.placeholder(tf.float32, [])
    y = tf1.cond(a, lambda: tf1.cond(b, lambda: x * 2.0, lambda: x * 3.0), lambda: tf1.cond(b, lambda: x * 5.0, lambda: -x))
    g = tf1.gradients(y, x)[0]
    for left in (True, False):
        for right in (True, False):
            s.run([y, g], {a: left, b: right, x: 7.0})


@_v1_control_flow
def cond_dead_fetch(s):
    p = tf1.placeholder(tf.bool, [])
    inside = []

    def true_side():
        inside.append(tf.constant(1.0) * 2.0)
        return inside[0]

    y = tf1.cond(p, true_side, lambda: tf.constant(3.0))
    s.run(y, {p: False})
    s.run(inside[0], {p: True})
    s.run(inside[0], {p: False})


@_v1_control_flow
def cond_pred_of_wrong_shape(s):
    p = tf1.placeholder_with_default(np.array([True, False]), None)
    s.run(tf1.cond(p, lambda: tf.constant(1.0), lambda: tf.constant(2.0)))


@_v1_control_flow
def cond_tuple_and_strings(s):
    p = tf1.placeholder(tf.bool, [])
    y = tf1.cond(p, lambda: (tf.constant("yes"), tf.constant(1)), lambda: (tf.constant("no"), tf.constant(2)))
    for side in (True, False):
        s.run(y, {p: side})


@_v1_control_flow
def case_default_and_exclusive(s):
    x = tf1.placeholder(tf.int32, [])
    pairs = [(x < 0, lambda: tf.constant(-1.0)), (tf.equal(x, 0), lambda: tf.constant(0.0)), (x > 5, lambda: tf.constant(5.0))]
    y = tf1.case(pairs, default=lambda: tf.constant(9.0), exclusive=True)
    z = tf1.case(pairs + [(x > 6, lambda: tf.constant(6.0))], default=lambda: tf.constant(9.0))
    for value in (-3, 0, 3, 7):
        s.run([y, z], {x: value})
    both = tf1.case([(x > 5, lambda: tf.constant(5.0)), (x > 6, lambda: tf.constant(6.0))], exclusive=True)
    s.run(both, {x: 7})
    s.run(tf.switch_case(x, [lambda: tf.constant(10), lambda: tf.constant(11)], default=lambda: tf.constant(12)), {x: 1})


@_v1_control_flow
def switch_and_merge(s):
    p = tf1.placeholder(tf.bool, [])
    no, yes = tf1.raw_ops.Switch(data=tf.constant([1, 2]), pred=p)
    merged, index = tf1.raw_ops.Merge(inputs=[no + 1, yes * 10])
    for side in (True, False):
        s.run([merged, index], {p: side})
    s.run(yes, {p: False})
    s.run(yes.op, {p: False})


@_v1_control_flow
def while_counts(s):
    n = tf1.placeholder(tf.int32, [])
    i, total = tf1.while_loop(lambda i, t: i < n, lambda i, t: (i + 1, t + tf.cast(i, tf.float32)), [0, 0.0])
    for limit in (0, 1, 10, 100):
        s.run([i, total], {n: limit})


@_v1_control_flow
def while_one_iteration_at_a_time(s):
    n = tf1.placeholder(tf.int32, [])
    y = tf1.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, x * 2), [0, 1], parallel_iterations=1)
    s.run(y, {n: 12})


@_v1_control_flow
def while_gradient(s):
    x = tf1.placeholder(tf.float32, [2])
    w = tf1.get_variable("w", initializer=tf.constant([[0.5, 0.1], [-0.2, 0.3]]))
    _, y = tf1.while_loop(lambda i, h: i < 5, lambda i, h: (i + 1, tf.tanh(tf.linalg.matvec(w, h) + x)), [0, x])
    loss = tf.reduce_sum(y * y)
    gx, gw = tf1.gradients(loss, [x, w])
    s.run(tf1.global_variables_initializer())
    s.run([loss, gx, gw], {x: [0.3, -0.7]})


@_v1_control_flow
def while_gradient_of_unknown_shape(s):
    x = tf1.placeholder(tf.float32, None)
    _, y = tf1.while_loop(
        lambda i, h: i < 4, lambda i, h: (i + 1, tf.sin(h) * x), [0, x], shape_invariants=[tf.TensorShape([]), tf.TensorShape(None)]
    )
    s.run([y, tf1.gradients(y, x)[0]], {x: [[0.3, 0.7], [1.1, -0.2]]})


@_v1_control_flow
def while_nested_gradient(s):
    x = tf1.placeholder(tf.float32, [])

    def outer(i, a):
        _, b = tf1.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * x + 1.0), [0, a])
        return i + 1, b

    _, y = tf1.while_loop(lambda i, a: i < 4, outer, [0, 1.0])
    s.run([y, tf1.gradients(y, x)[0]], {x: 0.9})


@_v1_control_flow
def cond_in_while_gradient(s):
    x = tf1.placeholder(tf.float32, [])

    def body(i, a):
        return i + 1, tf1.cond(tf.equal(i % 2, 0), lambda: a * x, lambda: a + tf.square(x))

    _, y = tf1.while_loop(lambda i, a: i < 6, body, [0, 1.0])
    s.run([y, tf1.gradients(y, x)[0]], {x: 1.2})


@_v1_control_flow
def while_in_cond_gradient(s):
    p = tf1.placeholder(tf.bool, [])
    x = tf1.placeholder(tf.float32, [])
    y = tf1.cond(p, lambda: tf1.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), [0, x])[1], lambda: x * 3.0)
    g = tf1.gradients(y, x)[0]
    for side in (True, False):
        s.run([y, g], {p: side, x: 1.5})


@_v1_control_flow
def second_derivative_of_cond(s):
    p = tf1.placeholder(tf.bool, [])
    x = tf1.placeholder(tf.float32, [])
    y = tf1.cond(p, lambda: x * x * x, lambda: tf.sin(x))
    g = tf1.gradients(y, x)[0]
    h = tf1.gradients(g, x)[0]
    for side in (True, False):
        s.run([y, g, h], {p: side, x: 1.5})


@_v1_control_flow
def while_error_in_an_iteration(s):
    table = tf.constant([1.0, 2.0, 3.0])
    _, y = tf1.while_loop(lambda i, a: i < 10, lambda i, a: (i + 1, a + tf.gather(table, i)), [0, 0.0])
    s.run(y)
    _, z = tf1.while_loop(
        lambda i, a: i < 10, lambda i, a: (i + 1, tf.debugging.check_numerics(a / tf.cast(3 - i, tf.float32), "bad")), [0, 1.0]
    )
    s.run(z)


@_v1_control_flow
def while_state_on_the_parameter_server(s):
    with tf1.device(s.ps):
        v = tf1.get_variable("v", [2], initializer=tf1.ones_initializer(), use_resource=True)

    def body(i):
        with tf1.device(s.ps):
            add = v.assign_add([1.0, 2.0])
        with tf1.control_dependencies([add]):
            return i + 1

    y = tf1.while_loop(lambda i: i < 7, body, [0], parallel_iterations=1)
    s.run(tf1.global_variables_initializer())
    s.run(y)
    s.run(v)


@_v1_control_flow
def while_over_three_tasks(s):
    x = tf1.placeholder(tf.float32, [3])

    def body(i, a, b):
        with tf1.device(s.ps):
            c = a * 1.5 + tf.cast(i, tf.float32)
        with tf1.device(s.worker(1)):
            d = tf.tanh(b) + c
        with tf1.device(s.worker(0)):
            return i + 1, d * 0.5, c - d

    with tf1.device(s.worker(0)):
        _, a, b = tf1.while_loop(lambda i, a, b: i < 8, body, [0, x, x * 2.0])
    g = tf1.gradients(tf.reduce_sum(a * b), x)[0]
    s.run([a, b, g], {x: [0.1, -0.4, 0.9]})


@_v1_control_flow
def nested_while_over_tasks(s):
    x = tf1.placeholder(tf.float32, [])

    def outer(i, a):
        def inner(j, b):
            with tf1.device(s.ps):
                return j + 1, b * x + 0.5

        with tf1.device(s.worker(1)):
            _, b = tf1.while_loop(lambda j, b: j < i, inner, [0, a])
        return i + 1, b

    with tf1.device(s.worker(0)):
        _, y = tf1.while_loop(lambda i, a: i < 4, outer, [0, 1.0])
    s.run([y, tf1.gradients(y, x)[0]], {x: 0.9})


@_v1_control_flow
def cond_in_while_over_tasks(s):
    x = tf1.placeholder(tf.float32, [])

    def body(i, a):
        def even():
            with tf1.device(s.ps):
                return a * x

        def odd():
            with tf1.device(s.worker(1)):
                return a + tf.square(x)

        return i + 1, tf1.cond(tf.equal(i % 2, 0), even, odd)

    with tf1.device(s.worker(0)):
        _, y = tf1.while_loop(lambda i, a: i < 6, body, [0, 1.0])
    s.run([y, tf1.gradients(y, x)[0]], {x: 1.2})


@_v1_control_flow
def while_trains(s):
    with tf1.device(s.ps):
        w = tf1.get_variable("w", initializer=tf.constant([[0.1, 0.2], [0.3, -0.1]]))
    x = tf1.placeholder(tf.float32, [None, 2])
    with tf1.device(s.worker(0)):
        _, h = tf1.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(tf.matmul(h, w))), [0, x])
        loss = tf.reduce_mean(tf.square(h - 0.5))
    train = tf1.train.GradientDescentOptimizer(0.5).minimize(loss)
    s.run(tf1.global_variables_initializer())
    for _ in range(5):
        s.run([train, loss], {x: [[1.0, -1.0], [0.5, 2.0]]})
    s.run(w)


@_v1_control_flow
def map_fn_and_gradient(s):
    x = tf1.placeholder(tf.float32, [None, 2])
    y = tf1.map_fn(lambda row: tf.reduce_sum(row * row) * row, x)
    s.run([y, tf1.gradients(y, x)[0]], {x: [[1.0, 2.0], [3.0, -1.0], [0.5, 0.0]]})
    z = tf1.map_fn(lambda ab: (ab[0] + ab[1], ab[0] * ab[1]), (x, x * 2.0), dtype=(tf.float32, tf.float32))
    s.run(z, {x: [[1.0, 2.0], [3.0, -1.0]]})
    s.run(tf1.map_fn(lambda t: tf.strings.join([t, "!"]), tf.constant(["a", "b"])))


@_v1_control_flow
def scan_and_gradient(s):
    x = tf1.placeholder(tf.float32, [None])
    y = tf1.scan(lambda a, b: a * 0.5 + b * b, x, initializer=0.25)
    z = tf1.scan(lambda a, b: a + b, x, reverse=True)
    s.run([y, z, tf1.gradients([y, z], x)[0]], {x: [1.0, 2.0, -3.0, 0.5]})
    s.run(tf1.foldl(lambda a, b: a * b, x), {x: [1.0, 2.0, -3.0]})
    s.run(tf1.foldr(lambda a, b: a - b, x), {x: [1.0, 2.0, -3.0]})


def _rnn_cell(units, seed):
    """A GRU-like cell from matrix products, with its own variables."""
    rng = np.random.RandomState(seed)
    wz, wh = (tf1.get_variable(n, initializer=rng.randn(2 * units, units).astype(np.float32) * 0.4) for n in ("wz", "wh"))

    class Cell:  # the members that dynamic_rnn uses; with Keras 3, TensorFlow has no base class for cells
        state_size = units
        output_size = units

        def zero_state(self, batch_size, dtype):
            return tf.zeros([batch_size, units], dtype)

        def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
            return self.zero_state(batch_size, dtype)

        def __call__(self, inputs, state, scope=None):
            both = tf.concat([inputs, state], 1)
            z = tf.sigmoid(tf.matmul(both, wz))
            h = z * state + (1 - z) * tf.tanh(tf.matmul(both, wh))
            return h, h

    return Cell()


def _dynamic_rnn(s, time_major):
    with tf1.device(s.ps):
        cell = _rnn_cell(3, 7)
    shape = [None, None, 3]
    x = tf1.placeholder(tf.float32, shape)
    lengths = tf1.placeholder(tf.int32, [None])
    with tf1.device(s.worker(0)):
        outputs, state = tf1.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float32, time_major=time_major)
        loss = tf.reduce_sum(outputs * outputs) + tf.reduce_sum(state)
    variables = tf1.trainable_variables()
    grads = tf1.gradients(loss, variables + [x])
    train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
    s.run(tf1.global_variables_initializer())
    rng = np.random.RandomState(3)
    feed = {x: rng.randn(2, 5, 3) if not time_major else rng.randn(5, 2, 3), lengths: [5, 3]}
    s.run([outputs, state] + grads, feed)
    for _ in range(3):
        s.run([train, loss], feed)
    s.run(variables)


@_v1_control_flow
def dynamic_rnn_batch_major(s):
    _dynamic_rnn(s, False)


@_v1_control_flow
def dynamic_rnn_time_major(s):
    _dynamic_rnn(s, True)


@_v1_control_flow
def while_cancelled_by_timeout(s):
    y = tf1.while_loop(lambda i: i >= 0, lambda i: tf.identity(i), [0])
    s.run(y, options=tf1.RunOptions(timeout_in_ms=300))
    s.run(tf.constant(1) + 1)


@_v1_control_flow
def inputs_from_two_loops(s):
    x = tf1.placeholder(tf.float32, [])
    one, other = (tf.raw_ops.Enter(data=x, frame_name=name) for name in ("one", "other"))
    s.run(one + other, {x: 1.0}, text="has inputs from different frames")


def gradient_of_a_branch_that_the_session_has(s):
    """When TensorFlow 2's cond is differentiated, it gets more outputs. That is too late for a session that has already
    run the cond."""
    was_on = tf1.control_flow_v2_enabled()
    tf1.enable_control_flow_v2()
    try:
        x = tf.constant(10.0)
        y = tf1.cond(tf.less(tf1.placeholder_with_default(1, []), 2), lambda: (x * x) * (x * x), lambda: x * x)
        s.run(y)
        s.run(tf1.gradients(y, x)[0], text=r"Connecting to invalid output 1 of source node \S+ which has 1 outputs. "
                   r"Try using tf.compat.v1.experimental.output_all_intermediates\(True\).")
    finally:
        if not was_on:
            tf1.disable_control_flow_v2()
