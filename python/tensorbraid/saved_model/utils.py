"""TensorInfos: the name, dtype and shape of a tensor of a signature."""

from tensorbraid import _core
from tensorbraid.internal import arguments, graphs
from tensorbraid.ops.sparse_tensor import SparseTensor

__all__ = ["build_tensor_info", "get_tensor_from_tensor_info"]


def build_tensor_info(tensor):
    """The TensorInfo of a tensor, of a SparseTensor or of the value of a variable."""
    from tensorbraid import proto

    if isinstance(tensor, _core.Variable):
        tensor = tensor.value()
    arguments.check(hasattr(tensor, "dtype") and hasattr(tensor, "get_shape"), "tensor", "a tensor", tensor)
    info = proto.TensorInfo(dtype=tensor.dtype.as_datatype_enum, tensor_shape=tensor.get_shape().as_proto())
    if isinstance(tensor, SparseTensor):
        info.coo_sparse.values_tensor_name = tensor.values.name
        info.coo_sparse.indices_tensor_name = tensor.indices.name
        info.coo_sparse.dense_shape_tensor_name = tensor.dense_shape.name
    else:
        info.name = tensor.name
    return info


def get_tensor_from_tensor_info(tensor_info, graph=None, import_scope=None):
    """The tensor or SparseTensor of the graph that the TensorInfo describes. KeyError if the graph has none."""
    graph = graph or graphs.get_default_graph()

    def named(name):
        return graph.get_tensor_by_name(f"{import_scope}/{name}" if import_scope else name)

    encoding = tensor_info.WhichOneof("encoding")
    if encoding == "name":
        return named(tensor_info.name)
    if encoding == "coo_sparse":
        sparse = tensor_info.coo_sparse
        return SparseTensor(named(sparse.indices_tensor_name), named(sparse.values_tensor_name),
                            named(sparse.dense_shape_tensor_name))
    raise ValueError(f"Invalid TensorInfo.encoding: {encoding}. Expected `coo_sparse`, or `name` for a dense tensor.")
