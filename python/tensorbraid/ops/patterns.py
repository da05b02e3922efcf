"""Tensors that numbers describe: one-hot vectors, masks of lengths, grids, repetitions, hashes."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.ops import arrays, elementwise, reductions
from tensorbraid.ops.arrays import _op
from tensorbraid.ops.indexing import boolean_mask, gather
from tensorbraid.ops.op_functions import op_function

unravel_index = op_function("UnravelIndex", "indices, dims")


def meshgrid(*args, **kwargs):
    """Coordinates of a grid: for each of the vectors, a tensor of its values in the grid's shape."""
    indexing = kwargs.pop("indexing", "xy")
    name = kwargs.pop("name", "meshgrid")
    if kwargs:
        raise TypeError(f"'{list(kwargs)[0]}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    with name_scope(name, "meshgrid", args):
        n = len(args)
        vectors = [arrays.reshape(arrays.stack(x), [1] * i + [-1] + [1] * (n - i - 1)) for i, x in enumerate(args)]
        sizes = [reductions.size(x) for x in args]
        if indexing == "xy" and n > 1:
            vectors[0] = arrays.reshape(vectors[0], [1, -1] + [1] * (n - 2))
            vectors[1] = arrays.reshape(vectors[1], [-1, 1] + [1] * (n - 2))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        dtype = convert_to_tensor(args[0]).dtype
        grid = arrays.fill(sizes, graphs.constant(1, dtype))
        return [x * grid for x in vectors]


def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool, name=None) -> graphs.Tensor:
    """For each length a row whose first so many elements are true."""
    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            maxlen = elementwise.maximum(graphs.constant(0, lengths.dtype), reductions.reduce_max(lengths))
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.shape.ndims not in (0, None):
            raise ValueError("Argument `maxlen` must be scalar for sequence_mask")
        row = arrays.range_node(graphs.constant(0, maxlen.dtype), maxlen, graphs.constant(1, maxlen.dtype))
        column = elementwise.cast(arrays.expand_dims(lengths, -1), maxlen.dtype)
        return elementwise.cast(row < column, dtype)


def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """For each index a vector that is `on_value` there and `off_value` elsewhere."""
    with name_scope(name, "one_hot", [indices, depth, on_value, off_value]) as scope:
        wanted = None if dtype is None else dtypes.as_dtype(dtype)
        if wanted is None and on_value is None and off_value is None:
            wanted = dtypes.float32
        on = None if on_value is None else _preferring(on_value, wanted)
        off = None if off_value is None else _preferring(off_value, wanted)
        for which, value in (("on_value", on), ("off_value", off)):
            if wanted is not None and value is not None and value.dtype != wanted:
                raise TypeError(f"dtype {value.dtype!r} of {which} does not match dtype parameter {wanted!r}")
        kind = wanted or (on if on is not None else off).dtype
        if on is None:
            on = graphs.constant(True if kind == dtypes.bool else 1, kind, name="on_value")
        if off is None:
            off = graphs.constant(False if kind == dtypes.bool else 0, kind, name="off_value")
        if on.dtype != off.dtype:
            raise TypeError(f"dtype {on.dtype!r} of on_value does not match dtype {off.dtype!r} of off_value")
        return _op("OneHot", [indices, depth, on, off], scope, axis=-1 if axis is None else axis)


def _preferring(value, dtype):
    """The value as a tensor, of this dtype if it can be converted to it."""
    if dtype is None:
        return convert_to_tensor(value)
    try:
        return convert_to_tensor(value, dtype)
    except (TypeError, ValueError):
        return convert_to_tensor(value)


def repeat(input, repeats, axis=None, name=None):
    """Each element, or each slice along an axis, several times."""
    with name_scope(name, "Repeat", [input, repeats]):
        x = convert_to_tensor(input)
        counts = convert_to_tensor(repeats, name="repeats")
        if counts.dtype not in (dtypes.int32, dtypes.int64):
            raise TypeError("Argument `repeats` should be of type int32 or int64")
        counts = elementwise.cast(counts, dtypes.int32)
        if axis is None:
            x, axis = arrays.reshape(x, [-1]), 0
        if axis < 0:
            axis += x.shape.ndims
        length = arrays.shape(x)[axis]
        counts = arrays.broadcast_to(arrays.reshape(counts, [-1]), arrays.reshape(length, [1]))
        longest = elementwise.maximum(0, reductions.reduce_max(counts))
        positions = arrays.tile(arrays.expand_dims(arrays.range_node(0, length, 1), 1), arrays.stack([1, longest]))
        chosen = sequence_mask(counts, longest)
        return gather(x, boolean_mask(positions, chosen), axis=axis)


def fingerprint(data, method="farmhash64", name=None):
    """A hash of each row."""
    return _op("Fingerprint", [data, method], name)


__all__ = ["fingerprint", "meshgrid", "one_hot", "repeat", "sequence_mask", "unravel_index"]
