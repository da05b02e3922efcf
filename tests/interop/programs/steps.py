"""Partial runs, callables with connected tensors, traces of steps, and the ops that errors name."""
import json

import numpy as np
import tensorflow as tf
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.client import timeline

tf1 = tf.compat.v1


def _try(s, function, *args, **kwargs):
    """Records the result of a call, or the kind and the text of its error."""
    try:
        value = function(*args, **kwargs)
    except (tf.errors.OpError, TypeError, ValueError, RuntimeError) as e:
        s.records.append(("error", type(e).__name__, str(e)))
        return None
    s.record(value)
    return value


def _chain(s):
    a, b, c = (tf1.placeholder(tf.float32, [], name=n) for n in "abc")
    with tf.device(s.ps):
        first = a + b
    with tf.device(s.worker(1)):
        second = first * c
    return a, b, c, first, second


def partial_run(s):
    a, b, c, first, second = _chain(s)
    h = s.session.partial_run_setup([first, second], [a, b, c])
    value = _try(s, s.session.partial_run, h, first, {a: 1, b: 2})
    _try(s, s.session.partial_run, h, second, {c: value * 17})
    _try(s, s.session.partial_run, h, second, {c: 1})  # the run has ended
    s.run(second, {a: 1, b: 2, c: 3})  # the same tensor in an ordinary run


def partial_runs_at_once(s):
    a, b, c, first, second = _chain(s)
    handles = [s.session.partial_run_setup([first, second], [a, b, c]) for _ in range(8)]
    for i, h in enumerate(handles):
        _try(s, s.session.partial_run, h, first, {a: i, b: 2})
    for i, h in reversed(list(enumerate(handles))):
        s.run(second, {a: 1, b: 2, c: i})
        _try(s, s.session.partial_run, h, second, {c: i})


def partial_run_in_many_calls(s):
    x = tf1.placeholder(tf.float32, [2])
    feeds, fetches, value = [x], [], x
    for i in range(12):
        y = tf1.placeholder(tf.float32, [2])
        with tf.device([s.ps, s.worker(0), s.worker(1)][i % 3]):
            value = value + y
        feeds.append(y)
        fetches.append(value)
    h = s.session.partial_run_setup(fetches, feeds)
    _try(s, s.session.partial_run, h, [], {x: [1, 2]})
    for i in range(12):
        _try(s, s.session.partial_run, h, fetches[i], {feeds[i + 1]: [i, -i]})


def partial_run_refuses(s):
    a, b, c, first, second = _chain(s)
    other = tf1.placeholder(tf.float32, [], name="other")
    h = s.session.partial_run_setup([first, second], [a, b, c])
    _try(s, s.session.partial_run, h, first, {a: 1, b: 2, other: 3})  # `other` is not among the feeds of the setup
    _try(s, s.session.partial_run, h, a * 2.0, {a: 1})
    _try(s, s.session.partial_run, h, second, {a: 1})  # `second` also needs b and c
    _try(s, s.session.partial_run, h, first, {a: 1, b: 2})  # the refused calls have changed nothing
    _try(s, s.session.partial_run, h, second, {a: 1, c: 3})  # a was fed before
    _try(s, s.session.partial_run, h, [first, second], {c: 3})  # `first` was fetched before
    _try(s, s.session.partial_run, h, second, {c: 3})
    _try(s, s.session.partial_run, "no such run", first, {a: 1, b: 2})


def partial_run_without_a_feed(s):
    x = tf1.placeholder(tf.float32, [])
    doubled = x * 2.0
    h = s.session.partial_run_setup([doubled], [])
    _try(s, s.session.partial_run, h, doubled)


def partial_run_of_nothing(s):
    x = tf1.placeholder(tf.float32, [])
    y = x + 1.0
    _try(s, s.session.partial_run_setup, [], [x])
    _try(s, s.session.partial_run_setup, [y], [x, x])
    _try(s, lambda: _callable(s, [x], []))


def partial_run_beside_a_run(s):
    a = tf.constant(2.0)
    b = a * 2
    c = b * 3
    s.run([b, c])
    h = s.session.partial_run_setup([b, c], [])
    _try(s, s.session.partial_run, h, [b, c])
    h = s.session.partial_run_setup([b, c.op], [])
    _try(s, s.session.partial_run, h, [b])


def partial_run_of_a_dead_tensor(s):
    p = tf1.placeholder(tf.bool, [])
    x = tf1.placeholder(tf.float32, [])
    off, on = tf.raw_ops.Switch(data=x, pred=p)
    later = tf1.placeholder(tf.float32, [])
    last = later + 1.0
    h = s.session.partial_run_setup([off, on, last], [p, x, later])
    _try(s, s.session.partial_run, h, on, {p: True, x: 2.0})
    _try(s, s.session.partial_run, h, off)
    _try(s, s.session.partial_run, h, last, {later: 1.0})  # the run has ended


def partial_run_of_state(s):
    with tf.device(s.ps):
        v = tf1.get_variable("v", initializer=1.0)
    by = tf1.placeholder(tf.float32, [])
    with tf.device(s.ps):
        read = tf.identity(v) + 0.0
        with tf.control_dependencies([read]):
            add = tf1.assign_add(v, by)
    s.init()
    h = s.session.partial_run_setup([read, add], [by])
    value = _try(s, s.session.partial_run, h, read)
    _try(s, s.session.partial_run, h, add, {by: value * 4})
    s.run(v)


def partial_run_that_fails(s):
    x = tf1.placeholder(tf.int32, [])
    y = tf1.placeholder(tf.int32, [])
    with tf.device(s.ps):
        ok = x + 1
        bad = ok // y
    h = s.session.partial_run_setup([ok, bad], [x, y])
    _try(s, s.session.partial_run, h, ok, {x: 4})
    _try(s, s.session.partial_run, h, bad, {y: 0})
    _try(s, s.session.partial_run, h, bad, {y: 1})  # the run has ended


def partial_run_of_branches(s):
    p = tf1.placeholder(tf.bool, [])
    x = tf1.placeholder(tf.float32, [])
    y = tf.cond(p, lambda: x + 1.0, lambda: x - 1.0)
    total = tf1.while_loop(lambda i, v: i < 4, lambda i, v: (i + 1, v + y), (0, 0.0))[1]
    for value in (True, False):
        h = s.session.partial_run_setup([y, total], [p, x])
        _try(s, s.session.partial_run, h, [], {p: value})
        _try(s, s.session.partial_run, h, [y], {x: 3.0})
        _try(s, s.session.partial_run, h, [total])


def _callable(s, feed=(), fetch=(), target=(), connect=()):
    options = config_pb2.CallableOptions(feed=[t.name for t in feed], fetch=[t.name for t in fetch],
                                         target=[o.name for o in target])
    for source, sink in connect:
        options.tensor_connection.add(from_tensor=source, to_tensor=sink)
    return s.session._make_callable_from_options(options)


def callable_with_connected_tensors(s):
    x = tf1.placeholder(tf.float32, [2], name="x")
    y = tf1.placeholder(tf.float32, [2], name="y")
    with tf.device(s.ps):
        doubled = tf.multiply(x, 2.0, name="doubled")
    with tf.device(s.worker(1)):
        total = tf.add(y, 1.0, name="total")
    run = _callable(s, [x], [total], connect=[("doubled:0", "y:0")])
    _try(s, run, np.float32([1.0, 2.0]))
    _try(s, run, np.float32([5.0, -2.0]))
    # Connects `late` to the intermediate tensor `total`: the consumers of `total` get the value of `late`, which was
    # made after them.
    early = tf.identity(total, name="early")
    late = tf.square(x, name="late")
    run = _callable(s, [x], [early], connect=[("late:0", "total:0")])
    _try(s, run, np.float32([3.0, 2.0]))
    s.run(early, {y: [1.0, 1.0]})


def callable_connections_refused(s):
    x = tf1.placeholder(tf.float32, [2], name="x")
    y = tf.identity(x, name="y")
    tf.add(y, 1.0, name="z")
    tf.constant(1, name="whole")
    z = tf1.get_default_graph().get_tensor_by_name("z:0")
    for connect in ([("whole:0", "y:0")], [("x:0", "y:0"), ("y:0", "x:0")],
                    [("z:0", "y:0")], [("nothing:0", "x:0")], [("y:0", "nothing:0")], [("y:7", "x:0")]):
        _try(s, lambda: _callable(s, [], [z], connect=connect)())
    _try(s, lambda: _callable(s, [], [y, z], connect=[("x:0", "y:0")])())
    _try(s, lambda: _callable(s, [x], [z], connect=[("whole:0", "x:0")])(np.float32([1, 2])))
    _try(s, lambda: _callable(s, [x], [z])(np.float32([1, 2])))


def callable_options_tolerated(s):
    x = tf1.placeholder(tf.float32, [2], name="x")
    y = tf.add(x, 1.0, name="y")
    options = config_pb2.CallableOptions(feed=["x:0"], fetch=["y:0"], fetch_skip_sync=False)
    options.run_options.timeout_in_ms = 20000
    run = s.session._make_callable_from_options(options)
    _try(s, run, np.float32([1.0, 2.0]))
    del run
    s.run(y, {x: [0, 0]})


def traced_step(s):
    x = tf1.placeholder(tf.float32, [100, 100], name="x")
    with tf.device(s.ps):
        v = tf1.get_variable("v", initializer=tf.ones([100, 100]))
        product = tf.matmul(x, v, name="product")
    with tf.device(s.worker(1)):
        total = tf.reduce_sum(product, name="total")
    s.init()
    options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE, output_partition_graphs=True)
    metadata = tf1.RunMetadata()
    s.record(s.session.run(total, {x: np.ones([100, 100])}, options=options, run_metadata=metadata))
    nodes = {n.node_name: n for d in metadata.step_stats.dev_stats for n in d.node_stats}
    s.record(["product" in nodes, "total" in nodes])
    s.record([metadata.step_stats.dev_stats[0].device.endswith("CPU:0"), len(metadata.partition_graphs) > 0])
    ran = nodes["product"]
    s.record([ran.all_start_micros > 0, ran.all_end_rel_micros >= ran.op_end_rel_micros >= ran.op_start_rel_micros >= 0])
    out = ran.output[0].tensor_description
    s.record([out.dtype, [d.size for d in out.shape.dim], out.allocation_description.requested_bytes])
    names = {n.name for g in metadata.partition_graphs for n in g.node}
    s.record(["product" in names, "total" in names])
    trace = json.loads(timeline.Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True))
    ops = {e["args"]["name"]: e["args"]["op"] for e in trace["traceEvents"] if e.get("cat") == "Op"}
    s.record([ops["product"], ops["total"]])
    if s.target:
        devices = {d.device for d in metadata.step_stats.dev_stats}
        if not {"/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:1/device:CPU:0"} <= devices:
            raise AssertionError(f"only {devices} are in the trace")
        moved = [n.timeline_label for d in metadata.step_stats.dev_stats for n in d.node_stats
                 if n.node_name == "RecvTensor"]
        if not any("product:0 from /job:ps/replica:0/task:0 to /job:worker" in m for m in moved):
            raise AssertionError(f"the transfer of the product is not in the trace: {moved}")
        if len(metadata.partition_graphs) < 2:
            raise AssertionError("the partitions of several tasks are not in the metadata")
    # Without options nothing is recorded.
    metadata = tf1.RunMetadata()
    s.session.run(total, {x: np.ones([100, 100])}, run_metadata=metadata)
    s.record([len(metadata.step_stats.dev_stats), len(metadata.partition_graphs)])


def traced_loop(s):
    with tf.device(s.worker(1)):
        i = tf1.while_loop(lambda i: i < 5, lambda i: tf.add(i, 1, name="next"), [0])
    metadata = tf1.RunMetadata()
    options = tf1.RunOptions(trace_level=tf1.RunOptions.FULL_TRACE)
    s.record(s.session.run(i, options=options, run_metadata=metadata))
    runs = sum(n.node_name.endswith("next") for d in metadata.step_stats.dev_stats for n in d.node_stats)
    s.record(runs)


def _who(s, fetches, feed_dict=None):
    """Runs a step that fails, and records which op the error names."""
    try:
        s.session.run(fetches, feed_dict)
    except tf.errors.OpError as e:
        s.record([type(e).__name__, "no op" if e.op is None else e.op.name,
                  "defined at" in e.message or "Defined at" in e.message])
        return
    s.record("no error")


def errors_name_nodes(s):
    x = tf1.placeholder(tf.int32, [], name="x")
    with tf.device(s.ps):
        quotient = tf.math.floordiv(7, x, name="quotient")
    with tf.device(s.worker(1)):
        after = tf.add(quotient, 1, name="after")
    _who(s, after, {x: 0})
    _who(s, after)
    with tf.device(s.worker(1)):
        v = tf1.get_variable("v", initializer=1, use_resource=False)
        w = tf1.get_variable("w", initializer=1, use_resource=True)
        checked = tf1.assert_equal(x, 3, name="checked")
        with tf.control_dependencies([checked]):
            y = tf.identity(x, name="y")
    _who(s, tf1.assign_add(v, 1, name="bump"))
    _who(s, w.read_value())
    _who(s, y, {x: 4})
    with tf.name_scope("loop"):
        loop = tf1.while_loop(lambda i: i > -3, lambda i: tf.subtract(i, tf.math.floordiv(1, i, name="part"), name="less"), [1])
    _who(s, loop)
    queue = tf1.FIFOQueue(1, tf.int32, name="queue")
    s.session.run(queue.close())
    _who(s, queue.dequeue(name="taken"))
