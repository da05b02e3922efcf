"""Graphs, scopes, collections, gradients, control flow, and recurrent networks."""

import numpy as np
from registry import Result, case, each, floats

X = floats(2, 3)
QUIET = {"names": False}


def collections(tf):
    graph = tf.get_default_graph()
    x, y = tf.constant(1.0, name="x"), tf.constant(2.0, name="scope/y")
    tf.add_to_collection("own", x)
    tf.add_to_collections(["own", "other"], y)
    tf.get_collection_ref("more").append(y)
    with tf.name_scope("outer") as outer, tf.name_scope("inner", values=[x]):
        inside = tf.identity(x)
    with tf.name_scope(None, default_name="given", values=[x]):
        default = tf.identity(x)
    with tf.control_dependencies([x]), tf.device("/cpu:0"):
        dependent = tf.no_op()
    return [tf.get_collection("own"), tf.get_collection("own", scope="scope"), tf.get_collection("more"), outer, inside,
            default,
            [op.name for op in dependent.control_inputs], dependent.device, sorted(graph.get_all_collection_keys()),
            tf.get_default_graph() is graph]


case("add_to_collection add_to_collections get_collection get_collection_ref name_scope control_dependencies device "
     "get_default_graph", collections)
case("GraphKeys", lambda tf: [getattr(tf.GraphKeys, name) for name in (
    "GLOBAL_VARIABLES", "LOCAL_VARIABLES", "METRIC_VARIABLES", "MODEL_VARIABLES", "TRAINABLE_VARIABLES", "SUMMARIES",
    "QUEUE_RUNNERS", "TABLE_INITIALIZERS", "ASSET_FILEPATHS", "REGULARIZATION_LOSSES", "SAVERS", "WEIGHTS", "BIASES",
    "ACTIVATIONS", "UPDATE_OPS", "LOSSES", "SAVEABLE_OBJECTS", "RESOURCES", "LOCAL_RESOURCES", "INIT_OP",
    "LOCAL_INIT_OP",
    "READY_OP", "SUMMARY_OP", "GLOBAL_STEP", "EVAL_STEP", "TRAIN_OP", "COND_CONTEXT", "WHILE_CONTEXT",
    "MOVING_AVERAGE_VARIABLES", "CONCATENATED_VARIABLES", "TRAINABLE_RESOURCE_VARIABLES", "READY_FOR_LOCAL_INIT_OP")])


def graphs(tf):
    graph = tf.Graph()
    with graph.as_default():
        a = tf.placeholder(tf.float32, [2], name="a")
        b = tf.identity(a, name="b")
    with tf.Session(graph=graph) as session:
        value = session.run(b, {a: [1.0, 2.0]})
        inside = tf.get_default_session() is session
    graph.finalize()
    operation = b.op
    return [value, inside, graph.finalized, [o.name for o in graph.get_operations()], operation.type,
            operation.inputs[0].name,
            [c.name for c in a.consumers()], b.shape, graph.get_tensor_by_name("b:0").name]


case("Graph Session placeholder get_default_session", graphs)
case("Session", lambda tf: tf.Session(graph="no"))
case("InteractiveSession", lambda tf: interactive(tf))


def interactive(tf):
    session = tf.InteractiveSession(graph=tf.get_default_graph())
    try:
        return [tf.constant(3.0).eval(), tf.get_default_session() is session]
    finally:
        session.close()


case("Dimension TensorShape", lambda tf: [tf.Dimension(3).value, (tf.Dimension(3) + 2).value,
                                          tf.TensorShape([2, None]).as_list(),
                                          tf.TensorShape([2, None]).merge_with([None, 3]), tf.TensorShape(None).ndims,
                                          tf.TensorShape([2, 3]).num_elements(), tf.TensorShape([2]).concatenate([3]),
                                          tf.TensorShape([2, None]).is_compatible_with([2, 5])])
case("TensorShape", lambda tf: tf.TensorShape([2]).merge_with([3]))
case("as_dtype DType", lambda tf: [tf.as_dtype(np.int32), tf.as_dtype("float64"), tf.as_dtype(1),
                                   tf.as_dtype("half").size,
                                   tf.as_dtype(tf.int8).max, tf.as_dtype("uint8").min, tf.as_dtype(tf.bool).is_bool])
case("as_dtype", lambda tf: tf.as_dtype("no"))


def contained(tf):
    with tf.container("outer") as name:
        first = tf.FIFOQueue(3, [tf.float32])
        with tf.get_default_graph().container("inner"):
            second = tf.FIFOQueue(3, [tf.float32])
        third = tf.FIFOQueue(3, [tf.float32], name="third")
    return [name] + [queue.queue_ref.op.get_attr("container") for queue in (first, second, third)]


case("container", contained)


def differentiated(tf, **options):
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 4.0])
    z = x * x * y
    return tf.gradients([z], [x, y], **options)


case("gradients", lambda tf: differentiated(tf, name="given"), **QUIET)
case("gradients", lambda tf: differentiated(tf, grad_ys=[tf.constant([0.5, 2.0])]), **QUIET)
case("gradients", lambda tf: tf.gradients(tf.constant(1.0), [tf.constant(2.0)]))


def stopped(tf, which):
    """Gradients through a chain with a loop and a variable, without those behind some of the tensors."""
    x = tf.constant([1.0, 2.0])
    square = x * x
    cube = tf.multiply(square, x)
    variable = tf.get_variable("v", initializer=[3.0, 4.0])
    looped = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * square), [0, variable * cube])[1]
    y = looped + cube
    stops = {"none": [], "x": x, "one": square, "two": [square, cube], "loop": [looped], "variable": [variable],
             "y": y}[which]
    return tf.gradients(y, [x, square, cube, variable], stop_gradients=stops)


for which in ("none", "x", "one", "two", "loop", "variable", "y"):
    case("gradients", lambda tf, which=which: stopped(tf, which), **QUIET)
case("gradients", lambda tf: tf.gradients(tf.constant(1.0), tf.constant(2.0), grad_ys=[1.0, 2.0]))

# Variables.


def variables(tf):
    with tf.variable_scope("s", initializer=tf.ones_initializer(), reuse=tf.AUTO_REUSE) as scope:
        a = tf.get_variable("a", [2])
        again = tf.get_variable("a", [2])
        local = tf.get_local_variable("l", initializer=2.0)
        with tf.variable_scope(scope, reuse=True):
            third = tf.get_variable("a")
        inside = tf.get_variable_scope()
        names = [inside.name, inside.original_name_scope, inside.reuse == tf.AUTO_REUSE]
    with tf.variable_scope(None, default_name="s") as other:
        names.append(other.name)
    b = tf.Variable([1, 2], name="b", trainable=False, dtype=tf.int64)
    model = tf.get_variable("m", initializer=1.0, collections=["variables", "model_variables"])
    tf.add_to_collection("moving_average_variables", a)
    return Result([names, a.name, again.name, third.name, local.name, b.name, b.trainable,
                   [[v.name for v in found] for found in (
                       tf.global_variables(), tf.global_variables(scope="s"), tf.local_variables(),
                       tf.local_variables(scope="x"),
                       tf.trainable_variables(), tf.trainable_variables(scope="s/"), tf.model_variables(),
                       tf.model_variables("m"),
                       tf.moving_average_variables(), tf.moving_average_variables("s"), tf.all_variables())]],
                  after=[a.value(), b.value(), model.value(), tf.report_uninitialized_variables([a, b], name="r"),
                         tf.is_variable_initialized(a)])


case("variable_scope get_variable get_local_variable get_variable_scope Variable global_variables local_variables "
     "trainable_variables model_variables moving_average_variables report_uninitialized_variables "
     "is_variable_initialized "
     "all_variables", variables, **QUIET)
case("VariableSynchronization VariableAggregation", lambda tf: [
    [e.name for e in tf.VariableSynchronization], [e.value for e in tf.VariableAggregation],
    tf.VariableSynchronization.AUTO.value,
    tf.VariableAggregation.SUM.name] if not hasattr(tf.VariableSynchronization, "_value") else [
    [e.name for e in tf.VariableSynchronization._value], [e.value for e in tf.VariableAggregation._value],
    tf.VariableSynchronization.AUTO.value, tf.VariableAggregation.SUM.name])
case("assert_variables_initialized", lambda tf: asserted(tf))


def asserted(tf):
    a = tf.get_variable("a", initializer=1.0)
    with tf.control_dependencies([tf.assert_variables_initialized([a])]):
        return tf.identity(tf.constant(2.0))


def op_scopes(tf, f):
    v = tf.get_variable("v", initializer=1.0)
    with f([v], "given", "default"):
        name = tf.identity(v).name
    with f([v], None, "default"):
        return [name, tf.identity(v).name]


case("variable_op_scope", lambda tf: op_scopes(tf, tf.variable_op_scope))

# Control flow.
for value in (True, False):
    case("cond", lambda tf, v=value: chosen(tf, v), **QUIET)


def chosen(tf, value):
    x, p = tf.constant(X), tf.placeholder(tf.bool, [])
    found = tf.cond(p, true_fn=lambda: [x * 2.0, tf.constant(1)],
                    false_fn=lambda: [tf.reduce_sum(x) * x, tf.constant(2)], name="given")
    return Result(found, feed={p: value}, wrt=[x])


case("cond", lambda tf: tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(1.0)))
case("case",
     lambda tf: tf.case([(tf.constant(False), lambda: tf.constant(1)), (tf.constant(True), lambda: tf.constant(2))],
                                default=lambda: tf.constant(3), exclusive=True, name="given"), **QUIET)
case("case", lambda tf: tf.case({tf.constant(False): lambda: tf.constant(1)}, default=lambda: tf.constant(3)), **QUIET)
case("case", lambda tf: tf.case([(tf.constant(False), 3)]))


def looped(tf):
    x = tf.constant(X)
    i, total = tf.while_loop(lambda i, t: i < 4, lambda i, t: [i + 1, t * x + 1.0], [tf.constant(0), x],
                             parallel_iterations=2,
                             swap_memory=False, name="given", maximum_iterations=3)
    return Result([i, total], wrt=[x])


case("while_loop", looped, **QUIET)
case("while_loop", lambda tf: tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], swap_memory=True),
     **QUIET)
case("while_loop", lambda tf: tf.while_loop(lambda i: i < 3, lambda i: tf.zeros([2]), [tf.constant(0)]))
for name, call in (
    ("map_fn", lambda tf, f, x: f(lambda r: r * 2.0, x, dtype=tf.float32, name="given")),
    ("map_fn", lambda tf, f, x: f(lambda r: (r[0] + r[1], tf.reduce_sum(r[0])), (x, x), dtype=(tf.float32, tf.float32),
                                  back_prop=True)),
    ("foldl", lambda tf, f, x: f(lambda a, r: a * r, x, initializer=tf.ones([3]), name="given")),
    ("foldr", lambda tf, f, x: f(lambda a, r: a - r, x, initializer=tf.ones([3]), name="given")),
    ("scan", lambda tf, f, x: f(lambda a, r: a * r + 1.0, x, initializer=tf.ones([3]), reverse=True, name="given")),
):
    each(name, lambda tf, f, c=call: (lambda x: Result(c(tf, f, x), wrt=[x]))(tf.constant(X)), **QUIET)


def array(tf):
    x = tf.constant(X)
    values = tf.TensorArray(tf.float32, size=2, dynamic_size=True, clear_after_read=False, element_shape=[3],
                            name="given")
    values = values.unstack(x).write(2, x[0] * 3.0)
    return Result([values.read(1), values.stack(), values.gather([2, 0]), values.concat(), values.size()], wrt=[x])


case("TensorArray", array, **QUIET)

# Recurrent networks.


def recurrent(tf, run):
    x = tf.constant(floats(2, 3, 3))
    with tf.variable_scope("cells", initializer=tf.constant_initializer(0.1)):
        outputs = run(tf, x)
    return Result([outputs, sorted(v.name for v in tf.global_variables())], wrt=[x])


def cells(tf):
    return tf.nn.rnn_cell.GRUCell(2), tf.nn.rnn_cell.BasicLSTMCell(2)


for names, run in (
    ("nn.dynamic_rnn", lambda tf, x: tf.nn.dynamic_rnn(cells(tf)[0], x, sequence_length=[1, 3], dtype=tf.float32,
                                                       scope="given")),
    ("nn.dynamic_rnn", lambda tf, x: tf.nn.dynamic_rnn(cells(tf)[1], x, time_major=True, dtype=tf.float32)),
    ("nn.bidirectional_dynamic_rnn", lambda tf, x: tf.nn.bidirectional_dynamic_rnn(*cells(tf), x, [2, 3],
                                                                                   dtype=tf.float32)),
    ("nn.static_rnn", lambda tf, x: tf.nn.static_rnn(cells(tf)[1], tf.unstack(x, axis=1), dtype=tf.float32,
                                                     sequence_length=[1, 3])),
    ("nn.static_bidirectional_rnn", lambda tf, x: tf.nn.static_bidirectional_rnn(*cells(tf), tf.unstack(x, axis=1),
                                                                                 dtype=tf.float32)),
):
    case(names, lambda tf, run=run: recurrent(tf, run), **QUIET)


class SavedStates:
    """A state saver whose states are constants. What is saved is in variables."""

    def __init__(self, tf):
        self._tf = tf
        self.saved = {name: tf.get_variable(f"saved_{name}", [2, 2], trainable=False) for name in ("c", "h")}

    def state(self, name):
        return self._tf.constant([[0.1, 0.2], [0.3, 0.4]]) * {"c": 1.0, "h": -2.0}[name]

    def save_state(self, name, value):
        return self.saved[name].assign(value)


def state_saving(tf, x):
    states = SavedStates(tf)
    outputs, state = tf.nn.static_state_saving_rnn(cells(tf)[1], tf.unstack(x, axis=1), states, ("c", "h"),
                                                   sequence_length=[1, 3], scope="given")
    with tf.control_dependencies([outputs[-1]]):
        return outputs, state, [states.saved[name].read_value() for name in ("c", "h")]


case("nn.static_state_saving_rnn", lambda tf: recurrent(tf, state_saving), **QUIET)


def raw(tf, x):
    cell = cells(tf)[0]
    rows = tf.TensorArray(tf.float32, 3).unstack(tf.transpose(x, [1, 0, 2]))
    lengths = tf.constant([2, 3])

    def step(time, output, state, loop_state):
        finished = time >= lengths
        following = cell.zero_state(2, tf.float32) if output is None else state
        inputs = tf.cond(tf.reduce_all(finished), lambda: tf.zeros([2, 3]), lambda: rows.read(time))
        inputs.set_shape([2, 3])
        return finished, inputs, following, output, None

    emitted, state, _ = tf.nn.raw_rnn(cell, step, scope="given")
    return [emitted.stack(), state]


case("nn.raw_rnn", lambda tf: recurrent(tf, raw).outputs, **QUIET, shapes="the loop forgets the sizes of the batch")
