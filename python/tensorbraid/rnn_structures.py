"""Structures of states: tuples of tensors, nested."""

from tensorbraid import graphs
from tensorbraid.node import op, tensor


def is_nested(value):
    return isinstance(value, (list, tuple)) and not isinstance(value, graphs.TensorShape)


def flatten(structure):
    """The leaves, in order."""
    if is_nested(structure):
        return [leaf for part in structure for leaf in flatten(part)]
    return [structure]


def pack_like(structure, leaves):
    """The leaves in the form of a structure."""
    leaves = iter(leaves)

    def pack(part):
        if not is_nested(part):
            return next(leaves)
        parts = [pack(inner) for inner in part]
        return type(part)(*parts) if hasattr(part, "_fields") else type(part)(parts)

    return pack(structure)


def map_structure(function, *structures):
    """A structure of function(leaf, ...) for the leaves of structures of the same form."""
    return pack_like(structures[0], [function(*leaves) for leaves in zip(*map(flatten, structures))])


def zero_state(sizes, batch_size, dtype):
    """Zeros [batch, size] for each size of a structure."""
    def zeros(size):
        dims = graphs.TensorShape(size).as_list()
        if isinstance(batch_size, int):
            return op("Fill", [[batch_size, *dims], graphs.constant(0, dtype)], "zeros")
        batch = op("Reshape", [tensor(batch_size, "int32"), [1]])
        return op("Fill", [op("ConcatV2", [[batch, dims], 0]), graphs.constant(0, dtype)], "zeros")

    return map_structure(zeros, sizes)
