#!/usr/bin/env python3
"""Writes the seeds of corpus/graph, tensor, link, local_lane, ucx and master. The targets describe their formats.

Needs TensorFlow, which makes the graphs and tensors: build/release/interop_venv/bin/python fuzz/make_graph_corpus.py
"""
import os
import struct
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "interop"))
from raw_client import field  # pylint: disable=wrong-import-position

tf1 = tf.compat.v1


def write(corpus, name, data):
    os.makedirs(os.path.join(HERE, "corpus", corpus), exist_ok=True)
    with open(os.path.join(HERE, "corpus", corpus, name), "wb") as f:
        f.write(data)


# --- Small graphs, each with a different kind of op.


def arithmetic():
    x = tf1.placeholder_with_default(tf.constant([[1.0, 2.0], [3.0, 4.0]]), [2, 2])
    tf.reduce_sum(tf.matmul(x, tf.transpose(x)) * 2.0 + tf.cast(tf.shape(x), tf.float32))


def arrays():
    x = tf.reshape(tf.range(12), [3, 4])
    tf.concat([x[1:, ::2], tf.gather(x, [0, 2], axis=0)[:, :2], tf.pad(x[:1, :1], [[0, 0], [0, 1]])], axis=0)


def splits():
    a, b = tf.split(tf.one_hot([1, 0, 2, 3], 4), [1, 3], axis=1)
    tf.stack(tf.unstack(tf.tile(a, [1, 3]) + b))


def strings():
    words = tf.strings.split(["a b", "c"]).values
    tf.strings.join([tf.strings.regex_replace(words, "a", "bb"), tf.strings.as_string(tf.range(3))])


def variables():
    v = tf1.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    with tf.control_dependencies([v.initializer]):
        tf1.scatter_add(v, [0], [2.0])


def references():
    v = tf1.get_variable("v", initializer=[1.0, 2.0], use_resource=False)
    with tf.control_dependencies([v.initializer]):
        tf1.assign_add(v, [1.0, 1.0])


def queues():
    q = tf1.FIFOQueue(3, [tf.float32], shapes=[[]])
    with tf.control_dependencies([q.enqueue_many([[1.0, 2.0]])]):
        q.dequeue_up_to(2)


def loop():
    tf1.while_loop(lambda i, a: i < 5, lambda i, a: (i + 1, a * 2.0), [0, 1.0])


def nested_loop():
    def body(i, a):
        return i + 1, tf1.while_loop(lambda j, b: j < 2, lambda j, b: (j + 1, b + 1.0), [0, a])[1]
    tf1.while_loop(lambda i, a: i < 3, body, [0, 1.0])


def branch():
    x = tf.constant(2.0)
    tf1.cond(x > 1.0, lambda: tf.exp(x), lambda: tf.math.log(x))


def call():
    @tf.function
    def f(x):
        if tf.reduce_sum(x) > 0:
            return x + 1.0
        return x
    f(tf.constant([1.0]))


def while_function():
    @tf.function
    def f(x):
        for _ in tf.range(3):
            x = x * 2.0
        return x
    f(tf.constant(1.0))


def dataset():
    tf1.data.make_one_shot_iterator(tf.data.Dataset.range(5).map(lambda i: i * 2).batch(2)).get_next()


def sparse():
    s = tf.sparse.from_dense([[1, 0], [0, 2]])
    tf.sparse.to_dense(tf.sparse.reorder(tf.sparse.concat(0, [s, s])))


def tensor_array():
    a = tf.TensorArray(tf.float32, 3).unstack([1.0, 2.0, 3.0])
    a.concat() if False else a.stack()  # pylint: disable=expression-not-assigned


def numbers():
    tf.random.stateless_uniform([2], [1, 2]) + tf1.random_normal([2], seed=1)


GRAPHS = [arithmetic, arrays, splits, strings, variables, references, queues, loop, nested_loop, branch, call,
          while_function, dataset, sparse, tensor_array, numbers]


def graph_of(function):
    v2 = function in (call, while_function, dataset)
    (tf1.enable_control_flow_v2 if v2 else tf1.disable_control_flow_v2)()
    with tf.Graph().as_default() as graph:
        function()
        definition = graph.as_graph_def()
    for node in definition.node:
        for name in ["_output_shapes", "_class", "_XlaMustCompile", "config_proto", "executor_type"]:
            node.attr.pop(name, None)
    last = [op for op in graph.get_operations() if op.outputs][-1].outputs[0].name
    return definition.SerializeToString(), last


def tensors():
    for dtype in [np.float32, np.float16, np.int8, np.uint16, np.int64, np.bool_, np.complex64, object]:
        value = np.array([b"ab", b""], object) if dtype is object else np.array([[1, 0]]).astype(dtype)
        yield np.dtype(dtype).name, tf.make_tensor_proto(value).SerializeToString()
    yield "repeated", tf.make_tensor_proto(1.0, shape=[3, 3]).SerializeToString()
    attr = attr_value_pb2.AttrValue()
    attr.list.shape.add().dim.add().size = -1
    yield "shapes", attr.SerializeToString()
    attr = attr_value_pb2.AttrValue()
    attr.func.name = "f"
    attr.func.attr["T"].type = 1
    attr.func.attr["n"].list.i.extend([1, -1])
    yield "function", attr.SerializeToString()


# --- Frames of links.


def fixed64(number, value):
    return bytes([number << 3 | 1]) + struct.pack("<Q", value)


def frame(kind, message, payload=b""):
    header = field(kind, message)
    return struct.pack("<IQ", len(header), len(payload)) + header + payload


def master_id(counter):
    return fixed64(1, 7) + field(2, counter)


def key(edge):
    return field(1, master_id(9)) + field(2, edge)


def meta(dtype, dims, size):
    return field(1, dtype) + field(2, bytes(dims)) + field(3, size)


def partition():
    """A partition that receives a small and a large tensor and sends a third one."""
    device = "/job:ps/replica:0/task:0/device:CPU:0"
    peer = "/job:worker/replica:0/task:0"
    with tf.Graph().as_default() as graph:
        tf.add(tf.constant([1.0], name="one"), 2.0, name="sum")
    definition = graph.as_graph_def()
    for node in definition.node:
        node.device = device
    for name, op, edge, size in [("small", "_Recv", 1, 4), ("large", "_Recv", 2, 1 << 20), ("out", "_Send", 3, 4)]:
        node = definition.node.add(name=name, op=op, device=device)
        node.attr["T"].type = 1
        node.attr["edge"].i = edge
        node.attr["peer"].s = peer.encode()
        node.attr["bytes"].i = size
        if op == "_Recv":
            node.attr["shape"].shape.unknown_rank = True
        else:
            node.input.append("sum")
    return definition.SerializeToString()


def links():
    session, step = field(2, master_id(1)), field(1, master_id(9))
    register = frame(3, field(1, 1) + session + field(3, 5) + field(4, partition()))
    run = frame(7, step + session + field(3, 5))
    eager = frame(11, field(1, key(1)) + field(2, meta(1, [1], 4)), struct.pack("<f", 1))
    announce = frame(12, field(1, key(2)) + field(2, meta(1, [1], 4)))
    bulk = frame(14, field(1, key(2)) + field(2, meta(1, [1], 4)), struct.pack("<f", 2))
    grant = frame(13, field(1, key(3)))
    yield "step", register + run + eager + announce + bulk + grant + frame(10, step)
    yield "early", eager + announce + register + run + bulk + frame(9, step + field(2, field(1, 1))) + run
    yield "close", register + frame(4, field(1, master_id(1)) + field(2, 5)) + frame(5, field(1, master_id(1))) + run
    yield "rest", frame(1, b"") + frame(15, field(1, 100)) + frame(16, field(1, 2)) + frame(
        6, field(1, 3) + field(2, field(1, 3) + field(2, "no"))) + frame(8, step) + frame(2, b"")
    # A step of another master, which does not exist.
    other = field(1, fixed64(1, 8) + field(2, 9))
    yield "stranger", register + frame(7, other + session + field(3, 5)) + frame(11, field(
        1, other + field(2, 1)) + field(2, meta(1, [1], 4)), struct.pack("<f", 1))
    yield "strings", frame(11, field(1, key(1)) + field(2, meta(7, [2], 5)), b"\1\2abc") + frame(
        11, field(1, key(4)) + field(2, field(4, 1)))


# --- What a neighbour writes to a ring.


def ring_frame(kind, value, header=b"", body=b""):
    return struct.pack("<IIQ", kind, len(header), value) + header + body


def rings():
    small = field(11, field(1, key(1)) + field(2, meta(1, [1], 4)))
    large = field(14, field(1, key(2)) + field(2, meta(1, [64], 256)))
    yield "inline", ring_frame(1, 4, small, struct.pack("<f", 1)) + ring_frame(1, 0, field(1, b""))
    loan = ring_frame(2, 256, large, struct.pack("<QQQ", 5, 1, 1024))
    yield "lent", ring_frame(4, 1) + loan + loan + ring_frame(5, 1) + loan
    yield "unsealed", ring_frame(4, 1) + ring_frame(4, 2) + ring_frame(2, 256, large, struct.pack("<QQQ", 5, 2, 0))
    yield "back", ring_frame(1, 0, field(1, b"")) + ring_frame(3, 1)
    yield "long", ring_frame(1, 3000, field(11, field(1, key(1)) + field(2, meta(4, [200], 200))), bytes(3000))


# --- Frames of UCX lanes: header size (u16), data size (u16), header, data. The secret is 7.

def ucx_frame(number, kind, sequence, header, data, more=b""):
    prefix = struct.pack("<QQIIQ", 7, number, kind, sequence, header) + more
    return struct.pack("<HH", len(prefix), len(data)) + prefix + data


def ucx():
    heartbeat = field(1, b"")
    eager = field(11, field(1, key(1)) + field(2, meta(1, [1], 4)))
    bulk = field(14, field(1, key(2)) + field(2, meta(1, [64], 256)))
    probe = ucx_frame(0, 1, 0, 0, b"")
    whole = lambda number, message, payload=b"": ucx_frame(number, 3, 0, len(message), message + payload)
    yield "in_order", probe + whole(0, heartbeat) + whole(1, eager, struct.pack("<f", 1)) + ucx_frame(2, 2, 0, 0, b"")
    yield "overtaken", whole(2, heartbeat) + whole(1, eager, bytes(4)) + whole(0, heartbeat)
    yield "split", ucx_frame(0, 4, 1, 0, bytes(256), bulk) + whole(0, heartbeat) + ucx_frame(1, 4, 1, 0, b"", bulk)


# --- Requests of clients.

METHODS = ["CreateSession", "ExtendSession", "RunStep", "PartialRunSetup", "CloseSession", "ListDevices", "Reset",
           "MakeCallable", "RunCallable", "ReleaseCallable"]


def ask(method, request):
    return bytes([METHODS.index(method)]) + struct.pack("<H", len(request)) + request


def requests():
    session = field(1, "@")
    close = ask("CloseSession", session)
    for function in [arithmetic, loop, queues, call, variables]:
        definition, last = graph_of(function)
        create = ask("CreateSession", field(1, definition))
        run = ask("RunStep", session + field(3, last))
        yield function.__name__, create + run + run + close
    with tf.Graph().as_default() as graph:
        x = tf1.placeholder(tf.float32, [None], name="x")
        tf.multiply(x, 2.0, name="y")
    create = ask("CreateSession", field(1, graph.as_graph_def().SerializeToString()))
    value = tf.make_tensor_proto([1.0, 2.0]).SerializeToString()
    with tf.Graph().as_default() as more:
        tf.constant(1.0, name="more")
    extend = ask("ExtendSession", session + field(2, more.as_graph_def().SerializeToString()))
    fed = ask("RunStep", session + field(2, field(1, "x:0") + field(2, value)) + field(3, "y:0") + field(4, "y"))
    yield "feeds", create + fed + extend + ask("RunStep", session + field(3, "more")) + ask("ListDevices", session)
    options = field(1, "x:0") + field(2, "y:0")
    yield "callables", create + ask("MakeCallable", session + field(2, options)) + ask(
        "RunCallable", session + field(2, 0) + field(3, value)) + ask("ReleaseCallable", session + field(2, 0))
    setup = ask("PartialRunSetup", session + field(2, "x:0") + field(3, "y:0"))
    yield "partial", create + setup + ask(
        "RunStep", session + field(2, field(1, "x:0") + field(2, value)) + field(3, "y:0") + field(6, "run")) + close
    yield "reset", create + ask("Reset", b"") + fed


def main():
    tf1.disable_eager_execution()
    for function in GRAPHS:
        write("graph", function.__name__, graph_of(function)[0])
    for name, data in tensors():
        write("tensor", name, data)
    for name, data in links():
        write("link", name, b"\1" + data)
    for name, data in rings():
        write("local_lane", name, b"\0" + data)
        write("local_lane", name + "_counters", b"\1" + data)
    for name, data in ucx():
        write("ucx", name, data)
    for name, data in requests():
        write("master", name, data)


if __name__ == "__main__":
    main()
