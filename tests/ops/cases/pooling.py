"""Rows of the pooling ops. TensorFlow's CPU kernels support only channels last. The rows with channels first are the
same rows, transposed."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float16, bf16, np.float32, np.float64]
REAL = FLOATS + [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
NAN = float("nan")


def shuffled(*shape, seed=1):
    """Distinct numbers, at least 0.25 apart, so that small steps do not change which is the largest."""
    n = int(np.prod(shape))
    return np.random.RandomState(seed).permutation(n).reshape(shape) / 4 - n / 9


def first(a):
    return np.ascontiguousarray(np.moveaxis(a, -1, 1)) if a.ndim >= 4 else np.concatenate([a[:1], a[-1:], a[1:-1]])


def channels_first(t, op, *inputs, gradient=None, **attrs):
    """A row with channels first, from inputs and attributes with channels last."""
    expected = [first(o) for o in t.tensorflow(op, inputs, attrs)]
    moved = dict(attrs, data_format="NCHW" if len(attrs["ksize"]) == 4 else "NCDHW")
    for name in ("ksize", "strides"):
        moved[name] = [attrs[name][0], attrs[name][-1]] + attrs[name][1:-1]
    if "explicit_paddings" in attrs:
        p = attrs["explicit_paddings"]
        moved["explicit_paddings"] = p[:2] + p[-2:] + p[2:-2]
    t.case(op, *[first(i) for i in inputs], gradient=gradient, expected=expected, **moved)


def max_2d(t, x, x_grads, **attrs):
    """MaxPool and its gradients on one input; `x_grads` says whether to check them by finite differences."""
    y, = t.tensorflow("MaxPool", [x], attrs)
    dy = shuffled(*y.shape, seed=2).astype(x.dtype)
    dx = shuffled(*x.shape, seed=3).astype(x.dtype)
    t.case("MaxPool", x, gradient=[0] if x_grads else None, **attrs)
    second = x_grads and attrs["padding"] != "EXPLICIT"  # MaxPoolGradGrad has no explicit padding
    t.case("MaxPoolGrad", x, y, dy, gradient=[0, 1, 2] if second else None, **attrs)
    if attrs["padding"] != "EXPLICIT":
        t.case("MaxPoolGradGrad", x, y, dx, gradient=[0, 1, 2] if x_grads else None, **attrs)
        sizes = np.array(attrs["ksize"], np.int32), np.array(attrs["strides"], np.int32)
        v2 = dict(padding=attrs["padding"])
        t.case("MaxPoolV2", x, *sizes, gradient=[0] if x_grads else None, **v2)
        t.case("MaxPoolGradV2", x, y, dy, *sizes, gradient=[0, 1, 2] if x_grads else None, **v2)
        t.case("MaxPoolGradGradV2", x, y, dx, *sizes, gradient=[0, 1, 2] if x_grads else None, **v2)
        t.case("MaxPoolWithArgmax", x, gradient=[0] if x_grads else None, **attrs)
        t.case("MaxPoolWithArgmax", x, include_batch_in_index=True, Targmax=tf.int32, **attrs)
    channels_first(t, "MaxPool", x, gradient=[0] if x_grads else None, **attrs)
    channels_first(t, "MaxPoolGrad", x, y, dy, **attrs)


def max_cases(t):
    image = shuffled(2, 5, 6, 3)
    for padding in ("SAME", "VALID"):
        for size, stride in (((2, 2), (2, 2)), ((3, 2), (1, 2)), ((2, 3), (3, 1)), ((1, 1), (2, 2)), ((5, 6), (1, 1))):
            max_2d(t, image[:1] if size == (5, 6) else image, size == (3, 2), ksize=[1, *size, 1],
                   strides=[1, *stride, 1], padding=padding)
    max_2d(t, image, True, ksize=[1, 3, 2, 1], strides=[1, 2, 1, 1], padding="EXPLICIT",
           explicit_paddings=[0, 0, 1, 2, 0, 1, 0, 0])
    small = dict(ksize=[1, 2, 2, 1], strides=[1, 2, 1, 1], padding="SAME")
    whole = (np.random.RandomState(5).permutation(24).reshape(2, 3, 4, 1) * 5)
    for d in REAL:
        x = whole.astype(d)
        y, _ = t.tensorflow("MaxPoolWithArgmax", [x], small)
        sizes = np.array(small["ksize"], np.int32), np.array(small["strides"], np.int32)
        dy = np.arange(1, y.size + 1).reshape(y.shape).astype(d)
        # TensorFlow has kernels for uint32 and uint64, but MaxPool's definition does not allow them.
        if d not in (np.uint32, np.uint64):
            t.case("MaxPool", x, **small)
        t.case("MaxPoolGrad", x, y, dy, **small)
        t.case("MaxPoolGradGrad", x, y, x[::-1].copy(), **small)
        t.case("MaxPoolWithArgmax", x, **small)
        t.case("MaxPoolGradV2", x, y, dy, *sizes, padding="SAME")
    huge = np.array([2**64 - 1, 2**63, 5, 2**63 - 1], np.uint64).reshape(1, 1, 4, 1)
    pairs = dict(ksize=[1, 1, 2, 1], strides=[1, 1, 2, 1], padding="VALID")
    t.case("MaxPoolWithArgmax", huge, **pairs)
    t.case("MaxPoolGrad", huge, huge[:, :, ::2].copy(), huge[:, :, 1::2].copy(), **pairs)
    # Equal maxima: the first gets the gradient.
    x = np.array([1, 1, 2, 2, 2, 1], np.float32).reshape(1, 1, 6, 1)
    y, g = np.array([1, 2, 2], np.float32).reshape(1, 1, 3, 1), np.array([1, 2, 3], np.float32).reshape(1, 1, 3, 1)
    t.case("MaxPoolGrad", x, y, g, **pairs)
    t.case("MaxPoolGrad", x, y * 7, g, **pairs)
    t.case("MaxPoolGradGrad", x, y, x + np.arange(6, dtype=np.float32).reshape(x.shape), **pairs)
    t.case("MaxPoolGradGrad", x, y * 7, x, **pairs)
    for c in (1, 9):
        x = np.repeat(np.array([NAN, 1, 2, NAN, NAN, NAN, -np.inf, -np.inf], np.float32).reshape(1, 1, 8, 1), c, 3)
        t.case("MaxPool", x, **pairs)
        t.case("MaxPoolWithArgmax", x, **pairs)
        t.case("MaxPoolGrad", x, x[:, :, ::2].copy(), np.ones([1, 1, 4, c], np.float32), **pairs)
        t.case("MaxPoolGradGrad", x, x[:, :, 1::2].copy(), np.ones([1, 1, 8, c], np.float32), **pairs)
    for shape in ((0, 3, 4, 2), (2, 3, 4, 0), (1, 0, 4, 2)):
        x = np.zeros(shape, np.float32)
        t.case("MaxPool", x, **small)
        y, = t.tensorflow("MaxPool", [x], small)
        t.case("MaxPoolGrad", x, y, y, **small)
        t.case("MaxPoolGradGrad", x, y, x, **small)
        t.case("MaxPoolWithArgmax", x, **small)
    # Windows that cover channels.
    x = shuffled(2, 2, 2, 6).astype(np.float32)
    for k in (2, 3, 6):
        t.case("MaxPool", x, ksize=[1, 1, 1, k], strides=[1, 1, 1, k], padding="VALID")
        t.case("MaxPool", first(x), ksize=[1, k, 1, 1], strides=[1, k, 1, 1], padding="SAME", data_format="NCHW",
               expected=[first(x.reshape(2, 2, 2, 6 // k, k).max(-1))])
    t.case("MaxPoolV2", x, np.array([1, 1, 1, 2], np.int32), np.array([1, 1, 1, 2], np.int32), padding="VALID")
    many = shuffled(1, 4, 4, 70).astype(np.float32)  # more channels than a block has
    overlapping = dict(ksize=[1, 3, 3, 1], strides=[1, 1, 1, 1], padding="SAME")
    t.case("MaxPool", many[:, :2, :2], **overlapping)
    t.case("MaxPoolGrad", many[:, :2, :2], many[:, :2, 2:], many[:, 2:, :2], **overlapping)
    wide = shuffled(1, 5, 5, 4).astype(np.float32)  # windows of more than 16 elements
    t.case("MaxPoolGrad", wide, wide[:, :1, :1], wide[:, 1:2, 1:2], ksize=[1, 5, 5, 1], strides=[1, 1, 1, 1],
           padding="VALID")


def argmax_cases(t):
    pairs = dict(ksize=[1, 1, 2, 1], strides=[1, 1, 2, 1], padding="VALID")
    x = shuffled(2, 1, 4, 1)
    dy = shuffled(2, 1, 2, 1, seed=4)
    for batch in (False, True):
        for argmax in ([0, 2, 1, 3], [1, 1, 3, 3]):
            for d in (np.int32, np.int64):
                at = (np.array(argmax, d) + (np.array([0, 0, 4, 4], d) if batch else 0)).astype(d).reshape(2, 1, 2, 1)
                dx = np.zeros(8)
                ddy = np.zeros(4)
                for i, a in enumerate(argmax):
                    dx[a + i // 2 * 4] += dy.ravel()[i]
                    ddy[i] = x.ravel()[a + i // 2 * 4]
                # TensorFlow's CPU kernels support the first op only with int64, and not the second op.
                t.case("MaxPoolGradWithArgmax", x, dy, at, include_batch_in_index=batch, gradient=[0, 1],
                       expected=[dx.reshape(x.shape)], **pairs)
                t.case("MaxPoolGradGradWithArgmax", x, x, at, include_batch_in_index=batch, gradient=[0, 1],
                       expected=[ddy.reshape(dy.shape)], **pairs)
    at = np.array([0, 2, 1, 3], np.int64).reshape(2, 1, 2, 1)
    for d in REAL:
        t.case("MaxPoolGradWithArgmax", x.astype(d), np.array([1, 2, 3, 4], d).reshape(at.shape), at, **pairs)
    t.case("MaxPoolGradWithArgmax", np.zeros([0, 1, 4, 1], np.float32), np.zeros([0, 1, 2, 1], np.float32),
           np.zeros([0, 1, 2, 1], np.int64), expected=[np.zeros([0, 1, 4, 1], np.float32)], **pairs)
    # TensorFlow ends the process when argmax names no element, or has another shape than the gradient.
    x, dy = x.astype(np.float32), dy.astype(np.float32)
    for bad in ([0, 4, 1, 3], [-1, 2, 1, 3], [0, 2, 1, 2**40]):
        for op, g in (("MaxPoolGradWithArgmax", dy), ("MaxPoolGradGradWithArgmax", x)):
            t.case(op, x, g, np.array(bad, np.int64).reshape(2, 1, 2, 1), expected="INVALID_ARGUMENT", **pairs)
    t.case("MaxPoolGradWithArgmax", x, dy, np.array([0, 2, 1, 8], np.int64).reshape(2, 1, 2, 1),
           include_batch_in_index=True, expected="INVALID_ARGUMENT", **pairs)
    t.case("MaxPoolGradWithArgmax", x, dy, at[:1], expected="INVALID_ARGUMENT", **pairs)
    t.case("MaxPoolGradWithArgmax", x, dy[:1], at, expected="INVALID_ARGUMENT", **pairs)
    t.case("MaxPoolGradGradWithArgmax", x, dy, at, expected="INVALID_ARGUMENT", **pairs)
    # A window over channels has no effect: each element is its own maximum.
    y = shuffled(1, 2, 2, 4).astype(np.float32)
    for k, s in ((2, 2), (4, 4), (3, 3), (2, 1)):
        for padding in ("SAME", "VALID"):
            t.case("MaxPoolWithArgmax", y, ksize=[1, 1, 1, k], strides=[1, 1, 1, s], padding=padding)
    t.case("MaxPoolWithArgmax", y, ksize=[1, 2, 2, 2], strides=[1, 2, 2, 2], padding="VALID")
    at = np.arange(16).reshape(y.shape)
    t.case("MaxPoolGradWithArgmax", y, 2 * y, at, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], padding="VALID",
           expected=[2 * y])  # in TensorFlow, the shape of the gradient is not that of the output


def avg_cases(t):
    image = shuffled(2, 5, 6, 3)
    for padding in ("SAME", "VALID"):
        for size, stride in (((2, 2), (2, 2)), ((3, 2), (1, 2)), ((2, 3), (3, 1)), ((1, 1), (2, 2)), ((5, 6), (1, 1))):
            attrs = dict(ksize=[1, *size, 1], strides=[1, *stride, 1], padding=padding)
            y, = t.tensorflow("AvgPool", [image], attrs)
            shape = np.array(image.shape, np.int32)
            g = size == (3, 2)
            t.case("AvgPool", image, gradient=[0] if g else None, **attrs)
            t.case("AvgPoolGrad", shape, y, gradient=[1] if g else None, **attrs)
            channels_first(t, "AvgPool", image, gradient=[0] if g else None, **attrs)
            channels_first(t, "AvgPoolGrad", shape, y, **attrs)
    small = dict(ksize=[1, 2, 2, 1], strides=[1, 2, 1, 1], padding="SAME")
    for d in FLOATS:
        x = (np.arange(24).reshape(2, 3, 4, 1) % 7).astype(d)
        t.case("AvgPool", x, **small)
        t.case("AvgPoolGrad", np.array([2, 3, 4, 1], np.int32), x[:, :2].copy(), **small)
    x = np.array([NAN, 1, np.inf, 2], np.float32).reshape(1, 1, 4, 1)
    t.case("AvgPool", x, ksize=[1, 1, 2, 1], strides=[1, 1, 2, 1], padding="VALID")
    for shape in ((0, 3, 4, 2), (2, 3, 4, 0), (1, 0, 4, 2)):
        x = np.zeros(shape, np.float32)
        t.case("AvgPool", x, **small)
        y, = t.tensorflow("AvgPool", [x], small)
        t.case("AvgPoolGrad", np.array(shape, np.int32), y, **small)


def pool_3d_cases(t):
    volume = shuffled(2, 3, 4, 5, 2).astype(np.float32)
    for padding in ("SAME", "VALID"):
        for size, stride in (((2, 2, 2), (2, 2, 2)), ((1, 3, 2), (2, 1, 2)), ((3, 4, 5), (1, 1, 1))):
            attrs = dict(ksize=[1, *size, 1], strides=[1, *stride, 1], padding=padding)
            for x in (volume, volume.astype(bf16)):  # TensorFlow rounds sums of bfloat16 at each step
                y, = t.tensorflow("MaxPool3D", [x], attrs)
                dy = shuffled(*y.shape, seed=2).astype(x.dtype)
                dx = shuffled(*x.shape, seed=3).astype(x.dtype)
                shape = np.array(x.shape, np.int32)
                t.case("MaxPool3D", x, **attrs)
                t.case("MaxPool3DGrad", x, y, dy, tolerance=0.3 if x.dtype == bf16 else None, **attrs)
                t.case("MaxPool3DGradGrad", x, y, dx, **attrs)
                t.case("AvgPool3D", x, tolerance=0.3 if x.dtype == bf16 else None, **attrs)
                t.case("AvgPool3DGrad", shape, dy, tolerance=0.3 if x.dtype == bf16 else None, **attrs)
            for op, inputs in (("MaxPool3D", [volume]), ("MaxPool3DGrad", [volume, *[shuffled(*y.shape, seed=s).astype(np.float32) for s in (4, 5)]]),
                               ("AvgPool3D", [volume]), ("AvgPool3DGrad", [shape, dy.astype(np.float32)])):
                channels_first(t, op, *inputs, **attrs)
            # TensorFlow has no kernel for float64.
            y, = t.tensorflow("AvgPool3D", [volume], attrs)
            t.case("AvgPool3D", volume.astype(np.float64), expected=[y.astype(np.float64)], tolerance=1e-5,
                   gradient=[0] if size == (1, 3, 2) else None, **attrs)
            g, = t.tensorflow("AvgPool3DGrad", [shape, y], attrs)
            t.case("AvgPool3DGrad", shape, y.astype(np.float64), expected=[g.astype(np.float64)], tolerance=1e-5,
                   gradient=[1] if size == (1, 3, 2) else None, **attrs)
    # Windows of more than 64 elements, which programs visit in a loop.
    large = dict(ksize=[1, 3, 5, 5, 1], strides=[1, 2, 1, 2, 1], padding="SAME")
    x = shuffled(1, 4, 5, 6, 2).astype(np.float32)
    y, = t.tensorflow("MaxPool3D", [x], large)
    t.case("MaxPool3DGrad", x, y, shuffled(*y.shape, seed=2).astype(np.float32), **large)
    t.case("MaxPool3DGradGrad", x, y, shuffled(*x.shape, seed=3).astype(np.float32), **large)
    pairs = dict(ksize=[1, 1, 1, 2, 1], strides=[1, 1, 1, 2, 1], padding="VALID")
    x = np.array([1, 1, 2, 2, 2, 1], np.float32).reshape(1, 1, 1, 6, 1)
    y = np.array([1, 2, 2], np.float32).reshape(1, 1, 1, 3, 1)
    t.case("MaxPool3DGrad", x, y, y, **pairs)  # equal maxima: each gets the gradient
    t.case("MaxPool3DGradGrad", x, y, x, **pairs)
    t.case("MaxPool3D", x.astype(np.float16), expected=[y.astype(np.float16)], **pairs)  # no kernel in TensorFlow
    # TensorFlow's result for NaNs depends on the number of channels.
    x = np.array([NAN, 1, 2, NAN, -np.inf, -np.inf], np.float32).reshape(1, 1, 1, 6, 1)
    t.case("MaxPool3D", x, expected=[np.array([1, 2, -np.inf], np.float32).reshape(1, 1, 1, 3, 1)], **pairs)
    for shape in ((0, 3, 4, 5, 2), (2, 3, 4, 5, 0), (1, 0, 4, 5, 2)):
        x = np.zeros(shape, np.float32)
        attrs = dict(ksize=[1, 2, 2, 2, 1], strides=[1, 2, 1, 1, 1], padding="SAME")
        for op in ("MaxPool3D", "AvgPool3D"):
            y, = t.tensorflow("AvgPool3D", [x], attrs) if 0 not in shape[1:4] else [np.zeros([1, 0, 4, 5, 2], np.float32)]
            t.case(op, x, expected=[y], **attrs)
        t.case("MaxPool3DGrad", x, y, y, expected=[x], **attrs)


def refused_cases(t):
    x = shuffled(2, 3, 4, 6).astype(np.float32)
    ones, valid = [1, 1, 1, 1], dict(padding="VALID")
    for op in ("MaxPool", "AvgPool"):
        for k in ([1, 0, 1, 1], [1, 1, -1, 1], [1, 2**40, 2**40, 1], [1, 2**62, 1, 1]):
            t.case(op, x, ksize=k, strides=ones, expected="INVALID_ARGUMENT", **valid)
        for s in ([1, 0, 1, 1], [1, 1, -2, 1], [0, 1, 1, 1], [1, 2**62, 1, 1]):
            t.case(op, x, ksize=ones, strides=s, expected="INVALID_ARGUMENT", **valid)
        for k in ([1, 4, 1, 1], [1, 1, 9, 1]):  # larger than the input: TensorFlow may return an empty tensor
            t.case(op, x, ksize=k, strides=ones, expected="INVALID_ARGUMENT", **valid)
        t.case(op, x, ksize=[1, 1, 1, 1, 1], strides=ones, **valid)
        t.case(op, x, ksize=ones, strides=[1, 1, 1, 1, 1], **valid)
        t.case(op, x[0], ksize=ones, strides=ones, **valid)
        t.case(op, x, ksize=[2, 1, 1, 1], strides=[2, 1, 1, 1], **valid)
        t.case(op, x, ksize=ones, strides=[2, 1, 1, 1], **valid)
    t.case("AvgPool", x, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], **valid)
    for k, s in (([1, 1, 2, 2], [1, 1, 1, 2]), ([1, 1, 1, 2], ones), ([1, 1, 1, 4], [1, 1, 1, 4])):
        t.case("MaxPool", x, ksize=k, strides=s, **valid)
    t.case("MaxPool", x, ksize=[1, 1, 1, 2], strides=[1, 2, 2, 2], expected="UNIMPLEMENTED", **valid)
    explicit = dict(ksize=[1, 2, 2, 1], strides=ones, padding="EXPLICIT")
    for p in ([0, 0, 1, 1, 1], [0, 0, -1, 0, 0, 0, 0, 0], [1, 0, 0, 0, 0, 0, 0, 0], [0, 0, 2, 0, 0, 0, 0, 0],
              [0, 0, 0, 0, 0, 0, 1, 0], [0, 0, 0, 2**62, 0, 0, 0, 0]):
        t.case("MaxPool", x, explicit_paddings=p, **explicit)
    t.case("MaxPool", x, ksize=ones, strides=ones, explicit_paddings=[0] * 8, **valid)
    t.case("MaxPool", np.zeros([1, 0, 3, 1], np.float32), explicit_paddings=[0, 0, 1, 1, 0, 0, 0, 0],
           expected="INVALID_ARGUMENT", **explicit)
    i = lambda *v: np.array(v, np.int32)
    for k, s in ((i(1, 2, 2), i(*ones)), (i(1, 0, 2, 1), i(*ones)), (i(1, 2, 2, 1), i(1, 0, 1, 1)),
                 (i(2, 2, 2, 1), i(*ones)), (np.int32(2), i(*ones)), (i(1, 9, 1, 1), i(*ones))):
        t.case("MaxPoolV2", x, k, s, expected="UNIMPLEMENTED" if k.shape == (4,) and k[0] == 2 else "INVALID_ARGUMENT", **valid)
    pairs = dict(ksize=[1, 1, 2, 1], strides=[1, 1, 2, 1], **valid)
    y = x[:, :, ::2].copy()
    for bad in ((x, y[:1], y), (x, y, y[:1]), (x[0], y, y), (x, x, x)):
        t.case("MaxPoolGrad", *bad, **pairs)
    for bad in ((x, y[:1], x), (x, y, y)):
        t.case("MaxPoolGradGrad", *bad, **pairs)
    t.case("MaxPoolGrad", x, y, y, ksize=[1, 1, 1, 2], strides=[1, 1, 1, 2], expected="UNIMPLEMENTED", **valid)
    for shape in (i(2, 3, 4), i(2, -3, 4, 6), i(2, 3, 40, 6), i(2, 3, 1, 6), i(3, 3, 4, 6), i(2, 2**31 - 1, 2**31 - 1, 6)):
        t.case("AvgPoolGrad", shape, y, expected="INVALID_ARGUMENT", **pairs)
    # The gradient has more images than the original input; that is reported before the window over channels is.
    t.case("AvgPoolGrad", i(1, 1, 3, 1), shuffled(3, 1, 3, 1), ksize=[1, 1, 1, 1], strides=[1, 1, 1, 2], **valid)
    # Gradient ops accept windows that are less than a stride too large for the input. Then there is no output.
    for width, strides in ((3, [1, 1, 1, 1]), (4, [1, 1, 1, 1]), (4, [1, 1, 2, 1])):
        wide = dict(ksize=[1, 1, width, 1], strides=strides, **valid)
        none, two = np.zeros([2, 3, 0, 6], np.float32), x[:, :, :2].copy()
        t.case("AvgPoolGrad", i(2, 3, 2, 6), none, **wide)
        if width == 4 and strides[2] == 1:
            t.case("MaxPoolGrad", two, none, none, **wide)
            t.case("MaxPoolGradGrad", two, none, two, **wide)
        else:  # TensorFlow leaves the gradient unset, and refuses the second op
            t.case("MaxPoolGrad", two, none, none, expected=[np.zeros_like(two)], **wide)
            t.case("MaxPoolGradGrad", two, none, two, expected=[none], **wide)
    empty = np.zeros([0, 3, 2, 6], np.float32)
    t.case("AvgPoolGrad", i(0, 2**31 - 1, 2**31 - 1, 6), empty, expected="INVALID_ARGUMENT", **pairs)
    t.case("MaxPoolWithArgmax", empty, **pairs)
    volume = shuffled(2, 3, 4, 5, 2).astype(np.float32)
    ones = [1, 1, 1, 1, 1]
    for op in ("MaxPool3D", "AvgPool3D"):
        for k, s in (([1, 0, 1, 1, 1], ones), (ones, [1, 1, 1, 0, 1]), ([1, 4, 1, 1, 1], ones), ([1, 1, 2**62, 1, 1], ones)):
            t.case(op, volume, ksize=k, strides=s, expected="INVALID_ARGUMENT", **valid)
        t.case(op, volume[0], ksize=ones, strides=ones, **valid)
        t.case(op, volume, ksize=[2, 1, 1, 1, 1], strides=ones, **valid)
        t.case(op, volume, ksize=[1, 1, 1, 1, 2], strides=ones, **valid)
    half = dict(ksize=[1, 1, 1, 2, 1], strides=[1, 1, 1, 2, 1], **valid)
    t.case("MaxPool3DGrad", volume, volume, volume, **half)
    t.case("MaxPool3DGradGrad", volume, volume, volume, **half)
    t.case("AvgPool3DGrad", i(0, 2**31 - 1, 2**31 - 1, 2**31 - 1, 6), np.zeros([0, 1, 1, 1, 6], np.float32),
           expected="INVALID_ARGUMENT", **half)
    t.case("AvgPool3DGrad", i(2, 3, 4, -5, 2), volume, **half)


def fractional_cases(t):
    x = shuffled(2, 7, 9, 2)
    ratio = [1.0, 1.44, 1.73, 1.0]
    for op in ("FractionalMaxPool", "FractionalAvgPool"):
        for pseudo in (False, True):
            for overlapping in (False, True):
                t.case(op, x, pooling_ratio=ratio, pseudo_random=pseudo, overlapping=overlapping, deterministic=True,
                       seed=3, seed2=5, gradient=[0])
            for seeds in ((1, 2), (5, 0), (7, 9), (123456789, 2**40)):
                t.case(op, np.zeros([1, 40, 50, 1], np.float32), pooling_ratio=ratio, pseudo_random=pseudo,
                       deterministic=True, seed=seeds[0], seed2=seeds[1])
        whole = np.arange(126).reshape(1, 7, 9, 2)[:, ::-1] * 3
        for d in (np.float32, np.float64, np.int32, np.int64):
            for overlapping in (False, True):
                t.case(op, whole.astype(d).copy(), pooling_ratio=[1.0, 2.5, 2.5, 1.0], deterministic=True, seed=1,
                       overlapping=overlapping)
        t.case(op, x, pooling_ratio=[1.0, 1.0, 3.0, 1.0], deterministic=True, seed=1)
        t.case(op, np.zeros([1, 7, 9, 0], np.float32), pooling_ratio=ratio, deterministic=True, seed=1,
               expected="INVALID_ARGUMENT")
        for bad in ([1.0, 0.9, 1.0, 1.0], [1.0, 1.5, 1.0], [1.0, 8.0, 1.0, 1.0]):
            t.case(op, x, pooling_ratio=bad, deterministic=True, seed=1, expected="INVALID_ARGUMENT")
        for bad in ([2.0, 1.5, 1.0, 1.0], [1.0, 1.5, 1.0, 2.0]):
            t.case(op, x, pooling_ratio=bad, deterministic=True, seed=1)
        t.case(op, x, pooling_ratio=ratio, seed=1)
        t.case(op, x[0], pooling_ratio=ratio, deterministic=True, seed=1)
        t.case(op, x[:0], pooling_ratio=ratio, deterministic=True, seed=1)
    x = np.arange(36.0).reshape(1, 6, 6, 1)
    y, g = x[:, 1::2, 2::3].copy(), shuffled(1, 3, 2, 1)
    rows, columns = np.array([0, 2, 4, 6]), np.array([0, 3, 6])
    shape = np.array([1, 6, 6, 1], np.int64)
    for d in (np.float32, np.float64, np.int32, np.int64):
        t.case("FractionalMaxPoolGrad", x.astype(d), y.astype(d), (g * 8).astype(d), rows, columns)
        for overlapping in (False, True):
            t.case("FractionalAvgPoolGrad", shape, (g * 8).astype(d), rows, columns, overlapping=overlapping)
    overlap, = t.tensorflow("MaxPool", [x], dict(ksize=[1, 3, 4, 1], strides=[1, 2, 3, 1], padding="SAME"))
    overlap = np.array([x[0, min(r + 2, 5), min(c + 3, 5), 0] for r in (0, 2, 4) for c in (0, 3)]).reshape(y.shape)
    t.case("FractionalMaxPoolGrad", x, overlap, g, rows, columns, overlapping=True)
    t.case("FractionalAvgPoolGrad", shape, g, rows + np.array([1, 0, 0, 0]), columns)
    t.case("FractionalMaxPoolGrad", x, y + 1, g, rows, columns, expected="INVALID_ARGUMENT")
    for bad in ([0, 2], [0, 2, 4, 9], [0, -2, 4, 6], [0, 4, 2, 6], [0, 2, 2, 6], [0, 2, 4, 2**62], [0, 2, 4, 5, 6]):
        bad = np.array(bad, np.int64)  # TensorFlow accepts some of these values, although they are out of range
        t.case("FractionalMaxPoolGrad", x, y, g, bad, columns, expected="INVALID_ARGUMENT")
        t.case("FractionalAvgPoolGrad", shape, g, bad, columns, expected="INVALID_ARGUMENT")
    t.case("FractionalAvgPoolGrad", shape, g, rows, np.array([0, 3, 7]), expected="INVALID_ARGUMENT")
    for bad in ([1, 6, 6], [2, 6, 6, 1], [1, -6, 6, 1], [1, 6, 6, 2], [2**40, 2**40, 2**40, 1]):
        t.case("FractionalAvgPoolGrad", np.array(bad, np.int64), g, rows, columns, expected="INVALID_ARGUMENT")
    t.case("FractionalMaxPoolGrad", x, y, g[:, :2].copy(), rows, columns, expected="INVALID_ARGUMENT")
    t.case("FractionalMaxPoolGrad", x[0], y, g, rows, columns, expected="INVALID_ARGUMENT")


def add_cases(t):
    max_cases(t)
    argmax_cases(t)
    avg_cases(t)
    pool_3d_cases(t)
    refused_cases(t)
    fractional_cases(t)
