"""Variables by name: scopes, reuse, initial values for a seed, updates. Prints values, and numbers that names give."""

import numpy as np


def show(session, *tensors):
    for value in session.run(list(tensors)):
        print(*[repr(float(number)) for number in np.asarray(value).ravel()])


def initializers(tf):
    return [
        tf.zeros_initializer(), tf.ones_initializer(), tf.constant_initializer(2.5), tf.constant_initializer([1.0, 2.0]),
        tf.random_uniform_initializer(-2.0, 3.0, seed=1), tf.random_normal_initializer(1.0, 2.0, seed=2),
        tf.truncated_normal_initializer(0.5, 0.1, seed=0), tf.glorot_uniform_initializer(seed=3),
        tf.glorot_normal_initializer(seed=4), tf.initializers.he_normal(seed=5), tf.initializers.he_uniform(seed=6),
        tf.initializers.lecun_normal(seed=7), tf.initializers.lecun_uniform(seed=8),
        tf.variance_scaling_initializer(2.0, "fan_out", "uniform", seed=9),
        tf.variance_scaling_initializer(0.5, "fan_avg", "untruncated_normal", seed=0),
        tf.uniform_unit_scaling_initializer(1.5, seed=10), tf.initializers.identity(2.0),
    ]


def scopes(tf):
    """Numbers that depend on the names and on what is shared."""
    made = []
    with tf.variable_scope("encoder", initializer=tf.ones_initializer(),
                           regularizer=lambda v: tf.reduce_sum(v * v)) as encoder:
        w = tf.get_variable("w", [2, 3])
        with tf.variable_scope("inner", regularizer=tf.no_regularizer):
            made.append(tf.get_variable("v", initializer=tf.constant([4.0, 5.0])))
        for _ in range(2):
            with tf.variable_scope(None, default_name="cell") as cell:
                made.append(tf.get_variable("c", [1], dtype=tf.float64))
                made.append(len(cell.name + cell.original_name_scope))
    with tf.variable_scope(encoder, reuse=True):
        made.append(int(tf.get_variable("w", [2, 3]) is w))
    with tf.variable_scope("encoder", reuse=tf.AUTO_REUSE) as again:
        made.append(int(tf.get_variable("w") is w))
        made.append(len(again.original_name_scope))
        made.append(len(tf.multiply(w, 2.0, name="twice").name))
        made.append(tf.get_variable("new", [], initializer=tf.constant_initializer(7)))
    with tf.variable_scope(encoder, auxiliary_name_scope=False):
        made.append(len(tf.multiply(w, 2.0, name="twice").name))
    made.append(len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)))
    made.extend(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES))
    made.append(len(tf.global_variables("encoder/inner")))
    made.append(len(encoder.trainable_variables()))
    return made


def getters(tf):
    def doubled(getter, name, *args, **kwargs):
        return getter(name, *args, **kwargs) * 2.0

    def renamed(getter, name, *args, **kwargs):
        return getter(name + "_more", *args, **kwargs)

    with tf.variable_scope("got", custom_getter=doubled):
        with tf.variable_scope("inside", custom_getter=renamed):
            value = tf.get_variable("x", initializer=3.0)
    return [value, int(any("got/inside/x_more" in v.name for v in tf.global_variables()))]


def run(tf, target=""):
    with tf.variable_scope("initial"):
        initial = [tf.get_variable(f"v{i}", [2] if i == 3 else [4, 3], initializer=initializer)
                   for i, initializer in enumerate(initializers(tf))]
        kernel = tf.get_variable("kernel", [3, 3, 2, 4], initializer=tf.glorot_uniform_initializer(seed=11))
    made = scopes(tf) + getters(tf)
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(3)):
        parts = tf.get_variable("table", [7, 2], initializer=tf.ones_initializer())
    twice = tf.convert_to_tensor(parts) * 2.0
    x = tf.Variable([1.0, 2.0, 3.0], name="x")
    count = tf.Variable(0, trainable=False)
    with tf.Session(target) as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        show(session, *initial, kernel, *[m for m in made if not isinstance(m, int)], twice)
        print(*[m for m in made if isinstance(m, int)], len(list(parts)), len(tf.trainable_variables()))
        for update in (lambda: x.assign([4.0, 5.0, 6.0]), lambda: tf.assign_add(x, [1.0, 1.0, 1.0]),
                       lambda: x.assign_sub([0.5, 0.5, 0.5]), lambda: tf.scatter_add(x, [0, 0], [1.0, 2.0]),
                       lambda: tf.scatter_update(x, [2], [9.0]), lambda: tf.scatter_mul(x, [1], [3.0]),
                       lambda: tf.scatter_nd_update(x, [[1]], [-1.0]), lambda: tf.scatter_max(x, [0], [100.0])):
            show(session, update())
            show(session, x)
        up = tf.count_up_to(count, 2)
        show(session, up)
        show(session, up)
        try:
            session.run(up)
        except tf.errors.OutOfRangeError:
            print(17)
        x.load([7.0, 8.0, 9.0], session)
        show(session, x + 1.0, 2.0 * x, -x, x.initialized_value(), tf.is_variable_initialized(x))
        print(len(session.run(tf.report_uninitialized_variables())))
