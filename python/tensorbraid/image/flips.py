"""Images turned, flipped and transposed."""

import numpy as np

from tensorbraid import _core
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.ops import arrays, elementwise, indexing, random_ops


def _axis_flip(name_of_op, axis_of_one):
    def op(image):
        with name_scope(None, name_of_op, [image]):
            image = convert_to_tensor(image, name="image")
            if image.shape.ndims not in (3, 4):
                raise ValueError("'image' (shape %s) must have either 3 or 4 dimensions." % image.shape)
            return arrays.reverse(image, [axis_of_one + image.shape.ndims - 3])

    return named(op, name_of_op, "The image, or each of a batch, reversed along one of its axes.")


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
    def op(image, seed=None) -> _core.Tensor:
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

    return named(op, name_of_op, "The image, or each of a batch, reversed along an axis or not, at random.")


random_flip_left_right = _random_flip("random_flip_left_right", 1)
random_flip_up_down = _random_flip("random_flip_up_down", 0)
