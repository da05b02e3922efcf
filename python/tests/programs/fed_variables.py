"""Steps that feed variables: what every kind of read gives. Prints values, and 0 for a step that is an error."""

import numpy as np


def reads(tf, v, e, parts, p, other):
    """Pairs of a tensor and the variable that is fed."""
    with tf.control_dependencies([other.assign_add(1.0)]):
        after = v * 1.0 + p * 0.0
    ids = tf.SparseTensor([[0, 0], [1, 0]], tf.constant([0, 2], tf.int64), [2, 1])

    def loop(term, times=3):
        return tf.while_loop(lambda i, a: i < times, lambda i, a: (i + 1, a + term(i)), [0, 0.0])[1]

    graph = tf.get_default_graph()
    return [
        (v, v), (v + 0.0, v), (v.value(), v), (tf.identity(v), v), (v.read_value(), v), (after, v),
        (tf.cond(p > 0.0, lambda: v * 1.0, lambda: v * -1.0), v), (loop(lambda i: v), v),
        (loop(lambda i: tf.cond(p > 0.0, lambda: v * 1.0, lambda: v * -1.0)), v),
        (tf.case([(p > 5.0, lambda: v * 3.0), (p > 0.0, lambda: v * 2.0)], lambda: v * 1.0), v),
        (tf.map_fn(lambda x: x * v, tf.constant([1.0, 2.0])), v),
        (tf.scan(lambda a, x: a + v * x, tf.constant([1.0, 2.0])), v),
        (tf.foldl(lambda a, x: a + v * x, tf.constant([1.0, 2.0])), v),
        (tf.gradients(v * v, v)[0], v), (tf.gradients(loop(lambda i: v * v), v)[0], v),
        (tf.gradients(tf.cond(p > 0.0, lambda: v * v, lambda: v), v)[0], v), (v.initial_value + 0.0, v),
        (v * 1.0, v.value()), (tf.cond(p > 0.0, lambda: v * 1.0, lambda: v * -1.0), v.value()), (after, v.value()),
        (v * 1.0, v.name), (v * 1.0, graph.get_tensor_by_name(v.name)),
        (tf.cond(p > 0.0, lambda: v * 1.0, lambda: v * -1.0), graph.get_tensor_by_name(v.name)),
        (e, e), (tf.shape(e), e), (tf.size(e), e), (e[1:, 0], e), (tf.matmul(e, tf.ones([2, 1])), e),
        (tf.nn.embedding_lookup(e, [1, 2]), e), (tf.gather(e, [0]), e), (tf.gather(e, [1], axis=1), e),
        (tf.gather_nd(e, [[2, 1]]), e), (tf.boolean_mask(e, [True, False, True]), e),
        (tf.dynamic_partition(e, [0, 1, 1], 2)[1], e),
        (tf.nn.embedding_lookup_sparse(e, ids, None, combiner="sum"), e),
        (tf.cond(p > 0.0, lambda: tf.nn.embedding_lookup(e, [1]), lambda: tf.gather(e, [2])), e),
        (loop(lambda i: tf.reduce_sum(tf.gather(e, i))), e),
        (tf.map_fn(lambda i: tf.reduce_sum(tf.nn.embedding_lookup(e, i)), tf.constant([0, 2]), dtype=tf.float32), e),
        (tf.convert_to_tensor(parts), list(parts)[0]), (tf.nn.embedding_lookup(list(parts), [0, 1, 2, 3]), list(parts)[1]),
    ]


def updates(tf, v, e, p):
    """Pairs of a fetch and the variable that is fed: each is an error."""
    return [
        (v.initializer, v), (v.assign(3.0), v), (tf.assign_add(v, 3.0), v), (tf.scatter_add(e, [0], [[1.0, 1.0]]), e),
        (tf.cond(p > 5.0, lambda: v.assign(1.0) + 0.0, lambda: v * 1.0), v),
        (tf.train.GradientDescentOptimizer(0.1).minimize(v * v), v),
        (tf.train.AdamOptimizer(0.1).minimize(tf.reduce_sum(tf.gather(e, [1]))), e),
        (tf.is_variable_initialized(v), v), (v.initialized_value(), v), (tf.report_uninitialized_variables([v]), v),
    ]


def by_name(tf, session):
    """The tensor that has the name of a variable."""
    w = tf.get_variable("w", initializer=[1.0, 2.0])
    t = tf.get_default_graph().get_tensor_by_name("w:0")
    with tf.control_dependencies([tf.constant(1.0)]):
        loss = tf.reduce_sum(w * w)
    session.run(w.initializer)
    fetches = [t, "w:0", t * 2.0, tf.matmul([[3.0, 4.0]], tf.reshape(t, [2, 1])), tf.gradients(loss, t)[0]]
    for fetch in fetches:
        show(session.run(fetch))
        show(session.run(fetch, {t: [7.0, 8.0]}))
    for update in (tf.assign(t, [5.0, 6.0]), tf.assign_add(t, [1.0, 1.0]), tf.scatter_update(t, [0], [9.0])):
        show(session.run(update))
    show(session.run(w))


def show(value):
    print(*[repr(float(number)) for number in np.ravel(value)])


def run(tf, target=""):
    v = tf.Variable(2.0, name="v")
    e = tf.get_variable("e", initializer=np.arange(6, dtype=np.float32).reshape(3, 2))
    parts = tf.get_variable("parts", [4, 2], initializer=tf.zeros_initializer(),
                            partitioner=tf.fixed_size_partitioner(2))
    other = tf.Variable(1.0)
    p = tf.placeholder(tf.float32, [])
    steps = reads(tf, v, e, parts, p, other)
    mistakes = updates(tf, v, e, p)
    with tf.Session(target) as session:
        session.run(tf.global_variables_initializer())
        for fetch, fed in steps:
            shape = [] if isinstance(fed, str) else fed.shape.as_list()
            show(session.run(fetch, {p: 1.0, fed: np.full(shape, 10.0, np.float32)}))
            show(session.run(fetch, {p: 1.0}))
        for fetch, fed in mistakes:
            try:
                session.run(fetch, {p: 1.0, fed: np.full(fed.shape.as_list(), 10.0, np.float32)})
            except tf.errors.InvalidArgumentError:
                print(0)
        show(session.run([v, other]))
        print(session.make_callable(v * 2.0, [v])(5.0))
        by_name(tf, session)
