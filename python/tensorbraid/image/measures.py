"""Measures of images: differences of neighbours, and how similar two images are."""

import numpy as np

from tensorbraid import dtypes
from tensorbraid.image.colors import convert_image_dtype
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.nn import activations as nn_activations, convolutions as nn_convolutions, pools as nn_pools
from tensorbraid.ops import arrays, control, elementwise, reductions, sequences


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
        a, b, max_val = _in_float32(a, b, max_val)
        mse = reductions.reduce_mean(elementwise.squared_difference(a, b), [-3, -2, -1])
        return elementwise.subtract(20 * elementwise.log(max_val) / float(np.log(10.0)),
                                    np.float32(10 / np.log(10)) * elementwise.log(mse), name="psnr")


def sobel_edges(image):
    """The changes of the brightness of images down and to the right, on a new last axis."""
    down = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    kernel = np.stack([down, down.T], axis=-1)[:, :, np.newaxis, :]
    known, sizes = image.shape, arrays.shape(image)
    filters = arrays.tile(convert_to_tensor(kernel, image.dtype), [1, 1, sizes[-1], 1], name="sobel_filters")
    padded = arrays.pad(image, [[0, 0], [1, 1], [1, 1], [0, 0]], mode="REFLECT")
    edges = nn_convolutions.depthwise_conv2d(padded, filters, [1, 1, 1, 1], "VALID")
    edges = arrays.reshape(edges, arrays.concat([sizes, [2]], 0))
    edges.set_shape(known.concatenate([2]))
    return edges


def _alike(a, b):
    """Two images as tensors; fails unless their shapes are the same and have three axes or more."""
    a, b = convert_to_tensor(a, name="img1"), convert_to_tensor(b, name="img2")
    for image in (a, b):
        if image.shape.ndims is not None and image.shape.ndims < 3:
            raise ValueError(f"images need 3 axes or more, got the shape {image.shape}")
    if not a.shape[-3:].is_compatible_with(b.shape[-3:]):
        raise ValueError(f"the shapes of the images differ: {a.shape} and {b.shape}")
    checks = [control.Assert(reductions.reduce_all(elementwise.equal(arrays.shape(a)[-3:], arrays.shape(b)[-3:])),
                             [arrays.shape(a), arrays.shape(b)], summarize=10)]
    return control.with_dependencies(checks, a), b


def _in_float32(a, b, max_val):
    max_val = convert_image_dtype(elementwise.cast(max_val, a.dtype), dtypes.float32)
    return convert_image_dtype(a, dtypes.float32), convert_image_dtype(b, dtypes.float32), max_val


def _sizes(image):
    """The sizes of all axes: numbers as far as they are known, else scalar tensors."""
    known, sizes = image.shape.as_list(), arrays.shape(image)
    return [sizes[i] if size is None else size for i, size in enumerate(known)]


def _by_image(images, function):
    """Applies a function of a batch of images to images with any number of axes before their last three."""
    before = _sizes(images)[:-3] if images.shape.ndims is not None else None
    if before is None:
        raise NotImplementedError("images of unknown rank")
    done = function(arrays.reshape(images, [-1] + _sizes(images)[-3:]))
    return arrays.reshape(done, before + _sizes(done)[1:])


def _gauss_window(size, sigma, channels):
    """The weights of a window of Gauss for each channel, [size, size, channels, 1]."""
    middle = elementwise.cast(size - 1, dtypes.float32) / 2.0
    x = elementwise.square(elementwise.cast(sequences.range(size), dtypes.float32) - middle) * (-0.5 / sigma**2)
    grid = arrays.reshape(x, [1, -1]) + arrays.reshape(x, [-1, 1])
    weights = nn_activations.softmax(arrays.reshape(grid, [1, -1]))
    return arrays.tile(arrays.reshape(weights, [size, size, 1, 1]), [1, 1, channels, 1])


def _similarities(a, b, max_val, filter_size, filter_sigma, k1, k2):
    """For each window and channel: how similar the brightness is, and how similar contrast and structure are."""
    window = _gauss_window(filter_size, filter_sigma, _sizes(a)[-1])

    def mean(x):
        return _by_image(x, lambda flat: nn_convolutions.depthwise_conv2d(flat, window, [1, 1, 1, 1], "VALID"))

    c1, c2 = (k1 * max_val)**2, (k2 * max_val)**2
    mean_a, mean_b = mean(a), mean(b)
    product, squares = mean_a * mean_b * 2.0, elementwise.square(mean_a) + elementwise.square(mean_b)
    brightness = (product + c1) / (squares + c1)
    covariance = mean(a * b) * 2.0 - product
    variances = mean(elementwise.square(a) + elementwise.square(b)) - squares
    return brightness, (covariance + c2) / (variances + c2)


def ssim(img1, img2, max_val, filter_size=11, filter_sigma=1.5, k1=0.01, k2=0.03, return_index_map=False):
    """The structural similarity of pairs of images; with `return_index_map`, of each of their windows."""
    with name_scope(None, "SSIM", [img1, img2]):
        a, b = _alike(img1, img2)
        a, b, max_val = _in_float32(a, b, max_val)
        brightness, structure = _similarities(a, b, max_val, filter_size, filter_sigma, k1, k2)
        similar = brightness * structure
        if not return_index_map:
            similar = reductions.reduce_mean(similar, [-3, -2])
        return reductions.reduce_mean(similar, [-1])


def ssim_multiscale(img1, img2, max_val, power_factors=(0.0448, 0.2856, 0.3001, 0.2363, 0.1333), filter_size=11,
                    filter_sigma=1.5, k1=0.01, k2=0.03):
    """The structural similarity of pairs of images at several scales, each half as large as the one before."""
    with name_scope(None, "MS-SSIM", [img1, img2]):
        a, b = _alike(img1, img2)
        a, b, max_val = _in_float32(a, b, max_val)
        factors = []
        for scale in range(len(power_factors)):
            with name_scope(None, f"Scale{scale}", [a, b]):
                if scale > 0:
                    a, b = _halved(a), _halved(b)
                brightness, structure = _similarities(a, b, max_val, filter_size, filter_sigma, k1, k2)
                last = scale == len(power_factors) - 1
                factors.append(nn_activations.relu(
                    reductions.reduce_mean(brightness * structure if last else structure, [-3, -2])))
        powers = elementwise.pow(arrays.stack(factors, axis=-1), list(power_factors))
        return reductions.reduce_mean(reductions.reduce_prod(powers, [-1]), [-1])


def _halved(images):
    """The images in half the size; a last row or column that is left over is doubled first."""
    def halve(flat):
        height, width = [size % 2 for size in _sizes(flat)[1:3]]
        paddings = arrays.reshape(arrays.stack([0, 0, 0, height, 0, width, 0, 0]), [4, 2])
        if isinstance(height, int) and isinstance(width, int):
            paddings = [[0, 0], [0, height], [0, width], [0, 0]]
        return nn_pools.avg_pool(arrays.pad(flat, paddings, mode="SYMMETRIC"), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")

    return _by_image(images, halve)
