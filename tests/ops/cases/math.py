"""Rows of the mathematical ops."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float16, bf16, np.float32, np.float64]
SIGNED = [np.int8, np.int16, np.int32, np.int64]
UNSIGNED = [np.uint8, np.uint16, np.uint32, np.uint64]
A = [[-2.5, -1.0, 0.5], [1.25, 2.0, 3.5]]
B = [[0.75, -1.5, 2.0], [-0.5, 1.0, 4.0]]
nan, inf = float("nan"), float("inf")


def f64(v):
    return np.array(v, np.float64)


def binary(t):
    for op, types in [("Add", FLOATS + SIGNED + [np.uint8]), ("AddV2", FLOATS + SIGNED + UNSIGNED),
                      ("Sub", FLOATS + SIGNED + UNSIGNED), ("Mul", FLOATS + SIGNED + UNSIGNED),
                      ("Maximum", FLOATS + SIGNED + UNSIGNED), ("Minimum", FLOATS + SIGNED + UNSIGNED),
                      ("SquaredDifference", FLOATS + [np.int32, np.int64])]:
        for d in types:
            t.case(op, np.array([[5, 6, 7], [8, 9, 10]]).astype(d), np.array([[1, 6, 3], [4, 9, 20]]).astype(d)
                   if d in SIGNED + FLOATS else np.array([[1, 6, 3], [4, 9, 2]]).astype(d))
    for op in ["Div", "FloorDiv", "FloorMod", "TruncateDiv", "RealDiv", "Mod", "Pow", "DivNoNan"]:
        for d in FLOATS + SIGNED + UNSIGNED:
            if op in ("RealDiv", "DivNoNan") and d not in FLOATS or op == "TruncateDiv" and d in FLOATS:
                continue
            if op == "Pow" and d in UNSIGNED or op == "Mod" and d not in [np.int32, np.int64, np.float32, np.float64]:
                continue
            if d in UNSIGNED:
                x, y = [7, 8, 255, 0], [2, 3, 10, 5]
            elif op == "Pow":
                x, y = [2, 3, 1, 5], [3, 2, 6, 0]
            else:
                x, y = [7, -7, 7, -7], [2, 2, -2, -2]
            t.case(op, np.array(x).astype(d), np.array(y).astype(d))
    for op in ["Div", "FloorDiv", "FloorMod", "TruncateDiv"]:  # TensorFlow fails to fold these constants
        error = "INTERNAL" if op == "TruncateDiv" else "INVALID_ARGUMENT"
        t.case(op, np.array([1, 2], np.int32), np.array([1, 0], np.int32), expected=error)
        t.case(op, np.array([1, 2], np.int64), np.int64(0), expected=error)
    t.case("Pow", np.array([2, 3], np.int32), np.array([1, -1], np.int32))
    t.case("RealDiv", np.array([1, -1, 0], np.float32), np.zeros(3, np.float32))
    t.case("DivNoNan", np.array([1, -1, 0], np.float32), np.array([0, 2, 0], np.float32))
    for op in ["Maximum", "Minimum"]:
        t.case(op, np.array([nan, 1, nan], np.float32), np.array([1, nan, nan], np.float32))
    t.case("Add", np.array(["a", "b"]), np.array("c"))
    t.case("AddV2", np.array([127, -128], np.int8), np.array([1, -1], np.int8))
    t.case("Mul", np.array([2**31 - 1], np.int32), np.array([2], np.int32))
    # Broadcasting, empty tensors, scalars; and what does not fit.
    for op in ["AddV2", "Sub", "Mul", "Maximum"]:
        for x, y in [([], []), ([3], []), ([], [2, 3]), ([2, 3], [3]), ([3], [2, 3]), ([2, 1], [2, 3]), ([2, 1], [1, 3]),
                     ([2, 3, 4], [3, 1]), ([2, 1, 4], [3, 1]), ([2, 3, 4, 2], [2, 1, 4, 1]), ([1, 1], [1]), ([1], [1, 1]),
                     ([0], []), ([0, 3], [3]), ([0, 3], [1, 1]), ([2, 0], [2, 1]), ([2, 17], [2, 1]), ([17], [2, 17])]:
            n, m = int(np.prod(x)), int(np.prod(y))
            t.case(op, np.arange(n, dtype=np.float32).reshape(x) - 3, (np.arange(m, dtype=np.float32) * 1.5 - 2).reshape(y))
    t.case("AddV2", np.zeros([2, 3], np.float32), np.zeros([2], np.float32))
    t.case("AddV2", np.zeros([2, 3], np.float32), np.zeros([3, 2], np.float32))
    t.case("Mul", np.array([1.5, 2], bf16), np.array([[1], [2], [3]], bf16))
    t.case("Sub", np.arange(600, dtype=np.float16), np.float16(1.5))
    for op in ["Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "DivNoNan", "SquaredDifference", "Maximum", "Minimum", "FloorMod"]:
        t.case(op, f64(A) + 0.03, f64(B), gradient=[0, 1])  # not where some of these functions jump
        t.case(op, f64(A), f64([0.75, -1.6, 2.1]), gradient=[0, 1])
        t.case(op, f64([[0.3], [1.7]]), f64(B), gradient=[0, 1])
        t.case(op, f64(1.3), f64(B), gradient=[0, 1])
    t.case("Mul", f64([[[1.5, 2.0]], [[0.5, -1.0]]]), f64([[0.5], [1.5], [2.5]]), gradient=[0, 1])
    t.case("Pow", f64([0.5, 1.5, 2.0]), f64([2.0, -1.5, 0.3]), gradient=[0, 1])
    t.case("Pow", f64([[0.5], [1.5]]), f64([2.0, 3.0]), gradient=[0, 1])
    t.case("Pow", f64([-1.5, 2.0]), f64([2.0, 3.0]), gradient=[0])


def comparisons(t):
    for op in ["Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"]:
        for d in FLOATS + SIGNED + UNSIGNED:
            t.case(op, np.array([1, 2, 3]).astype(d), np.array([3, 2, 1]).astype(d))
        t.case(op, np.array([[1], [2]], np.int32), np.array([1, 2, 3], np.int32))
        t.case(op, np.array([nan, inf, 1], np.float32), np.array([nan, inf, -inf], np.float32))
        t.case(op, np.array([1, 2, 3], np.float32), np.float32(2))
        t.case(op, np.float16(2), np.array([1, 2, 3], np.float16))
        t.case(op, np.zeros([0, 2], np.float32), np.zeros([2], np.float32))
        t.case(op, np.zeros([3], np.float32), np.zeros([2], np.float32))
    for op in ["Equal", "NotEqual"]:
        t.case(op, np.array([True, False]), np.array([True, True]))
        t.case(op, np.array(["a", "bc"]), np.array(["a", "b"]))
        t.case(op, np.zeros([3], np.float32), np.zeros([2], np.float32), incompatible_shape_error=False)
    for op in ["LogicalAnd", "LogicalOr"]:
        t.case(op, np.array([[True], [False]]), np.array([True, False]))
        t.case(op, np.array([True, False]), np.array(True))
    t.case("LogicalNot", np.array([[True, False]]))


def unary(t):
    points = [0.1, 0.5, 0.9, 1.0, 2.0, 3.7]
    signed = [-3.7, -2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5]
    positive_only = ["Sqrt", "Rsqrt", "Log"]
    for op in ["Neg", "Abs", "Sign", "Reciprocal", "Inv", "Square", "Sqrt", "Rsqrt", "Exp", "Expm1", "Log", "Log1p", "Sin",
               "Cos", "Tanh", "Sigmoid", "Floor", "Ceil", "Rint", "Round"]:
        for d in FLOATS:
            x = np.array(points if op in positive_only + ["Log1p"] else signed[:4] + signed[5:]).astype(d)
            t.case(op, x, expected=[np.rint(x.astype(np.float32)).astype(d)] if op == "Rint" else None)
        t.case(op, np.zeros([0, 3], np.float32))
        t.case(op, np.array(0.75, np.float32))
        if op not in ["Floor", "Ceil", "Rint", "Round"]:
            x = points[1:] if op in positive_only else [-1.3, -0.4, 0.3, 1.7]
            if op == "Log1p":
                x = [-0.5, 0.3, 2.0]
            t.case(op, f64(x), gradient=[0])
    special = np.array([nan, inf, -inf, 0.0], np.float32)
    for op in ["Exp", "Tanh", "Sigmoid", "Floor", "Neg", "Abs", "Square", "IsNan", "IsInf", "IsFinite"]:
        t.case(op, special)
    for op in ["Log", "Sqrt"]:
        t.case(op, np.array([nan, inf, 0.0, -1.0], np.float32))
    for op in ["IsNan", "IsInf", "IsFinite"]:
        for d in FLOATS:
            t.case(op, np.array([1, nan, inf]).astype(d))
    for op in ["Neg", "Abs", "Sign", "Square", "Round"]:
        for d in SIGNED:
            x = np.array([-3, 0, 4]).astype(d)
            t.case(op, x, expected=[x] if op == "Round" else None)
    for d in UNSIGNED:
        t.case("Square", np.array([0, 3, 4]).astype(d))
    t.case("Abs", np.array([-128], np.int8))
    t.case("Exp", np.linspace(-80, 80, 333).astype(np.float32))
    t.case("Log", np.linspace(1e-3, 1e3, 333).astype(np.float32))
    for op in ["TanhGrad", "SigmoidGrad", "ReciprocalGrad", "SqrtGrad", "RsqrtGrad"]:
        for d in FLOATS:
            t.case(op, np.array([0.25, 0.5, 0.75]).astype(d), np.array([1, 2, -1]).astype(d))
        t.case(op, f64([0.3, 0.6, 0.8]), f64([1.0, 2.0, -1.0]), gradient=[0, 1])
        t.case(op, np.zeros([2], np.float32), np.zeros([3], np.float32), expected="INVALID_ARGUMENT")


def matrices(t):
    a, b = np.arange(6).reshape(2, 3) - 2, np.arange(12).reshape(3, 4) - 5
    for d in FLOATS + [np.int32, np.int64]:
        t.case("MatMul", a.astype(d), b.astype(d))
        t.case("BatchMatMulV2", a.astype(d), b.astype(d))
    for ta in [False, True]:
        for tb in [False, True]:
            x, y = f64(a.T if ta else a) / 2, f64(b.T if tb else b) / 4
            t.case("MatMul", x.astype(np.float32), y.astype(np.float32), transpose_a=ta, transpose_b=tb)
            t.case("MatMul", x, y, transpose_a=ta, transpose_b=tb, gradient=[0, 1])
            for op in ["BatchMatMul", "BatchMatMulV2"]:
                t.case(op, np.stack([x, 1 - x]), np.stack([y, y + 1]), adj_x=ta, adj_y=tb, gradient=[0, 1])
            t.case("BatchMatMulV2", np.stack([x, 1 - x]), y, adj_x=ta, adj_y=tb, gradient=[0, 1])
            t.case("BatchMatMulV2", x[None], np.stack([y, y + 1])[:, None], adj_x=ta, adj_y=tb, gradient=[0, 1])
    t.case("MatMul", np.zeros([0, 3], np.float32), np.zeros([3, 4], np.float32))
    t.case("MatMul", np.zeros([2, 0], np.float32), np.zeros([0, 4], np.float32))
    t.case("MatMul", np.zeros([2, 3], np.float32), np.zeros([2, 4], np.float32))
    t.case("MatMul", np.zeros([3], np.float32), np.zeros([3, 4], np.float32))
    t.case("BatchMatMul", np.zeros([2, 2, 3], np.float32), np.zeros([3, 3, 4], np.float32))
    t.case("BatchMatMulV2", np.zeros([2, 0, 3], np.float32), np.zeros([2, 3, 4], np.float32))


def choosing(t):
    c = np.array([[True, False], [False, True]])
    x, y = np.array([[1, 2], [3, 4]]), np.array([[5, 6], [7, 8]])
    for d in FLOATS + SIGNED + UNSIGNED + [np.bool_]:
        t.case("Select", c, x.astype(d), y.astype(d))
        t.case("SelectV2", c, x.astype(d), y.astype(d))
    for op in ["Select", "SelectV2"]:
        t.case(op, np.array([True, False]), np.array(["a", "b"]), np.array(["c", "d"]))
        t.case(op, np.array(False), f64(x), f64(y))
        t.case(op, c, f64(x), f64(y), gradient=[1, 2])
    t.case("Select", np.array([True, False]), f64(x), f64(y), gradient=[1, 2])
    t.case("Select", np.array([True, False, True]), f64(x), f64(y))
    t.case("Select", c, f64(x), f64([5, 6]), expected="INVALID_ARGUMENT")
    t.case("SelectV2", np.array([True, False]), f64(x), f64(5.0), gradient=[1, 2])
    t.case("SelectV2", np.array([[True], [False]]), f64([1, 2, 3]), f64([[5.0]]), gradient=[1, 2])
    t.case("SelectV2", c, f64([1, 2, 3]), f64(1))
    t.case("SelectV2", np.zeros([0, 2], np.bool_), f64([1, 2]), f64(1))
    everything = FLOATS + SIGNED + UNSIGNED + [np.bool_]
    for source in everything:
        for target in everything:
            t.case("Cast", np.array([0, 1, 3]).astype(source), DstT=tf.as_dtype(target))
    t.case("Cast", np.array([-2.7, -0.5, 0.5, 2.7], np.float32), DstT=tf.int32)
    t.case("Cast", np.array([1.00390625, 1.01171875, 3e38], np.float32), DstT=tf.bfloat16)
    t.case("Cast", np.array([2049, 65519, 65520, 1e-8], np.float32), DstT=tf.float16)
    t.case("Cast", np.linspace(-5, 5, 300), DstT=tf.float16)
    t.case("Cast", np.zeros([0], np.float32), DstT=tf.int64)
    # For a number out of range, TensorFlow's result depends on the position of the number in the tensor. Ours is always
    # TensorFlow's result for a scalar.
    for source in [np.float32, np.float64]:
        x = np.tile(np.array([-1.5, 3e9, 5e9, -3e9, 1e20, np.nan, np.inf, -np.inf], source), 5)[:37]
        each = [t.tensorflow("Cast", [v], {"DstT": tf.uint32})[0] for v in x]
        t.case("Cast", x, DstT=tf.uint32, expected=[np.array(each)])
    t.case("Cast", f64([1.5, -2.25]), DstT=tf.float64, gradient=[0])
    for d in FLOATS + SIGNED + UNSIGNED:
        t.case("AddN", [np.array([1, 2]).astype(d), np.array([3, 4]).astype(d), np.array([5, 6]).astype(d)])
        if d != np.uint8:
            t.case("Range", np.array(1).astype(d), np.array(8).astype(d), np.array(3).astype(d),
                   expected=[np.array([1, 4, 7]).astype(d)])
    t.case("AddN", [f64([1.5, 2.5])])
    t.case("AddN", [f64([1.5, 2.5]), f64([0.5, 1.0])], gradient=[0, 1])
    t.case("AddN", [f64([1.5, 2.5]), f64([0.5])])
    t.case("Range", np.int32(10), np.int32(0), np.int32(-4))
    t.case("Range", np.float32(0), np.float32(1), np.float32(0.25))
    t.case("Range", np.int32(3), np.int32(3), np.int32(1))
    t.case("Range", np.int32(0), np.int32(5), np.int32(0))
    t.case("Range", np.int32(5), np.int32(0), np.int32(1))
    for d in [np.int32, np.int64]:
        for x, y in [([2, 3], [3]), ([2, 3], [2, 3]), ([2, 1], [1, 3]), ([], [4]), ([1, 1], [1]), ([5, 1, 2], [4, 1])]:
            t.case("BroadcastGradientArgs", np.array(x, d), np.array(y, d))
    t.case("BroadcastGradientArgs", np.array([2, 3], np.int32), np.array([4], np.int32))


def add_cases(t):
    binary(t)
    comparisons(t)
    unary(t)
    matrices(t)
    choosing(t)
