"""Rows of the summary ops. The serialized messages equal TensorFlow's byte for byte where no image is compressed."""
import numpy as np
import tensorflow as tf


def s(v):
    return np.array(v, dtype=object)


def add_cases(t):
    for d in ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
        t.case("ScalarSummary", s("tag"), np.array(3).astype(d))
        t.case("HistogramSummary", s("tag"), np.array([[1, 0, 3], [3, 100, 1]]).astype(d))
    t.case("ScalarSummary", s([["a"], ["b"]]), np.array([[1.5], [-2]], np.float32))
    t.case("ScalarSummary", s(["a", "b"]), np.float32(1))
    t.case("ScalarSummary", s("a"), np.array([1, 2], np.float32))
    t.case("ScalarSummary", s(["a"]), np.float32(1))
    t.case("ScalarSummary", s([]), np.array([], np.float32))
    t.case("HistogramSummary", s("tag"), np.array([-5.5, 1e-13, 0, 1e30, -1e-30, 2.25, 2.3], np.float64))
    t.case("HistogramSummary", s("tag"), np.array([], np.float32))
    t.case("HistogramSummary", s("tag"), np.float32(0))
    t.case("HistogramSummary", s("tag"), np.array([1, np.nan], np.float32))
    t.case("HistogramSummary", s("tag"), np.array([np.inf], np.float32))
    t.case("HistogramSummary", s(["tag"]), np.float32(1))
    clip = np.linspace(-1.2, 1.2, 12).astype(np.float32)
    for outputs in [1, 3]:
        t.case("AudioSummaryV2", s("tag"), clip.reshape(2, 6), np.float32(8000), max_outputs=outputs)
        t.case("AudioSummaryV2", s("tag"), clip.reshape(2, 3, 2), np.float32(44100.6), max_outputs=outputs)
    t.case("AudioSummaryV2", s("tag"), clip, np.float32(8000))
    t.case("AudioSummaryV2", s(["tag"]), clip.reshape(2, 6), np.float32(8000))
    t.case("AudioSummaryV2", s("tag"), clip.reshape(2, 6), np.float32(-1))
    t.case("ImageSummary", s("tag"), np.zeros([0, 2, 2, 1], np.float32))
    t.case("ImageSummary", s("tag"), np.zeros([1, 2, 2, 2], np.float32))
    t.case("ImageSummary", s("tag"), np.zeros([2, 2, 1], np.float32))
    t.case("ImageSummary", s(["tag"]), np.zeros([1, 2, 2, 1], np.float32))
    one = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag="a", simple_value=1)]).SerializeToString()
    two = tf.compat.v1.Summary(value=[tf.compat.v1.Summary.Value(tag="b", simple_value=2),
                                      tf.compat.v1.Summary.Value(node_name="n", simple_value=3)]).SerializeToString()
    t.case("MergeSummary", [s(one), s(two)])
    t.case("MergeSummary", [s([one, two])])
    t.case("MergeSummary", [s(two), s(two)])
    t.case("MergeSummary", [s(one), s(b"\x0a\xff")])
    metadata = tf.compat.v1.SummaryMetadata(display_name="name", summary_description="what it is")
    metadata.plugin_data.plugin_name = "text"
    metadata.plugin_data.content = b"\x00\xff"
    for v in [np.array([1, 2], np.float32), s(["a", b"\xff"]), np.int64(3)]:
        t.case("TensorSummaryV2", s("tag"), v, s(metadata.SerializeToString()))
    t.case("TensorSummary", np.array([1, 2], np.float32), description="d", display_name="n")
    t.case("TensorSummaryV2", s("tag"), np.int64(3), s(b"\x0a\xff"))
    t.case("TensorSummaryV2", s(["tag"]), np.int64(3), s(b""))
