"""Ops that make tensors, reorder, join, split and index them."""

import builtins

import numpy as np

from tensorbraid import _core, dtypes, elementwise, graphs
from tensorbraid.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.op_functions import op_function
from tensorbraid.shapes import Dimension, TensorShape

newaxis = None

batch_to_space_nd = op_function("BatchToSpaceND", "input, block_shape, crops")
broadcast_dynamic_shape = op_function("BroadcastArgs", "shape_x, shape_y")
broadcast_to = op_function("BroadcastTo", "input, shape")
depth_to_space_node = op_function("DepthToSpace", "input", "block_size, data_format='NHWC'")
extract_volume_patches = op_function("ExtractVolumePatches", "input", "ksizes, strides, padding")
fill_node = op_function("Fill", "dims, value")
guarantee_const = op_function("GuaranteeConst", "input")
identity_node = op_function("Identity", "input")
invert_permutation = op_function("InvertPermutation", "x")
matrix_band_part = op_function("MatrixBandPart", "input, num_lower, num_upper")
reverse = reverse_v2 = op_function("ReverseV2", "tensor, axis")
roll = op_function("Roll", "input, shift, axis")
space_to_batch_nd = op_function("SpaceToBatchND", "input, block_shape, paddings")
stop_gradient = op_function("StopGradient", "input")
tile = op_function("Tile", "input, multiples")
unravel_index = op_function("UnravelIndex", "indices, dims")
diag = op_function("Diag", "diagonal")
diag_part = op_function("DiagPart", "input")


def identity(input, name=None):
    """A copy of a tensor, or of a SparseTensor's or IndexedSlices' values."""
    if isinstance(input, graphs.IndexedSlices):
        return graphs.IndexedSlices(identity(input.values, name), input.indices, input.dense_shape)
    return identity_node(input, name)


def _op(op_type, inputs, name, default=None, **attrs):
    return make_op(op_type, inputs, name or default or op_type, **attrs).outputs[0]


def shape(input, name=None, out_type=dtypes.int32):
    """The sizes of a tensor: a constant if they are known before the step."""
    return _shape(input, name, dtypes.as_dtype(out_type))


def _shape(input, name, out_type):
    from tensorbraid.sparse_tensor import SparseTensor

    if isinstance(input, SparseTensor):
        return elementwise.cast(input.dense_shape, out_type)
    x = convert_to_tensor(input, name="input")
    if x.shape.is_fully_defined():
        return graphs.constant(np.array(x.shape.as_list(), out_type.as_numpy_dtype), out_type, name=name or "Shape")
    return _op("Shape", [x], name, out_type=out_type)


def shape_n(input, out_type=dtypes.int32, name=None):
    """The sizes of each tensor of a list."""
    return make_op("ShapeN", [input], name or "ShapeN", out_type=dtypes.as_dtype(out_type)).outputs


def size(input, name=None, out_type=dtypes.int32):
    """The number of elements."""
    from tensorbraid import reductions
    from tensorbraid.sparse_tensor import SparseTensor

    out_type = dtypes.as_dtype(out_type)
    if isinstance(input, SparseTensor):
        return reductions.reduce_prod(elementwise.cast(input.dense_shape, out_type), 0, name=name)
    x = convert_to_tensor(input)
    if x.shape.is_fully_defined():
        return graphs.constant(x.shape.num_elements(), out_type, name=name or "Size")
    return _op("Size", [x], name, out_type=out_type)


def rank(input, name=None):
    """The number of axes."""
    from tensorbraid.sparse_tensor import SparseTensor

    if isinstance(input, SparseTensor):
        return size(input.dense_shape, name)
    x = convert_to_tensor(input)
    if x.shape.ndims is not None:
        return graphs.constant(x.shape.ndims, dtypes.int32, name=name or "Rank")
    return _op("Rank", [x], name)


def _is_static(shape):
    """Whether a shape that the program gives has no tensors, so that its sizes are known before the step."""
    if isinstance(shape, (graphs.Tensor, _core.Variable)):
        return False
    return not isinstance(shape, (list, tuple)) or not any(isinstance(d, (graphs.Tensor, _core.Variable)) for d in shape)


def static_dims(tensor):
    """The list of integers that the value of a shape tensor is, if it is a constant, else None."""
    if isinstance(tensor, graphs.Tensor):
        value = tensor._constant()
        return None if value is None else [int(v) for v in np.ravel(value)]
    return list(np.ravel(TensorShape(tensor).as_list() if isinstance(tensor, TensorShape) else tensor))


def _filled(name, value):
    def op(shape, dtype=dtypes.float32, name=None):
        dtype = dtypes.as_dtype(dtype)
        fill = {dtypes.string: "", dtypes.bool: bool(value)}.get(dtype, value)
        name = name or op.__name__
        if not _is_static(shape):
            with name_scope(name, values=[shape]) as scope:
                dims = convert_to_tensor(shape, None if isinstance(shape, graphs.Tensor) else dtypes.int32, name="packed")
                return fill_node(dims, graphs.constant(fill, dtype), name=scope)
        if isinstance(shape, np.ndarray):
            shape = shape.tolist()
        dims = TensorShape(shape).as_list()
        if None in dims:
            raise ValueError(f"the sizes of tf.{op.__name__} must be known and >= 0, got {shape}")
        if np.prod(dims, dtype=np.int64) < 1000 or dtype == dtypes.string:
            return graphs.constant(np.full(dims, fill, dtype.as_numpy_dtype), dtype, name=name)
        with name_scope(name) as scope:
            dims = graphs.constant(np.array(dims, np.int32), name="shape_as_tensor")
            return fill_node(dims, graphs.constant(fill, dtype), name=scope)

    op.__name__ = op.__qualname__ = name
    op.__doc__ = f"A tensor of {name}."
    return op


zeros = _filled("zeros", 0)
ones = _filled("ones", 1)


def fill(dims, value, name=None):
    """A tensor whose elements all have one value."""
    return fill_node(dims, value, name)


def zeros_like(tensor, dtype=None, name=None, optimize=True):
    """Zeros in the shape of a tensor. `optimize`: a known shape makes a constant."""
    x = convert_to_tensor(tensor, name="tensor")
    dtype = x.dtype if dtype is None else dtypes.as_dtype(dtype)
    if optimize and x.shape.is_fully_defined() and dtype != dtypes.variant:
        return zeros(x.shape, dtype, name or "zeros_like")
    if dtype == x.dtype:
        return _op("ZerosLike", [x], name, "zeros_like")
    with name_scope(name, "zeros_like", [x]) as scope:
        return zeros(_op("Shape", [x], None), dtype, scope)


def ones_like(tensor, dtype=None, name=None, optimize=True):
    """Ones in the shape of a tensor. `optimize`: a known shape makes a constant shape."""
    with name_scope(name, "ones_like", [tensor]) as scope:
        x = convert_to_tensor(tensor, name="tensor")
        dims = shape(x) if optimize else _op("Shape", [x], None)
        return ones(dims, x.dtype if dtype is None else dtype, scope)


def placeholder_with_default(input, shape, name=None):
    """A tensor that a step may feed; otherwise it has the value of `input`."""
    return _op("PlaceholderWithDefault", [input], name, shape=TensorShape(shape))


def reshape(tensor, shape, name=None):
    """The same elements under another shape."""
    return _op("Reshape", [tensor, shape], name)


def expand_dims(input, axis=None, name=None, dim=None):
    """The tensor with a new axis of size 1."""
    axis = _renamed("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return _op("ExpandDims", [input, axis], name)


def _renamed(new_name, new, old_name, old):
    """The value of an argument that has an old name as well."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old


def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """The tensor without its axes of size 1, or without those of `axis`."""
    axis = _renamed("axis", axis, "squeeze_dims", squeeze_dims)
    if axis is not None and np.ndim(axis) == 0:
        axis = [axis]
    return _op("Squeeze", [input], name, squeeze_dims=None if axis is None else [int(a) for a in axis])


def transpose(a, perm=None, name="transpose", conjugate=False):
    """`a` with its axes in the order of `perm`; None reverses them."""
    with name_scope(name, "transpose", [a]) as scope:
        a = convert_to_tensor(a, name="a")
        op_type = "ConjugateTranspose" if conjugate and a.dtype.is_complex else "Transpose"
        if perm is None:
            ndims = a.shape.ndims
            if ndims is not None:
                perm = np.arange(ndims - 1, -1, -1, dtype=np.int32)
            else:
                count = rank(a)
                perm = (count - 1) - range_node(0, count, 1)
        return _op(op_type, [a, perm], scope)


def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """Exchanges the last two axes."""
    with name_scope(name, values=[a]):
        a = convert_to_tensor(a, name="a")
        ndims = a.shape.ndims
        if ndims is None:
            count = rank(a)
            perm = concat([range_node(0, count - 2, 1), [count - 1, count - 2]], 0)
        elif ndims < 2:
            raise ValueError("Argument `a` should be a (batch) matrix with rank >= 2. Received a of rank " + str(ndims))
        else:
            perm = list(np.arange(ndims - 2)) + [ndims - 1, ndims - 2]
            perm = np.array(perm, np.int32)
        return transpose(a, perm, conjugate=conjugate)


range_node = op_function("Range", "start, limit, delta", name="range")


def concat(values, axis, name="concat"):
    """The tensors one after the other along an axis."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) == 1:
        with name_scope(name):
            convert_to_tensor(axis, dtypes.int32, name="concat_dim")
            return identity(values[0], name=name)
    return _op("ConcatV2", [list(values), axis], name)


def stack(values, axis=0, name="stack"):
    """The tensors beside each other along a new axis."""
    if axis == 0 and (isinstance(values, graphs.Tensor) or not elementwise._has_tensor(values)):
        try:
            return convert_to_tensor(values, name=name)
        except (TypeError, ValueError):
            pass
    if not isinstance(values, (list, tuple)):
        values = unstack(values)
    return _op("Pack", [list(values)], name, axis=axis)


def parallel_stack(values, name="parallel_stack"):
    """As stack along axis 0, for inputs of known shapes that are computed in parallel."""
    with name_scope(name):
        first = convert_to_tensor(values[0])
        dims = [len(values)] + first.shape.as_list()
        values = [expand_dims(v, 0) for v in values]
        return _op("ParallelConcat", [values], None, shape=TensorShape(dims))


def unstack(value, num=None, axis=0, name="unstack"):
    """The list of the slices of a tensor along an axis."""
    value = convert_to_tensor(value)
    if num is None:
        dims = value.shape
        if dims.ndims is not None:
            if not -dims.ndims <= axis < dims.ndims:
                raise ValueError(f"Argument `axis` = {axis} not in range [{-dims.ndims}, {dims.ndims})")
            num = dims.as_list()[axis]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {dims}")
    return make_op("Unpack", [value], name, num=num, axis=axis).outputs


def split(value, num_or_size_splits, axis=0, num=None, name="split"):
    """The list of the parts of a tensor: a number of equal parts, or parts of given sizes."""
    if np.ndim(num_or_size_splits) == 0 and not isinstance(num_or_size_splits, graphs.Tensor):
        count = int(num_or_size_splits)
        if count <= 0:
            raise ValueError("Must have at least 1 part")
        return make_op("Split", [axis, value], name, num_split=count).outputs
    sizes = convert_to_tensor(num_or_size_splits)
    if sizes.shape.ndims == 0:
        raise ValueError("Rank-0 tensors are not supported as the num_or_size_splits argument to split.")
    if num is None:
        num = sizes.shape.as_list()[0]
        if num is None:
            raise ValueError(f"Cannot infer argument `num` from shape {num_or_size_splits}")
    return make_op("SplitV", [value, sizes, axis], name, num_split=num).outputs


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
        vectors = [reshape(stack(x), [1] * i + [-1] + [1] * (n - i - 1)) for i, x in enumerate(args)]
        sizes = [size(x) for x in args]
        if indexing == "xy" and n > 1:
            vectors[0] = reshape(vectors[0], [1, -1] + [1] * (n - 2))
            vectors[1] = reshape(vectors[1], [-1, 1] + [1] * (n - 2))
            sizes[0], sizes[1] = sizes[1], sizes[0]
        dtype = convert_to_tensor(args[0]).dtype
        grid = fill(sizes, graphs.constant(1, dtype))
        return [x * grid for x in vectors]


def pad(tensor, paddings, mode="CONSTANT", name=None, constant_values=0):
    """The tensor with borders: zeros or a constant, or a mirror image (REFLECT, SYMMETRIC)."""
    mode = mode.upper()
    if mode == "CONSTANT":
        if isinstance(constant_values, graphs.Tensor) or np.any(constant_values):
            return _op("PadV2", [tensor, paddings, constant_values], name)
        return _op("Pad", [tensor, paddings], name)
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"Value of argument `mode` expected to be one of CONSTANT, REFLECT, or SYMMETRIC, got {mode}")
    return _op("MirrorPad", [tensor, paddings], name, mode=mode)


def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None, seq_dim=None, batch_dim=None):
    """Reverses the first seq_lengths[i] slices along `seq_axis` of each entry of the batch."""
    seq_axis = _renamed("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = _renamed("batch_axis", batch_axis, "batch_dim", batch_dim)
    if seq_axis is None:
        raise ValueError("seq_axis is required")
    return _op("ReverseSequence", [input, seq_lengths], name, seq_dim=seq_axis, batch_dim=batch_axis or 0)


def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool, name=None):
    """For each length a row whose first so many elements are true."""
    from tensorbraid import reductions

    with name_scope(name, "SequenceMask", [lengths, maxlen]):
        lengths = convert_to_tensor(lengths)
        if maxlen is None:
            maxlen = elementwise.maximum(graphs.constant(0, lengths.dtype), reductions.reduce_max(lengths))
        else:
            maxlen = convert_to_tensor(maxlen)
        if maxlen.shape.ndims not in (0, None):
            raise ValueError("Argument `maxlen` must be scalar for sequence_mask")
        row = range_node(graphs.constant(0, maxlen.dtype), maxlen, graphs.constant(1, maxlen.dtype))
        column = elementwise.cast(expand_dims(lengths, -1), maxlen.dtype)
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


def broadcast_static_shape(shape_x, shape_y):
    """The shape to which two known shapes are broadcast."""
    a, b = TensorShape(shape_x), TensorShape(shape_y)
    if a.ndims is None or b.ndims is None:
        return TensorShape(None)
    left, right = a.as_list()[::-1], b.as_list()[::-1]
    dims = []
    for i in builtins.range(max(len(left), len(right))):
        x = left[i] if i < len(left) else 1
        y = right[i] if i < len(right) else 1
        if x == 1 or y == 1 or x == y:
            dims.append(y if x == 1 else x)
        elif x is None or y is None:
            dims.append(y if x is None else x)
        else:
            raise ValueError(f"Incompatible shapes for broadcasting. Two shapes are {a} and {b}")
    return TensorShape(dims[::-1])


def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32, name=None):
    """An identity matrix, or a batch of them."""
    with name_scope(name, "eye", [num_rows, num_columns, batch_shape]):
        columns = num_rows if num_columns is None else num_columns
        batch = [] if batch_shape is None else batch_shape
        if not isinstance(batch, graphs.Tensor):
            batch = list(TensorShape(batch).as_list() if isinstance(batch, TensorShape) else batch)
        square = num_columns is None or (_is_static(num_rows) and _is_static(columns) and num_rows == columns)
        if _is_static(num_rows) and _is_static(columns):
            diagonal_size = min(int(num_rows), int(columns))
        else:
            diagonal_size = elementwise.minimum(num_rows, columns)

        def joined(parts):
            return batch + parts if isinstance(batch, list) else concat([batch, parts], 0)

        diagonal = ones(joined([diagonal_size]), dtype)
        if square:
            return matrix_diag(diagonal)
        return matrix_set_diag(zeros(joined([num_rows, columns]), dtype), diagonal)


def matrix_diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """Matrices with these diagonals."""
    diagonal = convert_to_tensor(diagonal)
    return _op("MatrixDiagV3", [diagonal, k, num_rows, num_cols, _padding(padding_value, diagonal)], name, "diag",
               align=align)


def matrix_diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    """The diagonals of matrices."""
    input = convert_to_tensor(input)
    return _op("MatrixDiagPartV3", [input, k, _padding(padding_value, input)], name, "diag_part", align=align)


def _padding(value, tensor):
    return bool(value) if tensor.dtype == dtypes.bool and not isinstance(value, graphs.Tensor) else value


def matrix_set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
    """The matrices with other diagonals."""
    return _op("MatrixSetDiagV3", [input, diagonal, k], name, "set_diag", align=align)


def depth_to_space(input, block_size, name=None, data_format="NHWC"):
    """Moves values of the depth axis into blocks of the image."""
    return depth_to_space_node(input, block_size, data_format, name)


def space_to_depth(input, block_size, name=None, data_format="NHWC"):
    """Moves blocks of the image into the depth axis."""
    return _op("SpaceToDepth", [input], name, block_size=block_size, data_format=data_format)


def space_to_batch(input, paddings, block_size=None, name=None, block_shape=None):
    """Moves blocks of the two axes after the first into the batch axis."""
    block = _renamed("block_shape", block_shape, "block_size", block_size)
    if np.ndim(block) == 0:
        block = np.array([block, block], np.int32)
    return space_to_batch_nd(input, block, paddings, name=name)


def batch_to_space(input, crops, block_size, name=None, block_shape=None):
    """The inverse of space_to_batch."""
    block = _renamed("block_shape", block_shape, "block_size", block_size)
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
            return zeros([0, 2], dtypes.int32), zeros([0, 2], dtypes.int32)
        base = zeros([blocks, 2], dtypes.int32) if base_paddings is None else convert_to_tensor(
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
        paddings = stack([stack([start[i], (end + extra)[i]]) for i in builtins.range(blocks)], name="paddings")
        crops = stack([stack([0, extra[i]]) for i in builtins.range(blocks)], name="crops")
        return paddings, crops


def ensure_shape(x, shape, name=None):
    """The tensor, after a check that it has this shape in the step."""
    return _op("EnsureShape", [x], name, shape=TensorShape(shape))


def identity_n(input, name=None):
    """Copies of all tensors of a list."""
    return make_op("IdentityN", [input], name or "IdentityN").outputs


def repeat(input, repeats, axis=None, name=None):
    """Each element, or each slice along an axis, several times."""
    from tensorbraid import reductions

    with name_scope(name, "Repeat", [input, repeats]):
        x = convert_to_tensor(input)
        counts = convert_to_tensor(repeats, name="repeats")
        if counts.dtype not in (dtypes.int32, dtypes.int64):
            raise TypeError("Argument `repeats` should be of type int32 or int64")
        counts = elementwise.cast(counts, dtypes.int32)
        if axis is None:
            x, axis = reshape(x, [-1]), 0
        if axis < 0:
            axis += x.shape.ndims
        length = shape(x)[axis]
        counts = broadcast_to(reshape(counts, [-1]), reshape(length, [1]))
        longest = elementwise.maximum(0, reductions.reduce_max(counts))
        positions = tile(expand_dims(range_node(0, length, 1), 1), stack([1, longest]))
        chosen = sequence_mask(counts, longest)
        from tensorbraid.indexing import boolean_mask, gather

        return gather(x, boolean_mask(positions, chosen), axis=axis)


def extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None):
    """The patches of images, in the depth axis."""
    ksizes = _renamed("ksizes", ksizes, "sizes", sizes)
    return _op("ExtractImagePatches", [images], name, ksizes=ksizes, strides=strides, rates=rates, padding=padding)


def fingerprint(data, method="farmhash64", name=None):
    """A hash of each row."""
    return _op("Fingerprint", [data, method], name)


def dimension_value(dimension):
    """The number of a Dimension; any other value is its own."""
    return dimension.value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape, index):
    """The Dimension of a shape at an index."""
    return Dimension(None) if TensorShape(shape).ndims is None else TensorShape(shape)[index]


def get_static_value(tensor, partial=False):
    """The value of a tensor if it is known before a step, else None."""
    if isinstance(tensor, _core.Variable):
        return None
    if not isinstance(tensor, graphs.Tensor):
        raise TypeError(f"{tensor!r} must be a Tensor")
    return tensor._constant()

__all__ = [
    "batch_to_space", "batch_to_space_nd", "broadcast_dynamic_shape", "broadcast_static_shape", "broadcast_to",
    "concat", "depth_to_space", "diag", "diag_part", "dimension_at_index", "dimension_value", "ensure_shape",
    "expand_dims", "extract_image_patches", "extract_volume_patches", "eye", "fill", "fingerprint",
    "get_static_value", "guarantee_const", "identity", "identity_n", "invert_permutation", "matrix_band_part",
    "matrix_diag", "matrix_diag_part", "matrix_set_diag", "matrix_transpose", "meshgrid", "newaxis", "one_hot",
    "ones", "ones_like", "pad", "parallel_stack", "placeholder_with_default", "rank", "repeat",
    "required_space_to_batch_paddings", "reshape", "reverse", "reverse_sequence", "reverse_v2", "roll",
    "sequence_mask", "shape", "shape_n", "size", "space_to_batch", "space_to_batch_nd", "space_to_depth", "split",
    "squeeze", "stack", "stop_gradient", "tile", "transpose", "unravel_index", "unstack", "zeros", "zeros_like",
]
