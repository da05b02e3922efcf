"""Colours of images: dtypes, brightness, contrast, hue, saturation, colour spaces."""

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays, elementwise, linalg_ops, random_ops, reductions
from tensorbraid.ops.op_functions import op_function

hsv_to_rgb = op_function("HSVToRGB", "images")
rgb_to_hsv = op_function("RGBToHSV", "images")


def _scale(dtype):
    return np.iinfo(dtype.as_numpy_dtype).max


def convert_image_dtype(image, dtype, saturate=False, name=None):
    """The image in another dtype. Floats are from [0, 1); integers use the whole range of their type."""
    image = convert_to_tensor(image, name="image")
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_floating or dtype.is_integer):
        raise AttributeError("dtype must be either floating point or integer")
    if dtype == image.dtype:
        return arrays.identity(image, name=name)
    with name_scope(name, "convert_image", [image]) as scope:
        if image.dtype.is_integer and dtype.is_integer:
            have, want = _scale(image.dtype), _scale(dtype)
            if have > want:
                scaled = elementwise.floordiv(image, (have + 1) // (want + 1))
                convert = elementwise.saturate_cast if saturate else elementwise.cast
                return convert(scaled, dtype, scope)
            cast = elementwise.saturate_cast(image, dtype) if saturate else elementwise.cast(image, dtype)
            return elementwise.multiply(cast, (want + 1) // (have + 1), name=scope)
        if image.dtype.is_floating and dtype.is_floating:
            return elementwise.cast(image, dtype, scope)
        if image.dtype.is_integer:
            return elementwise.multiply(elementwise.cast(image, dtype), 1.0 / _scale(image.dtype), name=scope)
        scaled = elementwise.multiply(image, _scale(dtype) + 0.5)
        return elementwise.saturate_cast(scaled, dtype, scope) if saturate else elementwise.cast(scaled, dtype, scope)


def _floats(image):
    """The image as float16, if it is that already, or float32."""
    return image if image.dtype in (dtypes.float16, dtypes.float32) else convert_image_dtype(image, dtypes.float32)


def adjust_brightness(image, delta):
    """The image with `delta` added, as floats from [0, 1)."""
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        image = convert_to_tensor(image, name="image")
        values = _floats(image)
        adjusted = elementwise.add(values, elementwise.cast(delta, values.dtype), name=scope)
        return convert_image_dtype(adjusted, image.dtype, saturate=True)


def adjust_contrast(images, contrast_factor):
    """The images with the distances from their means multiplied by a factor."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]):
        images = convert_to_tensor(images, name="images")
        adjusted = make_op("AdjustContrastv2", [_floats(images), contrast_factor]).outputs[0]
        return convert_image_dtype(adjusted, images.dtype, saturate=True)


def _adjusted(op_type, image, factor, name, default_name):
    with name_scope(name, default_name, [image]):
        image = convert_to_tensor(image, name="image")
        return convert_image_dtype(make_op(op_type, [_floats(image), factor]).outputs[0], image.dtype)


def adjust_hue(image, delta, name=None):
    """The RGB image with `delta` added to its hue."""
    if isinstance(delta, (int, float)) and not -1 <= delta <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    return _adjusted("AdjustHue", image, delta, name, "adjust_hue")


def adjust_saturation(image, saturation_factor, name=None):
    """The RGB image with its saturation multiplied by a factor."""
    return _adjusted("AdjustSaturation", image, saturation_factor, name, "adjust_saturation")


def adjust_gamma(image, gamma=1, gain=1):
    """gain * image ** gamma, as floats from [0, 1)."""
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        values = _floats(image)
        if not isinstance(gamma, graphs.Tensor) and gamma < 0:
            raise ValueError("Gamma should be a non-negative real number.")
        return convert_image_dtype(gain * values ** gamma, image.dtype, saturate=True)


def random_brightness(image, max_delta, seed=None):
    """adjust_brightness by a random number from [-max_delta, max_delta)."""
    with arguments.named("max_delta", "a number", max_delta):
        is_negative = max_delta < 0
    if is_negative:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random_ops.random_uniform([], -max_delta, max_delta, seed=seed))


def _random_factor(lower, upper, seed):
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return random_ops.random_uniform([], lower, upper, seed=seed)


def random_contrast(image, lower, upper, seed=None):
    """adjust_contrast by a random factor from [lower, upper)."""
    return adjust_contrast(image, _random_factor(lower, upper, seed))


def random_saturation(image, lower, upper, seed=None):
    """adjust_saturation by a random factor from [lower, upper)."""
    return adjust_saturation(image, _random_factor(lower, upper, seed))


def random_hue(image, max_delta, seed=None):
    """adjust_hue by a random number from [-max_delta, max_delta)."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, random_ops.random_uniform([], -max_delta, max_delta, seed=seed))


def rgb_to_grayscale(images, name=None) -> graphs.Tensor:
    """The brightness of RGB images, with one channel."""
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        original = images.dtype
        values = convert_image_dtype(images, dtypes.float32)
        weights = graphs.constant([0.2989, 0.587, 0.114], values.dtype)
        gray = arrays.expand_dims(linalg_ops.tensordot(values, weights, [-1, -1]), -1)
        return convert_image_dtype(gray, original, name=scope)


def grayscale_to_rgb(images, name=None):
    """The same brightness in three channels."""
    with name_scope(name, "grayscale_to_rgb", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        if images.shape.ndims is None:
            raise NotImplementedError("grayscale_to_rgb of images of unknown rank")
        multiples = np.array([1] * (images.shape.ndims - 1) + [3], np.int32)
        return arrays.tile(images, multiples, name=scope)


_YIQ = [[0.299, 0.59590059, 0.2115], [0.587, -0.27455667, -0.52273617], [0.114, -0.32134392, 0.31119955]]
_YUV = [[0.299, -0.14714119, 0.61497538], [0.587, -0.28886916, -0.51496512], [0.114, 0.43601035, -0.10001026]]
_FROM_YUV = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]
_FROM_YIQ = [[1, 1, 1], [0.95598634, -0.27201283, -1.10674021], [0.6208248, -0.64720424, 1.70423049]]


def _converted(name, kernel, doc):
    def op(images):
        images = convert_to_tensor(images, name="images")
        return linalg_ops.tensordot(images, convert_to_tensor(kernel, images.dtype, name="kernel"),
                                    [[images.shape.ndims - 1], [0]])

    return named(op, name, doc)


rgb_to_yiq = _converted("rgb_to_yiq", _YIQ, "RGB images as YIQ images.")
rgb_to_yuv = _converted("rgb_to_yuv", _YUV, "RGB images as YUV images.")
yiq_to_rgb = _converted("yiq_to_rgb", _FROM_YIQ, "YIQ images as RGB images.")
yuv_to_rgb = _converted("yuv_to_rgb", _FROM_YUV, "YUV images as RGB images.")


def per_image_standardization(image):
    """The image, or each of a batch, with mean 0 and deviation 1."""
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = convert_to_tensor(image, name="image")
        if not image.dtype.is_floating:
            image = elementwise.cast(image, dtypes.float32)
        pixels = reductions.reduce_prod(arrays.shape(image)[-3:])
        means = reductions.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = reductions.reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        least = elementwise.rsqrt(elementwise.cast(pixels, image.dtype))
        return elementwise.divide(image - means, elementwise.maximum(deviation, least), name=scope)
