"""TensorProtos of values, and the values of TensorProtos. C++ writes and reads them, as the attribute of a constant."""

import numpy as np

from tensorbraid.internal import graphs

__all__ = ["make_ndarray", "make_tensor_proto"]


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """The TensorProto of a value. With a `shape`, the last element fills what is left."""
    if allow_broadcast and shape is not None and np.ndim(values) != 0 and list(np.shape(values)) != list(shape):
        raise TypeError(f"Expected Tensor's shape: {tuple(shape)}, but got {np.shape(values)}.")
    with graphs.Graph().as_default():
        node = graphs.constant(values, dtype, shape, verify_shape=verify_shape).op
        return node.node_def.attr["value"].tensor


def make_ndarray(tensor):
    """The NumPy array of a TensorProto."""
    from tensorbraid import proto
    from tensorbraid.internal import graph_defs

    definition = proto.GraphDef()
    node = definition.node.add(name="value", op="Const")
    node.attr["dtype"].type = tensor.dtype
    node.attr["value"].tensor.ParseFromString(tensor.SerializeToString())
    with graphs.Graph().as_default():
        return graph_defs.import_graph_def(definition, return_elements=["value:0"], name="")[0]._constant()
