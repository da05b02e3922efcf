"""Rows of batch normalization and local response normalization."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
f32 = np.float32


def values(*shape, seed=1):
    return (np.random.RandomState(seed).rand(*shape) * 4 - 1.5).astype(f32)


def eager(op, *inputs, **attrs):
    """Runs the kernel of an op eagerly. In a graph, TensorFlow's optimizer would rewrite the op and lose outputs."""
    names = [a.name for a in tf.raw_ops.__dict__[op].__signature__.parameters.values()]
    with tf.device("/CPU:0"):
        return [o.numpy() for o in getattr(tf.raw_ops, op)(**dict(zip(names, inputs)), **attrs)]


def inference(t, op, x, scale, offset, mean, variance, **attrs):
    """Adds a row without training. In TensorFlow, outputs 3 and 4 are then uninitialized memory. Ours are the mean and
    the variance, which the gradient needs."""
    expected = eager(op, x, scale, offset, mean, variance, is_training=False, **attrs)
    expected[3:5] = [mean, variance]
    t.case(op, x, scale, offset, mean, variance, is_training=False, expected=expected, **attrs)


def first(x):
    return np.ascontiguousarray(np.moveaxis(x, -1, 1))


def fused_cases(t):
    scale, offset, mean, variance = (np.abs(values(3, seed=s)) + f32(0.2) for s in (2, 3, 4, 5))
    none = np.zeros([0], f32)
    for op in ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"):
        v3 = op.endswith("V3")
        types = [f32] if op == "FusedBatchNorm" else [f32, np.float16, bf16]
        for d in types:
            for shape in ((2, 3, 4, 3), (1, 2, 3, 3), (1, 1, 1, 3)):
                x = values(*shape).astype(d)
                t.case(op, x, scale, offset, none, none, **{})
                t.case(op, first(x), scale, offset, none, none, data_format="NCHW")
                t.case(op, x, scale, offset, mean, variance, exponential_avg_factor=0.25, epsilon=0.01)
                inference(t, op, x, scale, offset, mean, variance, epsilon=0.01)
                inference(t, op, first(x), scale, offset, mean, variance, data_format="NCHW")
                grad = op.replace("Norm", "NormGrad")
                dy = values(*shape, seed=7).astype(d)
                for training in (True, False):
                    rest = [scale, mean, variance] + ([none] if v3 else [])
                    t.case(grad, dy, x, *rest, epsilon=0.01, is_training=training)
                    # TensorFlow supports channels first only for training, so the expected values are computed channels last.
                    expected = t.tensorflow(grad, [dy, x, *rest], dict(is_training=training))
                    expected[0] = first(expected[0])
                    t.case(grad, first(dy), first(x), *rest, data_format="NCHW", is_training=training,
                           expected=expected)
        x = values(2, 3, 4, 3)
        t.case(op, x, scale, offset, mean, variance, exponential_avg_factor=0.0)
        t.case(op, x, scale, offset, mean[:2], variance[:1])  # not read
        t.case(op, values(1, 5, 300, 3) + 100, scale, offset, none, none, tolerance=1e-4)
        nan = np.full([3], np.nan, f32)
        ends = [np.zeros([], f32)] if v3 else []
        for shape in ((0, 2, 3, 3), (2, 0, 3, 3)):
            x = np.zeros(shape, f32)
            # TensorFlow leaves outputs 3 and 4 uninitialized.
            t.case(op, x, scale, offset, none, none, expected=[x, nan, nan, nan, nan, *ends])
            t.case(op, x, scale, offset, mean, variance, is_training=False,
                   expected=[x, nan, nan, mean, variance, *ends])
            for training in (True, False):
                t.case(op.replace("Norm", "NormGrad"), x, x, scale, mean, variance, *([none] if v3 else []),
                       is_training=training)
        t.case(op, values(2, 2, 2, 0), none, none, none, none)
        x = values(2, 2, 2, 3)
        x[0, 0, 0, 0] = np.nan
        t.case(op, x, scale, offset, none, none)
        inference(t, op, x, scale, offset, mean, -variance)
        for bad in ((x, scale[:2], offset, none, none), (x, scale, offset[:2], none, none),
                    (x, scale.reshape(1, 3), offset, none, none), (x[0], scale, offset, none, none),
                    (x[None, None], scale, offset, none, none)):
            t.case(op, *bad, expected="INVALID_ARGUMENT")
        t.case(op, x, scale, offset, mean[:2], variance, exponential_avg_factor=0.5)
        t.case(op, x, scale, offset, none, none, exponential_avg_factor=0.5)
        t.case(op, x, scale, offset, none, none, is_training=False, expected="INVALID_ARGUMENT")
        grad = op.replace("Norm", "NormGrad")
        end = [none] if v3 else []
        for bad in ((x, x[:1], scale, mean, variance), (x, x, scale[:1], mean, variance),
                    (x, x, scale, mean[:1], variance), (x, x, scale, mean, variance.reshape(3, 1)),
                    (x[0], x[0], scale, mean, variance)):
            t.case(grad, *bad, *end, expected="INVALID_ARGUMENT")
    x = values(2, 2, 3, 2, 3)
    op = "FusedBatchNormV3"
    t.case(op, x, scale, offset, none, none, data_format="NDHWC")
    t.case(op, first(x), scale, offset, none, none, data_format="NCDHW")
    inference(t, op, x, scale, offset, mean, variance, data_format="NDHWC")
    inference(t, op, first(x), scale, offset, mean, variance, data_format="NCDHW")
    for training in (True, False):
        grad = "FusedBatchNormGradV3"
        t.case(grad, x[::-1].copy(), x, scale, mean, variance, none, data_format="NDHWC", is_training=training)
        expected = t.tensorflow(grad, [x[::-1].copy(), x, scale, mean, variance, none],
                                dict(data_format="NDHWC", is_training=training))
        expected[0] = first(expected[0])
        t.case(grad, first(x[::-1]), first(x), scale, mean, variance, none, data_format="NCDHW",
               is_training=training, expected=expected)


def global_cases(t):
    """Rows of ops that TensorFlow has removed. The expected values follow from the definitions of the ops."""
    x, dy = values(2, 2, 3, 2).astype(np.float64), values(2, 2, 3, 2, seed=2).astype(np.float64)
    mean, variance, beta, gamma = (np.abs(values(2, seed=s)).astype(np.float64) + 0.2 for s in (3, 4, 5, 6))
    epsilon = float(f32(0.01))
    rsqrt = 1 / np.sqrt(variance + epsilon)
    total = lambda a: a.sum((0, 1, 2))
    for scaled in (True, False):
        g = gamma if scaled else np.ones(2)
        y = (x - mean) * rsqrt * g + beta
        attrs = dict(variance_epsilon=epsilon, scale_after_normalization=scaled)
        grads = [dy * rsqrt * g, -total(dy) * g * rsqrt, -0.5 * total(dy * (x - mean)) * g * rsqrt**3, total(dy),
                 total(dy * (x - mean)) * rsqrt * (1.0 if scaled else 0.0)]
        op = "BatchNormWithGlobalNormalization"
        t.case(op, x, mean, variance, beta, gamma, expected=[y], gradient=[0, 1, 2, 3] + ([4] if scaled else []), **attrs)
        t.case(op + "Grad", x, mean, variance, gamma, dy, expected=grads, **attrs)
        for d, tolerance in ((f32, 1e-5), (np.float16, 2e-2), (bf16, 1e-1)):
            cast = lambda *arrays: [a.astype(d) for a in arrays]
            t.case(op, *cast(x, mean, variance, beta, gamma), expected=cast(y), tolerance=tolerance, **attrs)
            t.case(op + "Grad", *cast(x, mean, variance, gamma, dy), expected=cast(*grads), tolerance=tolerance, **attrs)
        for bad in ((x[0], mean, variance, beta, gamma), (x, mean[:1], variance, beta, gamma),
                    (x, mean, variance, beta, gamma.reshape(1, 2))):
            t.case(op, *bad, expected="INVALID_ARGUMENT", **attrs)
        for bad in ((x, mean, variance, gamma, dy[:1]), (x, mean, variance[:1], gamma, dy), (x[0], mean, variance, gamma, dy[0])):
            t.case(op + "Grad", *bad, expected="INVALID_ARGUMENT", **attrs)


def local_response_cases(t):
    x = values(2, 2, 3, 9)
    for attrs in ({}, dict(depth_radius=1), dict(depth_radius=0), dict(depth_radius=2, bias=2.0, alpha=0.3, beta=0.75),
                  dict(depth_radius=100, beta=1.0), dict(alpha=0.0), dict(depth_radius=3, beta=-0.5)):
        for d in (f32, np.float16):
            y, = t.tensorflow("LRN", [x.astype(d)], attrs)
            # TensorFlow's sums of float16 are rounded at each step.
            loose = None if d == f32 else 2e-2
            t.case("LRN", x.astype(d), tolerance=loose, **attrs)
            t.case("LRNGrad", values(2, 2, 3, 9, seed=2).astype(d), x.astype(d), y, tolerance=loose, **attrs)
    y, = t.tensorflow("LRN", [x], {})
    t.case("LRN", x.astype(bf16), expected=[y.astype(bf16)], tolerance=3e-2)  # no kernel in TensorFlow
    for shape in ((0, 2, 3, 9), (1, 2, 3, 0)):
        t.case("LRN", np.zeros(shape, f32))
        t.case("LRNGrad", *[np.zeros(shape, f32)] * 3)
    t.case("LRN", x[0])
    for radius in (-1, 2**40):
        t.case("LRN", x, depth_radius=radius, expected="INVALID_ARGUMENT")
        t.case("LRNGrad", x, x, x, depth_radius=radius, expected="INVALID_ARGUMENT")
    for bad in ((x, x[:1], x), (x[:1], x, x), (x, x, x[:1]), (x[0], x[0], x[0])):
        t.case("LRNGrad", *bad)


def add_cases(t):
    fused_cases(t)
    global_cases(t)
    local_response_cases(t)
