"""The namespace tf.math."""

import types

from tensorbraid.nn.activations import log_softmax, softmax  # noqa: F401
from tensorbraid.ops.arrays import invert_permutation  # noqa: F401
from tensorbraid.ops.checks import is_non_decreasing, is_strictly_increasing  # noqa: F401
from tensorbraid.ops.complex_parts import angle, imag, real  # noqa: F401
from tensorbraid.ops.counts import bincount, confusion_matrix  # noqa: F401
from tensorbraid.ops.elementwise import (  # noqa: F401
    abs, acos, acosh, add, asin, asinh, atan, atan2, atanh, bessel_i0, bessel_i0e, bessel_i1, bessel_i1e,
    betainc, bessel_j0, bessel_j1, bessel_k0, bessel_k0e, bessel_k1, bessel_k1e, bessel_y0, bessel_y1, ceil, conj,
    cos, cosh, dawsn, digamma, divide, divide_no_nan, equal, erf, erfc, erfcinv, erfinv, exp, expint, expm1, floor,
    floordiv, floormod, fresnel_cos, fresnel_sin, greater, greater_equal, igamma, igammac, is_finite, is_inf,
    is_nan, less, less_equal, lgamma, log, log1p, log_sigmoid, logical_and, logical_not, logical_or, logical_xor,
    maximum, minimum, mod, multiply, multiply_no_nan, ndtri, negative, nextafter, not_equal, polygamma, pow,
    reciprocal, reciprocal_no_nan, rint, round, rsqrt, scalar_mul, sigmoid, sign, sin, sinh, softplus, softsign,
    spence, sqrt, square, squared_difference, subtract, tan, tanh, truediv, xdivy, xlog1py, xlogy, zeta)
from tensorbraid.ops.reductions import (  # noqa: F401
    accumulate_n, add_n, argmax, argmin, count_nonzero, cumprod, cumsum,
    cumulative_logsumexp, reduce_all, reduce_any, reduce_euclidean_norm, reduce_logsumexp, reduce_max, reduce_mean,
    reduce_min, reduce_prod, reduce_std, reduce_sum, reduce_variance)
from tensorbraid.ops.segment_ops import (  # noqa: F401
    segment_max, segment_mean, segment_min, segment_prod, segment_sum, unsorted_segment_max, unsorted_segment_mean,
    unsorted_segment_min, unsorted_segment_prod, unsorted_segment_sqrt_n, unsorted_segment_sum)
from tensorbraid.ops.special_math import in_top_k, l2_normalize, lbeta, polyval, top_k, zero_fraction  # noqa: F401

__all__ = [
    "abs", "accumulate_n", "acos", "acosh", "add", "add_n", "angle", "argmax", "argmin", "asin", "asinh", "atan",
    "atan2", "atanh", "bessel_i0", "bessel_i0e", "bessel_i1", "bessel_i1e", "bessel_j0", "bessel_j1", "bessel_k0",
    "bessel_k0e", "bessel_k1", "bessel_k1e", "bessel_y0", "bessel_y1", "betainc", "bincount", "ceil",
    "confusion_matrix", "conj", "cos", "cosh", "count_nonzero", "cumprod", "cumsum", "cumulative_logsumexp", "dawsn",
    "digamma", "divide", "divide_no_nan", "equal", "erf", "erfc", "erfcinv", "erfinv", "exp", "expint", "expm1",
    "floor", "floordiv", "floormod", "fresnel_cos", "fresnel_sin", "greater", "greater_equal", "igamma", "igammac",
    "imag", "in_top_k", "invert_permutation", "is_finite", "is_inf", "is_nan", "is_non_decreasing",
    "is_strictly_increasing", "l2_normalize", "lbeta", "less", "less_equal", "lgamma", "log", "log1p", "log_sigmoid",
    "log_softmax", "logical_and", "logical_not", "logical_or", "logical_xor", "maximum", "minimum", "mod", "multiply",
    "multiply_no_nan", "ndtri", "negative", "nextafter", "not_equal", "polygamma", "polyval", "pow", "real",
    "reciprocal", "reciprocal_no_nan", "reduce_all", "reduce_any", "reduce_euclidean_norm", "reduce_logsumexp",
    "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_std", "reduce_sum", "reduce_variance", "rint",
    "round", "rsqrt", "scalar_mul", "segment_max", "segment_mean", "segment_min", "segment_prod", "segment_sum",
    "sigmoid", "sign", "sin", "sinh", "softmax", "softplus", "softsign", "spence", "sqrt", "square",
    "squared_difference", "subtract", "tan", "tanh", "top_k", "truediv", "unsorted_segment_max",
    "unsorted_segment_mean", "unsorted_segment_min", "unsorted_segment_prod", "unsorted_segment_sqrt_n",
    "unsorted_segment_sum", "xdivy", "xlog1py", "xlogy", "zero_fraction", "zeta"]

special = types.SimpleNamespace(
    bessel_i0=bessel_i0, bessel_i0e=bessel_i0e, bessel_i1=bessel_i1, bessel_i1e=bessel_i1e, bessel_j0=bessel_j0,
    bessel_j1=bessel_j1, bessel_k0=bessel_k0, bessel_k0e=bessel_k0e, bessel_k1=bessel_k1, bessel_k1e=bessel_k1e,
    bessel_y0=bessel_y0, bessel_y1=bessel_y1, dawsn=dawsn, expint=expint, fresnel_cos=fresnel_cos,
    fresnel_sin=fresnel_sin, spence=spence)
