"""Element by element functions, comparisons, casts, clips."""

import numpy as np
from registry import Result, Type, case, floats, ints, op

X = floats(2, 3)
Y = floats(2, 3, seed=1)
UNIT = floats(2, 3, low=0.1, high=0.9)
POSITIVE = floats(2, 3, low=0.5, high=3)
I32 = ints(2, 3)
J32 = ints(2, 3, seed=1, low=1, high=6)
BOOLS = np.array([[True, False, True]])
COMPLEX = (X + 1j * Y).astype(np.complex64)

# name=... checks the default and the given name; the first call of each has the default.
for names in ("abs math.abs", "negative math.negative", "exp math.exp", "expm1 math.expm1", "sin math.sin",
              "cos math.cos",
              "tan math.tan", "sinh math.sinh", "cosh math.cosh", "tanh math.tanh", "asinh math.asinh",
              "atan math.atan",
              "square math.square", "sign math.sign", "sigmoid math.sigmoid", "log_sigmoid math.log_sigmoid",
              "erf math.erf", "erfc math.erfc", "floor math.floor", "ceil math.ceil", "rint math.rint",
              "round math.round",
              "math.softplus", "math.softsign", "reciprocal math.reciprocal", "is_finite math.is_finite",
              "is_inf math.is_inf",
              "is_nan math.is_nan"):
    op(names, X)
    op(names, X.astype(np.float64), name="given")
for names in ("acos math.acos", "asin math.asin", "atanh math.atanh", "log math.log", "log1p math.log1p",
              "sqrt math.sqrt",
              "rsqrt math.rsqrt", "lgamma math.lgamma", "digamma math.digamma", "math.erfinv", "math.erfcinv",
              "math.ndtri",
              "math.bessel_i0", "math.bessel_i0e", "math.bessel_i1", "math.bessel_i1e", "math.reciprocal_no_nan"):
    op(names, UNIT)
    op(names, UNIT.astype(np.float64), name="given")
for name in ("bessel_j0", "bessel_j1", "bessel_k0", "bessel_k0e", "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1",
             "dawsn", "expint", "fresnel_cos", "fresnel_sin", "spence"):
    op("math.special." + name, UNIT)
    op("math.special." + name, POSITIVE.astype(np.float64), name="given")
op("acosh math.acosh", 1 + POSITIVE)
op("acosh math.acosh", 1 + POSITIVE, name="given")
op("tanh", X.astype(np.float16))
op("exp sin sqrt log abs negative square conj", COMPLEX)
op("abs negative sign square round", I32)
op("conj math.conj real math.real imag math.imag angle math.angle", COMPLEX)
op("conj math.conj real math.real imag math.imag angle math.angle", COMPLEX.astype(np.complex128), name="given")
op("conj real imag angle", X)
op("complex", X, Y)
op("complex", X.astype(np.float64), Y.astype(np.float64), name="given")
op("complex", X, Y.astype(np.float64))

for names in ("add math.add", "subtract math.subtract", "multiply math.multiply", "divide math.divide",
              "truediv math.truediv", "div", "realdiv", "floordiv math.floordiv", "floor_div",
              "mod math.mod floormod math.floormod", "truncatemod", "maximum math.maximum", "minimum math.minimum",
              "squared_difference math.squared_difference", "atan2 math.atan2", "div_no_nan math.divide_no_nan",
              "math.multiply_no_nan", "math.nextafter"):
    op(names, X, POSITIVE)
    op(names, X, POSITIVE[:1])
    op(names, POSITIVE[:, :1], X.astype(np.float32), name="given")
for names in ("add math.add", "subtract", "multiply", "divide math.divide", "truediv math.truediv", "div", "floordiv",
              "floor_div", "mod math.mod floormod", "truncatediv", "truncatemod", "maximum", "minimum",
              "squared_difference",
              "pow math.pow"):
    op(names, I32, J32)
    op(names, I32, 2)
for names in ("add math.add", "subtract", "multiply", "divide", "div", "pow math.pow", "maximum", "minimum"):
    op(names, POSITIVE, 2)
    op(names, 2, POSITIVE)
    op(names, 1.5, POSITIVE)
    op(names, [[1], [2]], POSITIVE)
    op(names, POSITIVE, np.float64(2).item(), name="given")
op("pow math.pow", POSITIVE, Y)
op("add multiply subtract divide pow", POSITIVE, "text")
op("add multiply subtract maximum equal less", X, I32)
op("add multiply equal", I32, 1.5)
op("add multiply subtract maximum minimum", X, floats(3, 2))
op("sin exp log", I32)
op("logical_not", X)
op("add math.add", np.array(["a", "b"]), np.array(["c", "d"]))
op("math.xlogy math.xdivy", UNIT, POSITIVE)
op("math.xlogy math.xlog1py math.xdivy", UNIT, POSITIVE, name="given")
op("math.xlog1py", UNIT, POSITIVE)
op("igamma math.igamma igammac math.igammac zeta math.zeta", 1 + POSITIVE, POSITIVE)
op("igamma math.igamma igammac math.igammac zeta math.zeta", 1 + POSITIVE, POSITIVE, name="given")
op("polygamma math.polygamma", np.array([1., 2., 1.], np.float32), POSITIVE)
op("polygamma math.polygamma", np.array([1., 2., 1.], np.float32), POSITIVE, name="given")
op("betainc math.betainc", POSITIVE, POSITIVE, UNIT)
op("betainc math.betainc", POSITIVE, POSITIVE, UNIT, name="given")
op("lbeta math.lbeta", POSITIVE)
op("lbeta math.lbeta", POSITIVE, name="given")
op("cross linalg.cross", X, Y)
op("cross linalg.cross", X, Y, name="given")

for names in ("equal math.equal", "not_equal math.not_equal", "less math.less", "less_equal math.less_equal",
              "greater math.greater", "greater_equal math.greater_equal"):
    op(names, I32, J32)
    op(names, X, 0.5, name="given")
for names in ("logical_and math.logical_and", "logical_or math.logical_or", "logical_xor math.logical_xor"):
    op(names, BOOLS, np.array([[True], [False]]))
    op(names, BOOLS, True, name="given")
op("logical_not math.logical_not", BOOLS)
op("logical_not math.logical_not", BOOLS, name="given")
op("scalar_mul math.scalar_mul", 2.5, X)
op("scalar_mul math.scalar_mul", 2.5, X, name="given")
op("scalar_mul", [2.0, 1.0], X)

for kind in ("int32", "int64", "float16", "float64", "bool", "uint8", "complex64", "bfloat16"):
    op("cast", POSITIVE, Type(kind))
    op("cast", POSITIVE, kind, name="given")
op("cast", X, "nope")
op("cast", 3, Type("float32"))
for name in ("to_float", "to_double", "to_int32", "to_int64", "to_bfloat16", "to_complex64", "to_complex128"):
    op(name, POSITIVE)
    op(name, J32, name="given")
op("saturate_cast", np.array([-3., 0.5, 300., 1e10], np.float32), Type("uint8"))
op("saturate_cast", np.array([-3., 0.5, 300., 1e10], np.float32), Type("int32"), name="given")
op("saturate_cast", np.array([-300, 0, 300], np.int32), Type("int8"))
op("bitcast", X, Type("int32"))
op("bitcast", X, Type("uint8"), name="given")

for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"):
    op("bitwise." + name, J32, ints(2, 3, low=0, high=4))
    op("bitwise." + name, J32, 1, name="given")
op("bitwise.invert", I32)
op("bitwise.invert", I32.astype(np.uint8), name="given")

op("clip_by_value", X, -0.5, 1)
op("clip_by_value", X, -0.5, 1.0, name="given")
op("clip_by_value", X, np.zeros([2, 3], np.float32), 1)
op("clip_by_value", I32, -2, 2)
for arguments in ({"clip_norm": 1.0}, {"clip_norm": 10, "name": "given"}, {"clip_norm": 1.0, "axes": [0]}):
    op("clip_by_norm", X, **arguments)
op("clip_by_norm", np.zeros([2, 2], np.float32), 1.0)
op("clip_by_average_norm", X, 0.5)
op("clip_by_average_norm", X, 0.5, name="given")
op("clip_by_global_norm", [X, Y], 1.0)
op("clip_by_global_norm", [X, Y], 1.0, name="given")
op("clip_by_global_norm", [X, Y], 1.0, use_norm=2.0)
case("clip_by_global_norm global_norm", lambda tf: tf.clip_by_global_norm([tf.constant(X), None], 1.0))
op("global_norm linalg.global_norm", [X, Y])
op("global_norm linalg.global_norm", [X, Y], name="given")
op("check_numerics debugging.check_numerics", X, "message")
op("check_numerics debugging.check_numerics", np.array([1, np.nan], np.float32), "message")
op("verify_tensor_all_finite", X, "message")
op("verify_tensor_all_finite", np.array([1, np.inf], np.float32), "message", name="given")
op("add_n math.add_n", [X, Y])
op("add_n math.add_n", [X, Y], name="given")
op("add_n math.add_n", [X])
op("add_n", [X], name="given")
op("add_n", [])
op("add_n", X)
op("accumulate_n math.accumulate_n", [X, Y])
op("accumulate_n math.accumulate_n", [X, Y], shape=[2, 3], tensor_dtype=Type("float32"), name="given")
op("accumulate_n", [X, I32])
op("math.polyval", [X, Y, 2.0], POSITIVE)
op("math.polyval", [X, Y], POSITIVE, name="given")
op("math.l2_normalize", X, 1)
op("math.l2_normalize", X, axis=[0, 1], epsilon=1e-3, name="given")
op("math.l2_normalize", X, dim=0)
op("math.l2_normalize", COMPLEX, 1)
op("math.zero_fraction", np.array([0, 1, 0, 2], np.float32), _options={"names": False})
op("math.zero_fraction", I32, name="given", _options={"names": False})
op("math.top_k", X, 2)
op("math.top_k", I32, k=2, sorted=False, name="given", _options={"values": False})
op("math.in_top_k", X, np.array([0, 2], np.int32), 1)
op("math.in_top_k", X, np.array([0, 2], np.int32), k=2, name="given")


def operators(tf):
    x, y, i, b = tf.constant(X), tf.constant(POSITIVE), tf.constant(J32), tf.constant(BOOLS)
    wide = tf.constant(X.astype(np.float64))
    return Result([
        x + y, x - y, x * y, x / y, x // y, x % y, y ** x, -x, abs(x), x < y, x <= y, x > y, x >= y, x + 1, 1 + x,
        2 - x,
        x - 2, 3 * x, x * 3, x / 2, 2 / y, y // 2, 7 // y, x % 2, 5 % y, y ** 2, 2 ** x, i / 2, 2 / i, i // 2, 7 // i,
        i % 3, i + 1, 1 - i, i ** 2, i * i, i & 3, i | 8, i ^ 5, 3 & i, ~i, b & True, b | False, b ^ True, ~b, True & b,
        x + np.float64(1), np.float64(2) * x, np.float32(2) / y, x + np.arange(3), np.arange(3.0) * x,
        np.ones([2, 3]) - x, wide + 1, 1.5 * wide, wide + np.float32(1), i + np.int64(1), np.int64(3) * i,
        x + [1, 2, 3],
        [1.0, 2.0, 3.0] * x, x @ tf.transpose(y), np.ones([2, 2], np.float32) @ x, x @ np.ones([3, 1]), x < 1, 1 < x,
        x >= np.float64(0.5), i == i, i != i,
    ], wrt=[x, y, wide])


case(
    "Tensor.__add__ Tensor.__radd__ Tensor.__sub__ Tensor.__mul__ Tensor.__truediv__ Tensor.__floordiv__ "
    "Tensor.__mod__ "
     "Tensor.__pow__ Tensor.__neg__ Tensor.__abs__ Tensor.__lt__ Tensor.__and__ Tensor.__or__ Tensor.__xor__ "
     "Tensor.__invert__ Tensor.__matmul__", operators)
for label, wrong in (
    ("int + float", lambda tf: tf.constant(I32) + 1.5), ("float + text", lambda tf: tf.constant(X) + "a"),
    ("float + int tensor", lambda tf: tf.constant(X) + tf.constant(1)),
    ("shapes", lambda tf: tf.constant(X) + [1.0, 2.0]),
    ("bool of a tensor", lambda tf: bool(tf.constant(X))), ("iteration", lambda tf: list(tf.constant(X))),
    ("float & 1", lambda tf: tf.constant(X) & 1), ("matmul", lambda tf: tf.constant(X) @ tf.constant(X)),
    ("len", lambda tf: len(tf.constant(X))), ("in", lambda tf: 1.0 in tf.constant(X)),
    ("int / float tensors", lambda tf: tf.constant(I32) / tf.constant(X)),
):
    case("Tensor.__add__", wrong, label="operators: " + label)


def of_variables(tf):
    v = tf.Variable(X, name="v")
    return [v + 1, 1 - v, v * v, v[0], v[:, 1:], -v, v / 2, v < 0.5, np.ones([2, 3], np.float32) * v]


case("Variable.__add__", of_variables, names=False)
