"""Images in other sizes."""

import numpy as np

from tensorbraid import _core, dtypes
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays, elementwise, reductions
from tensorbraid.ops.op_functions import op_function

resize_area = op_function("ResizeArea", "images, size", "align_corners=False")


class ResizeMethod:
    """How the pixels of a resized image follow from those of the original."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


def _resize(op_type):
    def op(images, size, align_corners=False, name=None, half_pixel_centers=False):
        return make_op(op_type, [images, size], name or op_type, align_corners=align_corners,
                       half_pixel_centers=half_pixel_centers).outputs[0]

    return named(op, op_type, f"The op {op_type}: images of another size [height, width].")


resize_bicubic = _resize("ResizeBicubic")
resize_bilinear = _resize("ResizeBilinear")
resize_nearest_neighbor = _resize("ResizeNearestNeighbor")


def _batch(images):
    """The images as a batch, and whether they were a single image."""
    ndims = images.shape.ndims
    if ndims is None:
        raise ValueError("'images' contains no shape.")
    if ndims not in (3, 4):
        raise ValueError("'images' must have either 3 or 4 dimensions.")
    return (arrays.expand_dims(images, 0), True) if ndims == 3 else (images, False)


def resize_images(images, size, method=ResizeMethod.BILINEAR, align_corners=False, preserve_aspect_ratio=False,
                  name=None) -> _core.Tensor:
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
                wanted, size = None, _scaled_sizes(arrays.shape(images)[1:3], size)
            else:
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


def _scaled_sizes(sizes, wanted):
    """The largest sizes within the wanted ones that have the original's ratio, as a tensor."""
    sizes, wanted = elementwise.cast(sizes, dtypes.float32), elementwise.cast(wanted, dtypes.float32)
    scale = reductions.reduce_min(wanted / sizes)
    return elementwise.cast(elementwise.round(scale * sizes), dtypes.int32)
