"""Ops on the elements of tensors, one by one, and the operators of tensors."""

import numpy as np

from tensorbraid import _core, dtypes, errors
from tensorbraid.internal import graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops.op_functions import op_function
from tensorbraid.ops.sparse_tensor import SparseTensor

acos = op_function("Acos", "x")
acosh = op_function("Acosh", "x")
asin = op_function("Asin", "x")
asinh = op_function("Asinh", "x")
atan = op_function("Atan", "x")
atan2 = op_function("Atan2", "y, x")
atanh = op_function("Atanh", "x")
betainc = op_function("Betainc", "a, b, x")
bitcast = op_function("Bitcast", "input", "type")
bitwise_and = op_function("BitwiseAnd", "x, y")
bitwise_or = op_function("BitwiseOr", "x, y")
bitwise_xor = op_function("BitwiseXor", "x, y")
ceil = op_function("Ceil", "x")
check_numerics = op_function("CheckNumerics", "tensor", "message")
cos = op_function("Cos", "x")
cosh = op_function("Cosh", "x")
cross = op_function("Cross", "a, b")
digamma = op_function("Digamma", "x")
div_no_nan = divide_no_nan = op_function("DivNoNan", "x, y", name="div_no_nan")
equal = op_function("Equal", "x, y")
erf = op_function("Erf", "x")
erfc = op_function("Erfc", "x")
exp = op_function("Exp", "x")
expm1 = op_function("Expm1", "x")
floor = op_function("Floor", "x")
floor_div = op_function("FloorDiv", "x, y")
floordiv = op_function("FloorDiv", "x, y", name="floordiv")
floormod = mod = op_function("FloorMod", "x, y")
greater = op_function("Greater", "x, y")
greater_equal = op_function("GreaterEqual", "x, y")
igamma = op_function("Igamma", "a, x")
igammac = op_function("Igammac", "a, x")
invert = op_function("Invert", "x")
is_finite = op_function("IsFinite", "x")
is_inf = op_function("IsInf", "x")
is_nan = op_function("IsNan", "x")
left_shift = op_function("LeftShift", "x, y")
less = op_function("Less", "x, y")
less_equal = op_function("LessEqual", "x, y")
lgamma = op_function("Lgamma", "x")
log = op_function("Log", "x")
log1p = op_function("Log1p", "x")
logical_and = op_function("LogicalAnd", "x, y")
logical_not = op_function("LogicalNot", "x")
logical_or = op_function("LogicalOr", "x, y")
maximum = op_function("Maximum", "x, y")
minimum = op_function("Minimum", "x, y")
multiply = op_function("Mul", "x, y")
multiply_no_nan = op_function("MulNoNan", "x, y", name="multiply_no_nan")
negative = op_function("Neg", "x")
nextafter = op_function("NextAfter", "x1, x2")
not_equal = op_function("NotEqual", "x, y")
polygamma = op_function("Polygamma", "a, x")
pow = op_function("Pow", "x, y")
realdiv = op_function("RealDiv", "x, y")
reciprocal = op_function("Reciprocal", "x")
right_shift = op_function("RightShift", "x, y")
rint = op_function("Rint", "x")
rsqrt = op_function("Rsqrt", "x")
sigmoid = op_function("Sigmoid", "x")
sign = op_function("Sign", "x")
sin = op_function("Sin", "x")
sinh = op_function("Sinh", "x")
softplus = op_function("Softplus", "features")
softsign = op_function("Softsign", "features")
sqrt = op_function("Sqrt", "x")
square = op_function("Square", "x")
squared_difference = op_function("SquaredDifference", "x, y")
subtract = op_function("Sub", "x, y")
tan = op_function("Tan", "x")
tanh = op_function("Tanh", "x")
truncatediv = op_function("TruncateDiv", "x, y")
truncatemod = op_function("TruncateMod", "x, y")
xlogy = op_function("Xlogy", "x, y")
zeta = op_function("Zeta", "x, q")
bessel_i0 = op_function("BesselI0", "x", scope="bessel_i0")
bessel_i0e = op_function("BesselI0e", "x", scope="bessel_i0e")
bessel_i1 = op_function("BesselI1", "x", scope="bessel_i1")
bessel_i1e = op_function("BesselI1e", "x", scope="bessel_i1e")
bessel_j0 = op_function("BesselJ0", "x", scope="bessel_j0")
bessel_j1 = op_function("BesselJ1", "x", scope="bessel_j1")
bessel_k0 = op_function("BesselK0", "x", scope="bessel_k0")
bessel_k0e = op_function("BesselK0e", "x", scope="bessel_k0e")
bessel_k1 = op_function("BesselK1", "x", scope="bessel_k1")
bessel_k1e = op_function("BesselK1e", "x", scope="bessel_k1e")
bessel_y0 = op_function("BesselY0", "x", scope="bessel_y0")
bessel_y1 = op_function("BesselY1", "x", scope="bessel_y1")
dawsn = op_function("Dawsn", "x", scope="dawsn")
erfinv = op_function("Erfinv", "x", scope="erfinv")
expint = op_function("Expint", "x", scope="expint")
fresnel_cos = op_function("FresnelCos", "x", scope="fresnel_cos")
fresnel_sin = op_function("FresnelSin", "x", scope="fresnel_sin")
ndtri = op_function("Ndtri", "x", scope="ndtri")
spence = op_function("Spence", "x", scope="spence")
xdivy = op_function("Xdivy", "x, y", scope="xdivy")
xlog1py = op_function("Xlog1py", "x, y", scope="xlog1py")


def erfcinv(x, name=None):
    """The inverse of erfc."""
    with name_scope(name, "erfcinv", [x]):
        x = convert_to_tensor(x, name="start")
        return -ndtri(0.5 * x) * np.sqrt(0.5)


def abs(x, name=None):
    """The absolute value; for complex numbers, a real number."""
    x = convert_to_tensor(x, name="x")
    if x.dtype.is_complex:
        return make_op("ComplexAbs", [x], name or "Abs", Tout=x.dtype.real_dtype).outputs[0]
    return make_op("Abs", [x], name or "Abs").outputs[0]


def add(x, y, name=None):
    """x + y, also of strings."""
    return _add(x, y, name or "Add")


def _add(x, y, name):
    def is_string(value):
        if isinstance(value, (graphs.Tensor, _core.Variable)):
            return value.dtype == dtypes.string
        return np.asarray(value).dtype.kind in "OSU" if not has_tensor(value) else False

    return make_op("Add" if is_string(x) else "AddV2", [x, y], name).outputs[0]


def has_tensor(value):
    """Whether a value is a tensor or a variable, or a nested list that has one."""
    if isinstance(value, (list, tuple)):
        return any(has_tensor(item) for item in value)
    return isinstance(value, (graphs.Tensor, _core.Variable)) or hasattr(value, "_as_graph_tensor")


_REAL_FOR_DIVISION = {"int8": dtypes.float32, "uint8": dtypes.float32, "int16": dtypes.float32,
                      "uint16": dtypes.float32, "int32": dtypes.float64, "uint32": dtypes.float64,
                      "int64": dtypes.float64, "uint64": dtypes.float64}


def truediv(x, y, name=None):
    """x / y as Python 3 divides: integers become floats."""
    with name_scope(name, "truediv", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, x.dtype if not isinstance(y, graphs.Tensor) else None, name="y")
        if x.dtype != y.dtype:
            raise TypeError(f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}")
        real = _REAL_FOR_DIVISION.get(x.dtype.name)
        if real is not None:
            x, y = cast(x, real), cast(y, real)
        return make_op("RealDiv", [x, y], scope).outputs[0]


def divide(x, y, name=None):
    """x / y as Python 3 divides."""
    if isinstance(y, graphs.Tensor) and not isinstance(x, graphs.Tensor):
        return y.__rtruediv__(x) if name is None else truediv(convert_to_tensor(x, y.dtype), y, name)
    return truediv(x, y, name)


def div(x, y, name=None):
    """x / y; integers are divided with the quotient rounded down."""
    with name_scope(name, "div", [x, y]) as scope:
        x = convert_to_tensor(x, name="x")
        y = convert_to_tensor(y, x.dtype, name="y")
        return make_op("FloorDiv" if x.dtype.is_integer else "RealDiv", [x, y], scope).outputs[0]


def logical_xor(x, y, name="LogicalXor"):
    """Whether exactly one of both is true."""
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)), name=name)


def reciprocal_no_nan(x, name=None):
    """1 / x, and 0 where x is 0."""
    with name_scope(name, "reciprocal_no_nan", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return make_op("DivNoNan", [graphs.constant(1.0, x.dtype, name="one"), x], scope).outputs[0]


def round(x, name=None):
    """The nearest integer, and the even one of two."""
    x = convert_to_tensor(x, name="x")
    return x if x.dtype.is_integer else make_op("Round", [x], name or "Round").outputs[0]


def log_sigmoid(x, name=None):
    """log(sigmoid(x)), exact for very negative x."""
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return negative(softplus(-x), name=scope)


def scalar_mul(scalar, x, name=None):
    """A scalar times a tensor, or times the values of IndexedSlices."""
    slices = x if isinstance(x, graphs.IndexedSlices) else None
    values = x if slices is None else slices.values
    if isinstance(values, _core.Variable):
        values = values.value()
    kind = values.dtype if isinstance(values, graphs.Tensor) else None
    scalar = convert_to_tensor(scalar, kind, name="scalar")
    if scalar.shape.ndims != 0:
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {scalar.shape}.")
    product = multiply(scalar, values, name)
    return product if slices is None else graphs.IndexedSlices(product, slices.indices, slices.dense_shape)


def conj(x, name=None):
    """The complex conjugate; a real tensor is its own."""
    x = convert_to_tensor(x, name="x")
    if x.dtype.is_complex or x.dtype == dtypes.variant:
        return make_op("Conj", [x], name or "Conj").outputs[0]
    if x.dtype.is_floating or x.dtype.is_integer:
        return x
    raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")


def complex(real, imag, name=None):
    """Complex numbers of their parts, which are both float32 or both float64."""
    real = convert_to_tensor(real, name="real")
    imag = convert_to_tensor(imag, name="imag")
    kinds = {"float32": dtypes.complex64, "float64": dtypes.complex128}
    if real.dtype != imag.dtype or real.dtype.name not in kinds:
        raise TypeError(f"The `real` and `imag` components have incorrect types: {real.dtype.name} {imag.dtype.name}. "
                        "They must be consistent, and one of [tf.float32, tf.float64]")
    return make_op("Complex", [real, imag], name or "Complex", Tout=kinds[real.dtype.name]).outputs[0]


def cast(x, dtype, name=None) -> graphs.Tensor:
    """x converted to `dtype`; x itself if it has that dtype. Also of SparseTensors and IndexedSlices."""
    dtype = dtypes.as_dtype(dtype)
    if isinstance(x, SparseTensor):
        return x.with_values(cast(x.values, dtype, name))
    if isinstance(x, graphs.IndexedSlices):
        return graphs.IndexedSlices(cast(x.values, dtype, name), x.indices, x.dense_shape)
    x = convert_to_tensor(x, name="x")
    if x.dtype == dtype:
        return x
    if dtypes.string in (x.dtype.base_dtype, dtype):  # TensorFlow raises this when the step runs
        raise errors.UnimplementedError(None, None, f"Cast {x.dtype.base_dtype.name} to {dtype.name} is not supported: " + (
            "tf.as_string converts numbers to strings" if dtype == dtypes.string else
            "tf.strings.to_number converts strings to numbers, and tf.decode_raw converts bytes"))
    return make_op("Cast", [x], name or "Cast", DstT=dtype).outputs[0]


def saturate_cast(value, dtype, name=None):
    """The value converted to `dtype`; a number out of its range becomes the nearest in it."""
    dtype = dtypes.as_dtype(dtype)
    with name_scope(name, "saturate_cast", [value]) as scope:
        value = convert_to_tensor(value, name="value")
        if value.dtype.is_complex or dtype.is_complex:
            raise NotImplementedError("saturate_cast of complex numbers")
        if value.dtype.min < dtype.min or value.dtype.max > dtype.max:
            kind = value.dtype.as_numpy_dtype
            bottom, top = max(value.dtype.min, dtype.min), min(value.dtype.max, dtype.max)
            if value.dtype.is_floating and dtype.is_integer and int(kind(top)) > top:
                top = np.nextafter(kind(top), kind(0))  # the largest float that the integer type has
            value = make_op("ClipByValue",
                            [value, graphs.constant(bottom, value.dtype), graphs.constant(top, value.dtype)],
                            "clamp").outputs[0]
        return cast(value, dtype, name=scope)


def _to(dtype, default_name):
    def function(x, name=default_name) -> graphs.Tensor:
        return cast(x, dtype, name=name)

    return named(function, f"to_{dtype.name}", f"x converted to {dtype.name}.")


to_bfloat16 = _to(dtypes.bfloat16, "ToBFloat16")
to_complex128 = _to(dtypes.complex128, "ToComplex128")
to_complex64 = _to(dtypes.complex64, "ToComplex64")
to_double = _to(dtypes.float64, "ToDouble")
to_float = _to(dtypes.float32, "ToFloat")
to_int32 = _to(dtypes.int32, "ToInt32")
to_int64 = _to(dtypes.int64, "ToInt64")

__all__ = [
    "abs", "acos", "acosh", "add", "asin", "asinh", "atan", "atan2", "atanh", "betainc", "bitcast", "cast",
    "ceil", "check_numerics", "complex", "conj", "cos", "cosh", "cross", "digamma", "div", "div_no_nan", "divide",
    "equal", "erf", "erfc", "exp", "expm1", "floor", "floor_div", "floordiv", "floormod", "greater", "greater_equal",
    "igamma", "igammac", "is_finite", "is_inf", "is_nan", "less", "less_equal", "lgamma", "log", "log1p",
    "log_sigmoid", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply",
    "negative", "not_equal", "polygamma", "pow", "realdiv", "reciprocal", "rint", "round", "rsqrt",
    "saturate_cast", "scalar_mul", "sigmoid", "sign", "sin", "sinh", "sqrt", "square", "squared_difference",
    "subtract", "tan", "tanh", "to_bfloat16", "to_complex128", "to_complex64", "to_double", "to_float", "to_int32",
    "to_int64", "truediv", "truncatediv", "truncatemod", "zeta",
]
