"""Variable scopes: names and defaults for the variables of a model, and the sharing of variables."""

import contextlib
import enum
import functools
import inspect

from tensorbraid import _core, dtypes
from tensorbraid.initializers import GlorotUniform, Zeros
from tensorbraid.internal import arguments, graphs, initial_values
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.lifted_variables import lifted
from tensorbraid.internal.partitioned_variables import PartitionedVariable, parts_of
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.internal.variables import VariableAggregation, VariableSynchronization, collect, set_constraint

__all__ = ["AUTO_REUSE", "VariableScope", "get_local_variable", "get_variable", "get_variable_scope", "no_regularizer",
           "variable_op_scope", "variable_scope"]


class _ReuseMode(enum.Enum):
    AUTO_REUSE = 1


AUTO_REUSE = _ReuseMode.AUTO_REUSE


def native_reuse(reuse):
    """The reuse mode of C++ for the argument `reuse` of a scope: None, False, True or AUTO_REUSE."""
    return {AUTO_REUSE: _core.Reuse.AUTO, True: _core.Reuse.MUST_EXIST}.get(reuse, _core.Reuse.INHERIT)


def no_regularizer(_):
    """No penalty, even in a scope that has a regularizer."""
    return None


class PartitionInfo:
    """Which part of a larger variable an initializer makes."""

    def __init__(self, full_shape, var_offset):
        self.full_shape = full_shape
        self.var_offset = var_offset


class VariableScope:
    """A variable scope with its defaults. Source: tf.VariableScope."""

    def __init__(self, reuse, name="", initializer=None, regularizer=None, caching_device=None, partitioner=None,
                 custom_getter=None, name_scope="", dtype=dtypes.float32, use_resource=None, constraint=None):
        self._name = name
        self._original_name_scope = name_scope
        self._reuse = reuse
        self._initializer = initializer
        self._regularizer = regularizer
        self._caching_device = caching_device
        self._partitioner = partitioner
        self._custom_getter = custom_getter
        self._dtype = dtypes.as_dtype(dtype)
        self._use_resource = use_resource
        self._constraint = constraint

    name = property(lambda self: self._name)
    original_name_scope = property(lambda self: self._original_name_scope)
    reuse = property(lambda self: self._reuse)
    initializer = property(lambda self: self._initializer)
    regularizer = property(lambda self: self._regularizer)
    caching_device = property(lambda self: self._caching_device)
    partitioner = property(lambda self: self._partitioner)
    custom_getter = property(lambda self: self._custom_getter)
    dtype = property(lambda self: self._dtype)
    use_resource = property(lambda self: self._use_resource)
    constraint = property(lambda self: self._constraint)

    def reuse_variables(self):
        """From now on, variables must exist already."""
        self._reuse = True

    def set_initializer(self, initializer):
        """Sets the initializer of new variables."""
        self._initializer = initializer

    def set_dtype(self, dtype):
        """Sets the dtype of new variables."""
        self._dtype = dtypes.as_dtype(dtype)

    def set_use_resource(self, use_resource):
        """Sets whether new variables are resources."""
        self._use_resource = use_resource

    def set_regularizer(self, regularizer):
        """Sets the regularizer of new variables."""
        self._regularizer = regularizer

    def set_caching_device(self, caching_device):
        """Sets the caching device of new variables."""
        self._caching_device = caching_device

    def set_partitioner(self, partitioner):
        """Sets the partitioner of new variables."""
        self._partitioner = partitioner

    def set_custom_getter(self, custom_getter):
        """Sets the function that makes new variables."""
        self._custom_getter = custom_getter

    def get_collection(self, name):
        """The items of a collection that were made in this scope."""
        return graphs.get_collection(name, self._name + "/" if self._name else self._name)

    def trainable_variables(self):
        """The variables of the scope that training changes."""
        return self.get_collection(GraphKeys.TRAINABLE_VARIABLES)

    def global_variables(self):
        """The variables of the scope that tasks share."""
        return self.get_collection(GraphKeys.GLOBAL_VARIABLES)

    def local_variables(self):
        """The variables of the scope that a task has for itself."""
        return self.get_collection(GraphKeys.LOCAL_VARIABLES)

    def get_variable(self, var_store, name, shape=None, dtype=None, initializer=None, regularizer=None, reuse=None,
                     trainable=None, collections=None, caching_device=None, partitioner=None, validate_shape=True,
                     use_resource=None, custom_getter=None, constraint=None,
                     synchronization=VariableSynchronization.AUTO, aggregation=VariableAggregation.NONE):
        """The variable `name` of this scope. `var_store` has no meaning here: C++ knows the graph's variables."""
        if not name:
            raise ValueError("a variable must have a name")
        for argument, function in (("regularizer", regularizer), ("partitioner", partitioner),
                                   ("custom_getter", custom_getter)):
            arguments.check(function is None or callable(function), argument, "a function", function)
        if collections is not None:
            collections = arguments.items("collections", collections, "a list of names")
        if dtype is not None and initializer is not None and not callable(initializer):
            kind = graphs.convert_to_tensor(initializer).dtype
            if kind != dtype:
                raise ValueError(f"Initializer type '{kind}' and explicit dtype '{dtypes.as_dtype(dtype)}' don't "
                                 "match.")
        values = {
            "name": f"{self._name}/{name}" if self._name else name,
            "shape": shape,
            "dtype": self._dtype if dtype is None else dtypes.as_dtype(dtype),
            "initializer": self._initializer if initializer is None else initializer,
            "regularizer": self._regularizer if regularizer is None else regularizer,
            "reuse": self._reuse if reuse is None else reuse,
            "trainable": trainable,
            "collections": collections,
            "caching_device": self._caching_device if caching_device is None else caching_device,
            "partitioner": self._partitioner if partitioner is None else partitioner,
            "validate_shape": validate_shape,
            "use_resource": self._use_resource if use_resource is None else use_resource,
            "constraint": self._constraint if constraint is None else constraint,
            "synchronization": synchronization,
            "aggregation": aggregation,
        }
        getter = _get_variable
        if self._custom_getter is not None:
            getter = functools.partial(self._custom_getter, getter)
        if custom_getter is not None:
            getter = functools.partial(custom_getter, getter)
        return getter(**values)


@lifted
def _get_variable(name, shape=None, dtype=dtypes.float32, initializer=None, regularizer=None, reuse=None,
                  trainable=None, collections=None, caching_device=None, partitioner=None, validate_shape=True,
                  use_resource=None, constraint=None, synchronization=VariableSynchronization.AUTO,
                  aggregation=VariableAggregation.NONE):
    """Makes or shares the variable with this full name. What custom getters call."""
    graph = graphs.get_default_graph()
    exists = _core.has_variable(graph, name)
    dtype = dtypes.as_dtype(dtype)
    trainable = synchronization != VariableSynchronization.ON_READ if trainable is None else bool(trainable)
    keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    if initializer is not None and not callable(initializer):
        if shape is not None:
            raise ValueError("If initializer is a constant, do not specify shape.")
        if not exists:
            value = graphs.convert_to_tensor(initializer)
            shape, dtype = value.shape, value.dtype
    shape = TensorShape(shape)
    if not exists and not validate_shape and not shape.is_fully_defined():
        raise NotImplementedError("validate_shape=False of get_variable without a known shape")
    losses = []

    def regularize(value):
        loss = regularizer(value)
        if loss is not None:
            losses.append(loss)
        return loss

    parts = _core.get_variables(graph, name, shape._dims, dtype.as_datatype_enum, native_reuse(reuse),
                                _initial_value_of(name, initializer, dtype), regularizer and regularize,
                                partitioner and parts_of(partitioner), trainable, GraphKeys.LOCAL_VARIABLES in keys)
    if not exists:
        for part in parts:
            set_constraint(part, constraint)
            collect(part, keys, trainable)
        for loss in losses:
            graph.add_to_collection(GraphKeys.REGULARIZATION_LOSSES, loss)
    return parts[0] if parts[0]._part_of is None else _whole_of(name, parts)


def _whole_of(name, parts):
    """The PartitionedVariable with these parts. The same parts always give the same object."""
    if not hasattr(parts[0], "_whole"):
        parts[0]._whole = PartitionedVariable(name, parts)
    return parts[0]._whole


def _initial_value_of(name, initializer, dtype):
    """The function for C++ that calls an initializer of Python."""
    if isinstance(initializer, type):
        initializer = initializer()
    if initializer is None:
        if dtype.is_floating or dtype.is_complex:
            initializer = GlorotUniform()
        elif dtype.is_integer or dtype.is_bool:
            initializer = Zeros()

    def call(dims, kind, part):
        if initializer is None:
            raise ValueError(f"An initializer for variable {name} of {dtype} is required")
        if not callable(initializer):
            return initializer
        try:
            parameters = inspect.signature(initializer).parameters
        except (TypeError, ValueError):
            parameters = {}
        if not parameters:
            return initializer()
        if "partition_info" in parameters and part is not None:
            info = PartitionInfo(part[0], [part[1]] + [0] * (len(part[0]) - 1))
            return initializer(dims, dtype=dtypes.as_dtype(kind), partition_info=info)
        return initializer(dims, dtype=dtypes.as_dtype(kind))

    return lambda *args: initial_values.with_initialized_variables(call(*args))


def get_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=None, collections=None,
                 caching_device=None, partitioner=None, validate_shape=True, use_resource=None, custom_getter=None,
                 constraint=None, synchronization=VariableSynchronization.AUTO,
                 aggregation=VariableAggregation.NONE) -> _core.Variable:
    """Makes the variable `name` of the open variable scope, or returns it if it exists and the scope reuses."""
    return get_variable_scope().get_variable(
        None, name, shape, dtype, initializer, regularizer, None, trainable, collections, caching_device, partitioner,
        validate_shape, use_resource, custom_getter, constraint, synchronization, aggregation)


def get_local_variable(name, shape=None, dtype=None, initializer=None, regularizer=None, trainable=False,
                       collections=None, caching_device=None, partitioner=None, validate_shape=True, use_resource=None,
                       custom_getter=None, constraint=None, synchronization=VariableSynchronization.AUTO,
                       aggregation=VariableAggregation.NONE):
    """tf.get_variable for a variable that belongs to this task alone and is not trained."""
    keys = list(collections or []) + [GraphKeys.LOCAL_VARIABLES]
    return get_variable(name, shape, dtype, initializer, regularizer, False, keys, caching_device, partitioner,
                        validate_shape, use_resource, custom_getter, constraint, synchronization, aggregation)


def _scopes(graph):
    """The variable scopes that the calling thread has opened in a graph, innermost last."""
    scopes = graph._here.variable_scopes
    if not scopes:
        scopes.append(VariableScope(False))
    return scopes


def get_variable_scope():
    """The open variable scope of the default graph."""
    return _scopes(graphs.get_default_graph())[-1]


class variable_scope:  # noqa: N801
    """Opens a variable scope: `with tf.variable_scope("encoder") as scope:`. Source: tf.variable_scope."""

    def __init__(self, name_or_scope, default_name=None, values=None, initializer=None, regularizer=None,
                 caching_device=None, partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None,
                 constraint=None, auxiliary_name_scope=True):
        if default_name is None and name_or_scope is None:
            raise TypeError("If default_name is None then name_or_scope is required")
        if name_or_scope is not None and not isinstance(name_or_scope, (str, VariableScope)):
            raise TypeError("VariableScope: name_or_scope must be a string or VariableScope.")
        if name_or_scope is None and reuse:
            raise ValueError("reuse=True cannot be used without a name_or_scope")
        if not isinstance(auxiliary_name_scope, bool):
            raise TypeError(f"auxiliary_name_scope must be True or False, got {auxiliary_name_scope}")
        if reuse not in (None, True, False, AUTO_REUSE):
            raise ValueError("The reuse parameter must be True or False or None.")
        self._name_or_scope = name_or_scope
        self._default_name = default_name
        self._values = [value for value in (values or []) if value is not None]
        self._reuse = reuse
        self._custom_getter = custom_getter
        self._defaults = {"initializer": initializer, "regularizer": regularizer, "caching_device": caching_device,
                          "partitioner": partitioner, "use_resource": use_resource, "constraint": constraint,
                          "dtype": None if dtype is None else dtypes.as_dtype(dtype)}
        self._auxiliary_name_scope = auxiliary_name_scope
        self._open = None

    def keep_weights(self, dtype=dtypes.float32):
        """This scope, in which variables of bfloat16 are of `dtype` and cast where they are used. Source: DeepRec."""
        self._custom_getter = functools.partial(_cast_to_bfloat16, dtypes.as_dtype(dtype))
        return self

    def __enter__(self):
        graph = graphs.graph_of(self._values)
        with contextlib.ExitStack() as stack:
            stack.enter_context(graph.as_default())
            scope = self._enter(graph, stack)
            _scopes(graph).append(scope)
            stack.callback(_scopes(graph).pop)
            self._open = stack.pop_all()
        return scope

    def __exit__(self, *error):
        self._open.__exit__(*error)

    def _enter(self, graph, stack):
        """Opens the scopes of the graph, and returns the scope of Python."""
        outer = _scopes(graph)[-1]
        again = isinstance(self._name_or_scope, VariableScope)
        base = self._name_or_scope if again else outer
        short = base.name.rsplit("/", 1)[-1] if again else self._name_or_scope or self._default_name
        if self._name_or_scope == "":
            short = ""
        if self._auxiliary_name_scope and short:
            prefix = stack.enter_context(graph.name_scope(short))
        else:
            prefix = f"{graph._scope_name}/" if graph._scope_name else ""
        if again:
            opened = (base.name, _core.OpenedScope.AGAIN)
        elif self._name_or_scope is None:
            opened = (self._default_name, _core.OpenedScope.UNIQUE)
        else:
            opened = ((self._name_or_scope, _core.OpenedScope.INSIDE) if self._name_or_scope
                      else (outer.name, _core.OpenedScope.AGAIN))
        stack.enter_context(_core.open_variable_scope(graph, *opened))
        scope = VariableScope(self._reuse or base.reuse, _core.variable_scope_name(graph), base.initializer,
                              base.regularizer, base.caching_device, base.partitioner, base.custom_getter,
                              base.original_name_scope if again else prefix, base.dtype, base.use_resource,
                              base.constraint)
        for key, value in self._defaults.items():
            if value is not None:
                setattr(scope, f"_{key}", value)
        if self._custom_getter is not None:
            scope._custom_getter = _chained(self._custom_getter, base.custom_getter)
        return scope


def _cast_to_bfloat16(kept, getter, name, *args, dtype=None, **kwargs):
    """A custom getter: what is asked for as bfloat16 is a variable of the dtype `kept`, and given as a cast of it."""
    if dtype is None or dtypes.as_dtype(dtype) != dtypes.bfloat16:
        return getter(name, *args, dtype=dtype, **kwargs)
    from tensorbraid.ops.elementwise import cast

    variable = getter(name, *args, dtype=kept, **kwargs)
    return cast(variable, dtypes.bfloat16, name=f"{variable.name.split(':')[0]}/cast")


def _chained(inner, outer):
    """The custom getter of a scope inside of a scope that has one, too: the inner calls the outer."""
    if outer is None:
        return inner
    return lambda getter, *args, **kwargs: inner(functools.partial(outer, getter), *args, **kwargs)


@contextlib.contextmanager
def variable_op_scope(values, name_or_scope, default_name=None, initializer=None, regularizer=None, caching_device=None,
                      partitioner=None, custom_getter=None, reuse=None, dtype=None, use_resource=None, constraint=None):
    """The old form of tf.variable_scope."""
    with variable_scope(name_or_scope, default_name, values, initializer, regularizer, caching_device, partitioner,
                        custom_getter, reuse, dtype, use_resource, constraint) as scope:
        yield scope
