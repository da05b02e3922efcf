"""Pooling."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.op_results import results_class
from tensorbraid.nn.convolutions import _any_above_1, _expanded, _given, with_space_to_batch
from tensorbraid.ops.node import known_rank, op, tensor

__all__ = ["avg_pool", "avg_pool1d", "avg_pool2d", "avg_pool3d", "avg_pool_v2", "fractional_avg_pool",
           "fractional_max_pool", "max_pool", "max_pool1d", "max_pool2d", "max_pool3d", "max_pool_v2",
           "max_pool_with_argmax", "pool"]


def _pool2d(op_type, value, ksize, strides, padding, data_format, name):
    data_format = data_format or "NHWC"
    attrs = {"padding": padding}
    if not isinstance(padding, str):
        if op_type == "AvgPool":
            raise ValueError("Explicit padding is not supported for average pooling")
        attrs = {"padding": "EXPLICIT", "explicit_paddings": [int(n) for pair in padding for n in pair]}
    return op(op_type, [value], name, ksize=_expanded(ksize, 2, data_format, "ksize"), data_format=data_format,
              strides=_expanded(strides, 2, data_format, "strides"), **attrs)


def max_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The largest element of each window of images."""
    return _pool2d("MaxPool", _given(value, input, ("value", "input")), ksize, strides, padding, data_format, name)


def avg_pool(value, ksize, strides, padding, data_format="NHWC", name=None, input=None):
    """The mean of each window of images."""
    return _pool2d("AvgPool", _given(value, input, ("value", "input")), ksize, strides, padding, data_format, name)


def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):
    """The largest element of each window of images."""
    return _pool2d("MaxPool", input, ksize, strides, padding, data_format, name or "MaxPool2d")


avg_pool2d = avg_pool


def _pool3d(op_type):
    def function(input, ksize, strides, padding, data_format="NDHWC", name=None):
        data_format = data_format or "NDHWC"
        return op(op_type, [input], name or f"{op_type[:3]}Pool3D", ksize=_expanded(ksize, 3, data_format, "ksize"),
                  strides=_expanded(strides, 3, data_format, "strides"), padding=padding, data_format=data_format)

    return named(function, f"{op_type[:3].lower()}_pool3d", f"The op {op_type} over windows of volumes.")


max_pool3d = _pool3d("MaxPool3D")
avg_pool3d = _pool3d("AvgPool3D")


def _pool1d(pool2d, default_name):
    def function(input, ksize, strides, padding, data_format="NWC", name=None):
        if data_format not in ("NWC", "NCW"):
            raise ValueError(f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}")
        axis = 1 if data_format == "NWC" else 2
        with graphs.name_scope(name, default_name, [input]):
            ksize = _expanded(ksize, 1, data_format, "ksize")
            strides = _expanded(strides, 1, data_format, "strides")
            pooled = pool2d(op("ExpandDims", [input, axis]), ksize[:axis] + [1] + ksize[axis:],
                            strides[:axis] + [1] + strides[axis:], padding, "NHWC" if axis == 1 else "NCHW")
            return op("Squeeze", [pooled], squeeze_dims=[axis])

    return named(function, f"{pool2d.__name__}1d", f"{pool2d.__name__} over windows of sequences.")


max_pool1d = _pool1d(max_pool, "MaxPool1d")
avg_pool1d = _pool1d(avg_pool, "AvgPool1D")


def _pool_of_rank(name, functions):
    def function(input, ksize, strides, padding, data_format=None, name=None):
        input = tensor(input)
        axes = known_rank(input, "the input of a pool") - 2
        if axes not in functions:
            raise ValueError(f"Input tensor must be of rank 3, 4 or 5 but was {axes + 2}.")
        return functions[axes](input, ksize, strides, padding, data_format or {1: "NWC", 2: "NHWC", 3: "NDHWC"}[axes],
                               name)

    return named(function, name, "Pools over 1, 2 or 3 spatial axes.")


max_pool_v2 = _pool_of_rank("max_pool_v2", {1: max_pool1d, 2: max_pool2d, 3: max_pool3d})
avg_pool_v2 = _pool_of_rank("avg_pool_v2", {1: avg_pool1d, 2: avg_pool, 3: avg_pool3d})


def pool(input, window_shape, pooling_type, padding, dilation_rate=None, strides=None, name=None, data_format=None,
         dilations=None):
    """max_pool or avg_pool ("MAX" or "AVG") over 1, 2 or 3 spatial axes."""
    rates = _given(dilation_rate, dilations, ("dilation_rate", "dilations"))
    functions = {"MAX": max_pool_v2, "AVG": avg_pool_v2}
    if pooling_type not in functions:
        raise ValueError(f"pooling_type must be 'MAX' or 'AVG', got {pooling_type}")
    if _any_above_1(rates):
        if _any_above_1(strides):
            raise ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`. "
                             f"Received: strides={strides} and dilation_rate={rates}")

        def pooled(value, axes, padding):
            return functions[pooling_type](value, window_shape, 1, padding, data_format)

        with graphs.name_scope(name, f"{pooling_type.lower()}_pool", [input]):
            return with_space_to_batch(input, rates, padding, pooled, filter_shape=window_shape,
                                       data_format=data_format)
    return functions[pooling_type](input, window_shape, 1 if strides is None else strides, padding, data_format, name)


def max_pool_with_argmax(input, ksize, strides, padding, data_format="NHWC", Targmax=None, name=None,  # noqa: N803
                         output_dtype=None, include_batch_in_index=False):
    """The largest element of each window, and its index in the flattened image."""
    if data_format != "NHWC":
        raise ValueError("`data_format` values other than 'NHWC' are not supported.")
    index_type = _given(Targmax, output_dtype, ("Targmax", "output_dtype"))
    outputs = make_op("MaxPoolWithArgmax", [input], name, ksize=list(ksize), strides=list(strides), padding=padding,
                      Targmax=dtypes.as_dtype(index_type or dtypes.int64),
                      include_batch_in_index=include_batch_in_index).outputs
    return results_class("MaxPoolWithArgmax", "output argmax")(*outputs)


def _fractional(op_type, name_of_function):
    def function(value, pooling_ratio, pseudo_random=False, overlapping=False, deterministic=False, seed=0, seed2=0,
                 name=None):
        outputs = make_op(op_type, [value], name, pooling_ratio=[float(ratio) for ratio in pooling_ratio],
                          pseudo_random=pseudo_random, overlapping=overlapping, deterministic=deterministic, seed=seed,
                          seed2=seed2).outputs
        return results_class(op_type, "output row_pooling_sequence col_pooling_sequence")(*outputs)

    return named(function, name_of_function, f"The op {op_type}: windows of random sizes.")


fractional_max_pool = _fractional("FractionalMaxPool", "fractional_max_pool")
fractional_avg_pool = _fractional("FractionalAvgPool", "fractional_avg_pool")
