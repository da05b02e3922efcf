"""The states of recurrent cells: tensors, or nested structures of them."""

from tensorbraid import nest
from tensorbraid.internal import graphs
from tensorbraid.ops.node import op, tensor


def zero_state(sizes, batch_size, dtype):
    """Zeros [batch, size] for each size of a structure."""
    def zeros(size):
        dims = graphs.TensorShape(size).as_list()
        if isinstance(batch_size, int):
            return op("Fill", [[batch_size, *dims], graphs.constant(0, dtype)], "zeros")
        batch = op("Reshape", [tensor(batch_size, "int32"), [1]])
        return op("Fill", [op("ConcatV2", [[batch, dims], 0]), graphs.constant(0, dtype)], "zeros")

    return nest.map_structure(zeros, sizes)
