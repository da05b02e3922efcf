"""The namespace tf.sets: sets in the last axis of dense or sparse tensors."""

from tensorbraid.internal.graphs import convert_to_tensor, make_op
from tensorbraid.ops.sparse_tensor import SparseTensor

_DTYPES = ("int8", "int16", "int32", "int64", "uint8", "uint16", "string")


def _operand(value):
    found = value if isinstance(value, SparseTensor) else convert_to_tensor(value)
    if found.dtype.name not in _DTYPES:
        raise TypeError(f"sets have integers or strings, not {found.dtype.name}")
    return found


def set_size(a, validate_indices=True):
    """How many elements each set has."""
    a = SparseTensor.from_value(a)
    if a.dtype.name not in _DTYPES:
        raise TypeError(f"sets have integers or strings, not {a.dtype.name}")
    return make_op("SetSize", [a.indices, a.values, a.dense_shape], validate_indices=validate_indices).outputs[0]


def _combined(operation, a, b, validate_indices):
    a, b = _operand(a), _operand(b)
    if a.dtype != b.dtype:
        raise TypeError(f"the sets have the types {a.dtype.name} and {b.dtype.name}")
    flip = isinstance(a, SparseTensor) and not isinstance(b, SparseTensor)
    if flip:  # there is an op for a dense and a sparse operand, in this order
        a, b = b, a
        operation = {"a-b": "b-a", "b-a": "a-b"}.get(operation, operation)
    parts, kind = [], ""
    for operand in (a, b):
        sparse = isinstance(operand, SparseTensor)
        parts += [operand.indices, operand.values, operand.dense_shape] if sparse else [operand]
        kind += ("To" if kind else "") + ("Sparse" if sparse else "Dense")
    made = make_op(f"{kind}SetOperation", parts, set_operation=operation, validate_indices=validate_indices)
    indices, values, sizes = made.outputs
    rank = next((operand.shape.ndims for operand in (a, b) if operand.shape.ndims is not None), None)
    indices.set_shape([None, rank])
    sizes.set_shape([rank])
    return SparseTensor(indices, values, sizes)


def set_intersection(a, b, validate_indices=True):
    """The elements that both sets have, as a SparseTensor."""
    return _combined("intersection", a, b, validate_indices)


def set_difference(a, b, aminusb=True, validate_indices=True):
    """The elements of a that b does not have; the other way round without `aminusb`."""
    return _combined("a-b" if aminusb else "b-a", a, b, validate_indices)


def set_union(a, b, validate_indices=True):
    """The elements that one of both sets has, as a SparseTensor."""
    return _combined("union", a, b, validate_indices)


difference, intersection, size, union = set_difference, set_intersection, set_size, set_union
