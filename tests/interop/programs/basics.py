"""Sessions: feeding and fetching, state, control edges, placement, errors."""
import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


def feed_and_fetch(s):
    x = tf1.placeholder(tf.float32, [None, 3])
    y = tf.square(x) + 1.0
    s.run(y, {x: np.arange(6.0).reshape(2, 3)})
    s.run([y, x], {x: np.zeros([0, 3])})
    s.run([y + 1.0], {y: np.full([2, 3], 5.0)})  # an intermediate tensor
    s.run({"a": y, "b": (x, [y])}, {x: np.ones([1, 3])})
    s.run(y)  # nothing is fed


def every_dtype(s):
    for dtype in [tf.float16, tf.bfloat16, tf.float32, tf.float64, tf.int8, tf.int16, tf.int32, tf.int64, tf.uint8,
                  tf.uint16, tf.uint32, tf.uint64, tf.bool, tf.complex64, tf.complex128]:
        x = tf1.placeholder(dtype, [2])
        with tf.device(s.ps):
            y = tf.identity(x)
        with tf.device(s.worker(1)):
            z = tf.identity(y)
        s.run(z, {x: np.array([0, 1]).astype(dtype.as_numpy_dtype)})


def strings(s):
    x = tf1.placeholder(tf.string)
    with tf.device(s.worker(1)):
        y = tf.identity(x)
    s.run(y, {x: [b"", b"\xff\x00", "ä".encode()]})
    s.run(tf.constant([["a", "b"]]))


def large_and_empty(s):
    x = tf1.placeholder(tf.float32)
    with tf.device(s.ps):
        y = x * 2.0
    s.run(y, {x: np.arange(300000.0).reshape(1000, 300)})
    s.run(y, {x: np.zeros([3, 0, 2])})
    s.run(y, {x: 1.5})


def waiting_for_what_is_fed(s):
    go = tf1.placeholder(tf.bool, [], name="go")
    shaped = tf1.placeholder(tf.float32, [2], name="shaped")
    with tf.control_dependencies([go, shaped]):
        with tf.device(s.ps):
            y = tf.constant(1.0) + 1.0
        z = tf.random.uniform([]) * 0.0
    s.run([y, z], {go: True, shaped: [1.0, 2.0]})
    s.run([y, z], {go: True})  # the placeholder `shaped` must be fed too
    s.run([y, z, shaped], {go: True, shaped: [1.0, 2.0]})


def assertions_of_initialized_variables(s):
    with tf.device(s.ps):
        v = tf1.get_variable("v", initializer=tf.constant([1.0, 2.0]), use_resource=False)
        w = tf1.get_variable("w", initializer=3.0, use_resource=False)
    asserted = tf1.assert_variables_initialized([v, w])
    s.run(asserted)
    s.run(v.initializer)
    s.run(asserted)
    s.run(tf1.report_uninitialized_variables([v, w]))
    s.init()
    s.run(asserted)
    s.run(tf1.report_uninitialized_variables([v, w]))


def reference_variable(s):
    with tf.device(s.ps):
        v = tf1.get_variable("v", initializer=tf.constant([1.0, 2.0]), use_resource=False)
    s.run(v)  # not initialized
    s.init()
    s.run(v)
    add = tf1.assign_add(v, [1.0, 1.0])
    with tf.control_dependencies([add]), tf.device(s.ps):
        after = v + 0.0
    s.run(after)
    s.run([add, v.op])
    s.run(tf1.assign(v, [7.0, 8.0]))
    s.run(tf1.is_variable_initialized(v))


def resource_variable(s):
    with tf.device(s.ps):
        v = tf1.get_variable("v", initializer=tf.constant([1.0, 2.0]), use_resource=True)
    s.run(v)
    s.init()
    s.run(v)
    s.run(v.assign_add([1.0, 1.0]))
    s.run(v.read_value())
    s.run(v.is_initialized())


def across_tasks(s):
    with tf.device(s.ps):
        a = tf1.get_variable("a", initializer=tf.constant(3.0))
    with tf.device(s.worker(1)):
        b = a * 2.0
    with tf.device(s.worker(0)):
        c = b + a
    s.init()
    for _ in range(3):
        s.run([a, b, c])
        s.run(tf1.assign_add(a, 1.0))


def control_edges(s):
    v = tf1.get_variable("v", initializer=0)
    s.init()
    first = tf1.assign_add(v, 1)
    with tf.control_dependencies([first]):
        second = tf1.assign(v, v * 10)
    group = tf.group(second)
    s.run(group)
    s.run(v)
    with tf.control_dependencies([tf1.Assert(False, ["always"])]):
        never = tf.constant(1)
    s.run(never + 0)


def graph_grows(s):
    x = tf.constant(2.0)
    s.run(x * 2.0)
    y = x * 3.0
    s.run(y)
    for i in range(5):
        y = y + float(i)
        s.run(y)


def callables(s):
    x = tf1.placeholder(tf.float32)
    y = x * 2.0
    call = s.session.make_callable(y, [x])
    s.record(call(3.0))
    s.record(call([1.0, 2.0]))
    both = s.session.make_callable([y, y.op, x], [x])
    s.record([v for v in both(1.0) if v is not None])


def shape_errors(s):
    x = tf1.placeholder(tf.float32)
    y = tf1.placeholder(tf.float32)
    s.run(tf.matmul(x, y), {x: np.ones([2, 3]), y: np.ones([2, 3])})
    s.run(x + y, {x: np.ones([2]), y: np.ones([3])})
    s.run(tf.reshape(x, [5]), {x: np.ones([4])})


def gradients_of_softmax(s):
    x = tf1.placeholder(tf.float32, [None, 4])
    labels = tf1.placeholder(tf.int64, [None])
    with tf.device(s.ps):
        w = tf1.get_variable("w", initializer=np.linspace(-1, 1, 12).reshape(4, 3).astype(np.float32))
        b = tf1.get_variable("b", [3], initializer=tf1.zeros_initializer())
    loss = tf1.losses.sparse_softmax_cross_entropy(labels, tf.matmul(x, w) + b)
    train = tf1.train.GradientDescentOptimizer(0.5).minimize(loss)
    s.init()
    for i in range(4):
        s.run([loss, train], {x: np.random.RandomState(i).rand(5, 4), labels: [0, 1, 2, 1, 0]})
    s.run([w, b])
