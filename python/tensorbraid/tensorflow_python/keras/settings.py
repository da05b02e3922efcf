"""The settings of Keras: the dtype, the small number of divisions, and the order of an image's dimensions."""

import numpy as np

__all__ = ["cast_to_floatx", "epsilon", "floatx", "image_data_format", "set_epsilon", "set_floatx",
           "set_image_data_format"]

_settings = {"floatx": "float32", "epsilon": 1e-7, "image_data_format": "channels_last"}


def _choose(setting, value, choices):
    if value not in choices:
        raise ValueError(f"Unknown {setting}: {value}; expected one of {', '.join(choices)}")
    _settings[setting] = str(value)


def floatx():
    """The name of the dtype that weights and inputs have by default."""
    return _settings["floatx"]


def set_floatx(value):
    """Sets the default dtype: "float16", "float32" or "float64"."""
    _choose("floatx", value, ("float16", "float32", "float64"))


def epsilon():
    """The number that is added where a divisor or the argument of a logarithm may be 0."""
    return _settings["epsilon"]


def set_epsilon(value):
    """Sets the number that `epsilon` returns."""
    _settings["epsilon"] = value


def image_data_format():
    """The order of an image's dimensions: "channels_last" or "channels_first"."""
    return _settings["image_data_format"]


def set_image_data_format(data_format):
    """Sets the order that `image_data_format` returns."""
    _choose("image_data_format", data_format, ("channels_last", "channels_first"))


def cast_to_floatx(x):
    """The value in the default dtype; an array unless it is a tensor."""
    from tensorbraid.internal import graphs
    from tensorbraid.ops import elementwise

    return elementwise.cast(x, floatx()) if isinstance(x, graphs.Tensor) else np.asarray(x, dtype=floatx())
