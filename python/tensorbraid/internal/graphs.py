"""The default graph with its scopes and collections, and conversion of values to tensors."""

import collections
import contextlib

from tensorbraid import _core, dtypes
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graph_class import Graph, default_graphs
from tensorbraid.internal.graph_elements import Operation, Tensor
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.shapes import TensorShape

_global_graph = None


def get_default_graph() -> Graph:
    """The innermost graph of `with graph.as_default()` on this thread, or else the global default graph."""
    global _global_graph
    if default_graphs.items:
        return default_graphs.innermost
    if _global_graph is None:
        _global_graph = Graph()
    return _global_graph


def reset_default_graph():
    """Replaces the global default graph by an empty one."""
    global _global_graph
    if default_graphs.items:
        raise AssertionError("Do not use tf.reset_default_graph() to clear nested graphs.")
    _global_graph = Graph()


def graph_of(values):
    """The graph of the first tensor, variable or operation in `values`, or the default graph.

    While a function is built, it is the graph of its body: tensors of other graphs are captured.
    """
    default = get_default_graph()
    if default.building_function:
        return default
    for value in values:
        if isinstance(value, (list, tuple)):
            for item in value:
                if isinstance(item, (Tensor, Operation, _core.Variable)):
                    return item.graph
        elif isinstance(value, (Tensor, Operation, _core.Variable)):
            return value.graph
    return default


def make_op(op_type, inputs, name=None, **attrs) -> Operation:
    """Adds a node of any op to the graph of its inputs. Returns its operation.

    Values among the inputs become constants of the dtype that the other inputs or the attributes determine. DTypes,
    TensorShapes and lists of them are given as attributes directly. Attributes that are None are left out.
    """
    inputs = [convert_to_tensor(value, name="shape") if isinstance(value, TensorShape) else value for value in inputs]
    converted = {key: _attr(value) for key, value in attrs.items() if value is not None}
    return graph_of(inputs)._op(op_type, list(inputs), converted, "" if name is None else name)


def _attr(value):
    if isinstance(value, dtypes.DType):
        return value.as_datatype_enum
    if isinstance(value, TensorShape):
        return value._dims
    if isinstance(value, (list, tuple)):
        return [_attr(item) for item in value]
    return value


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None) -> Tensor:
    """A tensor of the default graph with this value: the value itself if it is a tensor, or a constant."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    if isinstance(value, Tensor):
        if wanted is not None and value.dtype != wanted:
            raise ValueError(
                f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {value.dtype.name}: {value}"
            )
        return value
    graph = graph_of([value])
    if wanted is None and preferred_dtype is not None:
        try:
            return convert_to_tensor(value, preferred_dtype, name)
        except (TypeError, ValueError):
            pass
    if name is None and isinstance(value, (list, tuple)) and any(isinstance(item, Tensor) for item in value):
        name = "packed"
    if isinstance(value, TensorShape):
        if not value.is_fully_defined():
            raise ValueError(f"Cannot convert a partially known TensorShape {value} to a Tensor")
        value = value.as_list()
        wanted = wanted or dtypes.int32
    elif wanted is not None and isinstance(value, (list, tuple)) and _has_tensors(value):
        value = _with_dtype(value, wanted)
    number = 0 if wanted is None else wanted.as_datatype_enum
    return graph._const(value, number, name or "Const")


def _has_tensors(values):
    return any(isinstance(value, Tensor) or isinstance(value, (list, tuple)) and _has_tensors(value)
               for value in values)


def _with_dtype(value, dtype):
    """Nested lists whose tensors are converted to the dtype."""
    if isinstance(value, (list, tuple)):
        return [_with_dtype(item, dtype) for item in value]
    if isinstance(value, Tensor) and value.dtype != dtype:
        return make_op("Cast", [value], "Cast", DstT=dtype).outputs[0]
    return value


def constant(value, dtype=None, shape=None, name="Const", verify_shape=False) -> Tensor:
    """A constant. With a `shape`, `value` is reshaped; a scalar, or the last element, fills the rest."""
    import numpy as np

    if shape is not None:
        dims = TensorShape(shape).as_list()
        kind = None if dtype is None else dtypes.as_dtype(dtype).as_numpy_dtype
        array = np.array(value, kind)
        if array.dtype == np.float64 and dtype is None and not hasattr(value, "dtype"):
            array = array.astype(np.float32)
        if array.dtype == np.int64 and dtype is None and not hasattr(value, "dtype") and np.all(
                array == array.astype(np.int32)):
            array = array.astype(np.int32)
        count = int(np.prod(dims, dtype=np.int64))
        if verify_shape and array.shape != tuple(dims):
            raise TypeError(f"Expected Tensor's shape: {tuple(dims)}, got {array.shape}.")
        if array.size > count:
            raise ValueError(f"Too many elements provided. Needed at most {count}, but received {array.size}")
        flat = array.ravel()
        if flat.size < count:
            flat = np.concatenate([flat, np.repeat(flat[-1:], count - flat.size)])
        value = flat.reshape(dims)
    number = 0 if dtype is None else dtypes.as_dtype(dtype).as_datatype_enum
    return get_default_graph()._const(value, number, name or "Const")


def placeholder(dtype, shape=None, name=None) -> Tensor:
    """A tensor whose value every step must feed."""
    return make_op("Placeholder", [], name, dtype=dtypes.as_dtype(dtype), shape=TensorShape(shape)).outputs[0]


def device(device_name_or_function):
    """tf.Graph.device of the default graph."""
    return get_default_graph().device(device_name_or_function)


@contextlib.contextmanager
def name_scope(name, default_name=None, values=None):
    """tf.Graph.name_scope of the graph of `values`, or of the default graph."""
    if name is None and default_name is None and values is not None:
        raise ValueError("At least one of name (None) and default_name (None) must be provided.")
    graph = graph_of(values or [])
    with graph.as_default(), graph.name_scope(default_name if name is None else name) as scope:
        yield scope


def container(container_name):
    """tf.Graph.container of the default graph."""
    return get_default_graph().container(container_name)


def control_dependencies(control_inputs):
    """tf.Graph.control_dependencies of the default graph."""
    return get_default_graph().control_dependencies(control_inputs)


def add_to_collection(name, value):
    """Adds a value to a collection of the default graph."""
    get_default_graph().add_to_collection(name, value)


def add_to_collections(names, value):
    """Adds a value to several collections of the default graph."""
    get_default_graph().add_to_collections(names, value)


def get_collection(key, scope=None):
    """The values in a collection of the default graph, those of a scope if one is given."""
    return get_default_graph().get_collection(key, scope)


def get_collection_ref(key):
    """A collection of the default graph itself: a change of the list changes it."""
    return get_default_graph().get_collection_ref(key)


def set_random_seed(seed):
    """Sets the graph-level seed for random ops in the default graph; None removes it."""
    graph = get_default_graph()
    graph.seed = 0 if seed is None else seed
    graph._has_seed = seed is not None  # C++ takes the seed 0 for no seed


IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])


class IndexedSlices:
    """Some rows of a tensor whose other rows are 0."""

    def __init__(self, values, indices, dense_shape=None):
        self.values = values
        self.indices = indices
        self.dense_shape = dense_shape

    dtype = property(lambda self: self.values.dtype)
    graph = property(lambda self: self.values.graph)
    name = property(lambda self: self.values.name)
    op = property(lambda self: self.values.op)


def _variables_of(key, which):
    def variables(scope=None) -> list[_core.Variable]:
        return get_default_graph().get_collection(key, scope)

    return named(variables, which,
                 f"The collection {key!r} of the default graph; with `scope`, those whose names begin with "
                 "this regular expression.")


global_variables = _variables_of(GraphKeys.GLOBAL_VARIABLES, "global_variables")
local_variables = _variables_of(GraphKeys.LOCAL_VARIABLES, "local_variables")
model_variables = _variables_of(GraphKeys.MODEL_VARIABLES, "model_variables")
moving_average_variables = _variables_of(GraphKeys.MOVING_AVERAGE_VARIABLES, "moving_average_variables")
trainable_variables = _variables_of(GraphKeys.TRAINABLE_VARIABLES, "trainable_variables")
