"""Convolutions."""

from tensorbraid.internal import arguments, graphs
from tensorbraid.ops.node import known_rank, op, tensor
from tensorbraid.ops.op_functions import op_function

__all__ = ["atrous_conv2d", "atrous_conv2d_transpose", "conv1d", "conv1d_transpose", "conv2d", "conv2d_backprop_filter",
           "conv2d_backprop_input", "conv2d_transpose", "conv3d", "conv3d_backprop_filter", "conv3d_backprop_filter_v2",
           "conv3d_transpose", "conv_transpose", "convolution", "depthwise_conv2d", "depthwise_conv2d_backprop_filter",
           "depthwise_conv2d_backprop_input", "depthwise_conv2d_native", "depthwise_conv2d_native_backprop_filter",
           "depthwise_conv2d_native_backprop_input", "dilation2d", "erosion2d", "separable_conv2d",
           "with_space_to_batch"]

conv = op_function("Conv", "input, filter", "strides, padding, explicit_paddings=[], data_format='CHANNELS_LAST', "
                   "dilations=[], batch_dims=1, groups=1")  # tf.conv, of any number of axes


def _expanded(value, count, data_format, name):
    if value is None:
        value = 1
    values = [int(value)] if isinstance(value, (int, float)) else [
        arguments.integer(name, size) for size in arguments.items(name, value, "a number or a list of numbers")]
    if len(values) == count + 2:
        return values
    if len(values) not in (1, count):
        raise ValueError(f"{name} should be of length 1, {count} or {count + 2}. Received: {name}={value} of length "
                         f"{len(values)}")
    values = values * count if len(values) == 1 else values
    return [1, 1] + values if data_format.startswith("NC") else [1] + values + [1]


def _padding(padding):
    """The attributes for a padding: "SAME", "VALID", or a list of pairs for each axis."""
    if isinstance(padding, str):
        return {"padding": padding}
    with arguments.named("padding", "'SAME', 'VALID' or a list of pairs of numbers", padding):
        pairs = [tuple(int(n) for n in pair) for pair in padding]
    return {"padding": "EXPLICIT", "explicit_paddings": [n for pair in pairs for n in pair]}


def _given(first, second, names):
    if first is not None and second is not None:
        raise ValueError(f"Cannot specify both '{names[0]}' and '{names[1]}'.")
    return second if first is None else first


def conv2d(input, filter=None, strides=None, padding=None, use_cudnn_on_gpu=True, data_format="NHWC", dilations=None,
           name=None, filters=None):
    """The convolution of images with a filter.

    `input` is [batch, height, width, in], or [batch, in, height, width] with data_format="NCHW"; `filter` is
    [height, width, in, out]. `strides` is a number, a pair for height and width, or four numbers. `padding` is "SAME",
    "VALID" or a list of four pairs. The result has the input's floating dtype. Raises ValueError for shapes that do not
    fit.
    """
    data_format = data_format or "NHWC"
    return op("Conv2D", [input, _given(filter, filters, ("filter", "filters"))], name,
              strides=_expanded(strides, 2, data_format, "strides"), data_format=data_format,
              dilations=_expanded(dilations, 2, data_format, "dilations"), **_padding(padding))


def conv2d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, use_cudnn_on_gpu=True,
                           data_format="NHWC", dilations=(1, 1, 1, 1), name=None):
    """The gradient of conv2d for the filter."""
    return op("Conv2DBackpropFilter", [input, filter_sizes, out_backprop], name, strides=list(strides),
              data_format=data_format, dilations=list(dilations), **_padding(padding))


def conv2d_backprop_input(input_sizes, filter=None, out_backprop=None, strides=None, padding=None,
                          use_cudnn_on_gpu=True, data_format="NHWC", dilations=(1, 1, 1, 1), name=None, filters=None):
    """The gradient of conv2d for the input."""
    return op("Conv2DBackpropInput", [input_sizes, _given(filter, filters, ("filter", "filters")), out_backprop], name,
              strides=list(strides), data_format=data_format, dilations=list(dilations), **_padding(padding))


def conv2d_transpose(value=None, filter=None, output_shape=None, strides=None, padding="SAME", data_format="NHWC",
                     name=None, input=None, filters=None, dilations=None):
    """The transpose of conv2d, with a filter [height, width, out, in]."""
    value = _given(value, input, ("value", "input"))
    filter = _given(filter, filters, ("filter", "filters"))
    with graphs.name_scope(name, "conv2d_transpose", [value, filter]) as scope:
        return op("Conv2DBackpropInput", [output_shape, filter, value], scope,
                  strides=_expanded(strides, 2, data_format, "strides"), data_format=data_format,
                  dilations=_expanded(dilations, 2, data_format, "dilations"), **_padding(padding))


def conv1d(value=None, filters=None, stride=None, padding=None, use_cudnn_on_gpu=None, data_format=None, name=None,
           input=None, dilations=None):
    """The convolution of sequences with a filter [width, in, out]."""
    value = _given(value, input, ("value", "input"))
    data_format = {None: "NWC", "NHWC": "NWC", "NCHW": "NCW"}.get(data_format, data_format)
    if data_format not in ("NWC", "NCW"):
        raise ValueError(f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}")
    with graphs.name_scope(name, "conv1d", [value, filters]):
        axis = 1 if data_format == "NWC" else 2
        stride = _expanded(stride, 1, data_format, "stride")
        dilations = _expanded(dilations, 1, data_format, "dilations")
        wide = op("ExpandDims", [value, axis])
        result = conv2d(wide, op("ExpandDims", [filters, 0]), stride[:axis] + [1] + stride[axis:], padding,
                        data_format="NHWC" if axis == 1 else "NCHW",
                        dilations=dilations[:axis] + [1] + dilations[axis:])
        return op("Squeeze", [result], squeeze_dims=[axis])


def conv1d_transpose(input, filters, output_shape, strides, padding="SAME", data_format="NWC", dilations=None,
                     name=None):
    """The transpose of conv1d, with a filter [width, out, in]."""
    data_format = data_format or "NWC"
    if data_format not in ("NWC", "NCW"):
        raise ValueError(f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}")
    with graphs.name_scope(name, "conv1d_transpose", [input, filters, output_shape]) as scope:
        axis = 1 if data_format == "NWC" else 2
        strides = _expanded(strides, 1, data_format, "strides")
        dilations = _expanded(dilations, 1, data_format, "dilations")
        if isinstance(output_shape, (list, tuple)):
            sizes = [*output_shape[:axis], 1, *output_shape[axis:]]
        else:
            shape = tensor(output_shape, "int32")
            sizes = op("ConcatV2", [[op("StridedSlice", [shape, [0], [axis], [1]]), [1],
                                     op("StridedSlice", [shape, [axis], [3], [1]])], 0])
        result = conv2d_transpose(op("ExpandDims", [input, axis]), op("ExpandDims", [filters, 0]), sizes,
                                  strides[:axis] + [1] + strides[axis:], padding,
                                  "NHWC" if axis == 1 else "NCHW", dilations=dilations[:axis] + [1] + dilations[axis:])
        return op("Squeeze", [result], scope, squeeze_dims=[axis])


def conv3d(input, filter=None, strides=None, padding=None, data_format="NDHWC", dilations=(1, 1, 1, 1, 1), name=None,
           filters=None):
    """The convolution of volumes with a filter [depth, height, width, in, out]."""
    return op("Conv3D", [input, _given(filter, filters, ("filter", "filters"))], name,
              strides=_expanded(strides, 3, data_format, "strides"), padding=padding, data_format=data_format,
              dilations=_expanded(dilations, 3, data_format, "dilations"))


def conv3d_transpose(value, filter=None, output_shape=None, strides=None, padding="SAME", data_format="NDHWC",
                     name=None, input=None, filters=None, dilations=None):
    """The transpose of conv3d, with a filter [depth, height, width, out, in]."""
    value = _given(value, input, ("value", "input"))
    filter = _given(filter, filters, ("filter", "filters"))
    with graphs.name_scope(name, "conv3d_transpose", [value, filter, output_shape]) as scope:
        return op("Conv3DBackpropInputV2", [output_shape, filter, value], scope, padding=padding,
                  data_format=data_format, strides=_expanded(strides, 3, data_format, "strides"),
                  dilations=_expanded(dilations, 3, data_format, "dilations"))


def _any_above_1(values):
    return values is not None and any(value > 1 for value in ([values] if isinstance(values, int) else values))


def conv_transpose(input, filters, output_shape, strides, padding="SAME", data_format=None, dilations=None, name=None):
    """The transpose of a convolution over 1, 2 or 3 spatial axes; the length of `output_shape` tells which."""
    functions = {3: (conv1d_transpose, "NWC"), 4: (conv2d_transpose, "NHWC"), 5: (conv3d_transpose, "NDHWC")}
    rank = len(output_shape) if isinstance(output_shape, (list, tuple)) else tensor(output_shape).shape.as_list()[0]
    if rank not in functions:
        raise ValueError(f"`output_shape` must be of length 3, 4 or 5. Received: output_shape={output_shape} of length "
                         f"{rank}.")
    function, default_format = functions[rank]
    with graphs.name_scope(name, "conv_transpose", [input, filters, output_shape]) as scope:
        return function(input, filters, output_shape, strides, padding, data_format=data_format or default_format,
                        dilations=dilations, name=scope)


def _backprop(op_type):
    def function(first, second, out_backprop, strides, padding, data_format, dilations, name):
        return op(op_type, [first, second, out_backprop], name, strides=list(strides), data_format=data_format,
                  dilations=list(dilations), **_padding(padding))

    return function


_filter_of_conv3d = _backprop("Conv3DBackpropFilterV2")
_filter_of_depthwise = _backprop("DepthwiseConv2dNativeBackpropFilter")
_input_of_depthwise = _backprop("DepthwiseConv2dNativeBackpropInput")


def conv3d_backprop_filter(input, filter_sizes, out_backprop, strides, padding, data_format="NDHWC",
                           dilations=(1, 1, 1, 1, 1), name=None):
    """The gradient of conv3d for the filter."""
    return _filter_of_conv3d(input, filter_sizes, out_backprop, strides, padding, data_format, dilations, name)


conv3d_backprop_filter_v2 = conv3d_backprop_filter


def depthwise_conv2d_native_backprop_filter(input, filter_sizes, out_backprop, strides, padding, data_format="NHWC",
                                            dilations=(1, 1, 1, 1), name=None):
    """The gradient of depthwise_conv2d for the filter."""
    return _filter_of_depthwise(input, filter_sizes, out_backprop, strides, padding, data_format, dilations, name)


def depthwise_conv2d_native_backprop_input(input_sizes, filter, out_backprop, strides, padding, data_format="NHWC",
                                           dilations=(1, 1, 1, 1), name=None):
    """The gradient of depthwise_conv2d for the input."""
    return _input_of_depthwise(input_sizes, filter, out_backprop, strides, padding, data_format, dilations, name)


depthwise_conv2d_backprop_filter = depthwise_conv2d_native_backprop_filter
depthwise_conv2d_backprop_input = depthwise_conv2d_native_backprop_input


def with_space_to_batch(input, dilation_rate, padding, op, filter_shape=None, spatial_dims=None, data_format=None):
    """Dilates op(input, number of spatial axes, padding): elements that are `dilation_rate` apart go to one batch."""
    from tensorbraid.ops import space_blocks

    input = tensor(input, name="input")
    rates = [int(rate) for rate in dilation_rate]
    first = 2 if data_format is not None and data_format.startswith("NC") else 1
    axes = sorted(range(first, first + len(rates)) if spatial_dims is None else map(int, spatial_dims))
    if len(axes) != len(rates) or axes[0] < 1 or any(rate < 1 for rate in rates):
        raise ValueError(f"`spatial_dims` must have a positive axis for each rate. Received: {axes} and {rates}")
    if all(rate == 1 for rate in rates):
        return op(input, len(rates), padding)
    base = [[0, 0]] * len(rates)
    if padding == "SAME":
        if filter_shape is None:
            raise ValueError("`filter_shape` must be specified for `padding='SAME'`.")
        extra = [(int(size) - 1) * rate for size, rate in zip(filter_shape, rates)]
        base = [[size // 2, size - size // 2] for size in extra]
    elif padding != "VALID":
        raise ValueError(f"`padding` must be 'SAME' or 'VALID'. Received: {padding}")
    sizes = graphs.make_op("GatherV2", [graphs.make_op("Shape", [input]).outputs[0], axes, 0]).outputs[0]
    known = input.shape.as_list() if input.shape.ndims is not None else []
    if known and all(known[axis] is not None for axis in axes):
        sizes = [known[axis] for axis in axes]
    paddings, crops = space_blocks.required_space_to_batch_paddings(sizes, rates, base)
    blocks = [dict(zip(axes, rates)).get(axis, 1) for axis in range(1, axes[-1] + 1)]
    if axes != list(range(1, axes[-1] + 1)):
        paddings, crops = (_at_axes(pairs, axes) for pairs in (paddings, crops))
    batches = op(space_blocks.space_to_batch_nd(input, blocks, paddings), len(rates), "VALID")
    return space_blocks.batch_to_space_nd(batches, blocks, crops)


def _at_axes(pairs, axes):
    """Rows for the axes from 1 to the last: the given pairs, and (0, 0) for the axes between."""
    positions = [axes.index(axis) + 1 if axis in axes else 0 for axis in range(1, axes[-1] + 1)]
    rows = graphs.make_op("ConcatV2", [[[[0, 0]], pairs], 0]).outputs[0]
    return graphs.make_op("GatherV2", [rows, positions, 0]).outputs[0]


def convolution(input, filter, padding, strides=None, dilation_rate=None, name=None, data_format=None, filters=None,
                dilations=None):
    """A convolution over 1, 2 or 3 spatial axes."""
    filter = _given(filter, filters, ("filter", "filters"))
    rates = _given(dilation_rate, dilations, ("dilation_rate", "dilations"))
    input, filter = tensor(input), tensor(filter)
    axes = known_rank(filter, "a filter") - 2
    formats = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
    if axes not in formats:
        raise ValueError(f"convolution needs a filter of rank 3, 4 or 5, got shape {filter.shape}")
    data_format = data_format or formats[axes]
    if _any_above_1(strides) and _any_above_1(rates):
        raise ValueError("`strides > 1` not supported in conjunction with `dilation_rate > 1`. Received: "
                         f"strides={strides} and dilation_rate={rates}")
    with graphs.name_scope(name, "convolution", [input, filter]) as scope:
        function = {1: conv1d, 2: conv2d, 3: conv3d}[axes]
        return function(input, filter, strides if strides is not None else 1, padding, data_format=data_format,
                        dilations=rates, name=scope)


def atrous_conv2d(value, filters, rate, padding, name=None):
    """conv2d with a filter whose elements are `rate` positions apart."""
    return convolution(value, filters, padding, dilation_rate=[rate, rate], name=name)


def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """The transpose of atrous_conv2d."""
    return conv2d_transpose(value, filters, output_shape, 1, padding, name=name or "atrous_conv2d_transpose",
                            dilations=rate)


def depthwise_conv2d_native(input, filter, strides, padding, data_format="NHWC", dilations=(1, 1, 1, 1), name=None):
    """The op DepthwiseConv2dNative."""
    return op("DepthwiseConv2dNative", [input, filter], name, strides=list(strides), data_format=data_format,
              dilations=list(dilations), **_padding(padding))


def depthwise_conv2d(input, filter, strides, padding, rate=None, name=None, data_format=None, dilations=None):
    """A convolution of each channel by itself, with a filter [height, width, in, multiplier]."""
    data_format = data_format or "NHWC"
    rates = _expanded(_given(rate, dilations, ("rate", "dilations")), 2, data_format, "rate")
    with graphs.name_scope(name, "depthwise", [input, filter]) as scope:
        return depthwise_conv2d_native(input, filter, strides, padding, data_format, rates, scope)


def separable_conv2d(input, depthwise_filter, pointwise_filter, strides, padding, rate=None, name=None,
                     data_format=None, dilations=None):
    """A depthwise convolution, then one with a filter [1, 1, in * multiplier, out]."""
    data_format = data_format or "NHWC"
    rates = _expanded(_given(rate, dilations, ("rate", "dilations")), 2, data_format, "rate")
    with graphs.name_scope(name, "separable_conv2d", [input, depthwise_filter, pointwise_filter]) as scope:
        depthwise = depthwise_conv2d_native(input, depthwise_filter, strides, padding, data_format, rates, "depthwise")
        return conv2d(depthwise, pointwise_filter, 1, "VALID", data_format=data_format, name=scope)


def dilation2d(input, filter=None, strides=None, rates=None, padding=None, name=None, filters=None, dilations=None):
    """The grey-scale dilation: the largest of input + filter."""
    return op("Dilation2D", [input, _given(filter, filters, ("filter", "filters"))], name, strides=list(strides),
              rates=list(_given(rates, dilations, ("rates", "dilations"))), padding=padding)


def erosion2d(value, kernel, strides, rates, padding, name=None):
    """The grey-scale erosion: the smallest of value - kernel."""
    with graphs.name_scope(name, "erosion2d", [value, kernel]) as scope:
        flipped = op("ReverseV2", [kernel, [0, 1]])
        return op("Neg", [dilation2d(op("Neg", [value]), flipped, strides, rates, padding)], scope)
