"""Mathematical functions that other ops make up."""

from tensorbraid import dtypes
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.internal.op_results import results_class
from tensorbraid.ops import arrays, complex_parts, elementwise, reductions
from tensorbraid.ops.old_arguments import renamed


def lbeta(x, name=None):
    """The logarithm of the beta function of the last axis."""
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        if x.shape.ndims is None:
            raise NotImplementedError("lbeta of a tensor of unknown rank")
        products = reductions.reduce_sum(elementwise.lgamma(x), axis=[-1])
        return products - elementwise.lgamma(reductions.reduce_sum(x, axis=[-1]))


def polyval(coeffs, x, name=None):
    """The polynomial with these coefficients, the highest power's first."""
    if not isinstance(coeffs, (list, tuple)):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    with name_scope(name, "polyval", list(coeffs) + [x]):
        x = convert_to_tensor(x, name="x")
        if not coeffs:
            return arrays.zeros_like(x, name=name)
        result = convert_to_tensor(coeffs[0])
        for coefficient in coeffs[1:]:
            result = elementwise._add(result * x, coefficient, "add")
        return result


def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """x divided by its L2 norm along an axis."""
    axis = renamed("axis", axis, "dim", dim)
    with name_scope(name, "l2_normalize", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            size = reductions.reduce_sum(elementwise.square(complex_parts.real(x))
                                         + elementwise.square(complex_parts.imag(x)),
                                         axis, keepdims=True)
            inverse = elementwise.rsqrt(elementwise.maximum(size, epsilon))
            return elementwise.complex(elementwise.multiply(complex_parts.real(x), inverse),
                                       elementwise.multiply(complex_parts.imag(x), inverse), name=scope)
        size = reductions.reduce_sum(elementwise.square(x), axis, keepdims=True)
        return elementwise.multiply(x, elementwise.rsqrt(elementwise.maximum(size, epsilon)), name=scope)


def top_k(input, k=1, sorted=True, index_type=dtypes.int32, name=None):
    """The k largest elements of each row, and their positions."""
    made = make_op("TopKV2", [input, k], name or "TopKV2", sorted=sorted, index_type=dtypes.as_dtype(index_type))
    return results_class("TopKV2", "values indices")(*made.outputs)


def in_top_k(predictions, targets, k, name=None):
    """Whether the target of each row is among its k largest predictions."""
    with name_scope(name, "in_top_k"):
        return make_op("InTopKV2", [predictions, targets, k], name).outputs[0]


def zero_fraction(value, name=None):
    """The share of elements that are 0."""
    with name_scope(name, "zero_fraction", [value]):
        value = convert_to_tensor(value, name="value")
        count = elementwise.cast(reductions.size(value, out_type=dtypes.int64), dtypes.int64)
        zeros = count - reductions.count_nonzero(value)
        fraction = elementwise.cast(zeros, dtypes.float32) / elementwise.cast(count, dtypes.float32)
        return arrays.identity(fraction, "fraction")
