"""Ops on images: decoding, sizes, crops, flips, colours, boxes."""

import types

import numpy as np

from tensorbraid import arrays, dtypes, elementwise, graphs, indexing, random_ops, reductions
from tensorbraid.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.op_functions import op_function

_JPEG = ("channels=0, ratio=1, fancy_upscaling=True, try_recover_truncated=False, acceptable_fraction=1, dct_method=''")
decode_and_crop_jpeg = op_function("DecodeAndCropJpeg", "contents, crop_window", _JPEG)
decode_bmp = op_function("DecodeBmp", "contents", "channels=0")
decode_gif = op_function("DecodeGif", "contents")
decode_jpeg = op_function("DecodeJpeg", "contents", _JPEG)
decode_png = op_function("DecodePng", "contents", "channels=0, dtype=tf.uint8")
encode_jpeg = op_function(
    "EncodeJpeg", "image", "format='', quality=95, progressive=False, optimize_size=False, chroma_downsampling=True, "
    "density_unit='in', x_density=300, y_density=300, xmp_metadata=''")
hsv_to_rgb = op_function("HSVToRGB", "images")
resize_area = op_function("ResizeArea", "images, size", "align_corners=False")
rgb_to_hsv = op_function("RGBToHSV", "images")

ResizeMethod = types.SimpleNamespace(BILINEAR=0, NEAREST_NEIGHBOR=1, BICUBIC=2, AREA=3)


def _resize(op_type):
    def op(images, size, align_corners=False, name=None, half_pixel_centers=False):
        return make_op(op_type, [images, size], name or op_type, align_corners=align_corners,
                       half_pixel_centers=half_pixel_centers).outputs[0]

    op.__name__ = op.__qualname__ = op_type
    op.__doc__ = f"The op {op_type}: images of another size [height, width]."
    return op


resize_bicubic = _resize("ResizeBicubic")
resize_bilinear = _resize("ResizeBilinear")
resize_nearest_neighbor = _resize("ResizeNearestNeighbor")


def decode_image(contents, channels=None, dtype=dtypes.uint8, name=None, expand_animations=True):
    """The image of a BMP, GIF, JPEG or PNG file."""
    with name_scope(name, "decode_image"):
        return make_op("DecodeImage", [contents], None, channels=channels or 0, dtype=dtypes.as_dtype(dtype),
                       expand_animations=expand_animations).outputs[0]


def encode_png(image, compression=-1, name=None):
    """The PNG file of an image."""
    return make_op("EncodePng", [image], name or "EncodePng", compression=compression).outputs[0]


def is_jpeg(contents, name=None):
    """Whether the contents of a file begin as those of a JPEG file."""
    from tensorbraid import string_ops

    with name_scope(name, "is_jpeg"):
        return elementwise.equal(string_ops.substr(contents, 0, 3), b"\xff\xd8\xff", name=name)


def _batch(images):
    """The images as a batch, and whether they were a single image."""
    ndims = images.shape.ndims
    if ndims is None:
        raise ValueError("'images' contains no shape.")
    if ndims not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    return (arrays.expand_dims(images, 0), True) if ndims == 3 else (images, False)


def resize_images(images, size, method=ResizeMethod.BILINEAR, align_corners=False, preserve_aspect_ratio=False, name=None):
    """The image, or batch of images, in another size [height, width]."""
    with name_scope(name, "resize", [images, size]):
        images, single = _batch(convert_to_tensor(images, name="images"))
        size = convert_to_tensor(size, dtypes.int32, name="size")
        if size.shape.as_list() != [2]:
            raise ValueError("'size' must be a 1-D Tensor of 2 elements: new_height, new_width")
        sizes = images.shape.as_list()[1:3]
        wanted = arrays.static_dims(size)
        if preserve_aspect_ratio:
            if wanted is None or None in sizes:
                raise NotImplementedError("preserve_aspect_ratio of images whose size is not known")
            scale = min(np.float32(wanted[0]) / np.float32(sizes[0]), np.float32(wanted[1]) / np.float32(sizes[1]))
            wanted = [int(np.round(np.float32(scale) * np.float32(s))) for s in sizes]
            size = convert_to_tensor(np.array(wanted, np.int32), name="size")
        if wanted is not None and wanted == sizes:
            return arrays.squeeze(images, [0]) if single else images
        functions = {0: resize_bilinear, 1: resize_nearest_neighbor, 2: resize_bicubic, 3: resize_area,
                     "bilinear": resize_bilinear, "nearest": resize_nearest_neighbor, "bicubic": resize_bicubic,
                     "area": resize_area}
        if method not in functions:
            raise ValueError("Resize method is not implemented: {}".format(method))
        resized = functions[method](images, size, align_corners=align_corners)
        return arrays.squeeze(resized, [0]) if single else resized


def _axis_flip(name_of_op, axis_of_one):
    def op(image):
        with name_scope(None, name_of_op, [image]):
            image = convert_to_tensor(image, name="image")
            if image.shape.ndims not in (3, 4):
                raise ValueError("'image' (shape %s) must have either 3 or 4 dimensions." % image.shape)
            return arrays.reverse(image, [axis_of_one + image.shape.ndims - 3])

    op.__name__ = op.__qualname__ = name_of_op
    op.__doc__ = "The image, or each of a batch, reversed along one of its axes."
    return op


flip_left_right = _axis_flip("flip_left_right", 1)
flip_up_down = _axis_flip("flip_up_down", 0)


def transpose(image, name=None):
    """The image, or each of a batch, with rows and columns exchanged."""
    with name_scope(name, "transpose", [image]):
        image = convert_to_tensor(image, name="image")
        if image.shape.ndims not in (3, 4):
            raise ValueError("'image' (shape %s) must have either 3 or 4 dimensions." % image.shape)
        return arrays.transpose(image, [1, 0, 2] if image.shape.ndims == 3 else [0, 2, 1, 3])


def rot90(image, k=1, name=None):
    """The image, or each of a batch, turned counter-clockwise k times by 90 degrees."""
    with name_scope(name, "rot90", [image, k]):
        image = convert_to_tensor(image, name="image")
        first = image.shape.ndims - 3
        perm = list(np.arange(first)) + [first + 1, first, first + 2]
        turns = k % 4
        if turns == 1:
            return arrays.transpose(arrays.reverse(image, [first + 1]), perm)
        if turns == 2:
            return arrays.reverse(image, [first, first + 1])
        if turns == 3:
            return arrays.reverse(arrays.transpose(image, perm), [first + 1])
        return image


def _random_flip(name_of_op, axis):
    def op(image, seed=None):
        with name_scope(None, name_of_op, [image]):
            image = convert_to_tensor(image, name="image")
            if image.shape.ndims == 3:
                number = random_ops.random_uniform([], 0, 1.0, seed=seed)
                flipped = arrays.reverse(image, [axis])
                return indexing.where(number < 0.5, flipped, image)
            if image.shape.ndims != 4:
                raise ValueError("'image' (shape %s) must have either 3 or 4 dimensions." % image.shape)
            count = arrays.shape(image)[0]
            numbers = random_ops.random_uniform([count], 0, 1.0, seed=seed)
            keep = elementwise.cast(elementwise.round(arrays.reshape(numbers, [count, 1, 1, 1])), image.dtype)
            flipped = arrays.reverse(image, [axis + 1])
            return keep * flipped + (1 - keep) * image

    op.__name__ = op.__qualname__ = name_of_op
    op.__doc__ = "The image, or each of a batch, reversed along an axis or not, at random."
    return op


random_flip_left_right = _random_flip("random_flip_left_right", 1)
random_flip_up_down = _random_flip("random_flip_up_down", 0)


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
                return elementwise.saturate_cast(scaled, dtype, scope) if saturate else elementwise.cast(scaled, dtype, scope)
            cast = elementwise.saturate_cast(image, dtype) if saturate else elementwise.cast(image, dtype)
            return elementwise.multiply(cast, (want + 1) // (have + 1), name=scope)
        if image.dtype.is_floating and dtype.is_floating:
            return elementwise.cast(image, dtype, scope)
        if image.dtype.is_integer:
            return elementwise.multiply(elementwise.cast(image, dtype), 1.0 / _scale(image.dtype), name=scope)
        scaled = elementwise.multiply(image, _scale(dtype) + 0.5)
        return elementwise.saturate_cast(scaled, dtype, scope) if saturate else elementwise.cast(scaled, dtype, scope)


def adjust_brightness(image, delta):
    """The image with `delta` added, as floats from [0, 1)."""
    with name_scope(None, "adjust_brightness", [image, delta]) as scope:
        image = convert_to_tensor(image, name="image")
        original = image.dtype
        values = image if original in (dtypes.float16, dtypes.float32) else convert_image_dtype(image, dtypes.float32)
        adjusted = elementwise.add(values, elementwise.cast(delta, values.dtype), name=scope)
        return convert_image_dtype(adjusted, original, saturate=True)


def adjust_contrast(images, contrast_factor):
    """The images with the distances from their means multiplied by a factor."""
    with name_scope(None, "adjust_contrast", [images, contrast_factor]):
        images = convert_to_tensor(images, name="images")
        original = images.dtype
        values = images if original in (dtypes.float16, dtypes.float32) else convert_image_dtype(images, dtypes.float32)
        adjusted = make_op("AdjustContrastv2", [values, contrast_factor]).outputs[0]
        return convert_image_dtype(adjusted, original, saturate=True)


def _in_floats(op_type, name_of_op, parameter):
    def op(image, factor, name=None):
        with name_scope(name, name_of_op, [image]):
            image = convert_to_tensor(image, name="image")
            original = image.dtype
            values = image if original in (dtypes.float16, dtypes.float32) else convert_image_dtype(image, dtypes.float32)
            return convert_image_dtype(make_op(op_type, [values, factor]).outputs[0], original)

    return op


_adjust_hue = _in_floats("AdjustHue", "adjust_hue", "delta")
_adjust_saturation = _in_floats("AdjustSaturation", "adjust_saturation", "saturation_factor")


def adjust_hue(image, delta, name=None):
    """The RGB image with `delta` added to its hue."""
    if isinstance(delta, (int, float)) and not -1 <= delta <= 1:
        raise ValueError("delta must be in the interval [-1, 1]")
    return _adjust_hue(image, delta, name)


def adjust_saturation(image, saturation_factor, name=None):
    """The RGB image with its saturation multiplied by a factor."""
    return _adjust_saturation(image, saturation_factor, name)


def adjust_gamma(image, gamma=1, gain=1):
    """gain * image ** gamma, as floats from [0, 1)."""
    with name_scope(None, "adjust_gamma", [image, gamma, gain]):
        image = convert_to_tensor(image, name="image")
        original = image.dtype
        values = image if original in (dtypes.float16, dtypes.float32) else convert_image_dtype(image, dtypes.float32)
        if not isinstance(gamma, graphs.Tensor) and gamma < 0:
            raise ValueError("Gamma should be a non-negative real number.")
        return convert_image_dtype(gain * values ** gamma, original, saturate=True)


def random_brightness(image, max_delta, seed=None):
    """adjust_brightness by a random number from [-max_delta, max_delta)."""
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_brightness(image, random_ops.random_uniform([], -max_delta, max_delta, seed=seed))


def random_contrast(image, lower, upper, seed=None):
    """adjust_contrast by a random factor from [lower, upper)."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return adjust_contrast(image, random_ops.random_uniform([], lower, upper, seed=seed))


def random_saturation(image, lower, upper, seed=None):
    """adjust_saturation by a random factor from [lower, upper)."""
    if upper <= lower:
        raise ValueError("upper must be > lower.")
    if lower < 0:
        raise ValueError("lower must be non-negative.")
    return adjust_saturation(image, random_ops.random_uniform([], lower, upper, seed=seed))


def random_hue(image, max_delta, seed=None):
    """adjust_hue by a random number from [-max_delta, max_delta)."""
    if max_delta > 0.5:
        raise ValueError("max_delta must be <= 0.5.")
    if max_delta < 0:
        raise ValueError("max_delta must be non-negative.")
    return adjust_hue(image, random_ops.random_uniform([], -max_delta, max_delta, seed=seed))


def rgb_to_grayscale(images, name=None):
    """The brightness of RGB images, with one channel."""
    with name_scope(name, "rgb_to_grayscale", [images]) as scope:
        images = convert_to_tensor(images, name="images")
        original = images.dtype
        values = convert_image_dtype(images, dtypes.float32)
        gray = arrays.expand_dims(_tensordot_last(values, [0.2989, 0.587, 0.114]), -1)
        return convert_image_dtype(gray, original, name=scope)


def _tensordot_last(values, weights):
    from tensorbraid import linalg_ops

    return linalg_ops.tensordot(values, graphs.constant(weights, values.dtype), [-1, -1])


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


def _colours(kernel, doc):
    def op(images):
        from tensorbraid import linalg_ops

        images = convert_to_tensor(images, name="images")
        return linalg_ops.tensordot(images, convert_to_tensor(kernel, images.dtype, name="kernel"),
                                    [[images.shape.ndims - 1], [0]])

    op.__doc__ = doc
    return op


rgb_to_yiq = _colours(_YIQ, "RGB images as YIQ images.")
rgb_to_yuv = _colours(_YUV, "RGB images as YUV images.")
yiq_to_rgb = _colours(_FROM_YIQ, "YIQ images as RGB images.")
yuv_to_rgb = _colours(_FROM_YUV, "YUV images as RGB images.")


def per_image_standardization(image):
    """The image, or each of a batch, with mean 0 and deviation 1."""
    with name_scope(None, "per_image_standardization", [image]) as scope:
        image = elementwise.cast(convert_to_tensor(image, name="image"), dtypes.float32) if not convert_to_tensor(
            image).dtype.is_floating else convert_to_tensor(image)
        pixels = reductions.reduce_prod(arrays.shape(image)[-3:])
        means = reductions.reduce_mean(image, axis=[-1, -2, -3], keepdims=True)
        deviation = reductions.reduce_std(image, axis=[-1, -2, -3], keepdims=True)
        least = elementwise.rsqrt(elementwise.cast(pixels, image.dtype))
        return elementwise.divide(image - means, elementwise.maximum(deviation, least), name=scope)


def total_variation(images, name=None):
    """The sum of the differences of neighbouring pixels."""
    with name_scope(name, "total_variation"):
        images = convert_to_tensor(images)
        ndims = images.shape.ndims
        if ndims not in (3, 4):
            raise ValueError("'images' must be either 3 or 4-dimensional.")
        axes = None if ndims == 3 else [1, 2, 3]
        down = images[..., 1:, :, :] - images[..., :-1, :, :]
        right = images[..., :, 1:, :] - images[..., :, :-1, :]
        return (reductions.reduce_sum(elementwise.abs(down), axis=axes)
                + reductions.reduce_sum(elementwise.abs(right), axis=axes))


def image_gradients(image):
    """The differences of neighbouring pixels down and to the right; the last row and column are 0."""
    image = convert_to_tensor(image)
    if image.shape.ndims != 4:
        raise ValueError("image_gradients expects a 4D tensor [batch_size, h, w, d], not {}.".format(image.shape))
    down = image[:, 1:, :, :] - image[:, :-1, :, :]
    right = image[:, :, 1:, :] - image[:, :, :-1, :]
    return arrays.pad(down, [[0, 0], [0, 1], [0, 0], [0, 0]]), arrays.pad(right, [[0, 0], [0, 0], [0, 1], [0, 0]])


def psnr(a, b, max_val, name=None):
    """The peak signal to noise ratio of pairs of images."""
    with name_scope(name, "PSNR", [a, b]):
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        max_val = convert_image_dtype(elementwise.cast(max_val, a.dtype), dtypes.float32)
        a, b = convert_image_dtype(a, dtypes.float32), convert_image_dtype(b, dtypes.float32)
        mse = reductions.reduce_mean(elementwise.squared_difference(a, b), [-3, -2, -1])
        return elementwise.subtract(20 * elementwise.log(max_val) / float(np.log(10.0)),
                                    np.float32(10 / np.log(10)) * elementwise.log(mse), name="psnr")


def _sizes(image):
    """The static sizes of the last three axes."""
    sizes = image.shape.as_list()[-3:]
    if None in sizes:
        raise NotImplementedError("crops and borders of images whose size is not known")
    return sizes


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The part of an image, or of each of a batch."""
    with name_scope(None, "crop_to_bounding_box", [image]):
        image = convert_to_tensor(image, name="image")
        height, width, _ = _sizes(image)
        if offset_width < 0 or offset_height < 0 or target_width <= 0 or target_height <= 0:
            raise ValueError("offsets must be >= 0 and the target's size > 0")
        if width < target_width + offset_width or height < target_height + offset_height:
            raise ValueError("width must be >= target + offset.")
        before = [0] * (image.shape.ndims - 3)
        return indexing.slice(image, before + [offset_height, offset_width, 0],
                              [-1] * len(before) + [target_height, target_width, -1])


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The image, or each of a batch, with borders of zeros."""
    with name_scope(None, "pad_to_bounding_box", [image]):
        image = convert_to_tensor(image, name="image")
        height, width, _ = _sizes(image)
        after_height, after_width = target_height - offset_height - height, target_width - offset_width - width
        if offset_height < 0 or offset_width < 0:
            raise ValueError("offset_height and offset_width must be >= 0")
        if after_height < 0 or after_width < 0:
            raise ValueError("width must be <= target - offset")
        paddings = [[0, 0]] * (image.shape.ndims - 3) + [[offset_height, after_height], [offset_width, after_width], [0, 0]]
        return arrays.pad(image, paddings)


def resize_image_with_crop_or_pad(image, target_height, target_width):
    """The image, or each of a batch, cropped or padded at its borders to a size."""
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image = convert_to_tensor(image, name="image")
        if target_height <= 0 or target_width <= 0:
            raise ValueError("target_height and target_width must be > 0.")
        height, width, _ = _sizes(image)
        image = crop_to_bounding_box(image, max((height - target_height) // 2, 0), max((width - target_width) // 2, 0),
                                     min(target_height, height), min(target_width, width))
        return pad_to_bounding_box(image, max((target_height - height) // 2, 0), max((target_width - width) // 2, 0),
                                   target_height, target_width)


def central_crop(image, central_fraction):
    """The central part of an image, or of each of a batch."""
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        if not 0.0 < central_fraction <= 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        if central_fraction == 1.0:
            return image
        height, width, _ = _sizes(image)
        top, left = int((height - height * central_fraction) / 2), int((width - width * central_fraction) / 2)
        before = [0] * (image.shape.ndims - 3)
        return indexing.slice(image, before + [top, left, 0], [-1] * len(before) + [height - 2 * top, width - 2 * left, -1])


def crop_and_resize(image, boxes, box_ind=None, crop_size=None, method="bilinear", extrapolation_value=0, name=None,
                    box_indices=None):
    """The parts of images in boxes, each in the same size."""
    box_ind = reductions._renamed("box_indices", box_indices, "box_ind", box_ind)
    return make_op("CropAndResize", [image, boxes, box_ind, crop_size], name or "CropAndResize", method=method,
                   extrapolation_value=extrapolation_value).outputs[0]


def draw_bounding_boxes(images, boxes, name=None, colors=None):
    """The images with boxes drawn on them."""
    if colors is None:
        return make_op("DrawBoundingBoxes", [images, boxes], name or "DrawBoundingBoxes").outputs[0]
    return make_op("DrawBoundingBoxesV2", [images, boxes, colors], name or "DrawBoundingBoxesV2").outputs[0]


def non_max_suppression(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"), name=None):
    """The numbers of the boxes with the highest scores that do not overlap a better one too much."""
    with name_scope(name, "non_max_suppression"):
        return make_op("NonMaxSuppressionV3", [boxes, scores, max_output_size, iou_threshold, score_threshold]).outputs[0]


def non_max_suppression_with_scores(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                                    soft_nms_sigma=0.0, name=None):
    """As non_max_suppression, with the scores of the chosen boxes."""
    with name_scope(name, "non_max_suppression_with_scores"):
        made = make_op("NonMaxSuppressionV5", [boxes, scores, max_output_size, iou_threshold, score_threshold,
                                               soft_nms_sigma], pad_to_max_output_size=False).outputs
        return made[0], made[1]


def non_max_suppression_padded(boxes, scores, max_output_size, iou_threshold=0.5, score_threshold=float("-inf"),
                               pad_to_max_output_size=False, name=None, sorted_input=False, canonicalized_coordinates=False,
                               tile_size=512):
    """As non_max_suppression, with zeros up to `max_output_size`, and the number of the chosen boxes."""
    if sorted_input or canonicalized_coordinates or tile_size != 512:
        raise NotImplementedError("sorted_input, canonicalized_coordinates and tile_size of non_max_suppression_padded")
    with name_scope(name, "non_max_suppression_padded"):
        made = make_op("NonMaxSuppressionV4", [boxes, scores, max_output_size, iou_threshold, score_threshold],
                       pad_to_max_output_size=pad_to_max_output_size).outputs
        return made[0], made[1]


def non_max_suppression_overlaps(overlaps, scores, max_output_size, overlap_threshold=0.5, score_threshold=float("-inf"),
                                 name=None):
    """As non_max_suppression, with the overlaps of all pairs of boxes given."""
    with name_scope(name, "non_max_suppression_overlaps"):
        return make_op("NonMaxSuppressionWithOverlaps",
                       [overlaps, scores, max_output_size, overlap_threshold, score_threshold]).outputs[0]
