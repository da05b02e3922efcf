"""Parts of images, and images with borders. Sizes that are not known before the step are tensors."""

import numpy as np

from tensorbraid import dtypes
from tensorbraid.image import sizes as image_sizes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.ops import arrays, control, elementwise, indexing


def _is_tensor(value):
    return isinstance(value, graphs.Tensor)


def _ranked(image):
    """The image as a tensor of rank 3 or 4. An unknown rank counts as 3."""
    image = convert_to_tensor(image, name="image")
    if image.shape.ndims is None:
        image = arrays.identity(image)
        image.set_shape([None] * 3)
    if image.shape.ndims not in (3, 4):
        raise ValueError(f"'image' (shape {image.shape}) must have either 3 or 4 dimensions.")
    return image


def _size(image, axis):
    """The size of an axis: a number, or a tensor if only the step knows it."""
    size = image.shape.as_list()[axis]
    return arrays.shape(image)[axis] if size is None else size


def _larger(x, y):
    return elementwise.maximum(x, y) if _is_tensor(x) or _is_tensor(y) else max(x, y)


def _smaller(x, y):
    return elementwise.minimum(x, y) if _is_tensor(x) or _is_tensor(y) else min(x, y)


def _checked(image, *conditions):
    """The image; ValueError for a condition that is false, or an error in the step if only the step knows it."""
    checks = []
    for condition, message in conditions:
        if _is_tensor(condition):
            checks.append(control.Assert(condition, [message]))
        elif not condition:
            raise ValueError(message)
    return control.with_dependencies(checks, image) if checks else image


def _with_size(image, height, width, like):
    """The image with what is known of its static size."""
    known = [None if _is_tensor(size) else size for size in (height, width)]
    dims = like.shape.as_list()
    image.set_shape(dims[:-3] + known + dims[-1:])
    return image


def crop_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The part of an image, or of each of a batch."""
    with name_scope(None, "crop_to_bounding_box", [image]):
        image = _ranked(image)
        image = _checked(
            image, (offset_width >= 0, "offset_width must be >= 0."),
            (offset_height >= 0, "offset_height must be >= 0."), (target_width > 0, "target_width must be > 0."),
            (target_height > 0, "target_height must be > 0."),
            (_size(image, -2) >= target_width + offset_width, "width must be >= target + offset."),
            (_size(image, -3) >= target_height + offset_height, "height must be >= target + offset."))
        before = image.shape.ndims - 3
        part = indexing.slice(image, arrays.stack([0] * before + [offset_height, offset_width, 0]),
                              arrays.stack([-1] * before + [target_height, target_width, -1]))
        return _with_size(part, target_height, target_width, image)


def pad_to_bounding_box(image, offset_height, offset_width, target_height, target_width):
    """The image, or each of a batch, with borders of zeros."""
    with name_scope(None, "pad_to_bounding_box", [image]):
        image = _ranked(image)
        after_width = target_width - offset_width - _size(image, -2)
        after_height = target_height - offset_height - _size(image, -3)
        image = _checked(
            image, (offset_height >= 0, "offset_height must be >= 0"), (offset_width >= 0, "offset_width must be >= 0"),
            (after_width >= 0, "width must be <= target - offset"),
            (after_height >= 0, "height must be <= target - offset"))
        flat = [0, 0] * (image.shape.ndims - 3) + [offset_height, after_height, offset_width, after_width, 0, 0]
        padded = arrays.pad(image, arrays.reshape(arrays.stack(flat), [image.shape.ndims, 2]))
        return _with_size(padded, target_height, target_width, image)


def resize_image_with_crop_or_pad(image, target_height, target_width):
    """The image, or each of a batch, cropped or padded at its borders to a size."""
    with name_scope(None, "resize_image_with_crop_or_pad", [image]):
        image = _checked(_ranked(image), (target_width > 0, "target_width must be > 0."),
                         (target_height > 0, "target_height must be > 0."))
        height, width = _size(image, -3), _size(image, -2)
        image = crop_to_bounding_box(
            image, _larger((height - target_height) // 2, 0), _larger((width - target_width) // 2, 0),
            _smaller(target_height, height), _smaller(target_width, width))
        return pad_to_bounding_box(image, _larger((target_height - height) // 2, 0),
                                   _larger((target_width - width) // 2, 0), target_height, target_width)


def resize_image_with_pad(image, target_height, target_width, method=image_sizes.ResizeMethod.BILINEAR,
                          align_corners=False):
    """The image, or each of a batch, resized without distortion and padded to a size."""
    with name_scope(None, "resize_image_with_pad", [image]):
        image = _checked(_ranked(image), (target_width > 0, "target_width must be > 0."),
                         (target_height > 0, "target_height must be > 0."))
        floats = [elementwise.cast(size, dtypes.float32)
                  for size in (_size(image, -3), _size(image, -2), target_height, target_width)]
        height, width, wanted_height, wanted_width = floats
        ratio = elementwise.maximum(width / wanted_width, height / wanted_height)
        new_height, new_width = height / ratio, width / ratio
        border_height, border_width = (wanted_height - new_height) / 2, (wanted_width - new_width) / 2
        size = [elementwise.cast(elementwise.floor(x), dtypes.int32) for x in (new_height, new_width)]
        resized = image_sizes.resize_images(image, arrays.stack(size), method, align_corners=align_corners)
        borders = [elementwise.maximum(0, elementwise.cast(elementwise.floor(x), dtypes.int32))
                   for x in (border_height, border_width)]
        return pad_to_bounding_box(resized, borders[0], borders[1], target_height, target_width)


def central_crop(image, central_fraction):
    """The central part of an image, or of each of a batch."""
    with name_scope(None, "central_crop", [image]):
        image = convert_to_tensor(image, name="image")
        fraction = central_fraction
        if _is_tensor(fraction):
            known = arrays.get_static_value(fraction)
            fraction = fraction if known is None else known
        if _is_tensor(fraction):
            image = _checked(image, (elementwise.logical_and(fraction > 0.0, fraction <= 1.0),
                                     "central_fraction must be within (0, 1]"))
        elif not 0.0 < fraction <= 1.0:
            raise ValueError("central_fraction must be within (0, 1]")
        elif fraction == 1.0:
            return image
        if image.shape.ndims not in (3, 4):
            raise ValueError("`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = "
                             f"{image.shape.ndims}.")
        begin, sizes = [], []
        for axis in (-3, -2):
            size = _size(image, axis)
            if _is_tensor(size) or _is_tensor(fraction):
                wide = elementwise.cast(size, dtypes.float64)
                start = elementwise.cast((wide - wide * elementwise.cast(fraction, dtypes.float64)) / 2, dtypes.int32)
            else:
                start = int((size - size * np.float64(fraction)) / 2)
            begin.append(start)
            sizes.append(size - start * 2)
        before = image.shape.ndims - 3
        part = indexing.slice(image, arrays.stack([0] * before + begin + [0]),
                              arrays.stack([-1] * before + sizes + [-1]))
        return _with_size(part, sizes[0], sizes[1], image)
