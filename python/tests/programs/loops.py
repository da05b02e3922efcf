"""Conditionals, loops and arrays, and their gradients."""

import numpy as np


def run(tf):
    x = tf.placeholder(tf.float32, [])
    matrix = tf.constant(np.arange(6, dtype=np.float32).reshape(3, 2) / 4)
    results = []

    def add(y, *by):
        results.extend([tf.reduce_sum(tf.cast(y, tf.float32))] + [tf.reduce_sum(d) for d in tf.gradients(y, list(by))])

    add(tf.cond(x > 0, lambda: tf.square(x), lambda: x * 5), x)
    both = tf.cond(x > 1, lambda: {"a": x, "b": [x * x]}, lambda: {"a": x * 2, "b": [tf.exp(x)]})
    add(both["a"] * both["b"][0], x)
    add(tf.case([(x > 3, lambda: x * 3), (x > 0, lambda: x * x * x)], default=lambda: -x), x)
    _, power = tf.while_loop(lambda i, y: i < 4, lambda i, y: (i + 1, y * x), [0, tf.constant(1.0)])
    add(power, x)
    _, (grown, total) = tf.while_loop(
        lambda i, state: i < 3, lambda i, state: (i + 1, (tf.concat([state[0], [x]], 0), state[1] + tf.reduce_sum(state[0]))),
        (0, (tf.constant([1.0]), tf.constant(0.0))),
        shape_invariants=(tf.TensorShape([]), (tf.TensorShape([None]), tf.TensorShape([]))))
    add(grown, x)
    add(total, x)
    add(tf.while_loop(lambda y: y < 100, lambda y: tf.cond(y > 10, lambda: y * 3, lambda: y + x * x), [x + 1]), x)
    add(tf.map_fn(lambda row: tf.reduce_sum(row * x), matrix), x, matrix)
    add(tf.map_fn(lambda pair: (pair[0] + pair[1], tf.cast(pair[1], tf.int32)), (matrix, matrix * x),
                  dtype=(tf.float32, tf.int32))[0], x, matrix)
    add(tf.scan(lambda a, row: a * 0.5 + row, matrix), matrix)
    add(tf.scan(lambda a, row: a * 0.5 + row * x, matrix, initializer=tf.ones([2]), reverse=True), x, matrix)
    add(tf.foldl(lambda a, row: a * row + x, matrix), x, matrix)
    add(tf.foldr(lambda a, row: a * row + 1, matrix, initializer=tf.ones([2])), matrix)

    array = tf.TensorArray(tf.float32, 3).unstack(matrix)
    squares = tf.TensorArray(tf.float32, 0, dynamic_size=True)
    _, squares = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, tf.square(array.read(i)) * x)),
                               [0, squares])
    add(squares.stack(), x, matrix)
    parts = tf.TensorArray(tf.float32, 2, infer_shape=False).split(matrix, [1, 2])
    add(parts.concat(), matrix)
    limited = tf.while_loop(lambda y: True, lambda y: y * x, [x], maximum_iterations=3)
    add(limited, x)

    v = tf.get_variable("v", initializer=2.0)
    update = tf.cond(x > 0, lambda: tf.assign_add(v, x), lambda: tf.assign_sub(v, x))
    in_loop = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * v), [0, x])[1]
    add(in_loop, x, v)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for value in (2.0, 0.5, -1.5):
            for number in session.run(results, {x: value}):
                print(f"{number:.6g}")
            print(f"{session.run(update, {x: value}):.6g}")
