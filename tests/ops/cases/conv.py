"""Rows of convolutions and dilation."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float16, bf16, np.float32, np.float64]
INTS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
INVALID = "INVALID_ARGUMENT"


def ramp(*shape, scale=1.0):
    """Numbers from -1 to 1, in no simple order."""
    n = int(np.prod(shape))
    return (((np.arange(n) * 37 + 11) % 53) / 26.0 - 1.0).reshape(shape) * scale


def channels_first(a):
    return np.moveaxis(a, -1, 1).copy()


def with_format(attrs):
    """The same attributes with the channels first."""
    result = dict(attrs)
    for name in ("strides", "dilations"):
        if name in attrs:
            result[name] = [1, 1] + attrs[name][1:-1]
    if "explicit_paddings" in attrs:
        result["explicit_paddings"] = [0] * 4 + attrs["explicit_paddings"][2:-2]
    result["data_format"] = "NCHW" if len(attrs["strides"]) == 4 else "NCDHW"
    return result


class Convolutions:
    """Rows of one kind of convolution: forward and both gradients."""

    def __init__(self, t, forward, version="", dtypes=FLOATS):
        self.t, self.forward, self.dtypes = t, forward, dtypes
        self.to_input = forward + "BackpropInput" + version
        self.to_filter = forward + "BackpropFilter" + version

    def output(self, x, f, attrs):
        return Tensorflow.run(self.t, self.forward, [x, f], attrs)

    def all(self, x, f, gradient=True, **attrs):
        """Rows for one geometry: in float64, in float32, and in float32 with the channels first."""
        y = self.output(x, f, attrs)
        g = ramp(*y.shape)
        rows = [(self.forward, [x, f], [0, 1]),
                (self.to_input, [np.array(x.shape, np.int32), f, g], [1, 2]),
                (self.to_filter, [x, np.array(f.shape, np.int32), g], [0, 2])]
        for op, inputs, differentiable in rows:
            want = Tensorflow.run(self.t, op, inputs, attrs)
            self.t.case(op, *inputs, expected=[want], gradient=differentiable if gradient else None, **attrs)
            small = [a.astype(np.float32) if a.dtype == np.float64 else a for a in inputs]
            self.t.case(op, *small, expected=[want.astype(np.float32)], **attrs)
            # TensorFlow's CPU kernels refuse most rows with the channels first, so the expected values come from the
            # rows with the channels last.
            first = with_format(attrs)
            moved = [channels_first(a) if i != 1 and a.ndim > 1 else
                     np.array([a[0], a[-1], *a[1:-1]], np.int32) if i == 0 and a.ndim == 1 else a
                     for i, a in enumerate(small)]
            result = want.astype(np.float32)
            self.t.case(op, *moved, expected=[result if op == self.to_filter else channels_first(result)], **first)
        return y

    def types(self, x, f, **attrs):
        """Rows for all dtypes. Results of 16-bit floats are expected to be float64 results, rounded once. (TensorFlow
        also rounds in between.)"""
        y = self.output(x, f, attrs)
        g = ramp(*y.shape)
        for op, inputs in [(self.forward, [x, f]), (self.to_input, [np.array(x.shape, np.int32), f, g]),
                           (self.to_filter, [x, np.array(f.shape, np.int32), g])]:
            for d in self.dtypes:
                typed = [a.astype(d) if a.dtype == np.float64 else a for a in inputs]
                wide = [a.astype(np.float64) if a.ndim > 1 else a for a in typed]
                self.t.case(op, *typed, expected=[Tensorflow.run(self.t, op, wide, attrs).astype(d)], **attrs)


class Tensorflow:
    """Expected values: what TensorFlow computes in float64. Where its CPU kernels refuse a row (gradients of groups,
    for example), the values follow from the definition of the op. In TensorFlow, the gradients of depthwise
    convolutions ignore dilations, so these values follow from the definition, too."""

    @staticmethod
    def run(t, op, inputs, attrs):
        if "Depthwise" in op and max(attrs.get("dilations", [1])) > 1:
            return Tensorflow.by_definition(op, inputs, attrs)
        result = t.tensorflow(op, inputs, attrs)
        if not isinstance(result, str):
            return result[0]
        return Tensorflow.by_definition(op, inputs, attrs)

    @staticmethod
    def by_definition(op, inputs, attrs):
        forward = op.split("Backprop")[0]
        if forward == op:
            return convolve(inputs[0], inputs[1], attrs, "Depthwise" in op)
        x = np.zeros(inputs[0]) if "BackpropInput" in op else inputs[0]
        f = np.zeros(inputs[1]) if "BackpropFilter" in op else inputs[1]
        g = inputs[2]
        of_input = "BackpropInput" in op
        result = np.zeros_like(x if of_input else f)
        # A convolution is linear. So element i of the gradient is g times the convolution of the unit vector i.
        for i in range(result.size):
            unit = np.zeros_like(result)
            unit.flat[i] = 1
            y = convolve(unit, f, attrs, "Depthwise" in op) if of_input else convolve(x, unit, attrs, "Depthwise" in op)
            result.flat[i] = np.sum(y * g)
        return result


def convolve(x, f, attrs, depthwise):
    """Computes a convolution by its definition, with the channels last."""
    strides, spatial = attrs["strides"][1:-1], x.ndim - 2
    dilations = attrs.get("dilations", [1] * x.ndim)[1:-1]
    if depthwise:
        f = f.reshape(f.shape[:-2] + (1, f.shape[-2] * f.shape[-1]))
    pads, sizes = [], []
    for i in range(spatial):
        n, k, s, d = x.shape[i + 1], (f.shape[i] - 1) * dilations[i] + 1, strides[i], dilations[i]
        if attrs["padding"] == "SAME":
            out = -(-n // s)
            total = max(0, (out - 1) * s + k - n)
            pads.append((total // 2, total - total // 2))
        elif attrs["padding"] == "VALID":
            pads.append((0, 0))
        else:
            pads.append(tuple(attrs["explicit_paddings"][2 * i + 2:2 * i + 4]))
        sizes.append((n + sum(pads[-1]) - k) // s + 1 if attrs["padding"] != "SAME" else out)
    x = np.pad(x, [(0, 0)] + pads + [(0, 0)])
    groups = x.shape[-1] // f.shape[-2]
    y = np.zeros([x.shape[0]] + sizes + [f.shape[-1]])
    fi, fo = f.shape[-2], f.shape[-1] // groups
    for tap in np.ndindex(*f.shape[:spatial]):
        window = tuple(slice(tap[i] * dilations[i], tap[i] * dilations[i] + (sizes[i] - 1) * strides[i] + 1, strides[i])
                       for i in range(spatial))
        seen = x[(slice(None),) + window]
        for g in range(groups):
            y[..., g * fo:(g + 1) * fo] += seen[..., g * fi:(g + 1) * fi] @ f[tap][:, g * fo:(g + 1) * fo]
    return y


def conv2d(t):
    c = Convolutions(t, "Conv2D")
    one = [1, 1, 1, 1]
    x, f = ramp(2, 5, 4, 3), ramp(3, 2, 3, 2)
    for padding in ["SAME", "VALID"]:
        c.all(x, f, strides=one, padding=padding)
        c.all(x, f, strides=[1, 2, 3, 1], padding=padding, gradient=False)
    c.all(x, ramp(2, 2, 3, 2), strides=one, padding="SAME", dilations=[1, 2, 1, 1])
    c.all(ramp(1, 6, 7, 2), ramp(3, 2, 2, 3), strides=one, padding="VALID", dilations=[1, 2, 3, 1], gradient=False)
    c.all(ramp(1, 7, 8, 2), ramp(2, 2, 2, 3), strides=[1, 2, 2, 1], padding="SAME", dilations=[1, 2, 3, 1])
    explicit = [0, 0, 1, 2, 0, 1, 0, 0]
    c.all(x, f, strides=one, padding="EXPLICIT", explicit_paddings=explicit)
    c.all(x, f, strides=[1, 2, 2, 1], padding="EXPLICIT", explicit_paddings=explicit, gradient=False)
    # More padding than the filter covers, and explicit paddings of 0.
    c.all(ramp(1, 2, 2, 1), ramp(2, 2, 1, 2), strides=[1, 2, 1, 1], padding="EXPLICIT",
          explicit_paddings=[0, 0, 3, 4, 5, 0, 0, 0])
    c.all(x, f, strides=one, padding="EXPLICIT", explicit_paddings=[0] * 8, gradient=False)
    # A 1x1 filter whose stride leaves elements out, a filter as large as the input, a larger filter with padding, and
    # images of one column.
    c.all(x, ramp(1, 1, 3, 2), strides=[1, 2, 2, 1], padding="VALID")
    c.all(x, ramp(5, 4, 3, 2), strides=one, padding="VALID", gradient=False)
    c.all(ramp(1, 2, 3, 1), ramp(4, 5, 1, 2), strides=one, padding="SAME")
    c.all(ramp(3, 8, 1, 1), ramp(3, 1, 1, 1), strides=[1, 3, 1, 1], padding="VALID", gradient=False)
    # Groups.
    for padding in ["SAME", "VALID"]:
        c.all(ramp(2, 4, 4, 4), ramp(2, 3, 2, 6), strides=one, padding=padding)
    c.all(ramp(2, 4, 4, 4), ramp(2, 2, 1, 8), strides=[1, 2, 1, 1], padding="SAME", gradient=False)
    c.all(ramp(1, 5, 5, 6), ramp(3, 3, 2, 3), strides=one, padding="SAME", dilations=[1, 2, 2, 1], gradient=False)
    # As many channels as oneDNN's vectors have, and more.
    c.all(ramp(3, 6, 6, 16), ramp(3, 3, 16, 32), strides=one, padding="SAME", gradient=False)
    c.all(ramp(2, 6, 6, 16), ramp(3, 3, 16, 19), strides=[1, 2, 2, 1], padding="VALID", gradient=False)
    c.types(x, f, strides=[1, 2, 1, 1], padding="SAME")
    # int32: TensorFlow has no gradient kernel for it on CPUs.
    xi, fi = (x * 26).astype(np.int32), (f * 26).astype(np.int32)
    attrs = dict(strides=one, padding="SAME")
    t.case("Conv2D", xi, fi, expected=[convolve(xi, fi, attrs, False).astype(np.int32)], **attrs)
    gi = np.arange(2 * 5 * 4 * 2, dtype=np.int32).reshape(2, 5, 4, 2)
    want = Tensorflow.by_definition("Conv2DBackpropInput", [np.array(x.shape), fi * 1.0, gi * 1.0], attrs)
    t.case("Conv2DBackpropInput", np.array(x.shape, np.int32), fi, gi, expected=[want.astype(np.int32)], **attrs)
    # The sizes of the input may be given as height and width alone.
    g = ramp(2, 5, 4, 2)
    t.case("Conv2DBackpropInput", np.array([5, 4], np.int32), f, g, **attrs)
    t.case("Conv2DBackpropInput", np.array([5, 4], np.int32), f, channels_first(g), data_format="NCHW", **attrs,
           expected=[channels_first(t.tensorflow("Conv2DBackpropInput", [np.array([5, 4], np.int32), f, g], attrs)[0])])
    # The V2 ops take the sizes from a tensor. TensorFlow registers no CPU kernels for them.
    want = t.tensorflow("Conv2DBackpropInput", [np.array(x.shape, np.int32), f, g], attrs)
    t.case("Conv2DBackpropInputV2", x, f, g, expected=want, gradient=[1, 2], **attrs)
    want = t.tensorflow("Conv2DBackpropFilter", [x, np.array(f.shape, np.int32), g], attrs)
    t.case("Conv2DBackpropFilterV2", x, f, g, expected=want, gradient=[0, 2], **attrs)
    # A NaN affects only the windows that cover it.
    nan = ramp(1, 4, 4, 1).astype(np.float32)
    nan[0, 1, 1, 0] = np.nan
    t.case("Conv2D", nan, np.ones([2, 2, 1, 1], np.float32), strides=one, padding="VALID")
    # An empty batch and images without rows, with their gradients.
    for shape in [(0, 5, 4, 3), (2, 0, 4, 3)]:
        e = np.zeros(shape, np.float32)
        t.case("Conv2D", e, f.astype(np.float32), **attrs)
        t.case("Conv2DBackpropInput", np.array(shape, np.int32), f.astype(np.float32),
               np.zeros(shape[:3] + (2,), np.float32), **attrs)
        # For an empty image, TensorFlow returns uninitialized memory.
        t.case("Conv2DBackpropFilter", e, np.array(f.shape, np.int32), np.zeros(shape[:3] + (2,), np.float32),
               expected=[np.zeros(f.shape, np.float32)], **attrs)
    refused2d(t, "Conv2D", x.astype(np.float32), f.astype(np.float32))
    # Gradients and sizes that do not fit are refused.
    sizes, xs, fs = np.array([2, 5, 4, 3], np.int32), x.astype(np.float32), f.astype(np.float32)
    filter_sizes, gs = np.array([3, 2, 3, 2], np.int32), g.astype(np.float32)
    for bad in [gs[:1], gs[:, :4], gs[..., :1], gs[0]]:
        t.case("Conv2DBackpropInput", sizes, fs, bad, expected=INVALID, **attrs)
        t.case("Conv2DBackpropFilter", xs, filter_sizes, bad, expected=INVALID, **attrs)
    for bad in [[2, 5, 4], [2, -5, 4, 3], [2, 5, 4, 4], [[2, 5, 4, 3]], [], [2**31 - 1] * 4]:
        t.case("Conv2DBackpropInput", np.array(bad, np.int32), fs, gs, expected=INVALID, **attrs)
    for bad in [[3, 2, 3], [3, 2, 4, 2], [3, -2, 3, 2], [], [[3, 2, 3, 2]], [2**31 - 1] * 4]:
        t.case("Conv2DBackpropFilter", xs, np.array(bad, np.int32), gs, expected=INVALID, **attrs)


def refused2d(t, op, x, f):
    """Rows that every two-dimensional convolution must refuse. TensorFlow mostly gives the same code, but some sizes end
    its process."""
    one = [1, 1, 1, 1]
    ok = dict(strides=one, padding="VALID")
    bad_attrs = [dict(ok, strides=[1, 0, 1, 1]), dict(ok, strides=[1, 1, -1, 1]), dict(ok, strides=[1, 1, 1]),
                 dict(ok, strides=[]),
                 dict(ok, dilations=[1, 0, 1, 1]), dict(ok, dilations=[1, 1, -2, 1]), dict(ok, dilations=[1, 1]),
                 dict(ok, dilations=[1, 1, 1, 2]), dict(ok, dilations=[2, 1, 1, 1]),
                 dict(ok, dilations=[1, 2**62, 1, 1]), dict(ok, strides=[1, 2**62, 1, 1]),
                 dict(ok, padding="EXPLICIT"), dict(ok, padding="EXPLICIT", explicit_paddings=[0] * 6),
                 dict(ok, padding="EXPLICIT", explicit_paddings=[0, 0, -1, 0, 0, 0, 0, 0]),
                 dict(ok, padding="EXPLICIT", explicit_paddings=[1, 0, 0, 0, 0, 0, 0, 0]),
                 dict(ok, padding="EXPLICIT", explicit_paddings=[0, 0, 0, 0, 0, 0, 0, 1]),
                 dict(ok, padding="EXPLICIT", explicit_paddings=[0, 0, 2**62, 2**62, 0, 0, 0, 0]),
                 dict(ok, explicit_paddings=[0, 0, 1, 1, 0, 0, 0, 0])]
    for attrs in bad_attrs:
        t.case(op, x, f, expected=INVALID, **attrs)
    for strides in ([2, 1, 1, 1], [1, 1, 1, 2]):
        t.case(op, x, f, expected="UNIMPLEMENTED" if op == "Conv2D" else INVALID, **dict(ok, strides=strides))
    for a, b in [(x[0], f), (x, f[0]), (x[..., :2], f), (x, np.zeros([6, 2] + list(f.shape[2:]), np.float32)),
                 (x, np.zeros([3, 0] + list(f.shape[2:]), np.float32)), (np.float32(1), f),
                 (x, np.zeros([3, 2, f.shape[2], 0], np.float32)), (x, np.zeros([3, 2, 0, 2], np.float32))]:
        t.case(op, a, b, expected=INVALID, **ok)
    t.case(op, x, f[:2], expected=INVALID, **dict(ok, dilations=[1, 5, 1, 1]))


def depthwise(t):
    c = Convolutions(t, "DepthwiseConv2dNative")
    one = [1, 1, 1, 1]
    x = ramp(2, 5, 4, 3)
    for multiplier in [1, 2]:
        f = ramp(3, 2, 3, multiplier)
        c.all(x, f, strides=one, padding="SAME")
        c.all(x, f, strides=[1, 2, 2, 1], padding="VALID", gradient=False)
        c.all(x, f, strides=one, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0], gradient=multiplier == 2)
        c.all(x, ramp(2, 2, 3, multiplier), strides=one, padding="SAME", dilations=[1, 2, 3, 1])
        c.types(x, f, strides=[1, 2, 2, 1], padding="SAME")
    c.all(ramp(2, 6, 5, 16), ramp(3, 3, 16, 1), strides=one, padding="SAME", gradient=False)
    c.all(ramp(2, 6, 5, 1), ramp(3, 3, 1, 4), strides=one, padding="SAME", gradient=False)
    e, f = np.zeros([0, 5, 4, 3], np.float32), ramp(3, 2, 3, 2).astype(np.float32)
    attrs = dict(strides=one, padding="SAME")
    t.case("DepthwiseConv2dNative", e, f, expected=[np.zeros([0, 5, 4, 6], np.float32)], **attrs)
    t.case("DepthwiseConv2dNativeBackpropFilter", e, np.array(f.shape, np.int32), np.zeros([0, 5, 4, 6], np.float32),
           expected=[np.zeros(f.shape, np.float32)], **attrs)
    refused2d(t, "DepthwiseConv2dNative", x.astype(np.float32), f)
    xs, gs = x.astype(np.float32), ramp(2, 5, 4, 6).astype(np.float32)
    for bad in [gs[:1], gs[:, :4], gs[..., :5], gs[0]]:
        t.case("DepthwiseConv2dNativeBackpropInput", np.array(x.shape, np.int32), f, bad, expected=INVALID, **attrs)
        t.case("DepthwiseConv2dNativeBackpropFilter", xs, np.array(f.shape, np.int32), bad, expected=INVALID, **attrs)
    for bad in [[5, 4], [2, 5, 4, 4], [2, -5, 4, 3]]:
        t.case("DepthwiseConv2dNativeBackpropInput", np.array(bad, np.int32), f, gs, expected=INVALID, **attrs)


def conv3d(t):
    c = Convolutions(t, "Conv3D", "V2")
    one = [1] * 5
    x, f = ramp(2, 3, 4, 3, 2), ramp(2, 3, 2, 2, 3)
    for padding in ["SAME", "VALID"]:
        c.all(x, f, strides=one, padding=padding)
        c.all(x, f, strides=[1, 2, 3, 2, 1], padding=padding, gradient=False)
    c.all(x, ramp(2, 2, 2, 2, 1), strides=one, padding="SAME", dilations=[1, 2, 1, 2, 1], gradient=False)
    c.all(ramp(1, 3, 3, 3, 4), ramp(2, 2, 2, 2, 4), strides=one, padding="SAME", gradient=False)
    c.all(ramp(2, 4, 4, 4, 16), ramp(3, 3, 3, 16, 16), strides=one, padding="SAME", gradient=False)
    c.types(x, f, strides=one, padding="SAME")
    attrs = dict(strides=one, padding="SAME")
    g = ramp(2, 3, 4, 3, 3)
    sizes = np.array(x.shape, np.int64)
    t.case("Conv3DBackpropInputV2", sizes, f, g, **attrs)
    t.case("Conv3DBackpropInput", x, f, g, gradient=[1, 2], expected=t.tensorflow("Conv3DBackpropInputV2", [sizes, f, g], attrs), **attrs)
    t.case("Conv3DBackpropFilter", x, f, g, gradient=[0, 2],
           expected=t.tensorflow("Conv3DBackpropFilterV2", [x, np.array(f.shape, np.int32), g], attrs), **attrs)
    xs, fs = x.astype(np.float32), f.astype(np.float32)
    t.case("Conv3D", np.zeros([0, 3, 4, 3, 2], np.float32), fs, expected=[np.zeros([0, 3, 4, 3, 3], np.float32)], **attrs)
    ok = dict(strides=one, padding="VALID")
    for strides in ([2, 1, 1, 1, 1], [1, 1, 1, 1, 2]):
        t.case("Conv3D", xs, fs, expected=INVALID, **dict(ok, strides=strides))
    for bad in [dict(ok, strides=[1, 0, 1, 1, 1]),
                dict(ok, dilations=[1, 1, 0, 1, 1]), dict(ok, dilations=[1, 1, 1]), dict(ok, dilations=[1, 1, 2**40, 1, 1])]:
        t.case("Conv3D", xs, fs, expected=INVALID, **bad)
    for a, b in [(xs[0], fs), (xs, fs[0]), (xs[..., :1], fs), (xs, np.zeros([4, 1, 1, 2, 3], np.float32))]:
        t.case("Conv3D", a, b, expected=INVALID, **ok)
    t.case("Conv3DBackpropInputV2", np.array([3, 4, 3], np.int32), fs, g.astype(np.float32), expected=INVALID, **attrs)


def degenerate(t):
    """The gradient ops accept empty filters, and windows that are less than a stride too large for the input: then no
    output exists."""
    one = [1, 1, 1, 1]
    for x, f, y, attrs in [([1, 2, 3, 1], [2, 2, 1, 0], [1, 1, 2, 0], dict(strides=one, padding="VALID")),
                           ([1, 2, 3, 1], [2, 2, 1, 0], [1, 1, 1, 0], dict(strides=one, padding="VALID", dilations=[1, 1, 2, 1])),
                           ([1, 2, 3, 1], [0, 2, 1, 1], [1, 3, 2, 1], dict(strides=one, padding="VALID")),
                           ([1, 2, 3, 1], [0, 2, 1, 1], [1, 2, 3, 1], dict(strides=one, padding="SAME")),
                           ([1, 2, 3, 0], [2, 2, 0, 1], [1, 1, 2, 1], dict(strides=one, padding="VALID")),
                           ([1, 2, 3, 0], [2, 2, 0, 0], [1, 1, 2, 0], dict(strides=one, padding="VALID")),
                           ([3, 1, 1, 2], [1, 3, 2, 3], [3, 1, 0, 3], dict(strides=[1, 2, 2, 1], padding="VALID")),
                           ([1, 3, 1, 1], [1, 3, 1, 1], [1, 3, 0, 1], dict(strides=one, padding="VALID"))]:
        # TensorFlow gives the same values, or stops.
        wrong = INVALID if f[1] == 3 and attrs["strides"] == one else None
        ramps = lambda shape: ramp(*shape).astype(np.float32)
        t.case("Conv2DBackpropFilter", ramps(x), np.array(f, np.int32), ramps(y),
               expected=wrong or [np.zeros(f, np.float32)], **attrs)
        t.case("Conv2DBackpropInput", np.array(x, np.int32), ramps(f), ramps(y),
               expected=wrong or [np.zeros(x, np.float32)], **attrs)
        deep = dict(attrs, strides=[1] + attrs["strides"])
        if "dilations" in attrs:
            deep["dilations"] = [1] + attrs["dilations"]
        x3, f3, y3 = [x[0], 1] + x[1:], [1] + f, [y[0], 1] + y[1:]
        t.case("Conv3DBackpropFilterV2", ramps(x3), np.array(f3, np.int32), ramps(y3),
               expected=wrong or [np.zeros(f3, np.float32)], **deep)
        t.case("Conv3DBackpropInputV2", np.array(x3, np.int32), ramps(f3), ramps(y3),
               expected=wrong or [np.zeros(x3, np.float32)], **deep)
    attrs = dict(strides=one, padding="VALID")
    for x, f, y in [([1, 2, 3, 1], [2, 2, 1, 0], [1, 1, 2, 0]), ([1, 2, 3, 0], [2, 2, 0, 1], [1, 1, 2, 0]),
                    ([1, 2, 3, 1], [0, 2, 1, 1], [1, 3, 2, 1])]:
        t.case("DepthwiseConv2dNativeBackpropFilter", ramps(x), np.array(f, np.int32), ramps(y),
               expected=[np.zeros(f, np.float32)], **attrs)
        t.case("DepthwiseConv2dNativeBackpropInput", np.array(x, np.int32), ramps(f), ramps(y),
               expected=[np.zeros(x, np.float32)], **attrs)
    g = ramps([2, 5, 4, 3])
    for strides in ([2, 1, 1, 1], [1, 1, 1, 2]):
        t.case("Conv2DBackpropFilter", g, np.array([1, 1, 3, 3], np.int32), g, **dict(attrs, strides=strides))
        t.case("Conv2DBackpropInput", np.array(g.shape, np.int32), g[:1, :1, :3], g, **dict(attrs, strides=strides))


def fused(t):
    """Convolutions of images that are resized and padded first. TensorFlow computes each image of a batch from the first
    one, so the rows with two images have the outputs of the images alone."""
    two, f = ramp(2, 3, 4, 2), ramp(2, 2, 2, 3)
    x = two[:1]
    attrs = dict(mode="REFLECT", strides=[1, 1, 1, 1], padding="VALID")
    around = np.array([[0, 0], [1, 1], [2, 1], [0, 0]], np.int32)
    size = np.array([5, 6], np.int32)
    for d in FLOATS:
        tolerance = 2e-2 if d == np.float16 else 6e-2 if d == bf16 else None
        t.case("FusedPadConv2D", x.astype(d), around, f.astype(d), tolerance=tolerance, **attrs)
        if d != bf16:
            t.case("FusedResizeAndPadConv2D", x.astype(d), size, around, f.astype(d),
                   tolerance=1e-5 if d == np.float64 else tolerance, **attrs)
    xs, fs = x.astype(np.float32), f.astype(np.float32)
    more = dict(mode="SYMMETRIC", strides=[1, 2, 3, 1], padding="SAME")
    for op, inputs in (("FusedPadConv2D", [around, fs]), ("FusedResizeAndPadConv2D", [size, around, fs])):
        images = two.astype(np.float32)
        want = np.concatenate([t.tensorflow(op, [images[i:i + 1], *inputs], more)[0] for i in range(2)])
        t.case(op, images, *inputs, expected=[want], **more)
    t.case("FusedPadConv2D", xs, around, fs, **more)
    for align in (False, True):
        t.case("FusedResizeAndPadConv2D", xs, size, around, fs, resize_align_corners=align, **more)
        t.case("FusedResizeAndPadConv2D", xs, np.array([2, 9], np.int32), around * 0, fs, resize_align_corners=align, **more)
    pads = lambda *rows: np.array(rows, np.int32)
    none = [0, 0]
    t.case("FusedPadConv2D", xs, pads(none, [3, 1], [2, 4], none), fs, **more)
    for bad in (pads([1, 1], [1, 1], none, none), pads(none, none, none, [0, 1]), pads(none, [3, 1], none, none),
                pads(none, none, [0, 4], none), pads(none, [-1, 0], none, none), pads(none, none, none)):
        t.case("FusedPadConv2D", xs, bad, fs, **attrs)
    t.case("FusedPadConv2D", xs, pads(none, [4, 1], none, none), fs, **more)
    t.case("FusedPadConv2D", xs, around, fs, **dict(attrs, strides=[2, 1, 1, 1]))
    for wrong in (fs[:, :, :1], ramp(2, 2, 3, 3).astype(np.float32), ramp(9, 2, 2, 3).astype(np.float32), fs[..., :0]):
        t.case("FusedPadConv2D", xs, around, wrong, **attrs)
    t.case("FusedPadConv2D", xs[:0], around, fs, **attrs)
    t.case("FusedPadConv2D", xs[0], around, fs, expected=INVALID, **attrs)  # TensorFlow ends the process if it meets this
    for bad in ([0, 6], [-1, 6], [6]):
        t.case("FusedResizeAndPadConv2D", xs, np.array(bad, np.int32), around, fs, **attrs)
    t.case("FusedResizeAndPadConv2D", xs[:, :0], size, around, fs, **attrs)


def conv(t):
    """The op of any number of batch axes. TensorFlow's CPU kernel knows neither groups, nor channels first, nor dilated
    volumes, so most expected values are those of the definition."""
    def case(x, f, strides, batch_dims=1, **attrs):
        spatial = f.ndim - 2
        images = x.reshape((-1,) + x.shape[batch_dims:])
        y = convolve(images, f, dict(attrs, strides=strides), False)
        y = y.reshape(x.shape[:batch_dims] + y.shape[1:])
        more = dict(attrs, batch_dims=batch_dims, groups=x.shape[-1] // f.shape[-2])
        t.case("Conv", x, f, strides=strides, expected=[y], **more)
        t.case("Conv", x.astype(np.float32), f.astype(np.float32), strides=strides, expected=[y.astype(np.float32)], **more)
        to_front = lambda a: np.moveaxis(a, -1, batch_dims).copy()
        for name, rest in (("dilations", [1]), ("explicit_paddings", [0, 0])):
            if name in more:
                more[name] = rest + rest + more[name][len(rest):-len(rest)]
        t.case("Conv", to_front(x), f, strides=[1, 1] + strides[1:-1], data_format="CHANNELS_FIRST",
               expected=[to_front(y)], **more)

    one, ones = [1, 1, 1, 1], [1] * 5
    x, f = ramp(2, 5, 4, 3), ramp(3, 2, 3, 2)
    volume, g = ramp(2, 3, 4, 3, 2), ramp(2, 3, 2, 2, 3)
    for padding in ["SAME", "VALID"]:
        for strides in (one, [1, 2, 3, 1]):  # what TensorFlow computes
            t.case("Conv", x, f, strides=strides, padding=padding)
            case(x, f, strides, padding=padding)
        t.case("Conv", volume, g, strides=ones, padding=padding)
        case(volume, g, [1, 2, 3, 2, 1], padding=padding)
    t.case("Conv", x, f, strides=one, padding="VALID", dilations=[1, 2, 1, 1])
    case(x, f, one, padding="SAME", dilations=[1, 1, 2, 1])
    case(volume, g, ones, padding="SAME", dilations=[1, 1, 2, 1, 1])
    t.case("Conv", x, f, strides=one, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0])
    case(x, f, [1, 2, 1, 1], padding="EXPLICIT", explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0])
    case(volume, g, ones, padding="EXPLICIT", explicit_paddings=[0, 0, 1, 0, 0, 2, 1, 1, 0, 0])
    t.case("Conv", x[0], f, strides=one, padding="SAME", batch_dims=0)
    t.case("Conv", ramp(2, 3, 5, 4, 3), f, strides=one, padding="SAME", batch_dims=2)
    t.case("Conv", np.zeros([2, 0, 5, 4, 3], np.float32), f.astype(np.float32), strides=one, padding="SAME", batch_dims=2,
           expected=[np.zeros([2, 0, 5, 4, 2], np.float32)])
    case(x[0], f, one, padding="SAME", batch_dims=0)
    case(ramp(2, 1, 3, 5, 4, 3), f, one, padding="VALID", batch_dims=3)
    case(ramp(2, 2, 3, 4, 3, 2), g, ones, padding="VALID", batch_dims=2)
    case(ramp(2, 4, 4, 4), ramp(2, 3, 2, 6), one, padding="SAME")
    case(ramp(1, 3, 3, 3, 4), ramp(2, 2, 2, 2, 4), ones, padding="SAME")
    for d in [np.float16, bf16]:
        wide = [a.astype(d).astype(np.float64) for a in (x, f)]
        t.case("Conv", x.astype(d), f.astype(d), strides=one, padding="SAME",
               expected=[convolve(*wide, dict(strides=one, padding="SAME"), False).astype(d)])
    t.case("Conv", (x * 26).astype(np.int32), (f * 26).astype(np.int32), strides=one, padding="SAME")
    xs, fs = x.astype(np.float32), f.astype(np.float32)
    t.case("Conv", np.zeros([0, 5, 4, 3], np.float32), fs, strides=one, padding="SAME")
    ok = dict(strides=one, padding="VALID")
    for bad in [dict(ok, strides=[1, 1]), dict(ok, strides=[1, 1, 1]), dict(ok, strides=ones), dict(ok, strides=[1] * 6),
                dict(ok, strides=[2, 1, 1, 1]), dict(ok, strides=[1, 0, 1, 1]), dict(ok, strides=[1, 1, 1, 2]),
                dict(ok, dilations=[2, 2]), dict(ok, dilations=[1, 0, 1, 1]), dict(ok, dilations=[2, 1, 1, 1]),
                dict(ok, batch_dims=-1), dict(ok, batch_dims=0), dict(ok, batch_dims=2), dict(ok, batch_dims=2**40),
                dict(ok, groups=0), dict(ok, groups=3), dict(ok, padding="EXPLICIT"),
                dict(ok, padding="EXPLICIT", explicit_paddings=[1, 2, 1, 0]),
                dict(ok, explicit_paddings=[0, 0, 1, 1, 0, 0, 0, 0])]:
        t.case("Conv", xs, fs, expected=INVALID, **bad)
    for a, b in [(xs[0], fs), (xs, fs[0]), (xs[..., :2], fs), (xs, fs[:0]), (np.float32(1), fs),
                 (xs, np.zeros([6, 2, 3, 2], np.float32))]:
        t.case("Conv", a, b, expected=INVALID, **ok)


def dilation(t):
    x, f = ramp(2, 5, 4, 3), ramp(2, 3, 3) * 0.7
    geometries = [dict(strides=[1, 1, 1, 1], rates=[1, 1, 1, 1], padding="SAME"),
                  dict(strides=[1, 2, 2, 1], rates=[1, 1, 1, 1], padding="VALID"),
                  dict(strides=[1, 1, 1, 1], rates=[1, 2, 1, 1], padding="SAME"),
                  dict(strides=[1, 2, 1, 1], rates=[1, 3, 1, 1], padding="VALID")]
    for attrs in geometries:
        y = t.tensorflow("Dilation2D", [x, f], attrs)[0]
        g = ramp(*y.shape)
        t.case("Dilation2D", x, f, gradient=[0, 1], **attrs)
        for op in ["Dilation2DBackpropInput", "Dilation2DBackpropFilter"]:
            t.case(op, x, f, g, **attrs)
    attrs = geometries[0]
    for d in FLOATS + INTS:
        xi, fi, gi = [(a * 20 + (20 if np.dtype(d).kind == "u" else 0)).astype(d) for a in (x, f, ramp(*x.shape))]
        t.case("Dilation2D", xi, fi, **attrs)
        for op in ["Dilation2DBackpropInput", "Dilation2DBackpropFilter"]:
            t.case(op, xi, fi, gi, **attrs)
    xs, fs = x.astype(np.float32), f.astype(np.float32)
    nan = xs.copy()
    nan[0, 1, 1, 0] = np.nan
    nan[1] = -np.inf
    t.case("Dilation2D", nan, fs, **attrs)
    t.case("Dilation2DBackpropInput", nan, fs, np.ones_like(xs), **attrs)
    # A window that sees nothing but padding.
    far = dict(strides=[1, 1, 1, 1], rates=[1, 2, 2, 1], padding="SAME")
    for op, more in [("Dilation2D", []), ("Dilation2DBackpropInput", [np.ones([1, 1, 1, 1], np.float32)]),
                     ("Dilation2DBackpropFilter", [np.ones([1, 1, 1, 1], np.float32)])]:
        t.case(op, np.ones([1, 1, 1, 1], np.float32), np.ones([2, 2, 1], np.float32), *more, **far)
    t.case("Dilation2D", np.zeros([0, 5, 4, 3], np.float32), fs, **attrs)
    for bad in [dict(attrs, strides=[1, 0, 1, 1]), dict(attrs, rates=[1, 1, 0, 1]),
                dict(attrs, rates=[1, 1, 1, 2]), dict(attrs, padding="VALID", rates=[1, 5, 1, 1]),
                dict(attrs, rates=[1, 2**62, 1, 1])]:
        t.case("Dilation2D", xs, fs, expected=INVALID, **bad)
    t.case("Dilation2D", xs, fs, expected="UNIMPLEMENTED", **dict(attrs, strides=[2, 1, 1, 1]))
    for a, b in [(xs[0], fs), (xs, fs[0]), (xs[..., :2], fs), (xs, fs[:0])]:
        t.case("Dilation2D", a, b, expected=INVALID, **attrs)
    for op in ["Dilation2DBackpropInput", "Dilation2DBackpropFilter"]:
        t.case(op, xs, fs, xs[:1], expected=INVALID, **attrs)


def add_cases(t):
    conv2d(t)
    depthwise(t)
    conv3d(t)
    conv(t)
    degenerate(t)
    fused(t)
    dilation(t)
