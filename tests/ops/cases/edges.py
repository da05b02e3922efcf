"""Rows for values that are easily handled wrong: NaNs, infinities, signed zeros, overflow, division by zero,
rounding."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float16, bf16, np.float32, np.float64]
nan, inf = float("nan"), float("inf")
SPECIAL = [nan, inf, -inf, 0.0, -0.0, 1.0, -1.0, 2.5, -2.5]


def i32(v):
    return np.array(v, np.int32)


def elementwise(t):
    for d in [np.float32, np.float64, np.float16]:
        x, y = np.array(SPECIAL).astype(d), np.array(SPECIAL).astype(d)[:, None]
        ops = ["AddV2", "Sub", "Mul", "RealDiv", "DivNoNan", "FloorDiv", "FloorMod", "Maximum", "Minimum", "Equal", "NotEqual",
               "Less", "LessEqual", "Greater", "GreaterEqual", "SquaredDifference", "Atan2", "Xlogy", "Xdivy", "MulNoNan"]
        t.case("TruncateDiv", np.array([7, -7, 7, -7, 1]).astype(d), np.array([2, 2, -2, -2, 0]).astype(d))
        if d != np.float16:
            ops += ["Pow", "Mod", "TruncateMod"]
        for op in ops:
            t.case(op, x, y)
        for op in ["Neg", "Abs", "Sign", "Square", "Reciprocal", "Sqrt", "Rsqrt", "Exp", "Expm1", "Log", "Log1p", "Sin", "Cos",
                   "Tan", "Sinh", "Cosh", "Tanh", "Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh", "Sigmoid", "Floor",
                   "Ceil", "Round", "Erfc", "Relu", "Softplus", "Softsign", "Elu", "Selu", "Relu6"]:
            t.case(op, x)
        if d != np.float64:  # TensorFlow's Erf of an infinite float64 is NaN
            t.case("Erf", x)
        t.case("ClipByValue", x, np.array(-1).astype(d), np.array(1).astype(d))
    for d in FLOATS:
        t.case("Round", np.array([0.5, 1.5, 2.5, -0.5, -1.5, 3.49, -3.51]).astype(d))
    for d in [np.int8, np.int16, np.int32, np.int64]:
        low = np.iinfo(d).min
        for op in ["FloorDiv", "TruncateDiv", "FloorMod", "Div"]:
            if d in (np.int8, np.int16):
                t.case(op, np.array([7, -7, 7, -7, -8], d), np.array([3, 3, -3, -3, 2], d))
        for op in ["Neg", "Abs", "Square"]:
            t.case(op, np.array([low, low + 1], d))
        t.case("AddV2", np.array([low], d), np.array([-1], d))
        t.case("Pow", np.array([3, -2, 0, 1], d), np.array([5, 3, 0, 0], d))
    t.case("Cast", np.array([1.9, -1.9, 100.7], np.float32), DstT=tf.int8)
    t.case("Cast", np.array([nan, inf, 0.0, -0.0], np.float32), DstT=tf.bool)
    t.case("Cast", np.array([300, -1], np.int32), DstT=tf.uint8)
    t.case("Cast", np.array([2**40 + 5], np.int64), DstT=tf.int32)
    t.case("Cast", np.array([nan, inf, -inf, 1e300]), DstT=tf.float32)
    t.case("Cast", np.array([nan, inf, -inf, 1e10], np.float32), DstT=tf.float16)
    t.case("Cast", np.array([nan, inf, -inf, 3.4e38], np.float32), DstT=tf.bfloat16)


def reductions(t):
    x = np.array([[1, nan, 3], [inf, 2, -inf], [5, 5, 1]], np.float32)
    for d in FLOATS:
        for op in ["Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"]:
            t.case(op, x.astype(d), i32([1]))
            t.case(op, x.astype(d)[:, ::2].copy(), i32([0]))
    for op in ["ArgMax", "ArgMin"]:
        t.case(op, x[1:], i32(1))
        t.case(op, x[2:], i32(0))
        t.case(op, np.zeros([0, 3], np.float32), i32(1))
        t.case(op, np.zeros([0, 3], np.float32), i32(0))
        t.case(op, np.array([True, False, True]), i32(0))
    for op in ["Sum", "Mean", "Prod", "Max", "Min"]:
        t.case(op, np.zeros([0, 3], np.float32), i32([0]))
        t.case(op, np.zeros([0, 3], np.float32), i32([1]))
        t.case(op, np.float32(2), i32([]))
        t.case(op, np.float32(2), i32([0]))
        # TensorFlow's client refuses a matrix of axes, but its kernel does not.
        t.case(op, np.ones([2, 3], np.float32), i32([[0]]), expected="INVALID_ARGUMENT")
        t.case(op, np.ones([2, 3], np.float32), i32([2]))
        t.case(op, np.ones([2, 3], np.float32), i32([0, -2]))
    for d in [np.int8, np.uint8, np.int16, np.int32]:
        big = np.array([100, 100, 57], d)
        for op in ["Sum", "Prod", "Mean", "Max"]:
            t.case(op, big, i32([0]))
    t.case("Mean", np.array([-7, 2], np.int32), i32([0]))
    t.case("Sum", np.full([70000], 1, np.float16), i32([0]))
    t.case("Mean", np.full([2], 2**31 - 1, np.int32), i32([0]))
    t.case("Mean", np.full([2, 3], 65535, np.uint16), i32([1]), keep_dims=True)
    t.case("SegmentMax", np.array([nan, 1, 2], np.float32), i32([0, 0, 1]))
    t.case("UnsortedSegmentMin", np.array([nan, 1, 2], np.float32), i32([0, 0, 1]), i32(2))


def add_cases(t):
    elementwise(t)
    reductions(t)
