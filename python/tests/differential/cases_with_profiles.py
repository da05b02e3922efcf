"""tf.profiler: the parameters and the floating point operations of graphs."""

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
