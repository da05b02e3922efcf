"""Library functions and v2 control flow."""
import numpy as np
import tensorflow as tf
from tensorflow.python.framework import function
from tensorflow.python.ops import functional_ops

tf1 = tf.compat.v1


def _v2(body):
    """Runs `body(s)` with control flow v2 on, as TensorFlow 2 builds graphs."""

    def program(s):
        was = tf1.control_flow_v2_enabled()
        tf1.enable_control_flow_v2()
        try:
            body(s)
        finally:
            if not was:
                tf1.disable_control_flow_v2()

    program.__name__ = body.__name__
    return program


@_v2
def if_with_gradient(s):
    x = tf1.placeholder(tf.float32, [3])
    y = tf.cond(tf.reduce_sum(x) > 0, lambda: tf.exp(x) * 2.0, lambda: tf.tanh(x) - 1.0)
    (g,) = tf.gradients(y, x)
    for value in ([1.0, 2.0, -0.5], [-1.0, -2.0, 0.5]):
        s.run([y, g], {x: value})


@_v2
def if_of_unequal_branches_with_gradient(s):
    x = tf1.placeholder(tf.float32, [2])
    w = tf.constant([3.0, 4.0])
    y = tf.cond(x[0] > 0, lambda: tf.sin(x * w) * x, lambda: w)
    g = tf.gradients(y, [x, w])
    for value in ([1.0, 2.0], [-1.0, 2.0]):
        s.run([y, g], {x: value})


@_v2
def nested_ifs(s):
    x = tf1.placeholder(tf.int32, [])
    y = tf.cond(x > 0, lambda: tf.cond(x > 10, lambda: x * 2, lambda: x * 3), lambda: tf.cond(x < -10, lambda: x - 1, lambda: x - 2))
    for value in (5, 50, -5, -50):
        s.run(y, {x: value})


@_v2
def if_with_side_effects(s):
    v = tf1.get_variable("v", initializer=1.0, use_resource=True)
    p = tf1.placeholder(tf.bool, [])

    def yes():
        with tf.control_dependencies([v.assign_add(10.0)]):
            return tf.constant(1.0)

    y = tf.cond(p, yes, lambda: v.assign_sub(1.0, read_value=True) + 0.0)
    s.run(v.initializer)
    for value in (True, False, True):
        s.run(y, {p: value})
        s.run(v.read_value())


@_v2
def while_with_gradient(s):
    x = tf1.placeholder(tf.float32, [2])
    n = tf1.placeholder(tf.int32, [])
    _, y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x + tf.sin(a)), [0, x])
    (g,) = tf.gradients(y, x)
    for count in (0, 1, 5):
        s.run([y, g], {x: [0.5, 1.5], n: count})


@_v2
def while_with_variable_and_gradient(s):
    v = tf1.get_variable("v", initializer=[1.5, 0.5], use_resource=True)
    _, y = tf.while_loop(lambda i, a: i < 4, lambda i, a: (i + 1, a * v), [0, tf.constant([1.0, 2.0])])
    (g,) = tf.gradients(y, v)
    train = tf1.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(y))
    s.run(v.initializer)
    s.run([y, g])
    s.run(train)
    s.run(v.read_value())


@_v2
def while_that_updates_a_variable(s):
    v = tf1.get_variable("v", initializer=0, use_resource=True)

    def body(i):
        with tf.control_dependencies([v.assign(v * 2 + i)]):
            return i + 1

    y = tf.while_loop(lambda i: i < 6, body, [0])
    s.run(v.initializer)
    s.run(y)
    s.run(v.read_value())


@_v2
def nested_whiles_with_gradient(s):
    x = tf1.placeholder(tf.float32, [])

    def outer(i, a):
        _, b = tf.while_loop(lambda j, b: j < i, lambda j, b: (j + 1, b * x), [0, a])
        return i + 1, b + x

    _, y = tf.while_loop(lambda i, a: i < 4, outer, [0, x])
    (g,) = tf.gradients(y, x)
    s.run([y, g], {x: 1.5})


@_v2
def if_inside_while_with_gradient(s):
    x = tf1.placeholder(tf.float32, [])

    def body(i, a):
        return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * x, lambda: tf.sin(a) + x)

    _, y = tf.while_loop(lambda i, a: i < 5, body, [0, x])
    (g,) = tf.gradients(y, x)
    s.run([y, g], {x: 0.7})


@_v2
def nodes_behind_loop_constants_do_not_run_after_the_end(s):
    """Nodes of a loop that depend only on constants of the loop: branches and dequeues. They must not run after its end."""
    take = tf1.placeholder(tf.bool, [])
    c = tf1.placeholder(tf.float32, [])
    with tf.device(s.ps):
        q = tf1.FIFOQueue(20, [tf.float32], [[]])
    fill = q.enqueue_many([tf.ones([8])])
    s.init()
    s.run(fill)
    _, branch = tf.while_loop(lambda i, _: i < 3,
                              lambda i, x: (i + 1, tf.cond(take, lambda: x * 2.0, lambda: tf.constant(10.0))), (0, c))
    _, plain = tf.while_loop(lambda i, _: i < 3, lambda i, _: (i + 1, c * 2.0), (0, c))
    _, other = tf.while_loop(lambda i, _: i < 3, lambda i, _: (i + 1, c), (0, 1.0))
    _, taken = tf.while_loop(lambda i, _: i < 3, lambda i, _: (i + 1, q.dequeue()), (0, 0.0))
    _, inner = tf.while_loop(lambda i, _: i < 3, lambda i, _: (i + 1, tf.while_loop(
        lambda j, _: j < 2, lambda j, y: (j + 1, y + q.dequeue()), (0, c))[1]), (0, 0.0))
    (gradient,) = tf.gradients(branch, c)
    (second,) = tf.gradients(gradient, c)
    for value in (True, False):
        s.run([branch, plain, other, gradient, second], {take: value, c: 1.5})
    s.run(taken)
    s.run(q.size())
    s.run(fill)
    s.run(inner, {c: 0.5})
    s.run(q.size())


@_v2
def tensor_array_in_while(s):
    x = tf1.placeholder(tf.float32, [4])
    ta = tf.TensorArray(tf.float32, 4, element_shape=[])
    ta = ta.unstack(x)
    out = tf.TensorArray(tf.float32, 4, element_shape=[])
    _, _, out = tf.while_loop(lambda i, c, o: i < 4, lambda i, c, o: (i + 1, c + ta.read(i), o.write(i, c * ta.read(i))), [0, 1.0, out])
    y = out.stack()
    (g,) = tf.gradients(y, x)
    s.run([y, g], {x: [1.0, 2.0, 3.0, 4.0]})


@_v2
def map_fn_with_gradient(s):
    x = tf1.placeholder(tf.float32, [3, 2])
    y = tf.map_fn(lambda row: tf.reduce_sum(row * row), x)
    (g,) = tf.gradients(y, x)
    s.run([y, g], {x: np.arange(6.0).reshape(3, 2)})


@_v2
def scan_with_gradient(s):
    x = tf1.placeholder(tf.float32, [4])
    y = tf.scan(lambda a, b: a * 0.5 + b * b, x)
    (g,) = tf.gradients(y, x)
    s.run([y, g], {x: [1.0, 2.0, 3.0, 4.0]})


@_v2
def case_with_gradient(s):
    x = tf1.placeholder(tf.float32, [2])
    i = tf1.placeholder(tf.int32, [])
    y = tf.switch_case(i, [lambda: x * 2.0, lambda: tf.exp(x), lambda: x * x])
    (g,) = tf.gradients(y, x)
    for index in (0, 1, 2, 7, -1):
        s.run([y, g], {x: [1.0, 2.0], i: index})


@_v2
def tf_case(s):
    x = tf1.placeholder(tf.int32, [])
    y = tf.case([(x < 0, lambda: x - 1), (x > 10, lambda: x * 10)], default=lambda: x)
    for value in (-3, 5, 20):
        s.run(y, {x: value})


def function_with_gradient(s):
    @tf.function
    def f(a, b):
        return tf.matmul(a, b) + tf.reduce_sum(a)

    a = tf1.placeholder(tf.float32, [2, 3])
    b = tf1.placeholder(tf.float32, [3, 2])
    y = f(a, b)
    g = tf.gradients(y, [a, b])
    s.run([y, g], {a: np.arange(6.0).reshape(2, 3), b: np.ones([3, 2])})


def function_with_variable(s):
    v = tf1.get_variable("v", initializer=2.0, use_resource=True)

    @tf.function
    def f(a):
        v.assign_add(a)
        return a * v

    x = tf1.placeholder(tf.float32, [])
    y = f(x)
    (g,) = tf.gradients(y, x)
    s.run(v.initializer)
    s.run(y, {x: 3.0})
    s.run(v.read_value())
    s.run([y, g], {x: 1.0})
    s.run(v.read_value())


def function_without_outputs(s):
    v = tf1.get_variable("v", initializer=2.0, use_resource=True)

    @tf.function
    def f(a):
        v.assign_add(a)

    x = tf1.placeholder(tf.float32, [])
    op = f(x)
    if op is None:
        op = [o for o in tf1.get_default_graph().get_operations() if o.type == "StatefulPartitionedCall"][-1]
    s.run(v.initializer)
    s.run(op, {x: 3.0})
    s.run(v.read_value())


def nested_functions(s):
    @tf.function
    def inner(a):
        return a * a + 1.0

    @tf.function
    def middle(a):
        return inner(a) * inner(a + 1.0)

    @tf.function
    def outer(a):
        return middle(a) - middle(a * 2.0)

    x = tf1.placeholder(tf.float32, [2])
    y = outer(x)
    (g,) = tf.gradients(y, x)
    s.run([y, g], {x: [1.0, -2.0]})


def function_with_loop_and_branch(s):
    @tf.function
    def f(a, n):
        total = tf.zeros_like(a)
        for i in tf.range(n):
            if i % 2 == 0:
                total += a * tf.cast(i, tf.float32)
            else:
                total = total * 0.5
        return total

    x = tf1.placeholder(tf.float32, [2])
    n = tf1.placeholder(tf.int32, [])
    y = f(x, n)
    for count in (0, 3, 6):
        s.run(y, {x: [1.0, -2.0], n: count})


def custom_gradient_function(s):
    @tf.custom_gradient
    def clip(a):
        return tf.minimum(a, 1.0), lambda dy: dy * 10.0

    x = tf1.placeholder(tf.float32, [2])
    y = clip(x)
    s.run([y, tf.gradients(y, x)], {x: [0.5, 2.0]})


def function_in_v1_cond_and_loop(s):
    @tf.function
    def f(a):
        return a * 2.0 + tf.constant(1.0)

    tf1.disable_control_flow_v2()
    x = tf1.placeholder(tf.float32, [])
    y = tf1.cond(x > 0, lambda: f(x), lambda: x)
    z = tf1.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, f(a)), [0, x])[1]
    for value in (1.0, -1.0):
        s.run([y, z], {x: value})


def defun(s):
    from tensorflow.python.framework import function

    @function.Defun(tf.float32, tf.float32)
    def f(a, b):
        return a * b, a + b

    x = tf1.placeholder(tf.float32, [2])
    y, z = f(x, tf.constant([3.0, 4.0]))
    s.run([y, z], {x: [1.0, 2.0]})


def defun_with_symbolic_gradient(s):
    from tensorflow.python.framework import function

    @function.Defun(tf.float32, tf.float32)
    def f(a, b):
        return tf.tanh(a * b) + a

    x = tf1.placeholder(tf.float32, [2])
    y = f(x, tf.constant([0.3, 0.4]))
    s.run([y, tf.gradients(y, x)], {x: [1.0, 2.0]})


def error_inside_a_function(s):
    @tf.function
    def f(a, b):
        return tf.reshape(a, b)

    x = tf1.placeholder(tf.float32, [None])
    shape = tf1.placeholder(tf.int32, [None])
    y = f(x, shape)
    s.run(y, {x: [1.0, 2.0], shape: [2, 1]})
    s.run(y, {x: [1.0, 2.0], shape: [3, 1]})


def functions_on_devices(s):
    with tf.device(s.ps):
        v = tf1.get_variable("v", initializer=[1.0, 2.0], use_resource=True)

    @tf.function
    def f(a):
        with tf.device(s.worker(1)):
            b = a * 2.0
        return b + v

    with tf.device(s.worker(0)):
        x = tf1.placeholder(tf.float32, [2])
        y = f(x)
    (g,) = tf.gradients(y, x)
    s.run(v.initializer)
    s.run([y, g], {x: [3.0, 4.0]})


@_v2
def while_with_a_variable_elsewhere(s):
    with tf.device(s.ps):
        v = tf1.get_variable("v", initializer=2.0, use_resource=True)
    with tf.device(s.worker(1)):
        x = tf.constant(1.0) + 0.0
    _, y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * v), [0, x])
    (g,) = tf.gradients(y, v)
    s.run(v.initializer)
    s.run([y, g])


def random_in_function(s):
    @tf.function
    def f():
        return tf.random.uniform([4], seed=3)

    s.run(tf.shape(f() + f()))


def for_loops(s):
    @function.Defun(tf.int32, tf.float32)
    def body(i, x):
        return x * 2.0 + tf.cast(i, tf.float32)

    bounds = [tf1.placeholder(tf.int32) for _ in range(3)]
    with tf.device(s.worker(0)):
        x = tf.constant(1.0) + 0.5
    (y,) = functional_ops.For(*bounds, [x], body)
    for values in [(1, 5, 1), (10, 0, -3), (0, 10, 3), (3, 3, 1), (3, 3, 0)]:
        s.run(y, dict(zip(bounds, values)))
    for values, text in [((0, 10, -1), "Invalid start/limit/delta"), ((0, 10, 0), "Invalid start/limit/delta"),
                         (([0], 10, 1), "must be a scalar")]:
        s.run(y, dict(zip(bounds, values)), text=text)


def for_loops_with_variables(s):
    with tf.device(s.ps):
        v = tf1.get_variable("v", initializer=1.0, use_resource=True)
        counted = tf1.get_variable("counted", initializer=0.0, use_resource=True)

    @function.Defun(tf.int32, tf.float32, tf.float32)
    def both(i, x, unchanged):
        counted.assign_add(1.0)
        return x + tf.cast(i, tf.float32) + v + unchanged, unchanged

    @function.Defun(tf.int32)
    def nothing(i):
        counted.assign_add(tf.cast(i, tf.float32))

    s.init()
    s.run(functional_ops.For(1, 10, 1, [0.0, 0.5], both))
    s.run(counted)
    functional_ops.For(0, 4, 1, [], nothing, name="nothing")
    s.session.run(tf1.get_default_graph().get_operation_by_name("nothing"))
    s.run(counted)


def functions_of_loops_that_do_not_fit(s):
    @function.Defun(tf.int32, tf.float32)
    def too_many(i, x):
        return x, x

    s.run(functional_ops.For(0, 10, 1, [0.0], too_many), text="For loop body returned 2 arguments. Expected: 1")

    @function.Defun(tf.float32)
    def two_answers(x):
        return x > 0.0, x

    @function.Defun(tf.float32)
    def two_values(x):
        return x - 1.0, x

    @function.Defun(tf.float32)
    def positive(x):
        return x > 0.0

    @function.Defun(tf.float32)
    def less(x):
        return x - 1.0

    x = [tf.constant(3.0)]
    for cond, body, text in [(two_answers, less, "Expected a single scalar.*got 2 tensors."),
                             (positive, two_values, "While loop body returned 2 arguments. Expected: 1")]:
        s.run(functional_ops.While(x, cond, body), text=text)


def remote_calls(s):
    with tf.device(s.ps):
        v = tf1.get_variable("v", initializer=[2.0, 3.0])
        r = tf1.get_variable("r", initializer=4.0, use_resource=True)

    @function.Defun(tf.float32, tf.float32)
    def product(a, b):
        return a * b, a - b

    target = s.worker(1) if s.is_reference else s.worker(1) + "/cpu:0"
    with tf.device(s.worker(0)):
        y = functional_ops.remote_call(args=[v, r], Tout=[tf.float32, tf.float32], f=product, target=target)
        z = y[0] + y[1]
    s.init()
    s.run([y, z])
    if not s.is_reference:
        options, told = tf1.RunOptions(output_partition_graphs=True), tf1.RunMetadata()
        s.session.run(z, options=options, run_metadata=told)
        ours = [n.device for g in told.partition_graphs for n in g.node if n.op == "Sub"]
        assert ours and all("task:1" in device for device in ours), ours
