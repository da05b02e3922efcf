"""Rows of the reductions."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float16, bf16, np.float32, np.float64]
SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
nan = float("nan")


def add_cases(t):
    x = (np.arange(24) % 7 - 2.0).reshape(2, 3, 4)
    axes = [[], [0], [1], [2], [-1], [0, 1], [1, 2], [0, 2], [-3, -1], [0, 1, 2]]
    for op in ["Sum", "Mean", "Prod", "Max", "Min"]:
        for d in FLOATS + SIGNED + UNSIGNED:
            t.case(op, np.array([[1, 2, 3], [4, 5, 6]]).astype(d), np.array([1], np.int32))
            t.case(op, np.array([[1, 2], [1, 3]]).astype(d), np.array([0, 1], np.int64))
        for a in axes:
            for keep_dims in [False, True]:
                t.case(op, x.astype(np.float32), np.array(a, np.int32), keep_dims=keep_dims)
        t.case(op, x.astype(np.float32), np.int32(1))
        t.case(op, np.float32(3), np.array([], np.int32))
        t.case(op, np.zeros([0, 3], np.float32), np.array([0], np.int32))
        t.case(op, np.zeros([0, 3], np.float32), np.array([1], np.int32))
        t.case(op, np.zeros([2, 0, 3], np.float32), np.array([0, 1, 2], np.int32))
        t.case(op, x, np.array([3], np.int32))
        t.case(op, x, np.array([-4], np.int32))
        t.case(op, x, np.array([1, 1], np.int32))
        t.case(op, (np.arange(2500) % 11).astype(np.float32) / 8 if op != "Prod" else np.ones(2500, np.float32), np.array([0], np.int32))
        y = np.random.RandomState(3).permutation(24).reshape(2, 3, 4) / 5.0 - 1.3
        for a in axes:
            t.case(op, y, np.array(a, np.int32), gradient=[0])
        t.case(op, y, np.array([1, -1], np.int32), keep_dims=True, gradient=[0])
    t.case("Prod", np.array([[0.0, 2.0, 3.0], [0.0, 0.0, 5.0], [1.5, 2.0, 4.0]]), np.array([1], np.int32), gradient=[0])
    t.case("Max", np.array([1, nan, 3], np.float32), np.array([0], np.int32))
    t.case("Mean", np.array([-7, 2], np.int32), np.array([0], np.int32))
    for op in ["All", "Any"]:
        b = np.array([[True, False, True], [True, True, True], [False, False, False]])
        for a in [[], [0], [1], [-1], [0, 1]]:
            t.case(op, b, np.array(a, np.int32))
            t.case(op, b, np.array(a, np.int32), keep_dims=True)
        t.case(op, np.zeros([0], np.bool_), np.array([0], np.int32))
    for op in ["ArgMax", "ArgMin"]:
        for d in FLOATS + SIGNED + UNSIGNED + [np.bool_]:
            t.case(op, np.array([[1, 5, 5], [4, 0, 2]]).astype(d), np.int32(1))
        for a in [0, 1, 2, -1, -3]:
            t.case(op, x.astype(np.float32), np.int32(a))
            t.case(op, x.astype(np.float32), np.int64(a), output_type=tf.int32)
        t.case(op, np.array([1, nan, 3], np.float32), np.int32(0))
        t.case(op, np.zeros([0, 3], np.float32), np.int32(1))
        t.case(op, np.zeros([2, 0], np.float32), np.int32(1))
        t.case(op, x, np.int32(3))
    data = np.arange(8).reshape(4, 2) + 0.5
    for d in FLOATS + SIGNED + UNSIGNED:
        t.case("UnsortedSegmentSum", data.astype(d), np.array([2, 0, 2, 1], np.int32), np.int32(4))
    t.case("UnsortedSegmentSum", data, np.array([2, -1, 2, 0], np.int64), np.int32(3), gradient=[0])
    t.case("UnsortedSegmentSum", data, np.array([[0, 1], [1, 0], [2, 2], [-1, 0]], np.int32), np.int64(3), gradient=[0])
    t.case("UnsortedSegmentSum", data, np.array([0, 1, 2, 3], np.int32), np.int32(3))
    t.case("UnsortedSegmentSum", data, np.array([0, 1], np.int32), np.int32(3))
