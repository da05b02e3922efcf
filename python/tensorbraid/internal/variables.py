"""Variables: tensors that keep their value from step to step."""

import enum
import typing

import numpy as np

from tensorbraid import _core, dtypes
from tensorbraid.internal import arguments, graphs, initial_operations, initial_values
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.lifted_variables import lifted
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops.elementwise import has_tensor

__all__ = ["Variable", "VariableAggregation", "VariableSynchronization", "all_variables",
           "assert_variables_initialized", "global_variables_initializer", "initialize_all_variables",
           "initialize_local_variables", "initialize_variables", "is_variable_initialized",
           "local_variables_initializer", "report_uninitialized_variables", "variables_initializer"]


class VariableSynchronization(enum.Enum):
    """When copies of a variable are made equal. A variable here has no copies, so the choice has no effect."""

    AUTO, NONE, ON_WRITE, ON_READ = 0, 1, 2, 3


class VariableAggregation(enum.Enum):
    """How values of copies of a variable are combined. A variable here has no copies, so the choice has no effect."""

    NONE, SUM, MEAN, ONLY_FIRST_REPLICA = 0, 1, 2, 3


class _VariableMeta(type):
    """Lets the objects of the C++ class be instances of tf.Variable, and their methods be found in it."""

    def __instancecheck__(cls, instance):
        return isinstance(instance, _core.Variable)

    def __getattr__(cls, name):
        return getattr(_core.Variable, name)

    def __dir__(cls):
        return sorted({*super().__dir__(), *dir(_core.Variable)})


if typing.TYPE_CHECKING:  # for type checkers, one class is the result of tf.Variable(...) and tf.get_variable
    from tensorbraid._core import Variable
else:
    class Variable(metaclass=_VariableMeta):
        """A variable, which keeps its value from step to step. Source: tf.Variable with use_resource=True.

        `initial_value` is a value, a tensor, or a function that returns one of them. It determines the shape and the
        dtype. The variable's `initializer` or tf.global_variables_initializer() must run before a step reads the
        variable; otherwise the step fails with FailedPreconditionError. tf.Variable(...) returns an object of the C++
        class.
        """

        def __new__(cls, initial_value=None, trainable=None, collections=None, validate_shape=True, caching_device=None,
                    name=None, variable_def=None, dtype=None, expected_shape=None, import_scope=None, constraint=None,
                    use_resource=None, synchronization=VariableSynchronization.AUTO,
                    aggregation=VariableAggregation.NONE, shape=None):
            if variable_def is not None:
                if initial_value is not None:
                    raise ValueError("variable_def and initial_value are mutually exclusive.")
                return cls.from_proto(variable_def, import_scope)
            return make_variable(initial_value, trainable, collections, validate_shape, name, dtype,
                                 expected_shape if shape is None else shape, constraint)


def set_constraint(variable, constraint):
    """Makes optimizers apply `constraint` to the variable after each update. None has no effect.

    ValueError if it is not callable.
    """
    if constraint is None:
        return
    if not callable(constraint):
        raise ValueError("The `constraint` argument must be a callable.")
    variable._constraint = constraint


@lifted
def make_variable(initial_value, trainable=None, collections=None, validate_shape=True, name=None, dtype=None,
                  expected_shape=None, constraint=None):
    """The work of tf.Variable's constructor."""
    if initial_value is None:
        raise ValueError("initial_value must be specified.")
    if collections is not None and not isinstance(collections, (list, tuple, set)):
        raise ValueError("collections argument to Variable constructor must be a list, tuple, or set. Got "
                         f"{collections}")
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    graph = graphs.graph_of([] if callable(initial_value) else [initial_value])
    if graph.lifted_variables is not None:  # and the default graph is the one around it
        raise ValueError(f"The initial value of a variable, {initial_value}, is inside of a function's body, but the "
                         "variable is made outside of it. Pass a function that returns the value.")
    if callable(initial_value):
        prefix = f"{graph._scope_name}/" if graph._scope_name else ""
        with graph.control_dependencies(None), graph.name_scope(f"{prefix}{name or 'Variable'}/Initializer/"):
            initial_value = initial_value()
    value, kind, shape = _described(initial_value, wanted)
    if wanted is not None and kind != wanted:
        raise ValueError(f"Tensor conversion requested dtype {wanted.name} for Tensor with dtype {kind.name}: {value}")
    if not validate_shape:
        shape = None
    elif not shape.is_fully_defined():
        raise ValueError(f"initial_value must have a shape specified: {initial_value}")
    elif expected_shape is not None and TensorShape(expected_shape) != shape:
        raise ValueError(f"initial_value has shape {shape}, expected {TensorShape(expected_shape)}")
    keys = [GraphKeys.GLOBAL_VARIABLES] if collections is None else list(collections)
    trainable = True if trainable is None else bool(trainable)
    graph._check_addition(name or "")
    try:
        variable = _core.Variable._make(graph, lambda: value, None if shape is None else shape.as_list(),
                                        kind.as_datatype_enum, name or "Variable", trainable,
                                        GraphKeys.LOCAL_VARIABLES in keys)
    except TypeError as error:
        raise TypeError(arguments.about(initial_value, str(error), "initial_value")) from None
    set_constraint(variable, constraint)
    collect(variable, keys, trainable)
    return variable


def _described(value, wanted):
    """An initial value, as a tensor or an array, with its dtype and shape."""
    if hasattr(value, "_as_graph_tensor"):
        value = value._as_graph_tensor()
    if has_tensor(value):
        value = graphs.convert_to_tensor(value, wanted, name="initial_value")
    value = initial_values.with_initialized_variables(value)
    if isinstance(value, graphs.Tensor):
        return value, value.dtype, value.shape
    array = np.asarray(value, None if wanted is None else wanted.as_numpy_dtype)
    kind = wanted
    if kind is None and not hasattr(value, "dtype"):
        kind = {"f": dtypes.float32, "i": dtypes.int32}.get(array.dtype.kind)
    return array if hasattr(value, "dtype") else value, kind or dtypes.as_dtype(array.dtype), TensorShape(array.shape)


def collect(variable, keys, trainable):
    """Adds a new variable to collections, and to that of the trainable ones."""
    keys = list(keys)
    if trainable and GraphKeys.TRAINABLE_VARIABLES not in keys:
        keys.append(GraphKeys.TRAINABLE_VARIABLES)
    for key in keys:
        variable.graph.add_to_collection(key, variable)


def collect_new(graph, count):
    """Adds the variables that C++ has made since the graph had `count` of them to the collections of Python."""
    for variable in _core.variables(graph)[count:]:
        collect(variable, [GraphKeys.LOCAL_VARIABLES if variable._local else GraphKeys.GLOBAL_VARIABLES],
                variable.trainable)


def all_variables():
    """The old name of tf.global_variables."""
    return graphs.global_variables()


def global_variables_initializer():
    """An operation that initialises all global variables of the default graph."""
    return variables_initializer(graphs.global_variables())


def local_variables_initializer():
    """An operation that initialises all local variables of the default graph."""
    return variables_initializer(graphs.local_variables())


def _variables(name, values):
    """The values of an argument, which must be variables, as a list."""
    values = arguments.items(name, values, "a list of variables")
    for value in values:
        arguments.check(hasattr(value, "initializer"), name, "a list of variables", value)
    return values


def variables_initializer(var_list, name="init"):
    """An operation that initialises the variables of the list."""
    var_list = _variables("var_list", var_list)
    return initial_operations.initialize(graphs.graph_of(var_list), var_list, name)


initialize_all_variables = global_variables_initializer
initialize_local_variables = local_variables_initializer
initialize_variables = variables_initializer


def is_variable_initialized(variable):
    """A bool scalar: whether the variable has a value."""
    arguments.check(isinstance(variable, _core.Variable), "variable", "a tf.Variable", variable)
    return make_op(variable._op_for("VarIsInitializedOp"), [variable]).outputs[0]


def _all_or(var_list):
    return graphs.global_variables() + graphs.local_variables() if var_list is None else arguments.items(
        "var_list", var_list, "a list of variables")


def report_uninitialized_variables(var_list=None, name="report_uninitialized_variables"):
    """The names of the variables without a value; by default of all global and local variables."""
    from tensorbraid.ops import indexing

    var_list = _all_or(var_list)
    graph = graphs.graph_of(var_list)
    with graph.as_default(), graph.name_scope(name):
        names = graphs.constant([variable.op.name for variable in var_list], dtypes.string)
        if not var_list:
            return names
        flags = [make_op(variable._op_for("VarIsInitializedOp"), [variable]).outputs[0] for variable in var_list]
        missing = make_op("LogicalNot", make_op("Pack", [flags], "stack").outputs).outputs[0]
        return indexing.boolean_mask(names, missing)


def assert_variables_initialized(var_list=None):
    """An operation that fails with FailedPreconditionError if a variable has no value; None without variables."""
    var_list = _all_or(var_list)
    if not var_list:
        return None
    graph = graphs.graph_of(var_list)
    with graph.control_dependencies([variable.read_value() for variable in var_list]):
        return make_op("NoOp", [], "assert_variables_initialized")
