"""The convolution of any number of axes."""

from tensorbraid.op_functions import op_function

conv = op_function("Conv", "input, filter", "strides, padding, explicit_paddings=[], data_format='CHANNELS_LAST', "
                   "dilations=[], batch_dims=1, groups=1")

__all__ = ["conv"]
