"""tf.profiler: the parameters and the floating point operations of graphs."""

import os
import tempfile

from registry import case

QUIET = {"names": False}


def tree(node, attribute):
    """The names and counts below a node."""
    return [(child.name, getattr(child, attribute), getattr(child, f"total_{attribute}"), tree(child, attribute))
            for child in node.children]


def build(tf):
    """Nodes of many types without variables, whose nodes differ."""
    images, kernel = tf.placeholder(tf.float32, [2, 8, 8, 3]), tf.placeholder(tf.float32, [3, 3, 3, 5])
    x, bias = tf.placeholder(tf.float32, [4, 6]), tf.placeholder(tf.float32, [5])
    with tf.name_scope("net"):
        net = tf.nn.bias_add(tf.nn.conv2d(images, kernel, [1, 2, 2, 1], "SAME"), bias)
        net = tf.nn.max_pool(tf.nn.relu(net), [1, 3, 3, 1], [1, 2, 2, 1], "SAME")
        net = tf.nn.avg_pool(net, [1, 2, 2, 1], [1, 2, 2, 1], "SAME")
        deep = tf.nn.depthwise_conv2d(images, tf.ones([3, 3, 3, 2]), [1, 1, 1, 1], "SAME")
        tf.add(tf.nn.l2_loss(net), tf.reduce_mean(deep))
    with tf.name_scope("vectors"):
        y = tf.matmul(x, x, transpose_a=True) + tf.matmul(x, x, transpose_b=True)[0, 0]
        y = tf.nn.softmax(y) * tf.rsqrt(tf.add_n([y, y, y])) - tf.squared_difference(y, 1.0)
        y = tf.reduce_sum(y, 0) / tf.maximum(tf.log(tf.square(y)), -y) ** 2.0
        tf.argmax(tf.matmul(tf.ones([3, 5, 4]), tf.ones([3, 5, 2]), transpose_a=True), 1)
        tf.matmul(tf.placeholder(tf.float32, [None, 4]), tf.ones([4, 2]))  # not counted, as its size is not known
    tf.gradients(net, [images, kernel, bias])
    return y


def operations(tf, cmd, **more):
    with tf.Graph().as_default() as graph:
        build(tf)
    builder = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.float_operation())
    for name, argument in more.items():
        getattr(builder, name)(**argument) if isinstance(argument, dict) else getattr(builder, name)(argument)
    found = tf.profiler.profile(graph, cmd=cmd, options=builder.with_empty_output().build())
    if cmd == "scope":
        return [found.total_float_ops, [(child.name, child.total_float_ops) for child in found.children]]
    counts = {}
    while found.children:  # TensorFlow's tree of types is a chain
        for child in found.children:
            counts[child.name] = child.float_ops
        found = next((child for child in found.children if child.children), found.children[0])
        if not found.children:
            break
    return sorted(counts.items())


def parameters(tf, **more):
    with tf.Graph().as_default() as graph:
        with tf.variable_scope("a"):
            tf.get_variable("w", [3, 4])
            tf.get_variable("b", [4])
            with tf.variable_scope("c"):
                tf.get_variable("w", [5])
        tf.get_variable("fixed", [7], trainable=False)
        tf.get_variable("w", [2])
    builder = tf.profiler.ProfileOptionBuilder(tf.profiler.ProfileOptionBuilder.trainable_variables_parameter())
    for name, argument in more.items():
        getattr(builder, name)(**argument) if isinstance(argument, dict) else getattr(builder, name)(argument)
    found = tf.profiler.profile(graph, options=builder.with_empty_output().build())
    return [found.name, found.total_parameters, tree(found, "parameters")]


case("profiler.profile profiler.ProfileOptionBuilder", lambda tf: operations(tf, "op"), label="flops by type", **QUIET)
for number, more in enumerate(({}, {"order_by": "name", "with_min_float_operations": 200})):
    case("profiler.profile", lambda tf, m=more: operations(tf, "scope", **m), label=f"flops by scope #{number}", **QUIET)
for number, more in enumerate(({}, {"order_by": "params"}, {"with_min_parameters": 5}, {"with_max_depth": 1}, {
        "with_node_names": {"show_name_regexes": ["a/.*"], "hide_name_regexes": [".*/b"]}})):
    case("profiler.profile", lambda tf, m=more: parameters(tf, **m), label=f"parameters of a graph #{number}", **QUIET)
case("profiler.ProfileOptionBuilder", lambda tf: [sorted(
    (key, value) for key, value in options.items() if key not in ("min_peak_bytes",)) for options in (
        tf.profiler.ProfileOptionBuilder.float_operation(), tf.profiler.ProfileOptionBuilder.trainable_variables_parameter())],
     label="options of profiles", **QUIET)


def step(tf, *nodes):
    """The RunMetadata of a step in which these (name, start, micros, bytes) ran."""
    result = tf.RunMetadata()
    device = result.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:CPU:0")
    for name, start, micros, size in nodes:
        node = device.node_stats.add(node_name=name, all_start_micros=start, op_end_rel_micros=micros)
        node.memory.add(total_bytes=size, peak_bytes=size, live_bytes=size // 2)
        node.output.add().tensor_description.allocation_description.allocated_bytes = size
    return result


def small(tf):
    """A graph of few nodes, and two steps of it."""
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        with tf.name_scope("net"):
            y = tf.matmul(x, tf.ones([3, 4], name="ones"), name="product")
            tf.add(tf.nn.relu(y, name="relu"), y, name="sum")
    return graph, [step(tf, ("net/product", 100, 1500, 32), ("net/relu", 1600, 7, 16), ("other", 1, 2, 3)),
                   step(tf, ("net/product", 100, 500, 64), ("net/sum", 700, 3, 8))]


def numbers(node):
    """The numbers of a message and of the messages below it."""
    own = [node.name] + [getattr(node, before + name) for before in ("", "total_") for name in (
        "exec_micros", "cpu_exec_micros", "accelerator_exec_micros", "requested_bytes", "peak_bytes", "residual_bytes",
        "output_bytes", "parameters", "float_ops")]
    return [own, [numbers(child) for child in node.children]]


def many_steps(tf, method, **options):
    graph, steps = small(tf)
    profiler = tf.profiler.Profiler(graph)
    for number, found in enumerate(steps):
        profiler.add_step(10 * number, found)
    builder = tf.profiler.ProfileOptionBuilder().with_empty_output()
    for name, argument in options.items():
        getattr(builder, name)(**argument) if isinstance(argument, dict) else getattr(builder, name)(argument)
    found = numbers(getattr(profiler, method)(builder.build()))
    del profiler  # TensorFlow has one at a time
    return found


def one_step(tf, cmd):
    graph, steps = small(tf)
    return numbers(tf.profiler.profile(graph, steps[0], cmd=cmd, options=tf.profiler.ProfileOptionBuilder(
        tf.profiler.ProfileOptionBuilder.time_and_memory(min_micros=5, min_output_bytes=3)).with_empty_output().build()))


def checkers(tf, **given):
    graph, steps = small(tf)
    found = tf.profiler.advise(graph, steps[0], **given)
    return sorted(found.checkers), [bool(found.checkers[name].reports) for name in sorted(found.checkers)]


def logged(tf):
    graph, _ = small(tf)
    log = tf.profiler.OpLogProto()
    log.log_entries.add(name="net/relu", types=["mine"], float_ops=5)
    with tempfile.TemporaryDirectory() as folder:
        tf.profiler.write_op_log(graph, folder, log, add_trace=False)
        with open(os.path.join(folder, "tfprof_log"), "rb") as file:
            found = tf.profiler.OpLogProto.FromString(file.read())
    return sorted((entry.name, entry.float_ops, list(entry.types)) for entry in found.log_entries)


for method in ("profile_name_scope", "profile_graph", "profile_operations"):
    for number, more in enumerate((
            {}, {"with_step": 10, "order_by": "micros"}, {"with_min_execution_time": {"min_micros": 2, "min_cpu_micros": 3}},
            {"with_min_memory": {"min_bytes": 9, "min_residual_bytes": 4}, "account_displayed_op_only": True},
            {"with_accounted_types": ["MatMul", "Const"]}, {"with_node_names": {"trim_name_regexes": ["net/product"]}})):
        case(f"profiler.Profiler profiler.Profiler.{method}", lambda tf, m=method, o=more: many_steps(tf, m, **o),
             label=f"steps by {method} #{number}", **QUIET)
for cmd in ("scope", "graph", "op"):
    case("profiler.profile", lambda tf, cmd=cmd: one_step(tf, cmd), label=f"a step by {cmd}", **QUIET)
case("profiler.advise", checkers, label="advice", **QUIET)
case("profiler.advise", lambda tf: checkers(tf, options={"OperationChecker": {}}), label="advice of one checker", **QUIET)
case("profiler.write_op_log", logged, label="log of a graph", **QUIET)
