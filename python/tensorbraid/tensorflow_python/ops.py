"""tensorflow.python.framework.ops: names that tf does not have."""

import contextlib
import itertools

from tensorbraid.internal import graphs
from tensorbraid.internal.collection_protos import (get_collection_proto_type, get_from_proto_function,
                                                    get_to_proto_function, register_proto_function)
from tensorbraid.internal.graphs import convert_to_tensor
from tensorbraid.internal.variables import Variable
from tensorbraid.ops.sparse_tensor import SparseTensor
from tensorbraid.tensorflow_python.old_functions import RegisterShape  # noqa: F401

__all__ = ["NullContextmanager", "convert_n_to_tensor", "convert_n_to_tensor_or_indexed_slices",
           "get_all_collection_keys", "get_collection_proto_type", "get_from_proto_function", "get_to_proto_function",
           "internal_convert_to_tensor", "is_dense_tensor_like", "name_from_scope_name", "prepend_name_scope",
           "register_dense_tensor_like_type", "register_proto_function", "set_shape_and_handle_data_for_outputs",
           "set_shapes_for_outputs", "strip_name_scope", "uid"]

_TensorLike = (graphs.Tensor, SparseTensor, graphs.IndexedSlices)  # Keras calls isinstance with it
_uids = itertools.count(1)


def uid():
    """An integer that is unique in this process."""
    return next(_uids)


def name_from_scope_name(name):
    """The name of a scope without the "/" at its end."""
    return name[:-1] if name and name.endswith("/") else name


def prepend_name_scope(name, import_scope):
    """Adds a scope to the name of a node or tensor, a control input ("^...") or a colocation ("loc:@...")."""
    if not import_scope:
        return name
    if name.startswith("loc:@"):
        return f"loc:@{import_scope}/{name[len('loc:@'):]}"
    return f"^{import_scope}/{name[1:]}" if name.startswith("^") else f"{import_scope}/{name}"


def strip_name_scope(name, export_scope):
    """Removes a scope from the beginning of a name; the inverse of prepend_name_scope."""
    if not export_scope:
        return name
    scope = export_scope.rstrip("/") + "/"
    for start in ("loc:@", "^", ""):
        if name.startswith(start + scope):
            return start + name[len(start + scope):]
    return name


_dense_types = [graphs.Tensor, Variable]


def is_dense_tensor_like(t):
    """Whether the value is a tensor, a variable, or of a type that register_dense_tensor_like_type was given."""
    return isinstance(t, tuple(_dense_types))


def register_dense_tensor_like_type(tensor_type):
    """Lets objects of this type count as tensors. It must have the properties `name` and `dtype`; TypeError if not."""
    for name in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, name, None), property):
            raise TypeError(f"Type {tensor_type.__name__} does not define a `{name}` property")
    _dense_types.append(tensor_type)


def set_shapes_for_outputs(op):
    """Does nothing: an operation has the shapes of its outputs since it was made."""


set_shape_and_handle_data_for_outputs = set_shapes_for_outputs


def _as_graph_element(obj):
    """The tensor or operation that an object stands for, as a variable for its value; None for other objects."""
    convert = getattr(obj, "_as_graph_element", None)
    return convert() if callable(convert) else None


def get_all_collection_keys():
    """The names of the collections of the default graph."""
    return graphs.get_default_graph().get_all_collection_keys()


def internal_convert_to_tensor(value, dtype=None, name=None, as_ref=False, preferred_dtype=None, **options):
    """tf.convert_to_tensor."""
    return convert_to_tensor(value, dtype, name, preferred_dtype=preferred_dtype)


def convert_n_to_tensor(values, dtype=None, name=None, preferred_dtype=None):
    """Converts each value to a tensor."""
    return [convert_to_tensor(value, dtype, name and f"{name}_{i}", preferred_dtype=preferred_dtype)
            for i, value in enumerate(values)]


def convert_n_to_tensor_or_indexed_slices(values, dtype=None, name=None):
    """Converts each value to a tensor, except None and IndexedSlices."""
    return [value if value is None or isinstance(value, graphs.IndexedSlices)
            else convert_to_tensor(value, dtype, name and f"{name}_{i}") for i, value in enumerate(values)]


@contextlib.contextmanager
def NullContextmanager(*args, **kwargs):
    """A context manager without effect."""
    yield
