"""Variables: tensors that keep their value from step to step."""

from tensorbraid import _core, dtypes, graphs
from tensorbraid.graphs import GraphKeys
from tensorbraid.shapes import TensorShape

import numpy as np


class _VariableMeta(type):
    """Makes tf.Variable(initial_value, ...) return an object of the C++ class, with which isinstance works."""

    def __call__(cls, initial_value=None, trainable=True, collections=None, validate_shape=True, caching_device=None,
                 name=None, variable_def=None, dtype=None, expected_shape=None, import_scope=None, constraint=None,
                 use_resource=None):
        return _make(initial_value, trainable, collections, name, dtype)

    def __instancecheck__(cls, instance):
        return isinstance(instance, _core.Variable)


class Variable(metaclass=_VariableMeta):
    """A variable. Source: tf.Variable with use_resource=True."""


def _make(initial_value, trainable, collections, name, dtype):
    if initial_value is None:
        raise ValueError("initial_value must be specified.")
    graph = graphs.graph_of([initial_value])
    make = initial_value if callable(initial_value) else None
    if make is not None:
        initial_value = make()
    if isinstance(initial_value, _core.Variable):
        initial_value = initial_value.value()
    if isinstance(initial_value, graphs.Tensor):
        kind = initial_value.dtype
        shape = initial_value.shape
    else:
        wanted = None if dtype is None else dtypes.as_dtype(dtype)
        array = np.asarray(initial_value, None if wanted is None else wanted.as_numpy_dtype)
        if wanted is None and not hasattr(initial_value, "dtype"):
            wanted = {"f": dtypes.float32, "i": dtypes.int32}.get(array.dtype.kind)
        kind = wanted or dtypes.as_dtype(array.dtype)
        shape = TensorShape(array.shape)
    if dtype is not None and kind != dtype:
        raise ValueError(f"the initial value is {kind.name}, but dtype is {dtypes.as_dtype(dtype).name}")
    if not shape.is_fully_defined():
        raise ValueError("initial_value must have a shape specified: " + str(initial_value))
    keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    local = GraphKeys.LOCAL_VARIABLES in keys
    variable = _core.Variable._make(graph, lambda: initial_value, shape.as_list(), kind.as_datatype_enum,
                                    name or "Variable", trainable, local)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in keys:
        keys.append(GraphKeys.TRAINABLE_VARIABLES)
    for key in keys:
        graph.add_to_collection(key, variable)
    return variable


def _method(name):
    def decorate(function):
        setattr(_core.Variable, name, function)
        return function

    return decorate


_core.Variable.dtype = property(lambda self: dtypes.as_dtype(self._dtype))
_core.Variable.shape = property(lambda self: TensorShape(self._shape))
_core.Variable.get_shape = lambda self: self.shape
_core.Variable.device = property(lambda self: self.op.device)
_core.Variable.initialized_value = lambda self: self.initial_value
_core.Variable.__array_priority__ = 100
_core.Variable.__repr__ = lambda self: f"<tf.Variable '{self.name}' shape={self.shape} dtype={self.dtype.name}>"


@_method("assign")
def assign(self, value, use_locking=None, name=None, read_value=True):
    return _updated(self, self._assign(value), read_value)


@_method("assign_add")
def assign_add(self, delta, use_locking=None, name=None, read_value=True):
    return _updated(self, self._assign_add(delta), read_value)


@_method("assign_sub")
def assign_sub(self, delta, use_locking=None, name=None, read_value=True):
    return _updated(self, self._assign_sub(delta), read_value)


@_method("load")
def load(self, value, session=None):
    session = session or sessions().get_default_session()
    session.run(self.initializer, {self.initial_value: value})


@_method("eval")
def _eval(self, session=None):
    session = session or sessions().get_default_session()
    return session.run(self)


def sessions():
    from tensorbraid import session

    return session


def _updated(variable, operation, read_value):
    if not read_value:
        return operation
    with variable.graph.control_dependencies([operation]):
        return variable.read_value()


def global_variables_initializer():
    """An operation that initialises all global variables of the default graph."""
    return variables_initializer(graphs.global_variables())


def local_variables_initializer():
    """An operation that initialises all local variables of the default graph."""
    return variables_initializer(graphs.local_variables())


def variables_initializer(var_list, name="init"):
    """An operation that initialises the variables of the list."""
    graph = graphs.graph_of(list(var_list))
    return _core.variables_initializer(graph, list(var_list), name)
