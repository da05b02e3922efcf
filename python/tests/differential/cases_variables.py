"""Variables: how they are made, found, shared, divided, read and updated."""

import numpy as np
from registry import Result, case, each, floats

X = floats(4, 3)
QUIET = {"names": False}


def updated(function, initial=X, steps=1):
    """A case function: what `function(tf, variable)` returns, and the variable's value after it."""
    def run(tf):
        v = tf.Variable(initial, name="v")
        result = function(tf, v)
        first = result[0] if isinstance(result, (list, tuple)) else result
        with tf.control_dependencies([first]):
            return Result([result, v.read_value()], steps=steps)
    return run


for name in ("assign", "assign_add", "assign_sub"):
    case(name, updated(lambda tf, v, n=name: getattr(tf, n)(v, 2 * X, use_locking=True, name="given"), steps=2),
         **QUIET)
    case(name, updated(lambda tf, v, n=name: getattr(v, n)(X, read_value=False), steps=2), **QUIET)
    case(name, lambda tf, n=name: getattr(tf, n)(tf.Variable(X), [1.0, 2.0]))
    case(name, lambda tf, n=name: getattr(tf, n)(tf.Variable(X), "text"))
case("assign", lambda tf: tf.assign(tf.Variable(X), tf.constant(1)))
for name in ("add", "sub", "mul", "div", "update", "min", "max"):
    name = "scatter_" + name
    case(name, updated(lambda tf, v, n=name: getattr(tf, n)(v, [0, 2, 0], X[:3], name="given")), **QUIET)
    case(name,
         updated(lambda tf, v, n=name: getattr(tf, n)(v, tf.constant([[1], [3]], tf.int64), X[:2, None],
                                                      use_locking=True),
                       steps=2), **QUIET)
    case(name, updated(lambda tf, v, n=name: getattr(tf, n)(v, 1, 3.0)), **QUIET)
    case(name, updated(lambda tf, v, n=name: getattr(tf, n)(v, [9], X[:1])), **QUIET)
    case(name, updated(lambda tf, v, n=name: getattr(tf, n)(v, [1], X[:1, :2])), **QUIET)
for name in ("scatter_nd_add", "scatter_nd_sub", "scatter_nd_update"):
    case(name, updated(lambda tf, v, n=name: getattr(tf, n)(v, [[0, 1], [3, 2]], [5.0, 6.0], use_locking=False),
                       steps=2), **QUIET)
    case(name, updated(lambda tf, v, n=name: getattr(tf, n)(v, [[0, 7]], [5.0])), **QUIET)
SLICES = ((1, X[0]), (slice(1, 3), 5 * X[1:3]), ((slice(1, 3), slice(None, None, 2)), X[:2, :2]), ((..., -1), X[:, 0]),
          ((slice(None, None, -1), 0), X[:, 1]), ((2, 1), 3.0), ((slice(0, 2), None, slice(1, 3)), X[:2, None, :2]))
for key, value in SLICES:
    case("strided_slice", updated(lambda tf, v, k=key, x=value: v[k].assign(x), steps=2), **QUIET)
    case("strided_slice", updated(lambda tf, v, k=key, x=value: v[k].assign(tf.constant(x) + v[k], name="given")), **QUIET)
    case("strided_slice", lambda tf, k=key, x=value: [
        op.name for op in (tf.Variable(X, name="v")[k].assign(x), tf.get_default_graph())[1].get_operations()
        if "Assign" in op.type and op.name != "v/Assign"])
case("strided_slice", updated(lambda tf, v: tf.strided_slice(v, [0, 1], [4, 3], [3, 1], var=v, name="part").assign(
    [[1.0, 2.0], [3.0, 4.0]])), **QUIET)
case("strided_slice", lambda tf: tf.Variable(X)[0].assign(["a", "b", "c"]))
case("strided_slice", lambda tf: tf.Variable(X)[0].assign(tf.constant([1, 2, 3])))
case("strided_slice", lambda tf: tf.Variable(X).value()[0].assign(X[0]))
case("batch_scatter_update",
     updated(lambda tf, v: tf.batch_scatter_update(v, [[0], [2], [1], [0]], [[9.0], [8.0], [7.0], [6.0]],
                                                                           use_locking=False, name="given")), **QUIET)
case("batch_scatter_update", updated(lambda tf, v: tf.batch_scatter_update(v, [2, 0], X[:2])), **QUIET)
case("count_up_to", updated(lambda tf, v: tf.count_up_to(v, limit=5, name="given"), np.array(3, np.int32), steps=2),
     **QUIET)
case("count_up_to", updated(lambda tf, v: tf.count_up_to(v, 3), np.array(3, np.int32)), **QUIET)


def made(tf):
    a = tf.Variable([1.0, 2.0], trainable=False, collections=["mine"], name="a", dtype=tf.float64)
    b = tf.Variable(lambda: tf.constant(X), name="b", expected_shape=[4, 3])
    c = tf.Variable(3, name="a")
    with tf.Session() as session:
        session.run(tf.variables_initializer([a, b, c], name="given"))
        values = session.run([a, b, c, a.initial_value, b + 1.0, b[1], c * 2, -c, abs(b)])
    return [a.name, b.name, c.name, a.dtype.base_dtype, b.shape, c.op.type.startswith("V"), a.trainable, values,
            [v.name for v in tf.global_variables()], [v.name for v in tf.trainable_variables()],
            [v.name for v in tf.get_collection("mine")], [v.name for v in tf.global_variables(scope="b")],
            [v.name for v in tf.trainable_variables("a")]]


case("Variable variables_initializer global_variables trainable_variables", made)
case("Variable", lambda tf: tf.Variable(None))
case("Variable", lambda tf: tf.Variable())
case("Variable", lambda tf: tf.Variable(tf.placeholder(tf.float32)))


def shared(tf):
    with tf.variable_scope("s", initializer=tf.constant_initializer(2.5),
                           regularizer=lambda x: tf.reduce_sum(x)) as scope:
        a = tf.get_variable("a", [2])
        b = tf.get_variable("b", initializer=tf.constant([1, 2]), trainable=False, regularizer=tf.no_regularizer)
        with tf.variable_scope("inner", dtype=tf.float64):
            c = tf.get_variable("c", [1])
    with tf.variable_scope(scope, reuse=True):
        again = tf.get_variable("a")
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        found, new = tf.get_variable("a", [2]), tf.get_variable("d", [1], tf.float32, tf.ones_initializer())
    with tf.variable_scope(None, default_name="s") as unique:
        e = tf.get_variable("a", shape=[1], initializer=tf.zeros_initializer())
    with tf.variable_op_scope([a], "op_scope") as op_scope:
        f = tf.get_variable("f", [1], initializer=tf.zeros_initializer())
    local = tf.get_local_variable("l", [1], initializer=tf.zeros_initializer(), collections=["own"])
    return [scope.name, unique.name, op_scope.name, tf.get_variable_scope().name, a, b, c, e, f, new,
            c.dtype.base_dtype.name,
            again is a, found is a, len(tf.get_collection("regularization_losses")),
            tf.add_n(tf.get_collection("regularization_losses")), [v.name for v in tf.trainable_variables()],
            local.name,
            len(tf.local_variables()), [v.name for v in tf.get_collection("own")]]


case("variable_scope get_variable get_variable_scope get_local_variable variable_op_scope no_regularizer VariableScope "
     "constant_initializer zeros_initializer ones_initializer local_variables", shared, **QUIET)
for label, wrong in (
    ("again", lambda tf: [tf.get_variable("a", [1]), tf.get_variable("a", [1])]),
    ("no shape", lambda tf: tf.get_variable("a")),
    ("missing", lambda tf: tf.get_variable_scope().reuse_variables() or tf.get_variable("a", [1])),
    ("shapes", lambda tf: tf.get_variable("a", [1], initializer=tf.constant([1.0]))),
    ("no name", lambda tf: tf.get_variable("")),
    ("other shape", lambda tf: _reused(tf, [3])), ("other dtype", lambda tf: _reused(tf, [2], tf.int32)),
):
    case("get_variable", wrong, label="get_variable: " + label)


def _reused(tf, shape, dtype=None):
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        tf.get_variable("a", [2])
        return tf.get_variable("a", shape, dtype)


def getter(tf):
    def doubled(getter, name, *args, **kwargs):
        return getter(name + "_x", *args, **kwargs) * 2.0

    with tf.variable_scope("s", custom_getter=doubled):
        return tf.get_variable("a", [2], initializer=tf.ones_initializer())


case("variable_scope", getter, **QUIET)
case("variable_scope", lambda tf: tf.variable_scope(None))


def scope_object(tf):
    scope = tf.VariableScope(reuse=False, name="own", initializer=tf.ones_initializer())
    with tf.variable_scope(scope):
        return [tf.get_variable("a", [2]), scope.name, scope.reuse, scope.original_name_scope]


case("VariableScope", scope_object, **QUIET)


def parts(tf, partitioner):
    v = tf.get_variable("v", [5, 2], initializer=tf.ones_initializer(), partitioner=partitioner(tf))
    return [v.name, len(list(v)), [p.name for p in v], [p.shape for p in v], tf.convert_to_tensor(v),
            v.as_tensor().shape]


for name, arguments in (("fixed_size_partitioner", (2,)), ("min_max_variable_partitioner", (3, 0, 8)),
                        ("variable_axis_size_partitioner", (24,))):
    case(name, lambda tf, n=name, a=arguments: parts(tf, lambda tf: getattr(tf, n)(*a)), **QUIET)
    case(name, lambda tf, n=name, a=arguments: getattr(tf, n)(*a)(shape=tf.TensorShape([7, 3]), dtype=tf.float64))
case("fixed_size_partitioner",
     lambda tf: tf.fixed_size_partitioner(num_shards=3, axis=0)(tf.TensorShape([2]), dtype=tf.float32))
case("variable_axis_size_partitioner", lambda tf: [
    tf.variable_axis_size_partitioner(64, max_shards=2)(tf.TensorShape([100]), dtype=tf.float32),
    tf.variable_axis_size_partitioner(64, bytes_per_string_element=8)(tf.TensorShape([100]), dtype=tf.string)])
case("variable_axis_size_partitioner", lambda tf: tf.variable_axis_size_partitioner(0)(tf.TensorShape([3])))
case("create_partitioned_variables",
     lambda tf: tf.create_partitioned_variables([4, 2], [2, 1], tf.ones_initializer(), tf.float64, False,
                                                ["mine", "variables"], "given"), **QUIET)
case("create_partitioned_variables", lambda tf: [
    [p.name for p in tf.create_partitioned_variables([4, 2], [2, 1], tf.ones_initializer())] for _ in range(2)])
case("create_partitioned_variables", lambda tf: tf.create_partitioned_variables([4, 2], [2], tf.ones_initializer()))


def initialized(tf, function):
    a, b = tf.Variable(1.0, name="a"), tf.Variable(X, name="b", trainable=False)
    local = tf.Variable(5, name="l", trainable=False, collections=["local_variables"])
    with tf.Session() as session:
        before = session.run(tf.report_uninitialized_variables(name="given"))
        session.run(function(tf, a, b))
        after = session.run(tf.report_uninitialized_variables([a, b, local]))
        known = session.run([tf.is_variable_initialized(v) for v in (a, b, local)])
    return [before.tolist(), after.tolist(), known]


for name in ("global_variables_initializer", "local_variables_initializer", "initialize_all_variables",
             "initialize_local_variables"):
    case(name, lambda tf, n=name: initialized(tf, lambda tf, a, b: getattr(tf, n)()))
case("initialize_variables report_uninitialized_variables is_variable_initialized",
     lambda tf: initialized(tf, lambda tf, a, b: tf.initialize_variables([b], name="given")))


def initializers(tf):
    v = tf.Variable(1.0, name="v")
    tf.Variable(2.0, name="local", collections=["local_variables"])
    made = [tf.global_variables_initializer(), tf.local_variables_initializer(),
            tf.variables_initializer([v], name="start"), tf.variables_initializer([]), tf.tables_initializer(),
            v.initializer, tf.get_default_graph().get_operation_by_name("v/Assign")]
    reports = [tf.report_uninitialized_variables(), tf.report_uninitialized_variables([v], name="given"),
               tf.report_uninitialized_variables([])]
    with tf.name_scope("scope"):
        made.append(tf.global_variables_initializer())
    return [[op.name, [before.name for before in op.control_inputs]] for op in made] + [t.name for t in reports]


case("variables_initializer local_variables_initializer report_uninitialized_variables", initializers)


def asserted(tf):
    v = tf.Variable(1.0)
    with tf.Session() as session:
        session.run(tf.assert_variables_initialized([v]))


case("assert_variables_initialized", asserted)
case("all_variables model_variables moving_average_variables", lambda tf: [
    tf.Variable(1.0, collections=["model_variables", "moving_average_variables", "variables"], name="m").name,
    [v.name for v in tf.all_variables()], [v.name for v in tf.model_variables("m")],
    [v.name for v in tf.moving_average_variables(scope="x")], [v.name for v in tf.moving_average_variables()]])


def template(tf):
    def scaled(x, factor):
        w = tf.get_variable("w", [3], initializer=tf.constant_initializer(2.0))
        return x * w * factor

    f = tf.make_template("t", scaled, factor=3.0)
    g = tf.make_template("t", scaled, create_scope_now_=True, factor=1.0)
    h = tf.make_template("t", scaled, unique_name_="own", factor=1.0)
    results = [f(X), f(2 * X), g(X), h(X)]
    return results + [[v.name for v in tf.global_variables()], [v.name for v in f.trainable_variables],
                      f.variable_scope.name,
                      g.name, len(h.variables)]


case("make_template", template, **QUIET)


def fresh(tf):
    f = tf.make_template("t", lambda: tf.Variable(1.0))
    f()
    f()


case("make_template", fresh)
case("VariableSynchronization VariableAggregation", lambda tf: [
    [x.value for x in tf.VariableSynchronization], [x.value for x in tf.VariableAggregation],
    tf.VariableSynchronization(1).name,
    tf.VariableAggregation(2).name, tf.get_variable("v", [1], synchronization=tf.VariableSynchronization.AUTO,
                                                    aggregation=tf.VariableAggregation.NONE).shape])


def section(tf):
    counter = tf.Variable(0, name="counter")
    one, other = tf.CriticalSection(name="cs"), tf.CriticalSection(shared_name="shared")

    def add():
        with tf.control_dependencies([counter.read_value()]):
            return counter.assign_add(2, read_value=True)

    value = one.execute(add, name="given")
    with tf.control_dependencies([value]):
        return Result([value, other.execute(lambda: {"a": tf.constant(1), "b": [counter.read_value()]},
                                            exclusive_resource_access=False)], steps=2)


case("CriticalSection", section, **QUIET)


def averaged(tf, reduction="MEAN"):
    total = tf.ConditionalAccumulator(tf.float32, [2], shared_name="a", name="given", reduction_type=reduction)
    with tf.Session() as session:
        found = [total.dtype, total.name, session.run(total.num_accumulated())]
        for step, grad in ((0, [1.0, 2.0]), (0, [3.0, 5.0]), (1, [2.0, 2.0])):
            session.run(total.apply_grad(grad, local_step=step))
        found += [session.run(total.num_accumulated(name="n")), session.run(total.take_grad(2, name="t"))]
        session.run(total.set_global_step(5))
        session.run(total.apply_grad([9.0, 9.0], local_step=4))  # too old
        session.run(total.apply_grad([1.0, 1.0], local_step=5))
        return found + [session.run(total.take_grad(1))]


case("ConditionalAccumulator ConditionalAccumulatorBase", averaged)
case("ConditionalAccumulator", lambda tf: averaged(tf, "SUM"))
case("ConditionalAccumulator", lambda tf: averaged(tf, "MAX"))
case("ConditionalAccumulator", lambda tf: tf.ConditionalAccumulator(tf.float32, [2]).apply_grad([1.0, 2.0, 3.0]))
case("ConditionalAccumulatorBase", lambda tf: [issubclass(c, tf.ConditionalAccumulatorBase) for c in (
    tf.ConditionalAccumulator, tf.SparseConditionalAccumulator)])


def sparse_sums(tf, f):
    total = f(tf.float32, shape=[4, 2], reduction_type="SUM", name="given")
    with tf.Session() as session:
        session.run(total.apply_grad([0, 2], [[1.0, 2.0], [3.0, 4.0]], [4, 2], local_step=0))
        session.run(total.apply_indexed_slices_grad(tf.IndexedSlices(tf.constant([[5.0, 6.0]]),
                                                                     tf.constant([2], tf.int64))))
        found = [session.run(total.num_accumulated()), session.run(total.take_grad(2))]
        session.run(total.apply_grad([1], [[1.0, 1.0]], local_step=9))
        taken = total.take_indexed_slices_grad(1, name="t")
        return found + [session.run([taken.indices, taken.values])]


each("SparseConditionalAccumulator sparse.SparseConditionalAccumulator", sparse_sums)
case("SparseConditionalAccumulator",
     lambda tf: tf.SparseConditionalAccumulator(tf.float32, [4, 2]).apply_grad([0], [[1.0]]))
