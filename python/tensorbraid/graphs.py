"""Graphs: the default graph, scopes, collections, and conversion of values to tensors."""

import collections
import contextlib
import re
import threading

from tensorbraid import _core, dtypes, errors
from tensorbraid.device_spec import DeviceSpec
from tensorbraid.graph_keys import GraphKeys
from tensorbraid.shapes import TensorShape

Operation = _core.Operation
Tensor = _core.Tensor


def _get_shape(self):
    """The shape, as far as it is known before a step."""
    return self.shape


Tensor.dtype = property(lambda self: dtypes.as_dtype(self._dtype), doc="The dtype of the values.")
Tensor.shape = property(lambda self: TensorShape(self._shape), doc="The shape, as far as it is known before a step.")
Tensor.get_shape = _get_shape
Tensor.device = property(lambda self: self.op.device, doc="The device that was requested for the operation.")
Tensor.__repr__ = lambda self: f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self.dtype.name}>"
Tensor.__str__ = lambda self: f'Tensor("{self.name}", shape={self.shape}, dtype={self.dtype.name})'
Operation.__repr__ = lambda self: f"<tf.Operation '{self.name}' type={self.type}>"


def _no_bool(self):
    raise errors.OperatorNotAllowedInGraphError(
        "using a `tf.Tensor` as a Python `bool` is not allowed: its value is known only in a step. "
        "Use `if t is not None:`, or tf.cond to choose in the step."
    )


def _no_iteration(self):
    raise errors.OperatorNotAllowedInGraphError(
        "Tensor objects are only iterable when eager execution is enabled; use tf.unstack or tf.map_fn")


Tensor.__bool__ = _no_bool
Tensor.__iter__ = _no_iteration
Tensor.__array_priority__ = 100  # NumPy's operators leave `array + tensor` to the tensor


class _Stack(threading.local):
    """The default graphs of a thread, innermost last."""

    def __init__(self):
        self.items = []


_graphs = _Stack()
_global_graph = None


_ROOT_SCOPE = re.compile(r"^[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*$")
_NESTED_SCOPE = re.compile(r"^[A-Za-z0-9_.\\/>-]*$")


class Graph(_core.Graph):
    """A dataflow graph. Source: tf.Graph."""

    def __init__(self):
        super().__init__()
        self._collections = {}
        self._device_scopes = []  # what the open scopes of device() are given, innermost last
        self._unfeedable, self._unfetchable = set(), set()
        self.host_functions = []  # of tf.py_func and datasets, which C++ calls
        self._finalized_because = "it runs in a training session"
        self.restrictions = 0  # how often prevent_feeding and prevent_fetching were called
        self._own_gradients, self._gradient_overrides, self._unmarked_from = {}, {}, 0  # see own_gradients.py
        self._reference_variables = set()  # names of those of an imported graph, which no Variable stands for

    @contextlib.contextmanager
    def as_default(self):
        """Makes this graph the default of this thread inside of the `with`."""
        _graphs.items.append(self)
        try:
            yield self
        finally:
            _graphs.items.remove(self)

    @contextlib.contextmanager
    def device(self, device_name_or_function):
        """Places the nodes that are made inside of the `with`."""
        if device_name_or_function is None:
            scope = self._no_device()
        elif isinstance(device_name_or_function, DeviceSpec):
            scope = self._device(device_name_or_function.to_string())
        elif callable(device_name_or_function) and not isinstance(device_name_or_function, _core.DeviceFunction):
            scope = self._device(lambda op: device_name_or_function(op) or "")
        else:
            scope = self._device(device_name_or_function)
        self._device_scopes.append(device_name_or_function)
        try:
            with scope:
                yield
        finally:
            self._device_scopes.pop()

    def _apply_device_scopes(self, op):
        """Places an imported node as the open device scopes would have placed it when it was made."""
        for scope in reversed(self._device_scopes):
            if scope is None:
                break
            device = scope(op) if callable(scope) else scope
            _core.set_device(op, _core.merged_device(op.device, device or ""))

    @contextlib.contextmanager
    def name_scope(self, name):
        """Prefixes the names of nodes; yields the prefix, which ends with "/"."""
        if name and not (_NESTED_SCOPE if self._scope_name else _ROOT_SCOPE).match(name):
            raise ValueError(f"'{name}' is not a valid {'' if self._scope_name else 'root '}scope name")
        with self._name_scope(name or ""):
            scope = self._scope_name
            yield scope + "/" if scope else ""

    @contextlib.contextmanager
    def control_dependencies(self, control_inputs):
        """Nodes made inside of the `with` run after `control_inputs`; None ignores the enclosing scopes."""
        with self._control_dependencies(list(control_inputs or [])):
            yield

    @contextlib.contextmanager
    def container(self, container_name):
        """A scope whose nodes TensorFlow keeps in this container of the server. Here it has no effect yet."""
        yield container_name

    @contextlib.contextmanager
    def colocate_with(self, op):
        """A scope in which new operations are put on the device of this one."""
        with self._colocate_with(op):
            yield

    def get_operation_by_name(self, name):
        """The operation of this name; KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Operation names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_tensor=False)

    def get_tensor_by_name(self, name):
        """The tensor of this name, "loss:0"; KeyError if there is none."""
        if not isinstance(name, str):
            raise TypeError(f"Tensor names are strings (or similar), not {type(name).__name__}.")
        return self.as_graph_element(name, allow_operation=False)

    def as_graph_element(self, obj, allow_tensor=True, allow_operation=True):
        """The tensor or operation that `obj` is, names or stands for."""
        if not (allow_tensor or allow_operation):
            raise ValueError("allow_tensor and allow_operation can't both be False.")
        kinds = " or ".join(["a Tensor"] * allow_tensor + ["an Operation"] * allow_operation)
        if isinstance(obj, bytes):
            obj = obj.decode()
        if isinstance(obj, str):
            return self._element_by_name(obj, allow_tensor, allow_operation)
        if isinstance(obj, _core.Variable):
            obj = obj.value()
        elif hasattr(obj, "_as_graph_element"):
            obj = obj._as_graph_element()
        elif hasattr(obj, "_as_graph_tensor"):
            obj = obj._as_graph_tensor()
        if not isinstance(obj, (Tensor,) * allow_tensor + (Operation,) * allow_operation):
            raise TypeError(f"Can not convert a {type(obj).__name__} into {kinds}.")
        if obj.graph is not self:
            raise ValueError(f"{obj} is not an element of this graph.")
        return obj

    def _element_by_name(self, name, allow_tensor, allow_operation):
        if ":" not in name:
            if not allow_operation:
                raise ValueError(f"The name '{name}' refers to an Operation, not a Tensor. Tensor names must be of the "
                                 'form "<op_name>:<output_index>".')
            return self._found(lambda: self._operation(name), f"the operation '{name}' is not in the graph")
        op_name, _, index = name.rpartition(":")
        if not allow_tensor:
            raise ValueError(f"Name '{name}' appears to refer to a Tensor, not a Operation.")
        if ":" in op_name or not index.isdigit():
            raise ValueError(f"'{name}' is no name of a tensor: Tensor names must be of the form "
                             '"<op_name>:<output_index>".')
        return self._found(lambda: self._tensor(name), f"the tensor '{name}' is not in the graph")

    @staticmethod
    def _found(find, message):
        """The result of `find`; KeyError if the graph does not have it. C++ suggests the nearest name."""
        try:
            return find()
        except (errors.NotFoundError, errors.InvalidArgumentError) as error:
            raise KeyError(f"{message}: {error.message}") from None

    @property
    def version(self):
        """A number that grows with each node: the number of nodes."""
        return len(self.get_operations())

    building_function = False

    def unique_name(self, name, mark_as_used=True):
        """A name that no node or scope has, in the open name scope."""
        if not mark_as_used:
            raise NotImplementedError("mark_as_used=False")
        return _core.unique_name(self, name)

    def get_name_scope(self):
        """The open name scope, "tower/conv"; "" outside of all."""
        return self._scope_name

    def prevent_feeding(self, tensor):
        """Makes it an error to feed this tensor."""
        self._unfeedable.add(tensor)
        self.restrictions += 1

    def prevent_fetching(self, op):
        """Makes it an error to fetch this operation."""
        self._unfetchable.add(op)
        self.restrictions += 1

    def is_feedable(self, tensor):
        """Whether the tensor may be fed."""
        return tensor not in self._unfeedable

    def is_fetchable(self, tensor_or_op):
        """Whether the tensor or operation may be fetched."""
        return getattr(tensor_or_op, "op", tensor_or_op) not in self._unfetchable

    # Collections.

    @property
    def collections(self):
        """The names of all collections."""
        return list(self._collections)

    def _check_not_finalized(self):
        if self.finalized:
            raise RuntimeError(f"Graph is finalized and cannot be modified: {self._finalized_because}.")

    def _check_addition(self, name):
        """Raises an error if a node of this name may not be added."""
        self._check_not_finalized()
        if name.startswith("_") and not self._scope_name:
            raise ValueError(f"'{name}' is not a valid node name")

    def _op(self, *args):
        try:
            return self._add(super()._op, args)
        except TypeError:
            if any(value is None for value in args[1]):
                raise ValueError("None values not supported.") from None
            raise

    def _const(self, *args):
        if args[0] is None:
            raise ValueError("None values not supported.")
        return self._add(super()._const, args)

    def _add(self, function, args):
        """Adds nodes. A wrong shape or name is a ValueError, as in TensorFlow; in a step it is InvalidArgumentError."""
        self._check_addition(args[-1])
        try:
            return function(*args)
        except errors.InvalidArgumentError as error:
            raise ValueError(error.message) from None

    def add_to_collection(self, name, value):
        """Adds a value to the collection of this name."""
        self._check_not_finalized()
        self._collections.setdefault(name, []).append(value)

    def add_to_collections(self, names, value):
        """Adds a value to one collection, or to each of several."""
        for name in dict.fromkeys((names,) if isinstance(names, str) else names):
            self.add_to_collection(name, value)

    def get_collection(self, name, scope=None):
        """The items of a collection; with a `scope`, those whose names begin with this regular expression."""
        items = self._collections.get(name, [])
        if scope is None:
            return list(items)
        return [item for item in items if re.match(scope, getattr(item, "name", None) or "")]

    def get_collection_ref(self, name):
        """The collection itself: a change of the list changes it."""
        return self._collections.setdefault(name, [])

    def get_all_collection_keys(self):
        """The names of the collections that are not empty."""
        return [key for key in self._collections if isinstance(key, str)]

    def clear_collection(self, name):
        """Removes all that is in a collection."""
        self._check_not_finalized()
        self._collections.pop(name, None)

    def finalize(self, because="Graph.finalize was called"):
        """Forbids to change the graph from now on. Mistakes say why."""
        self._finalized_because = because
        self._finalize(because)


def get_default_graph():
    """The innermost graph of `with graph.as_default()` on this thread, or else the global default graph."""
    global _global_graph
    if _graphs.items:
        return _graphs.items[-1]
    if _global_graph is None:
        _global_graph = Graph()
    return _global_graph


def reset_default_graph():
    """Replaces the global default graph by an empty one."""
    global _global_graph
    if _graphs.items:
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


def make_op(op_type, inputs, name=None, **attrs):
    """Adds a node of any op to the graph of its inputs. Returns its operation.

    Values among the inputs become constants of the dtype that the other inputs or the attributes determine. DTypes,
    TensorShapes and lists of them are given as attributes directly. Attributes that are None are left out.
    """
    inputs = [convert_to_tensor(value, name="shape") if isinstance(value, TensorShape) else value for value in inputs]
    converted = {key: _attr(value) for key, value in attrs.items() if value is not None}
    return graph_of(inputs)._op(op_type, list(inputs), converted, name or "")


def _attr(value):
    if isinstance(value, dtypes.DType):
        return value.as_datatype_enum
    if isinstance(value, TensorShape):
        return value._dims
    if isinstance(value, (list, tuple)):
        return [_attr(item) for item in value]
    return value


def convert_to_tensor(value, dtype=None, name=None, preferred_dtype=None):
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
    number = 0 if wanted is None else wanted.as_datatype_enum
    return graph._const(value, number, name or "Const")


def constant(value, dtype=None, shape=None, name="Const", verify_shape=False):
    """A constant. With a `shape`, `value` is reshaped; a scalar, or the last element, fills the rest."""
    import numpy as np

    if shape is not None:
        dims = TensorShape(shape).as_list()
        kind = None if dtype is None else dtypes.as_dtype(dtype).as_numpy_dtype
        array = np.array(value, kind)
        if array.dtype == np.float64 and dtype is None and not hasattr(value, "dtype"):
            array = array.astype(np.float32)
        if array.dtype == np.int64 and dtype is None and not hasattr(value, "dtype"):
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


def placeholder(dtype, shape=None, name=None):
    """A tensor whose value every step must feed."""
    return make_op("Placeholder", [], name, dtype=dtypes.as_dtype(dtype), shape=TensorShape(shape)).outputs[0]


def device(device_name_or_function):
    """tf.Graph.device of the default graph."""
    return get_default_graph().device(device_name_or_function)


@contextlib.contextmanager
def name_scope(name, default_name=None, values=None):
    """tf.Graph.name_scope of the graph of `values`, or of the default graph."""
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
    """The seed of the random ops of the default graph."""
    graph = get_default_graph()
    graph.seed = seed
    graph._has_seed = True  # also for the seed 0, which is none to C++


def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False,
              aggregation_method=None, stop_gradients=None, unconnected_gradients="none"):
    """The partial derivatives of the sum of `ys` with respect to each of `xs`.

    Where no y depends on an x, the result is None, or zeros with `unconnected_gradients` "zero". The operations that make
    `stop_gradients` are taken as constants.
    """
    unconnected = getattr(unconnected_gradients, "value", unconnected_gradients)
    if unconnected not in ("none", "zero"):
        raise ValueError(f"Unknown value for unconnected_gradients: '{unconnected_gradients}'")
    ys = list(ys) if isinstance(ys, (list, tuple)) else [ys]
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    grad_ys = [] if grad_ys is None else list(grad_ys) if isinstance(grad_ys, (list, tuple)) else [grad_ys]
    stops = [] if stop_gradients is None else \
        list(stop_gradients) if isinstance(stop_gradients, (list, tuple)) else [stop_gradients]
    if not grad_ys:
        for y in ys:
            if isinstance(y, Tensor) and y.dtype.is_complex:
                raise TypeError(f"Gradients of complex tensors ({y}) must set grad_ys (y.dtype = {y.dtype.name})")
    graph_of(ys)._check_not_finalized()
    graph_of(ys)._mark_own_gradients()
    try:
        found = graph_of(ys)._gradients(ys, xs, grad_ys, stops)
    except errors.InvalidArgumentError as error:
        kind = LookupError if error.message.startswith("no gradient is defined") else ValueError
        raise kind(error.message) from None
    if unconnected == "zero":
        found = [make_op("ZerosLike", [x], "zeros_like").outputs[0] if grad is None else grad
                 for grad, x in zip(found, xs)]
    return [IndexedSlices(*grad) if isinstance(grad, tuple) else grad for grad in found]


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
    def variables(scope=None):
        return get_default_graph().get_collection(key, scope)

    variables.__name__ = variables.__qualname__ = which
    variables.__doc__ = f"The collection {key!r} of the default graph; with `scope`, those whose names match this pattern."
    return variables


global_variables = _variables_of(GraphKeys.GLOBAL_VARIABLES, "global_variables")
local_variables = _variables_of(GraphKeys.LOCAL_VARIABLES, "local_variables")
model_variables = _variables_of(GraphKeys.MODEL_VARIABLES, "model_variables")
moving_average_variables = _variables_of(GraphKeys.MOVING_AVERAGE_VARIABLES, "moving_average_variables")
trainable_variables = _variables_of(GraphKeys.TRAINABLE_VARIABLES, "trainable_variables")
