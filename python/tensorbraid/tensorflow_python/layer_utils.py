"""tensorflow.python.layers.utils: arguments of layers, and lengths of what convolutions return."""

from tensorbraid.contrib.framework import smart_cond
from tensorbraid.contrib.framework import smart_constant_value as constant_value

__all__ = ["constant_value", "conv_input_length", "conv_output_length", "convert_data_format", "deconv_output_length",
           "normalize_data_format", "normalize_padding", "normalize_tuple", "smart_cond"]

_FORMATS = {"channels_last": ("NWC", "NHWC", "NDHWC"), "channels_first": ("NCW", "NCHW", "NCDHW")}


def convert_data_format(data_format, ndim):
    """The format of an op, such as "NHWC", for a layer's format and a number of dimensions of 3 to 5."""
    if data_format not in _FORMATS:
        raise ValueError(f"Invalid data_format: {data_format!r}")
    if ndim not in (3, 4, 5):
        raise ValueError(f"Input rank not supported: {ndim}")
    return _FORMATS[data_format][ndim - 3]


def normalize_tuple(value, n, name):
    """A tuple of `n` integers: one integer is repeated. Errors call the argument `name`."""
    if isinstance(value, int):
        return (value,) * n
    try:
        values = tuple(value)
        if len(values) == n:
            return tuple(int(single) for single in values)
    except (TypeError, ValueError):
        pass
    raise ValueError(f"The `{name}` argument must be a tuple of {n} integers. Received: {value}")


def _one_of(value, values, name):
    lower = str(value).lower()
    if lower not in values:
        raise ValueError(f"The `{name}` argument must be one of {', '.join(values)}. Received: {value}")
    return lower


def normalize_data_format(value):
    """The layer's format in small letters; ValueError if it is none."""
    return _one_of(value, [*_FORMATS], "data_format")


def normalize_padding(value):
    """The padding in small letters; ValueError if it is none."""
    return _one_of(value, ["valid", "same"], "padding")


def conv_output_length(input_length, filter_size, padding, stride, dilation=1):
    """The length that a convolution returns; None if its input has the length None."""
    if input_length is None:
        return None
    padding = _one_of(padding, ["same", "valid", "full"], "padding")
    width = filter_size + (filter_size - 1) * (dilation - 1)
    length = input_length + {"same": 0, "valid": 1 - width, "full": width - 1}[padding]
    return (length + stride - 1) // stride


def conv_input_length(output_length, filter_size, padding, stride):
    """The length of the input of a convolution that returns this length."""
    if output_length is None:
        return None
    pad = {"same": filter_size // 2, "valid": 0, "full": filter_size - 1}[
        _one_of(padding, ["same", "valid", "full"], "padding")]
    return (output_length - 1) * stride - 2 * pad + filter_size


def deconv_output_length(input_length, filter_size, padding, stride):
    """The length that a transposed convolution returns; None if its input has the length None."""
    if input_length is None:
        return None
    more = {"same": 0, "valid": max(filter_size - stride, 0), "full": -(stride + filter_size - 2)}[
        _one_of(padding, ["same", "valid", "full"], "padding")]
    return input_length * stride + more
