"""Rows of trigonometric, hyperbolic, special, bitwise and complex functions."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float16, bf16, np.float32, np.float64]
WIDE = [np.float32, np.float64]
COMPLEX = [np.complex64, np.complex128]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
nan, inf = float("nan"), float("inf")


def f64(v):
    return np.array(v, np.float64)


def unary(t):
    open_interval = [-0.9, -0.3, 0.2, 0.7]
    everywhere = [-2.3, -0.7, 0.4, 1.9]
    positive = [0.3, 0.8, 1.4, 3.6]
    points = {"Tan": everywhere, "Asin": open_interval, "Acos": open_interval, "Atan": everywhere, "Sinh": everywhere,
              "Cosh": everywhere, "Asinh": everywhere, "Acosh": [1.1, 1.5, 2.0, 7.5], "Atanh": open_interval,
              "Erf": everywhere, "Erfc": everywhere, "Erfinv": open_interval, "Ndtri": [0.01, 0.3, 0.5, 0.9],
              "Lgamma": [-1.4, 0.3, 2.5, 9.1], "Digamma": [-1.4, 0.3, 2.5, 9.1]}
    for name in ["I0", "I0e", "I1", "I1e", "J0", "J1"]:
        points["Bessel" + name] = everywhere
    for name in ["K0", "K0e", "K1", "K1e", "Y0", "Y1"]:
        points["Bessel" + name] = positive
    for name in ["Dawsn", "FresnelCos", "FresnelSin"]:
        points[name] = [-2.3, -0.3, 0.4, 1.9]
    points["Expint"] = points["Spence"] = positive
    lacking = {"Erfinv": WIDE, "Ndtri": WIDE, "Dawsn": WIDE, "FresnelCos": WIDE, "FresnelSin": WIDE, "Expint": WIDE,
               "Spence": WIDE}
    special = np.array([nan, inf, -inf, 0.0, -1.0, -2.0, 1.0, 30.0, 1e-4], np.float32)
    for op, x in points.items():
        types = lacking.get(op, FLOATS)
        if op == "Digamma" or op == "Lgamma" or op.startswith("Bessel"):
            types = [np.float16] + WIDE
        for d in types:
            t.case(op, np.array(x).astype(d))
        t.case(op, np.zeros([0, 2], np.float32))
        t.case(op, f64([[x[0]], [x[2]]]), gradient=[0])
        t.case(op, special)
    t.case("Erfinv", f64([-1, 1, 2, 0, 1e-9, 1e-3, 0.999]))
    t.case("Ndtri", f64([-0.1, 0, 1, 1.1, 1e-12]))
    t.case("Erfinv", f64([0.99999, -1e-20, 0.4999, 0.5001]), tolerance=1e-10)
    t.case("Ndtri", f64([1e-300, 1e-30, 0.49999999, 0.75]), tolerance=1e-11)
    for op in ["Dawsn", "FresnelCos", "FresnelSin"]:
        t.case(op, f64([0.49, 0.51, 1.0, 1.49, 1.51, 3.0, 5.7, 12.3, 40.0, 200.5, 1e9]))
    t.case("Expint", f64([1e-3, 0.37, 1, 5, 39.9, 40.1, 100, 300]))
    t.case("Spence", f64([0, 0.1, 0.5, 0.6, 1, 1.5, 2, 2.5, 10, 1000]))


def binary(t):
    grid = [0.4, 1.0, 2.5, 6.0], [[0.3], [1.2], [5.5]]
    for op in ["Igamma", "Igammac", "IgammaGradA"]:
        for d in WIDE:
            t.case(op, np.array(grid[0]).astype(d), np.array(grid[1]).astype(d))
        t.case(op, np.array([0, -1, 1, nan, 1, 2], np.float32), np.array([1, 1, -1, 1, inf, 0], np.float32))
    t.case("Igamma", f64([1.5, 3.0]), f64([[1.0], [2.5]]), gradient=[0, 1])
    t.case("Igammac", f64([1.5, 3.0]), f64([[1.0], [2.5]]), gradient=[0, 1])
    for d in WIDE:
        t.case("Zeta", np.array([1.5, 2.0, 4.5]).astype(d), np.array([[0.5], [3.0]]).astype(d))
        t.case("Polygamma", np.array([0, 1, 3]).astype(d), np.array([[0.5], [3.0]]).astype(d))
        t.case("Betainc", np.array([0.5, 2.0, 3.0]).astype(d), np.array([1.5, 1.0, 0.7]).astype(d),
               np.array([0.1, 0.5, 0.9]).astype(d))
        t.case("NextAfter", np.array([1.0, 1.0, 0.0]).astype(d), np.array([2.0, 0.0, 0.0]).astype(d))
        t.case("ApproximateEqual", np.array([1.0, 2.0, 3.0]).astype(d), np.array([1.000001, 2.0, 3.1]).astype(d))
        t.case("ApproximateEqual", np.array([1.0, 2.0]).astype(d), np.array([1.000001, 2.7]).astype(d))
    t.case("ApproximateEqual", f64([1, 2]), f64([1]))
    t.case("Zeta", np.array([1, 0, nan, 2], np.float32), np.array([1, 2, 1, -1], np.float32))
    t.case("Polygamma", np.array([-1, 0.5, 1], np.float32), np.array([1, 2, 0], np.float32))
    t.case("Zeta", f64([2.5, 3.0]), f64([1.5, 0.5]), gradient=[1])
    t.case("Polygamma", f64([1, 2]), f64([1.5, 0.5]), gradient=[1])
    t.case("Betainc", f64(2.0), f64([0.5, 1.5]), f64(0.3))
    t.case("Betainc", f64(2.0), f64(0.5), f64(0.3))
    t.case("Betainc", f64([2.0, 1.0]), f64([0.5, 1.5, 2.5]), f64(0.3))
    t.case("Betainc", f64([2.0, -1.0]), f64([-1, 1.5]), f64([0.3, 2]))
    for d in FLOATS:
        t.case("Atan2", np.array([1, -1, 0, 2.5]).astype(d), np.array([1, -2, -1, 0]).astype(d))
        for op in ["MulNoNan", "Xdivy", "Xlogy", "Xlog1py"]:
            t.case(op, np.array([0, 2, 0, 1.5]).astype(d), np.array([0, 0.5, nan, 2]).astype(d))
    for op in ["Atan2", "MulNoNan", "Xdivy", "Xlogy", "Xlog1py"]:
        t.case(op, f64([0.7, -1.3]), f64([[0.5], [1.5]]), gradient=[0, 1])
        t.case(op, f64([0.7, -1.3]), f64([0.5, 1.5, 2]))
    for d in COMPLEX:
        for op in ["MulNoNan", "Xdivy", "Xlogy", "Xlog1py"]:
            t.case(op, np.array([0, 2 - 1j]).astype(d), np.array([0, 0.5 + 1j]).astype(d))
        t.case("InvGrad", np.array([1 - 2j]).astype(d), np.array([0.5 + 1j]).astype(d))
    t.case("InvGrad", f64([0.5, 2]), f64([1, 3]))
    for d in [np.int32, np.int64] + WIDE:
        t.case("TruncateMod", np.array([7, -7, 7, -7]).astype(d), np.array([2, 2, -2, -2]).astype(d))
    t.case("TruncateMod", np.array([7], np.int32), np.array([0], np.int32), expected="INTERNAL")


def bitwise(t):
    for d in INTEGERS:
        info = np.iinfo(d)
        x, y = np.array([5, info.max, info.min, 9], d), np.array([[3], [6]], d)
        for op in ["BitwiseAnd", "BitwiseOr", "BitwiseXor"]:
            t.case(op, x, y)
        for op in ["LeftShift", "RightShift"]:
            t.case(op, x, np.array([[0], [1], [7]], d))
        t.case("Invert", x)
        t.case("PopulationCount", x)
    t.case("LeftShift", np.array([1, -1], np.int32), np.array([-1, 40], np.int32))
    t.case("RightShift", np.array([8, -8], np.int32), np.array([-1, 40], np.int32))
    t.case("BitwiseAnd", np.zeros([2], np.int32), np.zeros([3], np.int32))


def complex_numbers(t):
    for d, real in zip(COMPLEX, WIDE):
        x = np.array([1 + 2j, -0.5 + 0.25j, 0.3 - 1.5j, -2 - 1j]).astype(d)
        y = np.array([[0.5 - 1j], [2 + 0.5j]]).astype(d)
        for op in ["Add", "AddV2", "Sub", "Mul", "Div", "RealDiv", "DivNoNan", "Pow", "SquaredDifference", "Equal", "NotEqual"]:
            t.case(op, x, y)
        t.case("Equal", x, x)
        t.case("DivNoNan", x, np.array(0, d))
        for op in ["Neg", "Sign", "Square", "Reciprocal", "Inv", "Sqrt", "Rsqrt", "Exp", "Expm1", "Log", "Log1p", "Sin",
                   "Cos", "Tan", "Sinh", "Cosh", "Tanh", "Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh", "Sigmoid", "Conj"]:
            t.case(op, x)
        t.case("Sign", np.zeros([1], d))
        for op in ["Expm1", "Log1p"]:
            t.case(op, np.array([1e-3 + 1e-3j, -1e-3j]).astype(d), tolerance=1e-6 if d == np.complex64 else 1e-12)
        for op in ["TanhGrad", "SigmoidGrad", "ReciprocalGrad", "SqrtGrad", "RsqrtGrad"]:
            t.case(op, x, np.array([0.5 - 1j, 1, 2j, -1]).astype(d))
        for op in ["Real", "Imag", "Angle", "ComplexAbs"]:
            t.case(op, x, Tout=tf.as_dtype(real))
        t.case("Complex", np.array([1, 2, 3]).astype(real), np.array([[4], [5]]).astype(real), Tout=tf.as_dtype(d))
    t.case("Complex", np.zeros([2], np.float32), np.zeros([3], np.float32), Tout=tf.complex64)


def add_cases(t):
    unary(t)
    binary(t)
    bitwise(t)
    complex_numbers(t)
