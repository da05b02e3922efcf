"""Batches of elements that are padded to one shape."""

from tensorbraid import _core, dtypes, nest
from tensorbraid.data import structure
from tensorbraid.internal import graphs
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops import arrays, elementwise

__all__ = []


def padded_batch(dataset, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False):
    """Stacks consecutive elements that are padded first. None or -1 in a shape: the largest size of the batch."""
    if any(type(leaf) is not structure.Leaf for leaf in nest.flatten(dataset._template)):
        raise TypeError("padded_batch takes elements of tensors only, not of sparse tensors or datasets")
    if padded_shapes is None:
        shapes = [TensorShape(dims) for _, dims in dataset._core.element]
    else:
        shapes = [_known(shape) for shape in structure.flatten_up_to(dataset._template, padded_shapes)]
    if any(isinstance(size, graphs.Tensor) for shape in shapes for size in [shape, *_listed(shape)]):
        return _padded_to_tensors(dataset, batch_size, shapes, _padding(dataset, padding_values), drop_remainder)
    dims = [[None if size in (None, -1) else int(size) for size in TensorShape(_sizes(shape)).as_list()]
            for shape in shapes]
    padding = _padding(dataset, padding_values)
    return dataset._like(dataset._core.padded_batch, batch_size, dims, padding, bool(drop_remainder))


def _padded_to_tensors(dataset, batch_size, shapes, padding, drop_remainder):
    """padded_batch for shapes that are tensors, or have tensors as sizes."""
    sizes = [graphs.convert_to_tensor([-1 if size is None else elementwise.cast(size, dtypes.int64)
                                       for size in shape] if _listed(shape) else shape, dtypes.int64)
             for shape in shapes]
    types = [dtypes.as_dtype(dtype) for dtype, _ in dataset._core.element]
    variant = graphs.make_op(
        "PaddedBatchDatasetV2", [dataset._variant_tensor, batch_size, sizes,
                                 padding or [arrays.zeros([], dtype) for dtype in types], drop_remainder],
        output_shapes=[[None] * (1 + len(dims)) if dims is not None else None for _, dims in dataset._core.element],
        Toutput_types=types).outputs[0]
    element = [(dtype, None if dims is None else [None] * (1 + len(dims))) for dtype, dims in dataset._core.element]
    return dataset._like(_core.Dataset, variant, element)


def _padding(dataset, padding_values):
    """A tensor for each tensor of an element; none for zeros."""
    if padding_values is None:
        return []
    if not nest.is_nested(padding_values):
        values = [padding_values] * len(dataset._core.element)
    else:
        values = structure.flatten_up_to(dataset._template, padding_values)
    types = [dtypes.as_dtype(dtype) for dtype, _ in dataset._core.element]
    return [arrays.zeros([], dtype) if value is None else graphs.convert_to_tensor(value, dtype, "padding_value")
            for value, dtype in zip(values, types)]


def _known(shape):
    """The shape with numbers in place of constant tensors."""
    if isinstance(shape, (list, tuple)):
        return [_known(size) for size in shape]
    value = shape._constant() if isinstance(shape, graphs.Tensor) else None
    return shape if value is None else value.tolist()


def _listed(shape):
    """The sizes of a shape that is a list or a tuple; none for others."""
    return list(shape) if isinstance(shape, (list, tuple)) else []


def _sizes(shape):
    return [None if size == -1 else size for size in shape] if isinstance(shape, (list, tuple)) else shape
