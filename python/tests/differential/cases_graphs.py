"""Graphs, devices, scopes, sessions, switches between versions, descriptions of types, messages."""

import weakref

import numpy as np
from registry import Result, case, floats, ints, op

X = floats(2, 3)
QUIET = {"names": False}


def graph_facts(tf):
    graph = tf.Graph()
    with graph.as_default():
        a = tf.constant([1.0], name="a")
        with tf.name_scope("s") as scope:
            b = tf.add(a, a, name="b")
        graph.add_to_collection("c", b)
        found = [scope, b.name, graph.get_tensor_by_name("s/b:0") == b, graph.get_operation_by_name("a").type,
                 [op.name for op in graph.get_operations()], graph.get_all_collection_keys(),
                 len(graph.get_collection("c", scope="s")), len(graph.get_collection("c", scope="t")),
                 graph.unique_name("a"), graph.finalized, tf.get_default_graph() is graph, graph.is_feedable(a)]
        graph.finalize()
    return found + [graph.finalized, graph.version > 0]


case("Graph get_default_graph name_scope", graph_facts)
case("Graph", lambda tf: tf.Graph().get_tensor_by_name("missing:0"))
case("Graph", lambda tf: tf.Graph().get_operation_by_name("a:0"))


def objects(tf):
    graph = tf.get_default_graph()
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.add(x, 1.0, name="y")
    with tf.control_dependencies([x.op]):
        z = tf.identity(y, name="z")
    v = tf.get_variable("v", [2])
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        again = tf.get_variable("v", [2])
    grad, = tf.gradients(z * z, [x])
    tf.add_to_collection("c", z)
    seen = []
    tf.while_loop(lambda i: i < 3, lambda i: seen.append(i) or i + 1, [0])
    for element in (x, x.op, v, graph):
        element._keras_shape = (2,)
    sparse, slices = tf.SparseTensor([[0, 0]], [1.0], [2, 2]), tf.IndexedSlices(x, tf.constant([0, 1]))
    sparse._mark, slices._mark = 1, 2
    by_name, all_operations = graph.get_tensor_by_name, graph.get_operations()
    return [x.op.outputs[0] is x, y.op.inputs[0] is x, by_name("x:0") is x, by_name("z:0") is z, x.op is all_operations[0],
            graph.get_operation_by_name("x") is x.op, graph.as_graph_element("x:0") is x, z.op.control_inputs[0] is x.op,
            x.consumers()[0] is y.op, again is v, tf.global_variables()[0] is v, v.op is graph.get_operation_by_name("v"),
            v.initializer is graph.get_operation_by_name("v/Assign"), grad is by_name(grad.name),
            tf.get_collection("c")[0] is z, seen[0] is by_name(seen[0].name), tf.convert_to_tensor(x) is x,
            by_name("x:0")._keras_shape, all_operations[0]._keras_shape, tf.global_variables()[0]._keras_shape,
            sparse._mark, slices._mark, x == y, x != y, x == x, x == 5, v == 5, x in [y, x], [y, x].index(x),  # noqa: PLR0124
            {x: 1, y: 2, v: 3, x.op: 4}[x.op], len({x, by_name("x:0"), x.op, v}), weakref.ref(x)() is x,
            hasattr(x, "_uses_learning_phase")]


case("Graph get_default_graph", objects)


def finalized(tf):
    with tf.Graph().as_default() as graph:
        graph.finalize()
        tf.constant(1)


case("Graph", finalized)
case("reset_default_graph", lambda tf: tf.reset_default_graph())


def scopes(tf):
    with tf.name_scope("outer") as outer:
        with tf.name_scope(None, "default", [tf.constant(1)]) as inner:
            x = tf.constant(X)
        with tf.name_scope("outer") as again:
            y = tf.identity(x)
        with tf.name_scope(inner):
            z = tf.identity(y, name="z")
    with tf.name_scope(""):
        w = tf.identity(z, name="w")
    with tf.op_scope([w], None, "old") as old:
        v = tf.identity(w)
    with tf.op_scope([w], "new", "old") as new:
        u = tf.identity(w)
    return [outer, inner, again, old, new, x, y, z, w, v, u]


case("name_scope op_scope", scopes)
case("name_scope", lambda tf: tf.name_scope("bad name").__enter__())


def devices(tf):
    names = []
    with tf.device("/job:w/task:1"):
        names.append(tf.constant(1).device)
        with tf.device("/cpu:0"):
            names.append(tf.constant(1).device)
        with tf.device(tf.DeviceSpec(job="x", device_type="GPU", device_index=1)):
            names.append(tf.constant(1).device)
        with tf.device(None):
            names.append(tf.constant(1).device)
        with tf.device(lambda op: "/job:" + op.type):
            names.append(tf.constant(1).device)
    return names


case("device DeviceSpec", devices)


def spec_facts(tf):
    spec = tf.DeviceSpec(job="w", task=1, device_type="GPU", device_index=2)
    parsed = tf.DeviceSpec.from_string("/job:a/replica:1/task:2/gpu:*")
    return [spec.to_string(), repr(spec), spec == tf.DeviceSpec.from_string("/job:w/task:1/device:GPU:2"), spec.job,
            spec.replica, spec.task, spec.device_type, spec.device_index, parsed.to_string(), parsed.device_index,
            tf.DeviceSpec.from_string("/cpu:0").to_string(), tf.DeviceSpec().to_string()]


case("DeviceSpec", spec_facts)
case("DeviceSpec", lambda tf: tf.DeviceSpec.from_string("/job:a/bad:1"))
case("DeviceSpec", lambda tf: tf.DeviceSpec(task="x"))


def ordered(tf):
    a = tf.constant(1, name="a")
    with tf.control_dependencies([a]):
        b = tf.constant(2, name="b")
        with tf.init_scope():
            c = tf.constant(3, name="c")
        with tf.control_dependencies(None):
            d = tf.constant(4, name="d")
        with tf.control_dependencies([b]):
            e = tf.constant(5, name="e")
    return [b, c, d, e] + [sorted(i.name for i in t.op.control_inputs) for t in (b, c, d, e)]


case("control_dependencies init_scope", ordered)


def colocated(tf):
    with tf.device("/job:w"):
        a = tf.constant(1, name="a")
    with tf.colocate_with(a.op):
        b = tf.constant(2)
    return [b, [group.decode() for group in b.op.colocation_groups()]]


case("colocate_with", colocated)


def collections(tf):
    x = tf.constant(1, name="scope/x")
    tf.add_to_collection("a", x)
    tf.add_to_collections(["a", "b", "b"], 3)
    tf.get_collection_ref("c").append(4)
    return [len(tf.get_collection("a")), tf.get_collection("b"), tf.get_collection("c"),
            len(tf.get_collection("a", "scope")),
            tf.get_collection(key="a", scope="other"), tf.get_collection("none"),
            sorted(tf.get_default_graph().collections)]


case("add_to_collection add_to_collections get_collection get_collection_ref", collections)
case("GraphKeys", lambda tf: {name: getattr(tf.GraphKeys, name) for name in (
    "GLOBAL_VARIABLES", "LOCAL_VARIABLES", "MODEL_VARIABLES", "TRAINABLE_VARIABLES", "SUMMARIES", "SUMMARY_OP",
    "QUEUE_RUNNERS",
    "TABLE_INITIALIZERS", "ASSET_FILEPATHS", "MOVING_AVERAGE_VARIABLES", "REGULARIZATION_LOSSES", "LOSSES",
    "UPDATE_OPS",
    "SAVERS", "WEIGHTS", "BIASES", "ACTIVATIONS", "INIT_OP", "LOCAL_INIT_OP", "READY_OP", "GLOBAL_STEP", "TRAIN_OP",
    "COND_CONTEXT", "WHILE_CONTEXT", "EVAL_STEP", "CONCATENATED_VARIABLES", "READY_FOR_LOCAL_INIT_OP")})


def sessions(tf):
    x, y = tf.placeholder(tf.float32, [None], name="x"), tf.constant([1.0, 2.0])
    z = x + y
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        found = [session.run(z, {x: [3.0, 4.0]}), session.run([z, {"y": y, "pair": (x, z)}], {x: [5.0]}),
                 z.eval({x: [1.0]}), tf.get_default_session() is session, session.graph is tf.get_default_graph(),
                 session.run("x:0", {"x:0": [7.0]}), session.run([], {}), session.run(tf.no_op())]
        call = session.make_callable(z, [x])
        found.append(call([2.0]))
    return found + [tf.get_default_session() is None]


case("Session get_default_session ConfigProto", sessions)


def interactive(tf):
    session = tf.InteractiveSession(graph=tf.get_default_graph(), config=tf.ConfigProto())
    found = [tf.constant(X).eval(), tf.get_default_session() is session]
    session.close()
    return found


case("InteractiveSession", interactive)
for label, wrong in (
    ("fetch", lambda tf, s: s.run(3)), ("name", lambda tf, s: s.run("missing:0")), ("none", lambda tf, s: s.run(None)),
    ("not fed", lambda tf, s: s.run(tf.placeholder(tf.float32))),
    ("shape", lambda tf, s: s.run(tf.constant(1), {tf.placeholder(tf.float32, [2]): [1.0]})),
    ("fed tensor", lambda tf, s: s.run(tf.constant(1), {tf.placeholder(tf.int32): tf.constant(1)})),
    ("key", lambda tf, s: s.run(tf.constant(1), {3: 1})), ("closed", lambda tf, s: (s.close(), s.run(tf.constant(1)))),
    ("object", lambda tf, s: s.run([tf.Graph()])),
):
    case("Session", lambda tf, wrong=wrong: (tf.no_op(), wrong(tf, tf.Session())), label="Session: wrong " + label)

for name in ("control_flow_v2_enabled", "resource_variables_enabled", "executing_eagerly",
             "executing_eagerly_outside_functions",
             "disable_v2_behavior", "disable_eager_execution", "disable_v2_tensorshape", "disable_control_flow_v2",
             "disable_tensor_equality"):
    case(name, lambda tf, name=name: getattr(tf, name)())


def switched(tf):
    tf.enable_resource_variables()
    found = [tf.resource_variables_enabled()]
    tf.disable_resource_variables()
    return found + [tf.resource_variables_enabled()]


case("enable_resource_variables disable_resource_variables resource_variables_enabled", switched)
case("get_logger", lambda tf: tf.get_logger().name)
case("is_symbolic_tensor", lambda tf: [tf.is_symbolic_tensor(tf.constant(1)), tf.is_symbolic_tensor(3)])


def shapes(tf):
    a, b = tf.TensorShape([2, None]), tf.TensorShape(None)
    return [a, b, a.merge_with([None, 3]), a.concatenate(4), a[1:], a.is_compatible_with([2, 5]), a.is_fully_defined(),
            b.ndims, str(a), repr(a), str(b), a.as_list(), a.num_elements(), tf.TensorShape([2, 3]).num_elements(),
            a.with_rank(2), a.with_rank_at_least(1), tf.TensorShape(4), tf.TensorShape([2, 3]) == [2, 3], len(a),
            bool(a), a[0].value, a.as_proto().SerializeToString(), a.most_specific_compatible_shape([3, 4])]


case("TensorShape", shapes)
for wrong in (lambda s: s.merge_with([3, 4]), lambda s: s.with_rank(3), lambda s: s.assert_is_compatible_with([2]),
              lambda s: s.with_rank_at_most(1), lambda s: s.assert_is_fully_defined(), lambda s: s[5]):
    case("TensorShape", lambda tf, wrong=wrong: wrong(tf.TensorShape([2, None])))
case("TensorShape", lambda tf: tf.TensorShape(None).as_list())
case("TensorShape", lambda tf: tf.TensorShape([-2]))


def dimensions(tf):
    a, b, n = tf.Dimension(3), tf.Dimension(4), tf.Dimension(None)
    return [a.value, (a + b).value, (a * 2).value, (b - a).value, (b // 2).value, (a + n).value, int(a), a == 3, a < b,
            (a < n) is None, a.is_compatible_with(n), a.merge_with(n).value, str(n), repr(a), (7 % a).value,
            (a % 2).value]


case("Dimension", dimensions)
case("Dimension", lambda tf: tf.Dimension(3).merge_with(4))
case("Dimension", lambda tf: tf.Dimension(-3))
case("Dimension", lambda tf: tf.Dimension("a"))


def types(tf):
    found = [tf.as_dtype("float32"), tf.as_dtype(np.int64), tf.as_dtype(3), tf.as_dtype(bool),
             tf.as_dtype(np.dtype("U3"))]
    for name in ("float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "uint16", "int32", "uint32",
                 "int64",
                 "uint64", "bool", "string", "complex64", "complex128", "resource", "variant", "half", "double"):
        d = tf.as_dtype(name)
        found.append([d.name, d.as_datatype_enum, d.is_floating, d.is_integer, d.is_complex, d.is_bool, d.is_unsigned,
                      d.is_quantized, d.is_numpy_compatible, d.size if name not in ("string", "resource", "variant")
                      else 0,
                      d.real_dtype.name, d.base_dtype.name, repr(d), str(d), d == name, d.is_compatible_with(name)])
    for d in (tf.float32, tf.float64, tf.int8, tf.uint16, tf.int64):
        found.append([d.min, d.max, d.limits])
    return found


case("as_dtype DType", types)
case("as_dtype", lambda tf: tf.as_dtype("wrong"))
case("as_dtype", lambda tf: tf.as_dtype(None))
case("DType", lambda tf: [tf.DType(1), tf.DType(type_enum=9), tf.DType(1) == tf.float32,
                          hash(tf.DType(3)) == hash(tf.int32)])
case("DType", lambda tf: tf.DType(-5))


def specs(tf):
    t = tf.TensorSpec([2, None], tf.int32, "n")
    s = tf.SparseTensorSpec([2, None], tf.int32)
    sparse = tf.SparseTensor([[0, 0]], [1], [2, 3])
    return [repr(t), t.shape, t.dtype, t.name, t == tf.TensorSpec([2, None], tf.int32, "n"),
            t != tf.TensorSpec([2, 3], tf.int32, "n"), hash(t) == hash(tf.TensorSpec([2, None], tf.int32, "n")),
            t.is_compatible_with(tf.constant([[1, 2], [3, 4]])), t.is_compatible_with(tf.constant([1])),
            repr(tf.TensorSpec.from_tensor(tf.constant([1.0], name="b"))), repr(tf.TensorSpec.from_spec(t, "z")),
            repr(tf.TensorSpec(None)), isinstance(t, tf.TypeSpec), repr(s), s.shape, s.dtype,
            s.is_compatible_with(sparse), s == tf.SparseTensorSpec([2, None], tf.int32),
            s.is_compatible_with(tf.SparseTensorSpec([3, None], tf.int32)),
            repr(tf.IndexedSlicesSpec([2, 3], tf.int32)),
            repr(tf.TensorArraySpec([2], tf.int32, True, False)), repr(tf.OptionalSpec(tf.TensorSpec([2]))),
            repr(tf.type_spec_from_value(tf.constant([1]))), repr(tf.type_spec_from_value(sparse)),
            repr(tf.type_spec_from_value(3))]


case("TensorSpec SparseTensorSpec IndexedSlicesSpec TensorArraySpec OptionalSpec TypeSpec type_spec_from_value", specs)
case("type_spec_from_value", lambda tf: tf.type_spec_from_value(object()))
case("TensorSpec", lambda tf: tf.TensorSpec([2], "wrong"))


def protos(tf):
    made = [tf.make_tensor_proto(*args, **kwargs) for args, kwargs in (
        (([1, 2],), {}), (([1, 2], tf.float32), {}), ((3.5,), {"shape": [2, 2]}), ((["a", b"b"],), {}), ((True,), {}),
        (([1, 2],), {"shape": [3]}), ((np.arange(4, dtype=np.int8),), {}), ((1j,), {}), ((X.astype(np.float16),), {}),
        ((X,), {"dtype": tf.float64, "shape": [3, 2]}))]
    return [[p.dtype, [d.size for d in p.tensor_shape.dim], tf.make_ndarray(p)] for p in made]


case("make_tensor_proto make_ndarray", protos)
case("make_tensor_proto", lambda tf: tf.make_tensor_proto([1.5], tf.int32))
case("make_tensor_proto", lambda tf: tf.make_tensor_proto([1, 2, 3], shape=[2]))
case("make_tensor_proto", lambda tf: tf.make_tensor_proto([[1, 2]], shape=[2], verify_shape=True))

MESSAGES = {
    "ConfigProto": dict(allow_soft_placement=True, inter_op_parallelism_threads=2),
    "GPUOptions": dict(allow_growth=True),
    "GraphOptions": dict(infer_shapes=True), "OptimizerOptions": dict(opt_level=-1),
    "RunOptions": dict(timeout_in_ms=50),
    "RunMetadata": dict(), "AttrValue": dict(i=3), "NodeDef": dict(name="n", op="Const", input=["a"]),
    "GraphDef": dict(),
    "MetaGraphDef": dict(), "NameAttrList": dict(name="f"), "Event": dict(step=3, wall_time=1.5),
    "HistogramProto": dict(min=1.0, max=2.0, num=3.0, bucket=[1.0, 2.0]), "LogMessage": dict(message="m"),
    "SessionLog": dict(status=1, msg="m"), "Summary": dict(), "SummaryMetadata": dict(display_name="d"),
    "TensorInfo": dict(name="x:0", dtype=1),
}
for name, fields in MESSAGES.items():
    case(name, lambda tf, name=name, fields=fields: [getattr(tf, name)(**fields).SerializeToString(),
                                                     str(getattr(tf, name)(**fields))])
    case(name, lambda tf, name=name: getattr(tf, name)(no_such_field=1))


def converted(tf):
    class Celsius:
        def __init__(self, degrees):
            self.degrees = degrees

    def convert(value, dtype=None, name=None, as_ref=False):
        return tf.constant(value.degrees, dtype, name=name or "celsius")

    tf.register_tensor_conversion_function(Celsius, convert, priority=10)
    return [tf.convert_to_tensor(Celsius([1.0, 2.0])), tf.add(Celsius([1.0]), 2.0), tf.constant([3.0]) * Celsius([2.0])]


case("register_tensor_conversion_function", converted, **QUIET)
case("register_tensor_conversion_function", lambda tf: tf.register_tensor_conversion_function(3, lambda *a: 1))
case("register_tensor_conversion_function", lambda tf: tf.register_tensor_conversion_function(str, 3))


def numerics(tf, value):
    x = tf.placeholder(tf.float32, [2])
    tf.log(x)
    return Result(tf.add_check_numerics_ops(), feed={x: value})


case("add_check_numerics_ops", lambda tf: numerics(tf, [1.0, 2.0]), **QUIET)
case("add_check_numerics_ops", lambda tf: numerics(tf, [1.0, 0.0]), **QUIET)
case("OpError",
     lambda tf: [tf.OpError(None, None, "m", 3).message, tf.OpError(None, None, "m", error_code=5).error_code])


def raised(tf):
    try:
        with tf.Session() as session:
            session.run(tf.constant(1) // tf.constant(0))
    except tf.OpError as error:
        return [type(error).__name__, error.error_code]


case("OpError", raised)
case("placeholder",
     lambda tf: [tf.placeholder(tf.float32), tf.placeholder(tf.string, [None, 2], name="given")].__len__())
case("Tensor Operation", lambda tf: [isinstance(tf.constant(1), tf.Tensor), isinstance(tf.no_op(), tf.Operation),
                                     tf.constant(1).op.type, tf.constant(X).shape, tf.constant(X).dtype])
op("convert_to_tensor", ints(2), preferred_dtype=None, name="given")


def without_a_gpu(tf):
    options = tf.GPUOptions(visible_device_list="0", per_process_gpu_memory_fraction=0.5, allow_growth=True)
    config = tf.ConfigProto(device_count={"CPU": 2, "GPU": 1}, gpu_options=options)
    with tf.Session(config=config) as session:
        listed = session.list_devices()
    return [[(device.name, device.device_type, device.memory_limit_bytes) for device in listed],
            str(listed[0]).rpartition(", ")[0], tf.test.is_gpu_available(),
            tf.test.is_gpu_available(cuda_only=True, min_cuda_compute_capability=(3, 5)), tf.test.gpu_device_name(),
            tf.test.is_built_with_rocm(), tf.config.list_physical_devices("GPU"),
            tf.config.list_logical_devices("GPU"), tf.config.get_visible_devices("GPU"),
            tf.config.set_visible_devices([], "GPU")]


def on_a_missing_gpu(tf, soft):
    with tf.device("/gpu:0"):
        product = tf.constant(2.0) * 3.0
    config = tf.ConfigProto(device_count={"GPU": 0}, allow_soft_placement=soft)
    with tf.Session(config=config) as session:
        return session.run(product)


case("Session ConfigProto GPUOptions test.is_gpu_available test.gpu_device_name test.is_built_with_rocm", without_a_gpu)
case("Session ConfigProto device", lambda tf: on_a_missing_gpu(tf, True))
case("Session ConfigProto device", lambda tf: on_a_missing_gpu(tf, False))
