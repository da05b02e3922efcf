"""Convolutional layers."""

from tensorbraid import _core, nn
from tensorbraid.initializers import Zeros
from tensorbraid.internal import arguments
from tensorbraid.internal.function_names import named
from tensorbraid.internal.layer_class import InputSpec, Layer, checked_format, one_of
from tensorbraid.layers.core import activation_of
from tensorbraid.ops.node import op, shape_of

__all__ = ["Conv1D", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "SeparableConv1D", "SeparableConv2D",
           "conv1d", "conv2d", "conv2d_transpose", "conv3d", "conv3d_transpose", "separable_conv1d", "separable_conv2d"]

_FORMATS = {("channels_last", 1): "NWC", ("channels_last", 2): "NHWC", ("channels_last", 3): "NDHWC",
            ("channels_first", 1): "NCW", ("channels_first", 2): "NCHW", ("channels_first", 3): "NCDHW"}


class _Conv(Layer):
    """A convolution over `rank` spatial axes."""

    rank = None
    separable = False

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
                 activation=None, use_bias=True, kernel_initializer=None, bias_initializer=Zeros(),
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, trainable=True, name=None, **kwargs):
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        self.filters = arguments.integer("filters", filters)
        self.kernel_size = one_of(kernel_size, self.rank, "kernel_size")
        self.strides = one_of(strides, self.rank, "strides")
        self.dilation_rate = one_of(dilation_rate, self.rank, "dilation_rate")
        arguments.check(isinstance(padding, str), "padding", "'valid' or 'same'", padding)
        self.padding = padding.lower()
        if self.padding not in ("valid", "same"):
            raise ValueError(f"The `padding` argument must be one of 'valid', 'same'. Received: {padding}")
        self.data_format = checked_format(data_format)
        self.activation = activation_of(activation)
        self.use_bias = use_bias
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint
        self.kernel = self.bias = None
        self.input_spec = InputSpec(ndim=self.rank + 2)

    @property
    def _format(self):
        return _FORMATS[self.data_format, self.rank]

    @property
    def _channel_axis(self):
        return 1 if self.data_format == "channels_first" else self.rank + 1

    def _channels(self, input_shape):
        size = input_shape.as_list()[self._channel_axis]
        if size is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={self._channel_axis: size})
        return size

    def build(self, input_shape):
        self.kernel = self.add_weight("kernel", self._kernel_shape(self._channels(input_shape)), self.dtype,
                                      self.kernel_initializer, self.kernel_regularizer,
                                      constraint=self.kernel_constraint)
        self._build_bias()

    def _kernel_shape(self, channels):
        return [*self.kernel_size, channels, self.filters]

    def _build_bias(self):
        if self.use_bias:
            self.bias = self.add_weight("bias", [self.filters], self.dtype, self.bias_initializer,
                                        self.bias_regularizer, constraint=self.bias_constraint)
        self.built = True

    def call(self, inputs):
        function = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}[self.rank]
        return self._finished(function(inputs, self.kernel, self.strides, self.padding.upper(),
                                       data_format=self._format, dilations=self.dilation_rate))

    def _finished(self, outputs):
        if self.use_bias:
            outputs = nn.bias_add(outputs, self.bias, self._format)
        return outputs if self.activation is None else self.activation(outputs)


class Conv1D(_Conv):
    """A convolution of sequences."""

    rank = 1


class Conv2D(_Conv):
    """A convolution of images."""

    rank = 2


class Conv3D(_Conv):
    """A convolution of volumes."""

    rank = 3


class _ConvTranspose(_Conv):
    """The transpose of a convolution."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", activation=None,
                 use_bias=True, kernel_initializer=None, bias_initializer=Zeros(), kernel_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
                 trainable=True, name=None, **kwargs):
        super().__init__(filters, kernel_size, strides, padding, data_format, 1, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, trainable, name, **kwargs)

    def _kernel_shape(self, channels):
        return [*self.kernel_size, self.filters, channels]

    def call(self, inputs):
        shape = shape_of(inputs)
        sizes = []
        for axis, size in enumerate(inputs.shape.as_list()):
            if axis == self._channel_axis:
                sizes.append(self.filters)
                continue
            if size is None:
                size = op("StridedSlice", [shape, [axis], [axis + 1], [1]], shrink_axis_mask=1)
            if axis > 0:
                spatial = axis - (2 if self.data_format == "channels_first" else 1)
                size = size * self.strides[spatial]
                if self.padding == "valid":
                    size = size + max(self.kernel_size[spatial] - self.strides[spatial], 0)
            sizes.append(size)
        if any(not isinstance(size, int) for size in sizes):
            sizes = op("Pack", [sizes])
        function = {2: nn.conv2d_transpose, 3: nn.conv3d_transpose}[self.rank]
        return self._finished(function(inputs, self.kernel, sizes, self.strides, self.padding.upper(),
                                       data_format=self._format))


class Conv2DTranspose(_ConvTranspose):
    """The transpose of a convolution of images."""

    rank = 2


class Conv3DTranspose(_ConvTranspose):
    """The transpose of a convolution of volumes."""

    rank = 3


class _SeparableConv(_Conv):
    """A convolution of each channel by itself, then one that mixes the channels."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
                 depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None,
                 pointwise_initializer=None, bias_initializer=Zeros(), depthwise_regularizer=None,
                 pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, None,
                         bias_initializer, None, bias_regularizer, activity_regularizer, None, bias_constraint,
                         trainable, name, **kwargs)
        self.depthwise_constraint, self.pointwise_constraint = depthwise_constraint, pointwise_constraint
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer, self.pointwise_initializer = depthwise_initializer, pointwise_initializer
        self.depthwise_regularizer, self.pointwise_regularizer = depthwise_regularizer, pointwise_regularizer
        self.depthwise_kernel = self.pointwise_kernel = None

    def build(self, input_shape):
        channels = self._channels(input_shape)
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", [*self.kernel_size, channels, self.depth_multiplier], self.dtype,
            self.depthwise_initializer, self.depthwise_regularizer, constraint=self.depthwise_constraint)
        self.pointwise_kernel = self.add_weight(
            "pointwise_kernel", [1] * self.rank + [channels * self.depth_multiplier, self.filters], self.dtype,
            self.pointwise_initializer, self.pointwise_regularizer, constraint=self.pointwise_constraint)
        self._build_bias()

    def call(self, inputs):
        last = self.data_format == "channels_last"
        kernels = [self.depthwise_kernel, self.pointwise_kernel]
        strides, rates = list(self.strides), list(self.dilation_rate)
        data_format, axis = self._format, 1 if last else 2
        if self.rank == 1:
            inputs = op("ExpandDims", [inputs, axis])
            kernels = [op("ExpandDims", [kernel, 0]) for kernel in kernels]
            strides, rates = strides * 2, [1] + rates
            data_format = "NHWC" if last else "NCHW"
        strides = [1] + strides + [1] if last else [1, 1] + strides
        outputs = nn.separable_conv2d(inputs, *kernels, strides, self.padding.upper(), rates, data_format=data_format)
        if self.rank == 1:
            outputs = op("Squeeze", [outputs], squeeze_dims=[axis])
        return self._finished(outputs)


class SeparableConv1D(_SeparableConv):
    """A separable convolution of sequences."""

    rank = 1


class SeparableConv2D(_SeparableConv):
    """A separable convolution of images."""

    rank = 2


def conv1d(inputs, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
           activation=None, use_bias=True, kernel_initializer=None, bias_initializer=Zeros(), kernel_regularizer=None,
           bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
           trainable=True, name=None, reuse=None):
    """A convolution of sequences [batch, width, channels]."""
    return Conv1D(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                  kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
                  kernel_constraint, bias_constraint, trainable, name, _scope=name, _reuse=reuse)(inputs)


def conv2d(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
           dilation_rate=(1, 1), activation=None, use_bias=True, kernel_initializer=None, bias_initializer=Zeros(),
           kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
           bias_constraint=None, trainable=True, name=None, reuse=None) -> _core.Tensor:
    """A convolution of images [batch, height, width, channels]; its result has `filters` channels.

    With data_format="channels_first" images are [batch, channels, height, width]. `kernel_size`, `strides` and
    `dilation_rate` are a number or a pair. The variables are `kernel`, [height, width, channels, filters], and `bias`,
    [filters]. The number of channels must be known, or the call raises ValueError.
    """
    return Conv2D(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                  kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
                  kernel_constraint, bias_constraint, trainable, name, _scope=name, _reuse=reuse)(inputs)


def conv3d(inputs, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
           dilation_rate=(1, 1, 1), activation=None, use_bias=True, kernel_initializer=None, bias_initializer=Zeros(),
           kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
           bias_constraint=None, trainable=True, name=None, reuse=None):
    """A convolution of volumes [batch, depth, height, width, channels]."""
    return Conv3D(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                  kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
                  kernel_constraint, bias_constraint, trainable, name, _scope=name, _reuse=reuse)(inputs)


def conv2d_transpose(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                     activation=None, use_bias=True, kernel_initializer=None, bias_initializer=Zeros(),
                     kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                     bias_constraint=None, trainable=True, name=None, reuse=None):
    """The transpose of a convolution of images: makes them larger by the strides."""
    return Conv2DTranspose(filters, kernel_size, strides, padding, data_format, activation, use_bias,
                           kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                           activity_regularizer, kernel_constraint, bias_constraint, trainable, name, _scope=name,
                           _reuse=reuse)(inputs)


def conv3d_transpose(inputs, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
                     activation=None, use_bias=True, kernel_initializer=None, bias_initializer=Zeros(),
                     kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                     bias_constraint=None, trainable=True, name=None, reuse=None):
    """The transpose of a convolution of volumes: makes them larger by the strides."""
    return Conv3DTranspose(filters, kernel_size, strides, padding, data_format, activation, use_bias,
                           kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                           activity_regularizer, kernel_constraint, bias_constraint, trainable, name, _scope=name,
                           _reuse=reuse)(inputs)


def _separable(layer, name_of_function, strides_default, rate_default, doc):
    def function(inputs, filters, kernel_size, strides=strides_default, padding="valid", data_format="channels_last",
                 dilation_rate=rate_default, depth_multiplier=1, activation=None, use_bias=True,
                 depthwise_initializer=None, pointwise_initializer=None, bias_initializer=Zeros(),
                 depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None,
                 trainable=True, name=None, reuse=None):
        return layer(filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation,
                     use_bias, depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer,
                     pointwise_regularizer, bias_regularizer, activity_regularizer, depthwise_constraint,
                     pointwise_constraint, bias_constraint, trainable, name, _scope=name, _reuse=reuse)(inputs)

    return named(function, name_of_function, doc)


separable_conv1d = _separable(SeparableConv1D, "separable_conv1d", 1, 1, "A separable convolution of sequences.")
separable_conv2d = _separable(SeparableConv2D, "separable_conv2d", (1, 1), (1, 1), "A separable convolution of images.")
