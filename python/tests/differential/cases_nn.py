"""tf.nn: activations, normalization, convolutions, pools."""

import numpy as np
from registry import Result, case, each, floats, op

X = floats(2, 3)
CUBE = floats(2, 3, 4)
IMAGE = floats(2, 6, 5, 3)
SEQUENCE = floats(2, 7, 3)
VOLUME = floats(1, 4, 5, 4, 2)
SAME = {"names": False}
COMPUTED = "the shape rules of C++ do not compute with values that ops make of constants"

for name in ("relu", "relu6", "elu", "selu", "softplus", "softsign", "sigmoid", "tanh", "leaky_relu"):
    op(f"nn.{name}", 3 * X)
    op(f"nn.{name}", X.astype(np.float64), name="given")
op("nn.relu", np.array([-1, 2], np.int32))
op("nn.relu", np.array(["a"]))
op("nn.leaky_relu", X, 0.5)
op("nn.leaky_relu", X, alpha=np.array(0.3, np.float32), name="given")
for name in ("swish", "silu"):
    op(f"nn.{name}", X, _options=SAME)
    op(f"nn.{name}", X, beta=1.5, _options=SAME)
op("nn.crelu", X)
op("nn.crelu", CUBE, name="given", axis=1, _options=SAME)
for names in ("nn.softmax", "nn.log_softmax"):
    op(names, CUBE)
    op(names, CUBE, axis=1, name="given", _options=SAME)
    op(names, CUBE, dim=-1)
    op(names, CUBE, axis=5)
    op(names, CUBE, axis=0, dim=0)
op("nn.bias_add", IMAGE, [1.0, 2.0, 3.0])
op("nn.bias_add", CUBE, floats(3), data_format="NCHW", name="given")
op("nn.bias_add", CUBE, floats(4), "NHWC")
op("nn.bias_add", CUBE, floats(4), "wrong")
for name in ("xw_plus_b", "relu_layer"):
    op(f"nn.{name}", X, floats(3, 2), floats(2))
    op(f"nn.{name}", X, floats(3, 2), floats(2), name="given")
op("nn.zero_fraction math.zero_fraction", np.array([[0.0, 1.0], [0.0, 0.0]], np.float32), _options=SAME)
op("nn.zero_fraction", np.array([0, 1, 2], np.int32), name="given", _options=SAME)
op("nn.dropout", X, rate=0.4, seed=3, _options=SAME)
op("nn.dropout", X, 0.7, seed=3, _options=SAME)
op("nn.dropout", CUBE, rate=0.5, noise_shape=[2, 1, None], seed=4, name="given", _options=SAME)
op("nn.dropout", X)
op("nn.dropout", X, rate=1.5)
op("nn.dropout", np.array([1, 2], np.int32), rate=0.5)

# Moments and normalization.
for arguments in ({"axes": [0]}, {"axes": [0, 2], "keep_dims": True, "name": "given"}, {"axes": [1], "keepdims": True}):
    op("nn.moments", CUBE, _options=SAME, **arguments)
    op("nn.weighted_moments", CUBE, frequency_weights=floats(2, 3, 1, low=0.5, seed=1), _options=SAME, **arguments)
    op("nn.sufficient_statistics", CUBE, _options=SAME, **arguments)
op("nn.sufficient_statistics", CUBE, [0, 1], shift=0.5, name="given", _options=SAME)
op("nn.normalize_moments", np.float32(6.0), floats(3), floats(3, low=20.0, high=30.0), None, _options=SAME)
op("nn.normalize_moments", np.float32(6.0), floats(3), floats(3, low=20.0, high=30.0), 0.5, name="given", _options=SAME)
MEAN, VARIANCE = floats(3, seed=1), floats(3, seed=2, low=0.5)
op("nn.batch_normalization", IMAGE, MEAN, VARIANCE, floats(3, seed=3), floats(3, seed=4), 0.01, _options=SAME)
op("nn.batch_normalization", IMAGE, MEAN, VARIANCE, None, None, variance_epsilon=0.01, name="given", _options=SAME)
op("nn.batch_norm_with_global_normalization", IMAGE, MEAN, VARIANCE, floats(3), floats(3), 0.01, True, _options=SAME)
op("nn.batch_norm_with_global_normalization", input=IMAGE, mean=MEAN, variance=VARIANCE, beta=floats(3),
   gamma=floats(3),
   variance_epsilon=0.01, scale_after_normalization=False, name="given", _options=SAME)


def normalized(tf, size=1.0, **arguments):
    """Weighted: the sum of what is normalized does not depend on the images."""
    image, scale, offset = tf.constant(IMAGE * np.float32(size)), tf.constant(MEAN), tf.constant(VARIANCE)
    result, mean, variance = tf.nn.fused_batch_norm(image, scale, offset, **arguments)
    weights = floats(2, 6, 5, 3, seed=7) * np.float32(size)
    return Result([result * weights, mean, variance], wrt=[image, scale, offset])


case("nn.fused_batch_norm", normalized, names=False)
case("nn.fused_batch_norm", lambda tf: normalized(tf, epsilon=0.1, name="given"), names=False)
case("nn.fused_batch_norm", lambda tf: normalized(tf, size=1e-3, epsilon=1e-7), names=False)
op("nn.fused_batch_norm", IMAGE, MEAN, VARIANCE, mean=MEAN, variance=VARIANCE, is_training=False, _options=SAME)
op("nn.fused_batch_norm", IMAGE, MEAN, VARIANCE, is_training=False)
for name in ("nn.local_response_normalization", "nn.lrn"):
    op(name, IMAGE)
    op(name, IMAGE, depth_radius=1, bias=2.0, alpha=0.5, beta=0.75, name="given")
for names in ("nn.l2_normalize math.l2_normalize linalg.l2_normalize",):
    op(names, CUBE, axis=1, _options=SAME)
    op(names, CUBE, [0, 2], epsilon=0.5, name="given", _options=SAME)
    op(names, CUBE, dim=0, _options=SAME)

# Convolutions.
K1, K2, K3 = floats(3, 3, 4, seed=1), floats(3, 2, 3, 4, seed=1), floats(2, 2, 2, 2, 3, seed=1)
for arguments in ({"strides": 1, "padding": "SAME"}, {"strides": [1, 2, 1, 1], "padding": "VALID", "name": "given"},
                  {"strides": [2, 1], "padding": [[0, 0], [1, 0], [0, 2], [0, 0]]},
                  {"strides": 1, "padding": "SAME", "data_format": "no"}):
    op("nn.conv2d", IMAGE, K2, _options=SAME, **arguments)
case("nn.conv2d", lambda tf: tf.nn.conv2d(IMAGE, K2, 1, "VALID", dilations=2))  # TensorFlow's CPU has no gradient of it
case("nn.conv1d", lambda tf: tf.nn.conv1d(SEQUENCE, K1, 1, "VALID", dilations=2, name="given"), names=False)
op("nn.conv2d", input=IMAGE, filters=K2, strides=[1, 1, 1, 1], padding="SAME")
op("nn.conv2d", IMAGE, floats(3, 2, 4, 4), 1, "SAME")
op("nn.conv2d", IMAGE, K2, 1, "SAME", filters=K2)
op("nn.conv1d", SEQUENCE, K1, 2, "SAME", _options=SAME)
op("nn.conv1d", input=SEQUENCE, filters=K1, stride=1, padding="VALID", name="given", _options=SAME)
op("nn.conv1d", SEQUENCE, K1, 1, "VALID", data_format="no")
op("nn.conv3d", VOLUME, K3, [1, 1, 2, 1, 1], "SAME", _options=SAME)
op("nn.conv3d", VOLUME, filters=K3, strides=[1, 1, 1, 1, 1], padding="VALID", name="given")
for arguments in ({"padding": "SAME"}, {"padding": "VALID", "strides": [2, 1]},
                  {"padding": "VALID", "dilation_rate": [1, 2], "name": "given"},
                  {"padding": "VALID", "dilations": [2, 2]}):
    op("nn.convolution", IMAGE, K2, _options=SAME, **arguments)
op("nn.convolution", SEQUENCE, K1, "SAME", strides=[2], _options=SAME)
op("nn.convolution", VOLUME, K3, "VALID", _options=SAME)
op("nn.convolution", IMAGE, K2, "VALID", strides=[2, 2], dilation_rate=[2, 2], _options=SAME)
op("nn.atrous_conv2d", IMAGE, K2, 2, "VALID", _options=SAME)
op("nn.atrous_conv2d", IMAGE, K2, rate=1, padding="SAME", name="given", _options=SAME)
op("nn.atrous_conv2d_transpose", IMAGE, floats(2, 2, 4, 3), [2, 8, 7, 4], 2, "VALID", name="given", _options=SAME)
op("nn.conv2d_transpose", IMAGE, floats(3, 2, 4, 3), [2, 12, 10, 4], 2, name="given", _options=SAME)
op("nn.conv2d_transpose", input=IMAGE, filters=floats(3, 2, 4, 3), output_shape=[2, 8, 6, 4], strides=[1, 1, 1, 1],
   padding="VALID", _options=SAME)
op("nn.conv1d_transpose", SEQUENCE, floats(3, 2, 3), [2, 14, 2], 2, _options=SAME)
op("nn.conv1d_transpose", SEQUENCE, floats(3, 2, 3), output_shape=[2, 9, 2], strides=1, padding="VALID", name="given",
   _options=SAME)
op("nn.conv3d_transpose", VOLUME, floats(2, 2, 2, 3, 2), [1, 8, 10, 8, 3], [1, 2, 2, 2, 1], name="given", _options=SAME)
op("nn.conv_transpose", SEQUENCE, floats(3, 2, 3), [2, 14, 2], 2, _options=SAME)
op("nn.conv_transpose", IMAGE, floats(3, 2, 4, 3), [2, 8, 6, 4], strides=1, padding="VALID", name="given",
   _options=SAME)
op("nn.conv_transpose", VOLUME, floats(2, 2, 2, 3, 2), [1, 8, 10, 8, 3], strides=2, _options=SAME)
op("nn.conv_transpose", X, X, [1], 1)
op("nn.conv2d_backprop_filter", IMAGE, [3, 2, 3, 4], floats(2, 6, 5, 4), [1, 1, 1, 1], "SAME", name="given",
   _options=SAME)
op("nn.conv2d_backprop_input", [2, 6, 5, 3], K2, floats(2, 6, 5, 4), [1, 1, 1, 1], "SAME", name="given", _options=SAME)
op("nn.conv2d_backprop_input", [2, 6, 5, 3], filters=K2, out_backprop=floats(2, 4, 4, 4), strides=[1, 1, 1, 1],
   padding="VALID", _options=SAME)
for name in ("nn.conv3d_backprop_filter", "nn.conv3d_backprop_filter_v2"):
    op(name, VOLUME, [2, 2, 2, 2, 3], floats(1, 3, 4, 3, 3), [1, 1, 1, 1, 1], "VALID", name="given", _options=SAME)
D2 = floats(2, 2, 3, 2, seed=1)
for name in ("nn.depthwise_conv2d", "nn.depthwise_conv2d_native"):
    op(name, IMAGE, D2, [1, 1, 1, 1], "SAME", _options=SAME)
    op(name, IMAGE, D2, strides=[1, 2, 2, 1], padding="VALID", name="given", _options=SAME)
op("nn.depthwise_conv2d", IMAGE, D2, [1, 1, 1, 1], "VALID", rate=[2, 2], _options=SAME)
for prefix in ("nn.depthwise_conv2d_native_backprop", "nn.depthwise_conv2d_backprop"):
    op(f"{prefix}_filter", IMAGE, [2, 2, 3, 2], floats(2, 6, 5, 6), [1, 1, 1, 1], "SAME", name="given", _options=SAME)
    op(f"{prefix}_input", [2, 6, 5, 3], D2, floats(2, 5, 4, 6), strides=[1, 1, 1, 1], padding="VALID", _options=SAME)
op("nn.separable_conv2d", IMAGE, D2, floats(1, 1, 6, 2), [1, 1, 1, 1], "SAME", _options=SAME)
op("nn.separable_conv2d", IMAGE, D2, floats(1, 1, 6, 2), strides=[1, 1, 1, 1], padding="VALID", rate=[2, 1],
   name="given",
   _options=SAME)
DILATE = floats(2, 2, 3)
op("nn.dilation2d", IMAGE, DILATE, [1, 1, 1, 1], [1, 1, 1, 1], "SAME", _options=SAME)
op("nn.dilation2d", IMAGE, filters=DILATE, strides=[1, 2, 1, 1], dilations=[1, 2, 1, 1], padding="VALID", name="given",
   _options=SAME)
op("nn.erosion2d", IMAGE, DILATE, [1, 1, 1, 1], [1, 2, 1, 1], "VALID", name="given", _options=SAME)
op("nn.space_to_batch space_to_batch", IMAGE, [[0, 0], [1, 0]], 2, _options={"shapes": COMPUTED})
op("nn.space_to_batch space_to_batch", IMAGE, paddings=[[0, 0], [0, 1]], block_size=3, name="given",
   _options={"shapes": COMPUTED})
op("nn.space_to_depth", IMAGE[:, :, :4], 2)
op("nn.space_to_depth", IMAGE[:, :, :4], block_size=2, name="given", data_format="NHWC")
op("nn.depth_to_space", floats(1, 2, 2, 8), 2)
op("nn.depth_to_space", floats(1, 2, 2, 8), block_size=2, name="given", data_format="NHWC")
op("nn.depth_to_space", floats(1, 2, 2, 6), 2)


def with_space_to_batch(tf, rates, padding, **options):
    image, kernel = tf.constant(IMAGE), tf.constant(K2)
    outputs = tf.nn.with_space_to_batch(
        image, rates, padding, lambda value, rate, padding: tf.nn.conv2d(value, kernel, 1, padding), **options)
    return Result(outputs, wrt=[image, kernel])


case("nn.with_space_to_batch", lambda tf: with_space_to_batch(tf, [2, 2], "VALID"), names=False,
     shapes=COMPUTED)
case("nn.with_space_to_batch", lambda tf: with_space_to_batch(tf, [2, 1], "SAME", filter_shape=[3, 2]), names=False,
     shapes=COMPUTED)
case("nn.with_space_to_batch", lambda tf: with_space_to_batch(tf, [1, 1], "SAME"), names=False)
case("nn.with_space_to_batch", lambda tf: with_space_to_batch(tf, [2, 2], "SAME"))

# Pools.
for kind in ("max", "avg"):
    for name in (f"nn.{kind}_pool", f"nn.{kind}_pool2d", f"nn.{kind}_pool_v2"):
        op(name, IMAGE, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
        op(name, IMAGE, ksize=3, strides=[1, 2], padding="SAME", name="given")
        op(name, IMAGE, 2, 2, "no")
    op(f"nn.{kind}_pool", input=IMAGE, value=None, ksize=2, strides=1, padding="SAME")
    op(f"nn.{kind}_pool1d", SEQUENCE, 2, 2, "VALID", _options=SAME)
    op(f"nn.{kind}_pool1d", SEQUENCE, ksize=[3], strides=[1], padding="SAME", name="given", _options=SAME)
    op(f"nn.{kind}_pool3d", VOLUME, 2, 2, "VALID", _options=SAME)
    op(f"nn.{kind}_pool3d", VOLUME, ksize=[1, 2, 2, 2, 1], strides=[1, 1, 2, 1, 1], padding="SAME", name="given")
    op(f"nn.{kind}_pool_v2", SEQUENCE, 2, 1, "SAME", _options=SAME)
    op(f"nn.{kind}_pool_v2", VOLUME, 2, 1, "SAME", name="given")
    op("nn.pool", IMAGE, [2, 2], kind.upper(), "VALID", strides=[2, 1], _options=SAME)
    op("nn.pool", IMAGE, [2, 2], kind.upper(), "SAME", name="given", _options=SAME)
    op("nn.pool", SEQUENCE, window_shape=[2], pooling_type=kind.upper(), padding="SAME", strides=[2], _options=SAME)
    op("nn.pool", IMAGE, [2, 2], kind.upper(), "VALID", dilation_rate=[2, 1],
       _options={"names": False, "shapes": COMPUTED})
op("nn.pool", IMAGE, [2, 2], "no", "SAME")
op("nn.max_pool_with_argmax", IMAGE, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
case("nn.max_pool_with_argmax", lambda tf: tf.nn.max_pool_with_argmax(
    IMAGE, [1, 2, 2, 1], [1, 1, 1, 1], padding="SAME", output_dtype=tf.int32, include_batch_in_index=True,
    name="given"))


def fractional(tf, f, **arguments):
    """TensorFlow's static shapes of the sequences are wrong by 1."""
    image = tf.constant(IMAGE)
    pooled, rows, columns = f(image, [1.0, 1.5, 1.4, 1.0], deterministic=True, seed=3, seed2=5, **arguments)
    return Result([pooled, tf.reduce_sum(rows), tf.reduce_prod(columns[1:])], wrt=[image])


each("nn.fractional_max_pool nn.fractional_avg_pool", fractional, names=False)
each("nn.fractional_max_pool nn.fractional_avg_pool", lambda tf, f: fractional(
    tf, f, pseudo_random=True, overlapping=True, name="given"), names=False)
