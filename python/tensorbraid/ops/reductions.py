"""Ops that reduce tensors along axes, and those that accumulate along one."""

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays, complex_parts, elementwise
from tensorbraid.ops.old_arguments import renamed
from tensorbraid.ops.op_functions import op_function
from tensorbraid.ops.sparse_tensor import SparseTensor


def _arguments(axis, keepdims, reduction_indices, keep_dims):
    """Axis and keepdims, of which each has an older name."""
    return (renamed("axis", axis, "reduction_indices", reduction_indices),
            bool(renamed("keepdims", keepdims, "keep_dims", keep_dims)))


def _axes(x, axis):
    """The axes to reduce; None stands for all."""
    if axis is not None:
        return axis
    ndims = x.shape.ndims
    if ndims is not None:
        return graphs.constant(np.arange(ndims, dtype=np.int32))
    return arrays.range_node(0, arrays.rank(x), 1)


def _reduce(op_type, x, axis, keepdims, name):
    x = convert_to_tensor(x)
    axes = _axes(x, axis)
    if isinstance(axes, graphs.Tensor):
        return make_op(op_type, [x, axes], name, keep_dims=keepdims).outputs[0]
    with name_scope(name) as scope:
        if not elementwise.has_tensor(axes):
            with arguments.named("axis", "an integer, a list of integers or None", axis):
                axes = np.array(axes, np.int32)
        axes = convert_to_tensor(axes, name="reduction_indices")
        return make_op(op_type, [x, axes], scope, keep_dims=keepdims).outputs[0]


def _reduction(op_type):
    def op(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        axis, keep = _arguments(axis, keepdims, reduction_indices, keep_dims)
        return _reduce(op_type, input_tensor, axis, keep, name or op_type)

    return named(op, f"reduce_{op_type.lower()}",
                 f"The op {op_type} along `axis`, a number or a list; None stands for all axes.")


reduce_all = _reduction("All")
reduce_any = _reduction("Any")
reduce_max = _reduction("Max")
reduce_mean = _reduction("Mean")
reduce_min = _reduction("Min")
reduce_prod = _reduction("Prod")
reduce_sum = _reduction("Sum")


def size(input, name=None, out_type=dtypes.int32):
    """The number of elements of a tensor, a scalar: a constant if the static shape is fully defined."""
    out_type = dtypes.as_dtype(out_type)
    if isinstance(input, SparseTensor):
        return reduce_prod(elementwise.cast(input.dense_shape, out_type), 0, name=name)
    return arrays.number_of_elements(input, name, out_type)


def reduce_logsumexp(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
    """log(sum(exp(x))), without an overflow for large x."""
    axis, keep = _arguments(axis, keepdims, reduction_indices, keep_dims)
    with name_scope(name, "ReduceLogSumExp", [input_tensor]) as scope:
        x = convert_to_tensor(input_tensor)
        raw = reduce_max(x, axis, keepdims=True)
        finite = make_op("SelectV2", [elementwise.is_finite(raw), raw, graphs.constant(0, x.dtype)]).outputs[0]
        top = arrays.stop_gradient(finite)
        result = elementwise.log(reduce_sum(elementwise.exp(x - top), axis, keepdims=keep))
        if not keep:
            top = arrays.reshape(top, make_op("Shape", [result]).outputs[0])
        return make_op("AddV2", [result, top], scope).outputs[0]


def count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype=dtypes.int64, name=None, reduction_indices=None,
                  keep_dims=None, input=None):
    """The number of elements that are not zero, or not an empty string."""
    axis, keep = _arguments(axis, keepdims, reduction_indices, keep_dims)
    x = renamed("input_tensor", input_tensor, "input", input)
    if isinstance(x, SparseTensor):
        raise NotImplementedError("count_nonzero of a SparseTensor")
    with name_scope(name, "count_nonzero", [x]):
        x = convert_to_tensor(x)
        zero = arrays.zeros([], x.dtype)
        found = elementwise.cast(elementwise.not_equal(x, zero), dtypes.int64)
        return elementwise.cast(reduce_sum(found, axis, keep), dtype)


def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The variance along axes."""
    with name_scope(name or "reduce_variance"):
        x = convert_to_tensor(input_tensor)
        means = reduce_mean(x, axis, True)
        if means.dtype.is_integer:
            raise TypeError(f"Input must be either real or complex. Received integer type {means.dtype}.")
        diff = x - means
        if diff.dtype.is_complex:
            squared = complex_parts.real(elementwise.multiply(elementwise.conj(diff), diff))
        else:
            squared = elementwise.square(diff)
        return reduce_mean(squared, axis, keepdims)


def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """The standard deviation along axes."""
    with name_scope(name or "reduce_std"):
        x = convert_to_tensor(input_tensor)
        return elementwise.sqrt(reduce_variance(x, axis, keepdims))


def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """The square root of the sum of squares along axes."""
    return _reduce("EuclideanNorm", input_tensor, axis, bool(keepdims), name or "EuclideanNorm")


def _arg(op_type, function_name):
    def op(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):
        axis = renamed("axis", axis, "dimension", dimension)
        return make_op(op_type, [input, 0 if axis is None else axis], name or op_type,
                       output_type=dtypes.as_dtype(output_type)).outputs[0]

    return named(op, function_name, f"The op {op_type}: the position of the extreme value along an axis.")


argmax = _arg("ArgMax", "argmax")
argmin = _arg("ArgMin", "argmin")
arg_max = op_function("ArgMax", "input, dimension", "output_type=tf.int64")
arg_min = op_function("ArgMin", "input, dimension", "output_type=tf.int64")
cumsum = op_function("Cumsum", "x, axis=0", "exclusive=False, reverse=False")
cumprod = op_function("Cumprod", "x, axis=0", "exclusive=False, reverse=False")


def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """log(cumsum(exp(x))), without an overflow for large x."""
    return make_op("CumulativeLogsumexp", [x, axis], name or "CumulativeLogsumexp", exclusive=exclusive,
                   reverse=reverse).outputs[0]


def add_n(inputs, name=None) -> graphs.Tensor:
    """The sum of tensors of one shape."""
    if isinstance(inputs, graphs.Tensor):
        inputs = list(inputs)  # an error: a tensor is no list of tensors
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError("Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and "
                         "shape.")
    if len(inputs) == 1:
        only = inputs[0]
        if isinstance(only, graphs.IndexedSlices):
            only = only._as_graph_tensor()
        else:
            only = convert_to_tensor(only)
        return arrays.identity(only, name) if name else only
    return make_op("AddN", [list(inputs)], name or "AddN").outputs[0]


def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """As add_n. `shape` and `tensor_dtype` must agree with the inputs."""
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError("inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape")
    inputs = [convert_to_tensor(x) for x in inputs]
    if any(x.dtype != inputs[0].dtype for x in inputs):
        raise ValueError("inputs must be a list of at least one Tensor/IndexedSlices with the same dtype and shape")
    if tensor_dtype is not None and inputs[0].dtype != dtypes.as_dtype(tensor_dtype):
        raise TypeError(f"The `tensor_dtype` argument is {dtypes.as_dtype(tensor_dtype)}, but `inputs` are "
                        f"{inputs[0].dtype}")
    if shape is not None:
        for x in inputs:
            arrays.broadcast_static_shape(x.shape, graphs.TensorShape(shape))
    if len(inputs) == 1 and name is None:
        return inputs[0]
    if len(inputs) == 1:
        return arrays.identity(inputs[0], name=name)
    return add_n(inputs, name)


__all__ = [
    "accumulate_n", "add_n", "arg_max", "arg_min", "argmax", "argmin", "count_nonzero", "cumprod", "cumsum",
    "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
    "reduce_sum", "size",
]
