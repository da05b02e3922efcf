"""Blocks of positions that move between the batch, the depth and the space of images; patches of images."""

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.ops import arrays
from tensorbraid.ops.arrays import _op
from tensorbraid.ops.old_arguments import renamed
from tensorbraid.ops.op_functions import op_function

batch_to_space_nd = op_function("BatchToSpaceND", "input, block_shape, crops")
depth_to_space_node = op_function("DepthToSpace", "input", "block_size, data_format='NHWC'")
extract_volume_patches = op_function("ExtractVolumePatches", "input", "ksizes, strides, padding")
space_to_batch_nd = op_function("SpaceToBatchND", "input, block_shape, paddings")


def depth_to_space(input, block_size, name=None, data_format="NHWC"):
    """Moves values of the depth axis into blocks of the image."""
    return depth_to_space_node(input, block_size, data_format, name)


def space_to_depth(input, block_size, name=None, data_format="NHWC"):
    """Moves blocks of the image into the depth axis."""
    return _op("SpaceToDepth", [input], name, block_size=block_size, data_format=data_format)


def space_to_batch(input, paddings, block_size=None, name=None, block_shape=None):
    """Moves blocks of the two axes after the first into the batch axis."""
    block = renamed("block_shape", block_shape, "block_size", block_size)
    if np.ndim(block) == 0:
        block = np.array([block, block], np.int32)
    return space_to_batch_nd(input, block, paddings, name=name)


def batch_to_space(input, crops, block_size, name=None, block_shape=None):
    """The inverse of space_to_batch."""
    block = renamed("block_shape", block_shape, "block_size", block_size)
    if np.ndim(block) == 0:
        block = np.array([block, block], np.int32)
    return batch_to_space_nd(input, block, crops, name=name)


def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """The paddings that make the sizes multiples of the blocks', and the crops that undo them."""
    with name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        input_shape = convert_to_tensor(input_shape, dtypes.int32, name="input_shape")
        block_shape = convert_to_tensor(block_shape, dtypes.int32, name="block_shape")
        blocks = block_shape.shape.as_list()[0]
        if blocks == 0:
            return arrays.zeros([0, 2], dtypes.int32), arrays.zeros([0, 2], dtypes.int32)
        base = arrays.zeros([blocks, 2], dtypes.int32) if base_paddings is None else convert_to_tensor(
            base_paddings, dtypes.int32, name="base_paddings")
        if input_shape._constant() is not None and block_shape._constant() is not None and (
                base._constant() is not None):
            start, end = base._constant()[:, 0], base._constant()[:, 1]
            sizes, block = input_shape._constant(), block_shape._constant()
            extra = (block - (sizes + start + end) % block) % block
            return (graphs.constant(np.stack([start, end + extra], 1).astype(np.int32), name="paddings"),
                    graphs.constant(np.stack([0 * extra, extra], 1).astype(np.int32), name="crops"))
        start, end = base[:, 0], base[:, 1]
        full = input_shape + start + end
        extra = (block_shape - full % block_shape) % block_shape
        paddings = arrays.stack([arrays.stack([start[i], (end + extra)[i]]) for i in range(blocks)], name="paddings")
        crops = arrays.stack([arrays.stack([0, extra[i]]) for i in range(blocks)], name="crops")
        return paddings, crops


def extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None):
    """The patches of images, in the depth axis."""
    ksizes = renamed("ksizes", ksizes, "sizes", sizes)
    return _op("ExtractImagePatches", [images], name, ksizes=ksizes, strides=strides, rates=rates, padding=padding)


def extract_patches(images, sizes, strides, rates, padding, name=None):
    """The patches of images, in the depth axis."""
    return extract_image_patches(images, sizes, strides, rates, padding, name)


__all__ = [
    "batch_to_space", "batch_to_space_nd", "depth_to_space", "extract_image_patches", "extract_volume_patches",
    "required_space_to_batch_paddings", "space_to_batch", "space_to_batch_nd", "space_to_depth",
]
