"""Rows of the stateless ops of data flow: splitting rows by number and joining them again."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
TYPES = [np.float16, bf16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16,
         np.bool_]
X = np.arange(12.0).reshape(4, 3) / 8 - 0.6


def i32(*v):
    return np.array(v, np.int32)


def partition(t):
    for d in TYPES:
        t.case("DynamicPartition", np.array([0, 1, 0, 1]).astype(d), i32(1, 0, 1, 1), num_partitions=2)
    t.case("DynamicPartition", np.array(["a", "", "c"]), i32(2, 0, 2), num_partitions=3)
    t.case("DynamicPartition", X, i32(1, 0, 1, 0), num_partitions=2, gradient=[0])
    t.case("DynamicPartition", X, i32(2, 0, 2, 0), num_partitions=3, gradient=[0])
    t.case("DynamicPartition", X, np.array([[0, 1, 0], [1, 1, 0], [0, 0, 0], [1, 0, 1]], np.int32), num_partitions=2,
           gradient=[0])
    t.case("DynamicPartition", X[0], np.int32(1), num_partitions=2)
    t.case("DynamicPartition", np.float32(3), np.int32(0), num_partitions=1)
    t.case("DynamicPartition", np.zeros([0, 3], np.float32), i32(), num_partitions=2)
    t.case("DynamicPartition", X, i32(0, 1, 2, 0), num_partitions=2)
    t.case("DynamicPartition", X, i32(0, -1, 0, 0), num_partitions=2)
    t.case("DynamicPartition", X, i32(0, 1, 0), num_partitions=2)
    t.case("DynamicPartition", X[0], np.zeros([3, 1], np.int32), num_partitions=2)


def stitch(t):
    for op in ["DynamicStitch", "ParallelDynamicStitch"]:
        for d in TYPES:
            t.case(op, [i32(2), i32(0, 1)], [np.array([1]).astype(d), np.array([0, 1]).astype(d)])
        t.case(op, [i32(2), i32(0, 1)], [np.array(["c"]), np.array(["a", "b"])])
        t.case(op, [i32(3, 1), i32(0, 2)], [X[:2], X[2:]], gradient=[2, 3])
        t.case(op, [np.int32(1), np.array([[0], [2]], np.int32)], [X[0], X[1:3].reshape(2, 1, 3)], gradient=[2, 3])
        t.case(op, [i32()], [np.zeros([0, 3], np.float32)])
        t.case(op, [i32(), i32(0)], [np.zeros([0, 3], np.float32), np.ones([1, 3], np.float32)])
        t.case(op, [i32(-1, 0)], [X[:2]])
        t.case(op, [i32(0, 1), i32(2)], [X[:2], X[:1, :2]])
        t.case(op, [i32(0, 1)], [X[:3]])
    t.case("DynamicStitch", [i32(0, 1, 0), i32(1)], [X[:3], X[3:]])


def add_cases(t):
    partition(t)
    stitch(t)
