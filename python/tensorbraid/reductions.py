"""Ops that reduce tensors along axes, and those that accumulate along one."""

import numpy as np

from tensorbraid import arrays, dtypes, elementwise, graphs
from tensorbraid.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.op_functions import op_function


def _renamed(new_name, new, old_name, old):
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old


def _arguments(axis, keepdims, reduction_indices, keep_dims):
    """Axis and keepdims, of which each has an older name."""
    return (_renamed("axis", axis, "reduction_indices", reduction_indices),
            bool(_renamed("keepdims", keepdims, "keep_dims", keep_dims)))


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
        axes = convert_to_tensor(np.array(axes, np.int32) if not elementwise._has_tensor(axes) else axes,
                                 name="reduction_indices")
        return make_op(op_type, [x, axes], scope, keep_dims=keepdims).outputs[0]


def _reduction(op_type):
    def op(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        axis, keep = _arguments(axis, keepdims, reduction_indices, keep_dims)
        return _reduce(op_type, input_tensor, axis, keep, name or op_type)

    op.__name__ = op.__qualname__ = f"reduce_{op_type.lower()}"
    op.__doc__ = f"The op {op_type} along `axis`, a number or a list; None stands for all axes."
    return op


reduce_all = _reduction("All")
reduce_any = _reduction("Any")
reduce_max = _reduction("Max")
reduce_mean = _reduction("Mean")
reduce_min = _reduction("Min")
reduce_prod = _reduction("Prod")
reduce_sum = _reduction("Sum")


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
    from tensorbraid.sparse_tensor import SparseTensor

    axis, keep = _arguments(axis, keepdims, reduction_indices, keep_dims)
    x = _renamed("input_tensor", input_tensor, "input", input)
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
            squared = elementwise.real(elementwise.multiply(elementwise.conj(diff), diff))
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
        axis = _renamed("axis", axis, "dimension", dimension)
        return make_op(op_type, [input, 0 if axis is None else axis], name or op_type,
                       output_type=dtypes.as_dtype(output_type)).outputs[0]

    op.__name__ = op.__qualname__ = function_name
    op.__doc__ = f"The op {op_type}: the position of the extreme value along an axis."
    return op


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


def add_n(inputs, name=None):
    """The sum of tensors of one shape."""
    if isinstance(inputs, graphs.Tensor):
        inputs = list(inputs)  # an error: a tensor is no list of tensors
    if not isinstance(inputs, (list, tuple)) or not inputs:
        raise ValueError("Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape.")
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
        raise TypeError(f"The `tensor_dtype` argument is {dtypes.as_dtype(tensor_dtype)}, but `inputs` are {inputs[0].dtype}")
    if shape is not None:
        for x in inputs:
            arrays.broadcast_static_shape(x.shape, graphs.TensorShape(shape))
    if len(inputs) == 1 and name is None:
        return inputs[0]
    if len(inputs) == 1:
        return arrays.identity(inputs[0], name=name)
    return add_n(inputs, name)


def bincount(arr, weights=None, minlength=None, maxlength=None, dtype=dtypes.int32):
    """How often each number from 0 on occurs in a tensor, or the sum of the weights of its occurrences."""
    with name_scope(None, "bincount"):
        arr = convert_to_tensor(arr, dtypes.int32 if not isinstance(arr, graphs.Tensor) else None, name="arr")
        not_empty = reduce_prod(arrays.shape(arr)) > 0
        size = elementwise.cast(not_empty, dtypes.int32) * (reduce_max(elementwise.cast(arr, dtypes.int32)) + 1)
        if minlength is not None:
            size = elementwise.maximum(convert_to_tensor(minlength, dtypes.int32, name="minlength"), size)
        if maxlength is not None:
            size = elementwise.minimum(convert_to_tensor(maxlength, dtypes.int32, name="maxlength"), size)
        weights = graphs.constant([], dtype) if weights is None else weights
        return make_op("Bincount", [elementwise.cast(arr, dtypes.int32), size, weights]).outputs[0]


def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """The bin of each value, of `nbins` bins of equal width; values out of the range are in the outermost bins."""
    with name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = convert_to_tensor(values, name="values")
        dims = arrays.shape(values)
        values = arrays.reshape(values, [-1])
        value_range = convert_to_tensor(value_range, name="value_range")
        nbins = convert_to_tensor(nbins, dtypes.int32, name="nbins")
        count = elementwise.cast(nbins, values.dtype)
        scaled = elementwise.truediv(values - value_range[0], value_range[1] - value_range[0])
        found = elementwise.floor(count * scaled)
        found = elementwise.cast(clip_by_value(found, 0, count - 1), dtypes.int32)
        return elementwise.cast(arrays.reshape(found, dims), dtype)


def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """How many values are in each bin."""
    return make_op("HistogramFixedWidth", [values, value_range, nbins], name or "histogram_fixed_width",
                   dtype=dtypes.as_dtype(dtype)).outputs[0]


def clip_by_value(t, clip_value_min, clip_value_max, name=None):
    """The elements, with those outside of the two bounds replaced by the nearer bound."""
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        slices = t if isinstance(t, graphs.IndexedSlices) else None
        values = convert_to_tensor(t if slices is None else slices.values, name="t")
        clipped = elementwise.maximum(elementwise.minimum(values, clip_value_max), clip_value_min, name=scope)
        if not _same_or_wider(values.shape, clipped.shape):
            raise ValueError(f"Shapes {values.shape} and {clipped.shape} are incompatible")
        return clipped if slices is None else graphs.IndexedSlices(clipped, slices.indices, slices.dense_shape)


def _same_or_wider(a, b):
    return a.ndims is None or b.ndims is None or (a.ndims == b.ndims and all(
        x is None or y is None or x == y for x, y in zip(a.as_list(), b.as_list())))


def clip_by_norm(t, clip_norm, axes=None, name=None):
    """The tensor, scaled down to an L2 norm of at most `clip_norm`."""
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        slices = t if isinstance(t, graphs.IndexedSlices) else None
        values = convert_to_tensor(t if slices is None else slices.values, name="t")
        l2sum = reduce_sum(values * values, axes, keepdims=True)
        positive = l2sum > 0
        safe = make_op("Select", [positive, l2sum, arrays.ones_like(l2sum)]).outputs[0]
        norm = make_op("Select", [positive, elementwise.sqrt(safe), l2sum]).outputs[0]
        scaled = values * clip_norm
        clipped = arrays.identity(scaled / elementwise.maximum(norm, clip_norm), name=scope)
        return clipped if slices is None else graphs.IndexedSlices(clipped, slices.indices, slices.dense_shape)


def clip_by_average_norm(t, clip_norm, name=None):
    """The tensor, scaled down to an L2 norm per element of at most `clip_norm`."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = elementwise.cast(arrays.size(t), dtypes.float32)
        inverse = elementwise.rsqrt(reduce_sum(t * t))
        return arrays.identity(
            t * clip_norm * elementwise.minimum(inverse * count, graphs.constant(1.0) / clip_norm), name=scope)


def _parts(t_list):
    if not isinstance(t_list, (list, tuple)):
        raise TypeError("`t_list` argument should be a sequence. Received " + str(type(t_list)))
    return [t if t is None or isinstance(t, graphs.IndexedSlices) else convert_to_tensor(t, name=f"t_{i}")
            for i, t in enumerate(t_list)]


def global_norm(t_list, name=None):
    """The L2 norm of all tensors of a list together. None entries are left out."""
    with name_scope(name, "global_norm", [t for t in t_list if t is not None]):
        values = [t.values if isinstance(t, graphs.IndexedSlices) else t for t in _parts(t_list) if t is not None]
        halves = [make_op("L2Loss", [v]).outputs[0] for v in values]
        total = reduce_sum(arrays.stack(halves))
        return elementwise.sqrt(total * graphs.constant(2.0, total.dtype), name="global_norm")


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """The tensors, all scaled down so that their global norm is at most `clip_norm`, and that norm."""
    parts = _parts(t_list)
    if use_norm is None:
        use_norm = global_norm(parts, name)
    with name_scope(name, "clip_by_global_norm", [t for t in parts if t is not None] + [clip_norm]) as scope:
        scale_for_finite = clip_norm * elementwise.minimum(1.0 / use_norm, graphs.constant(1.0, use_norm.dtype) / clip_norm)
        scale = scale_for_finite + (use_norm - use_norm)  # NaN if the norm is infinite or NaN
        clipped = []
        for i, t in enumerate(parts):
            if t is None:
                clipped.append(None)
                continue
            values = t.values if isinstance(t, graphs.IndexedSlices) else t
            scaled = arrays.identity(values * elementwise.cast(scale, values.dtype), name=f"{scope}_{i}")
            clipped.append(graphs.IndexedSlices(scaled, t.indices, t.dense_shape)
                           if isinstance(t, graphs.IndexedSlices) else scaled)
        return clipped, use_norm


def range(start, limit=None, delta=1, dtype=None, name="range"):
    """The numbers from `start` to before `limit`."""
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        wanted = None if dtype is None else dtypes.as_dtype(dtype)
        values = ((start, "start"), (limit, "limit"), (delta, "delta"))
        if wanted is None:
            order = [dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64]
            kinds = [_kind(v) for v, _ in values]
            if any(kind not in order for kind in kinds):
                raise ValueError(f"dtypes {kinds} of tf.range must be numbers")
            wanted = order[max(order.index(kind) for kind in kinds)]
        values = [elementwise.cast(v, wanted) if isinstance(v, graphs.Tensor) else convert_to_tensor(v, wanted, name=n)
                  for v, n in values]
        return make_op("Range", values, scope).outputs[0]


def _kind(value):
    """The dtype that a value has as a tensor."""
    if hasattr(value, "dtype"):
        return dtypes.as_dtype(value.dtype)
    return dtypes.float32 if isinstance(value, float) else dtypes.int32


def linspace(start, stop, num, name=None, axis=0):
    """`num` numbers from `start` to `stop`, at equal distances, along a new axis."""
    with name_scope(name, "linspace", [start, stop]):
        start = convert_to_tensor(start, name="start")
        stop = convert_to_tensor(stop, start.dtype, name="stop")
        if start.shape.ndims == 0 and stop.shape.ndims == 0 and axis in (0, -1):
            return make_op("LinSpace", [start, stop, num], None).outputs[0]
        if not isinstance(num, (int, np.integer)):
            raise NotImplementedError("linspace of tensors with a num that is a tensor")
        dims = arrays.broadcast_static_shape(start.shape, stop.shape)
        if not dims.is_fully_defined():
            dims = arrays.broadcast_dynamic_shape(arrays.shape(start), arrays.shape(stop))
        start, stop = arrays.broadcast_to(start, dims), arrays.broadcast_to(stop, dims)
        if num == 1:
            return arrays.expand_dims(start, axis)
        step = (stop - start) / max(num - 1, 1)
        return arrays.stack([start + step * i for i in np.arange(num - 1)] + [stop], axis=axis)


lin_space = linspace


def confusion_matrix(labels, predictions, num_classes=None, dtype=dtypes.int32, name=None, weights=None):
    """How often each label is predicted as each class."""
    from tensorbraid import checks, control

    with name_scope(name, "confusion_matrix", [predictions, labels, num_classes, weights]):
        labels, predictions = convert_to_tensor(labels), convert_to_tensor(predictions)
        if predictions.shape.ndims is not None and labels.shape.ndims is not None:
            extra = predictions.shape.ndims - labels.shape.ndims
            if extra == 1 and predictions.shape.as_list()[-1] in (1, None):
                predictions = arrays.squeeze(predictions, [-1])
            elif extra == -1 and labels.shape.as_list()[-1] in (1, None):
                labels = arrays.squeeze(labels, [-1])
        predictions, labels = elementwise.cast(predictions, dtypes.int64), elementwise.cast(labels, dtypes.int64)
        labels = control.with_dependencies([checks.assert_non_negative(
            labels, message="`labels` contains negative values")], labels)
        predictions = control.with_dependencies([checks.assert_non_negative(
            predictions, message="`predictions` contains negative values")], predictions)
        if num_classes is None:
            num_classes = elementwise.maximum(reduce_max(predictions), reduce_max(labels)) + 1
        else:
            num_classes = elementwise.cast(num_classes, dtypes.int64)
            labels = control.with_dependencies([checks.assert_less(
                labels, num_classes, message="`labels` out of bound")], labels)
            predictions = control.with_dependencies([checks.assert_less(
                predictions, num_classes, message="`predictions` out of bound")], predictions)
        if weights is not None:
            weights = convert_to_tensor(weights)
            weights = elementwise.cast(weights, dtype)
        dims = arrays.stack([num_classes, num_classes])
        positions = arrays.stack([labels, predictions], axis=1)
        values = arrays.ones_like(predictions, dtype) if weights is None else weights
        return make_op("ScatterNd", [positions, values, elementwise.cast(dims, dtypes.int64)]).outputs[0]


__all__ = [
    "accumulate_n", "add_n", "arg_max", "arg_min", "argmax", "argmin", "bincount", "clip_by_average_norm",
    "clip_by_global_norm", "clip_by_norm", "clip_by_value", "confusion_matrix", "count_nonzero", "cumprod", "cumsum",
    "global_norm", "histogram_fixed_width", "histogram_fixed_width_bins", "lin_space", "linspace", "range",
    "reduce_all", "reduce_any", "reduce_logsumexp", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod",
    "reduce_sum",
]
