#!/usr/bin/env python3
"""Sends arguments and attributes with which no kernel can compute to a real server. TensorFlow's client would refuse
many of them while it builds the graph, so nodes are sent as they are. Inputs are sent twice: fed, so that kernels are
the first to see them, and as constants. Each must get a clear error or an answer, soon and without much memory, and the
server must stay alive."""
import os
import struct
import time
import unittest
import zlib

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "")
import grpc
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2, node_def_pb2
from tensorflow.python.framework import op_def_registry

from cluster import Cluster, program_path
from raw_client import RawClient

MOST = 2**31 - 1
HUGE = 2**62
# How much one step may add to the server's peak memory, and how long it may take.
BOUND_MB = 400
SOON_S = 60


def ones(*shape):
    return np.ones(shape, np.float32)


def i32(*values):
    return np.array(values, np.int32)


def i64(*values):
    return np.array(values, np.int64)


def text(value):
    return np.array(value, object)


def void(*shape):
    """A tensor without elements, of sizes that NumPy may refuse."""
    proto = tf.make_tensor_proto(ones(0))
    proto.tensor_shape.CopyFrom(tf.TensorShape(shape).as_proto())
    return proto


def set_attr(attr, value, kind):
    fields = {"int": "i", "float": "f", "bool": "b", "string": "s", "type": "type"}
    if kind == "type":
        value = tf.as_dtype(value).as_datatype_enum
    if kind == "string":
        value = value.encode()
    if kind.startswith("list("):
        attr.list.SetInParent()
        getattr(attr.list, fields[kind[5:-1]]).extend(value)
    else:
        setattr(attr, fields[kind], value)


def graph_of(op, inputs, attrs, fed):
    """A graph with the node "y", as bytes, and the feeds of its inputs."""
    definition = op_def_registry.get(op)
    graph, feeds = graph_pb2.GraphDef(), []
    y = node_def_pb2.NodeDef(name="y", op=op)
    attrs = dict(attrs)
    for i, (argument, value) in enumerate(zip(definition.input_arg, inputs)):
        tensor = value if hasattr(value, "tensor_shape") else tf.make_tensor_proto(value)
        node = graph.node.add(name=f"x{i}", op="Placeholder" if fed else "Const")
        node.attr["dtype"].type = tensor.dtype
        if fed:
            node.attr["shape"].shape.unknown_rank = True
            feeds.append((f"x{i}:0", tensor.SerializeToString()))
        else:
            node.attr["value"].tensor.CopyFrom(tensor)
        y.input.append(node.name)
        if argument.type_attr:
            attrs.setdefault(argument.type_attr, tf.as_dtype(tensor.dtype))
    for attr in definition.attr:
        if attr.name in attrs:
            set_attr(y.attr[attr.name], attrs[attr.name], attr.type)
    graph.node.append(y)
    return graph.SerializeToString(), feeds


def announced(width, height):
    """{op: an image file}, for each op that decodes images. The header of the file announces width x height pixels, but
    the file has none."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    short_width, short_height = min(width, 65500), min(height, 65500)  # JPEG and GIF cannot announce more
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    jpeg = (b"\xff\xd8\xff\xc0" + struct.pack(">HBHHB", 17, 8, short_height, short_width, 3) +
            b"\x01\x11\0\x02\x11\0\x03\x11\0\xff\xda\0\x0c\x03\x01\0\x02\0\x03\0\0\x3f\0")
    gif = b"GIF89a" + struct.pack("<HHBBB", short_width, short_height, 0x80, 0, 0) + bytes(6) + (
        b"\x2c" + struct.pack("<HHHHB", 0, 0, short_width, short_height, 0) + b"\x02\x01\x04\0;")
    bmp = b"BM" + struct.pack("<IHHIIiiHH", 54, 0, 0, 54, 40, width, height, 1, 24) + bytes(24)
    return {"DecodePng": png, "DecodeJpeg": jpeg, "DecodeGif": gif, "DecodeBmp": bmp}


class HostileArgumentsTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cluster = Cluster(program_path(), {"worker": 1})
        cls.task = cls.cluster.tasks["worker"][0]

    @classmethod
    def tearDownClass(cls):
        cls.cluster.stop()

    def setUp(self):
        self.client = RawClient(self.cluster.target)
        self.addCleanup(self.client.close)

    def most_memory(self):
        with open(f"/proc/{self.task.process.pid}/status") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM:")) / 1024

    def outcomes(self, op, *inputs, **attrs):
        """Runs the op with fed inputs and then with constants. Returns the error of each run, or None."""
        found = []
        for fed in (True, False):
            before, start, error = self.most_memory(), time.time(), None
            graph, feeds = graph_of(op, inputs, attrs, fed)
            try:
                handle = self.client.create_session(graph)
                try:
                    self.client.run(handle, ["y:0"], feeds=feeds, timeout_ms=1000 * SOON_S)
                finally:
                    if self.task.process.poll() is None:
                        self.client.close_session(handle)
            except grpc.RpcError as e:
                error = e
            what = (op, attrs, "fed" if fed else "constant")
            self.assertIsNone(self.task.process.poll(), f"the server ended: {what}\n{self.cluster.log()}")
            self.assertLess(time.time() - start, SOON_S, what)
            self.assertLess(self.most_memory() - before, BOUND_MB, what)
            found.append(error)
        return found

    def refused(self, op, *inputs, words=(), **attrs):
        for error in self.outcomes(op, *inputs, **attrs):
            self.assertIsNotNone(error, (op, attrs))
            self.assertIn(error.code(), (grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED,
                                         grpc.StatusCode.OUT_OF_RANGE), (op, attrs, error.details()))
            for word in (op, "'y'", *words):
                self.assertIn(word, error.details())

    def answered(self, op, *inputs, **attrs):
        for error in self.outcomes(op, *inputs, **attrs):
            self.assertIsNone(error, error and error.details())

    def test_windows(self):
        x, f, one = ones(1, 4, 4, 1), ones(2, 2, 1, 1), [1] * 4
        for bad in ([1, 0, 0, 1], [1, -1, -1, 1], [1, HUGE, HUGE, 1], [1, 1], []):
            for op, window in (("Conv2D", "dilations"), ("DepthwiseConv2dNative", "dilations")):
                self.refused(op, x, f, strides=bad, padding="SAME")
                self.refused(op, x, f, strides=one, padding="SAME", **{window: bad})
            for op in ("MaxPool", "AvgPool", "MaxPoolWithArgmax"):
                self.refused(op, x, ksize=bad, strides=one, padding="SAME")
                self.refused(op, x, ksize=one, strides=bad, padding="VALID")
            self.refused("Dilation2D", x, ones(2, 2, 1), strides=bad, rates=one, padding="SAME")
            self.refused("Dilation2D", x, ones(2, 2, 1), strides=one, rates=bad, padding="SAME")
            for k, s, r in ((bad, one, one), (one, bad, one), (one, one, bad)):
                self.refused("ExtractImagePatches", x, ksizes=k, strides=s, rates=r, padding="SAME")
        for bad in ([1, 0, 1, 1, 1], [1, -1, 1, 1, 1], [1, HUGE, 1, 1, 1]):
            volume, one = ones(1, 4, 4, 4, 1), [1] * 5
            self.refused("Conv3D", volume, ones(2, 2, 2, 1, 1), strides=bad, padding="SAME")
            self.refused("MaxPool3D", volume, ksize=bad, strides=one, padding="SAME")
            self.refused("AvgPool3D", volume, ksize=one, strides=bad, padding="SAME")
            self.refused("ExtractVolumePatches", volume, ksizes=bad, strides=one, padding="SAME")
            self.refused("ExtractVolumePatches", volume, ksizes=one, strides=bad, padding="VALID")

    def test_windows_larger_than_the_input(self):
        x, one = ones(1, 4, 4, 1), [1] * 4
        self.refused("Conv2D", x, ones(9, 9, 1, 1), strides=one, padding="VALID", words=["[1,4,4,1]", "[9,9,1,1]"])
        self.refused("DepthwiseConv2dNative", x, ones(9, 9, 1, 1), strides=one, padding="VALID")
        self.refused("MaxPool", x, ksize=[1, 9, 9, 1], strides=one, padding="VALID")
        self.refused("Dilation2D", x, ones(9, 9, 1), strides=one, rates=one, padding="VALID")
        self.refused("ExtractImagePatches", x, ksizes=[1, 9, 9, 1], strides=one, rates=one, padding="VALID")
        self.answered("Conv2D", x, ones(9, 9, 1, 1), strides=one, padding="SAME")

    def test_sizes_that_overflow(self):
        x, f, one = ones(1, 4, 4, 1), ones(1, 1, 1, 1), [1] * 4
        for op in ("ResizeBilinear", "ResizeBicubic", "ResizeArea", "ResizeNearestNeighbor", "ResizeNearestNeighborGrad"):
            self.refused(op, x, i32(MOST, MOST))
            self.refused(op, x, i32(-1, 4))
        self.refused("ScaleAndTranslate", x, i32(MOST, MOST), ones(2), ones(2))
        self.refused("ExtractGlimpse", x, i32(MOST, MOST), ones(1, 2))
        self.refused("ImageProjectiveTransformV2", x, ones(1, 8), i32(MOST, MOST), interpolation="BILINEAR")
        self.refused("CropAndResize", x, ones(1, 4), i32(0), i32(MOST, MOST))
        self.refused("CropAndResizeGradImage", ones(1, 2, 2, 1), ones(1, 4), i32(0), i32(MOST, MOST, MOST, MOST),
                     T=tf.float32)
        self.refused("ExtractImagePatches", x, ksizes=[1, MOST, MOST, 1], strides=one, rates=one, padding="SAME")
        self.refused("ExtractImagePatches", x, ksizes=[1, 2**30, 2**30, 1], strides=one, rates=one, padding="SAME")
        for op in ("Conv2DBackpropInput", "DepthwiseConv2dNativeBackpropInput"):
            self.refused(op, i32(MOST, MOST, MOST, MOST), f, f, strides=one, padding="SAME")
            self.refused(op, i32(1, 2**30, 2**30, 1), f, f, strides=[1, 2**30, 2**30, 1], padding="SAME")
        for op in ("Conv2DBackpropFilter", "DepthwiseConv2dNativeBackpropFilter"):
            self.refused(op, x, i32(MOST, MOST, MOST, MOST), x, strides=one, padding="SAME")
            self.refused(op, x, i32(2**20, 2**20, 1, 1), x, strides=one, padding="SAME")
        self.refused("AvgPoolGrad", i32(1, 2**30, 2**30, 1), f, ksize=[1, 2**30, 2**30, 1], strides=[1, 2**30, 2**30, 1],
                     padding="SAME")
        self.refused("OneHot", np.zeros([1000], np.int32), i32(MOST)[0], ones()[()], ones()[()])

    def test_no_pixels_of_any_size(self):
        """Tensors without elements whose sizes are huge cost neither memory nor time."""
        for op in ("ResizeBilinear", "ResizeBicubic", "ResizeArea", "ResizeNearestNeighbor", "ResizeNearestNeighborGrad"):
            self.answered(op, ones(0, 4, 4, 1), i32(MOST, MOST))
        for op in ("ResizeBilinearGrad", "ResizeBicubicGrad"):
            self.answered(op, void(0, MOST, MOST, 1), ones(0, 4, 4, 1))
        self.answered("ScaleAndTranslate", ones(0, 4, 4, 1), i32(MOST, MOST), ones(2), ones(2))
        self.answered("CropAndResize", ones(1, 4, 4, 0), ones(1, 4), i32(0), i32(MOST, MOST))
        self.answered("CropAndResizeGradImage", void(1, MOST, MOST, 0), ones(1, 4), i32(0), i32(1, 4, 4, 0), T=tf.float32)
        self.answered("CropAndResizeGradBoxes", void(1, MOST, MOST, 0), ones(1, 4, 4, 0), ones(1, 4), i32(0))
        self.answered("ExtractGlimpse", ones(1, 4, 4, 0), i32(MOST, MOST), ones(1, 2))
        self.answered("ImageProjectiveTransformV2", ones(1, 4, 4, 0), ones(1, 8), i32(MOST, MOST),
                      interpolation="BILINEAR")
        self.answered("DrawBoundingBoxes", void(2**60, 0, 0, 1), void(2**60, 0, 4))

    def test_shapes_that_do_not_match(self):
        self.refused("MatMul", ones(2, 3), ones(4, 5), words=["[2,3]", "[4,5]"])
        self.refused("AddV2", ones(2, 3), ones(4), words=["[2,3]", "[4]"])
        self.refused("Conv2D", ones(1, 4, 4, 2), ones(2, 2, 3, 1), strides=[1] * 4, padding="SAME",
                     words=["[1,4,4,2]", "[2,2,3,1]"])
        self.refused("SoftmaxCrossEntropyWithLogits", ones(2, 3), ones(2, 4), words=["[2,3]", "[2,4]"])
        self.refused("SparseSoftmaxCrossEntropyWithLogits", ones(2, 3), i64(0), words=["[2,3]", "[1]"])
        self.refused("FusedBatchNormV3", ones(1, 4, 4, 1), ones(2), ones(1), ones(1), ones(1), U=tf.float32)

    def test_labels_out_of_range(self):
        for label in (-1, 3, MOST, HUGE, -HUGE):
            self.refused("SparseSoftmaxCrossEntropyWithLogits", ones(2, 3), i64(label, 0), words=[str(label)])
            self.answered("InTopKV2", ones(2, 3), i64(label, 0), i64(1)[0])
            self.answered("OneHot", i64(label, 0), i32(3)[0], ones()[()], ones()[()])

    def test_images_that_announce_more_than_they_hold(self):
        for sides in ((100_000, 100_000), (20_000, 20_000)):
            for op, file in announced(*sides).items():
                self.refused(op, text(file))
                self.refused("DecodeImage", text(file))
                for length in (1, 3, 9, 14, 25, len(file) - 1):
                    self.refused(op, text(file[:length]))

    def test_nan(self):
        nan = ones(1, 4, 4, 1) * np.nan
        for op in ("MaxPool", "AvgPool", "MaxPoolWithArgmax"):
            self.answered(op, nan, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")
        for op in ("ArgMax", "ArgMin"):
            self.answered(op, nan[0, 0], i32(1)[0])
        self.answered("CTCGreedyDecoder", nan[0], i32(4, 4, 4, 4))
        for bad in (np.nan, np.inf, -np.inf, 1e30):
            boxes = ones(1, 4) * np.float32(bad)
            # As TensorFlow, which refuses boxes that are not finite.
            outcome = self.answered if np.isfinite(bad) else self.refused
            outcome("CropAndResize", ones(1, 4, 4, 1), boxes, i32(0), i32(2, 2))
            self.answered("ExtractGlimpse", ones(1, 4, 4, 1), i32(2, 2), boxes[:, :2])
            self.answered("DrawBoundingBoxes", ones(1, 4, 4, 1), boxes[None])


if __name__ == "__main__":
    unittest.main(verbosity=2)
