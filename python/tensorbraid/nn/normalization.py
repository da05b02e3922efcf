"""Moments and normalization."""

from typing import Any

from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import make_op
from tensorbraid.ops.node import cast, op, reduce, shape_of, tensor
from tensorbraid.ops.special_math import l2_normalize

__all__ = ["batch_norm_with_global_normalization", "batch_normalization", "fused_batch_norm", "l2_normalize",
           "local_response_normalization", "lrn", "moments", "normalize_moments", "sufficient_statistics",
           "weighted_moments"]


def _axes(x, axes):
    rank = x.shape.ndims
    axes = [axes] if isinstance(axes, int) else axes
    if isinstance(axes, (list, tuple)) and rank is not None:
        return [axis % rank for axis in axes]
    return axes


def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """The mean and the variance along `axes`. `shift` has no effect, as in TensorFlow."""
    keep = bool(keep_dims if keepdims is None else keepdims)
    with graphs.name_scope(name, "moments", [x]):
        x = tensor(x, name="x")
        wide = cast(x, "float32") if x.dtype.name == "float16" else x
        mean = reduce("Mean", wide, axes, True, "mean")
        squares = op("SquaredDifference", [wide, op("StopGradient", [mean])])
        variance = reduce("Mean", squares, axes, True, "variance")
        if not keep:
            squeezed = {"squeeze_dims": list(_axes(x, axes))}
            if isinstance(axes, graphs.Tensor):
                mean, variance = reduce("Mean", mean, axes), reduce("Mean", variance, axes)
            else:
                mean, variance = op("Squeeze", [mean], **squeezed), op("Squeeze", [variance], **squeezed)
        return cast(mean, x.dtype), cast(variance, x.dtype)


def weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None):
    """The mean and the variance along `axes`, where each element counts as often as its weight says."""
    keep = bool(keep_dims if keepdims is None else keepdims)
    with graphs.name_scope(name, "weighted_moments", [x, frequency_weights]):
        x = tensor(x, name="x")
        weights = tensor(frequency_weights, name="frequency_weights")
        wide = cast(x, "float32") if x.dtype.name == "float16" else x
        weights = cast(weights, wide.dtype)
        total = reduce("Sum", weights * op("OnesLike", [wide]), axes, True)
        mean = op("RealDiv", [reduce("Sum", weights * wide, axes, True), total])
        variance = op("RealDiv", [reduce("Sum", weights * op("SquaredDifference", [wide, op("StopGradient", [mean])]),
                                         axes, True), total])
        if not keep:
            dims = list(_axes(x, axes))
            mean, variance = op("Squeeze", [mean], squeeze_dims=dims), op("Squeeze", [variance], squeeze_dims=dims)
        return cast(mean, x.dtype), cast(variance, x.dtype)


def sufficient_statistics(x, axes, shift=None, keep_dims=None, name=None, keepdims=None):
    """The number of elements along `axes`, the sum of x - shift, the sum of (x - shift)², and the shift."""
    keep = bool(keep_dims if keepdims is None else keepdims)
    axes = list(axes)
    with graphs.name_scope(name, "sufficient_statistics", [x, shift]):
        x = tensor(x, name="x")
        sizes = x.shape.as_list() if x.shape.ndims is not None else None
        if sizes is not None and all(sizes[axis] is not None for axis in axes):
            count = 1
            for axis in axes:
                count *= sizes[axis]
            counts = graphs.constant(count, x.dtype, name="count")
        else:
            counts = op("Prod", [cast(op("GatherV2", [shape_of(x), axes, 0]), x.dtype), [0]], "count")
        if shift is None:
            difference, squares = x, op("Square", [x])
        else:
            shift = tensor(shift, x.dtype, name="shift")
            difference, squares = op("Sub", [x, shift]), op("SquaredDifference", [x, shift])
        return (counts, reduce("Sum", difference, axes, keep, "mean_ss"), reduce("Sum", squares, axes, keep, "var_ss"),
                shift)


def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """The mean and the variance from what sufficient_statistics returns."""
    with graphs.name_scope(name, "normalize", [counts, mean_ss, variance_ss, shift]):
        divisor = op("Reciprocal", [counts], "divisor")
        if shift is None:
            shifted = mean = op("Mul", [mean_ss, divisor], "mean")
        else:
            shifted = op("Mul", [mean_ss, divisor], "shifted_mean")
            mean = op("AddV2", [shifted, shift], "mean")
        variance = op("Sub", [op("Mul", [variance_ss, divisor]), op("Square", [shifted])], "variance")
        return mean, variance


def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """(x - mean) / sqrt(variance + epsilon) * scale + offset."""
    with graphs.name_scope(name, "batchnorm", [x, mean, variance, scale, offset]):
        x = tensor(x, name="x")
        inverse = op("Rsqrt", [op("AddV2", [variance, variance_epsilon])])
        if scale is not None:
            inverse = op("Mul", [inverse, scale])
        shift = op("Mul", [mean, inverse])
        shift = op("Neg", [shift]) if offset is None else op("Sub", [offset, shift])
        return op("AddV2", [op("Mul", [x, cast(inverse, x.dtype)]), cast(shift, x.dtype)], "add_1")


def batch_norm_with_global_normalization(t=None, m=None, v=None, beta=None, gamma=None, variance_epsilon=None,
                                         scale_after_normalization=None, name=None, input=None, mean=None,
                                         variance=None):
    """batch_normalization under its old name. `gamma` counts only with `scale_after_normalization`."""
    t, m, v = (b if a is None else a for a, b in ((t, input), (m, mean), (v, variance)))
    return batch_normalization(t, m, v, beta, gamma if scale_after_normalization else None, variance_epsilon, name)


def fused_batch_norm(x, scale, offset, mean=None, variance=None, epsilon=0.001, data_format="NHWC",
                     is_training: Any = True, name=None, exponential_avg_factor=1.0):
    """Batch normalization of images by one op. Returns the result, the mean and the variance of the batch."""
    if not is_training and (mean is None or variance is None):
        raise ValueError("When `is_training=False`, both `mean` and `variance` must be given")
    x = tensor(x, name="input")
    empty = graphs.constant([], "float32", [0]) if mean is None or variance is None else None
    mean = empty if mean is None else mean
    variance = empty if variance is None else variance
    outputs = make_op("FusedBatchNormV3", [x, scale, offset, mean, variance], name,
                      epsilon=epsilon, exponential_avg_factor=exponential_avg_factor,
                      data_format=data_format, is_training=bool(is_training)).outputs
    return outputs[0], outputs[1], outputs[2]


def local_response_normalization(input, depth_radius=5, bias=1, alpha=1, beta=0.5, name=None):
    """Divides each element by a power of the sum of squares of the channels around it."""
    return op("LRN", [input], name, depth_radius=depth_radius, bias=float(bias), alpha=float(alpha), beta=float(beta))


lrn = local_response_normalization
