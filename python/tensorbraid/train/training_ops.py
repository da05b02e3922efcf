"""The functions of tensorflow.python.training.training_ops that rules of programs call.

Each is made when it is first used: apply_adam of the op ApplyAdam. A variable is a resource here, so the node is one of
ResourceApplyAdam, and the function returns the variable's value after the update.
"""

import functools

from tensorbraid import _core
from tensorbraid.internal import graphs
from tensorbraid.internal.function_names import named

__all__ = []


@functools.cache
def _ops():
    prefixes = ("Apply", "SparseApply", "ResourceApply", "ResourceSparseApply", "ResourceScatter")
    return {op.lower(): op for op in _core.op_names() if op.startswith(prefixes)}


def _resource(value):
    return value.handle if isinstance(value, _core.Variable) else value


def _function(name, op):
    definition = graphs.get_default_graph().op_def_for_type(op if op.startswith("Resource") else f"Resource{op}")
    inputs = [arg.name for arg in definition.input_arg]
    inferred = {attr for arg in definition.input_arg for attr in (arg.type_attr, arg.number_attr)}
    attrs = [attr.name for attr in definition.attr if attr.name not in inferred]
    parameters = inputs + attrs + ["name"]

    def function(*args, **kwargs):
        values = dict(zip(parameters, args))
        wrong = [key for key in kwargs if key not in parameters or key in values]
        values.update(kwargs)
        missing = [key for key in inputs if key not in values]
        if wrong or missing or len(args) > len(parameters):
            raise TypeError(f"{name}() takes {', '.join(parameters)}")
        given = {attr: values[attr] for attr in attrs if attr in values}
        resources = {arg.name for arg in definition.input_arg if arg.type == 20}
        variable = values[inputs[0]]
        op_type = variable._op_for(definition.name) if isinstance(variable, _core.Variable) else definition.name
        node = graphs.make_op(op_type, [_resource(values[key]) if key in resources else values[key]
                                                for key in inputs], values.get("name"), **given)
        if op.startswith("Resource"):
            return node
        with node.graph.control_dependencies([node]):
            return values[inputs[0]].read_value()

    return named(function, name, f"Adds a node of {definition.name}.")


def __getattr__(name):
    op = _ops().get(name.replace("_", ""))
    if op is None or name.startswith("_"):
        raise AttributeError(f"module 'training_ops' has no attribute '{name}'")
    made = globals()[name] = _function(name, op)
    return made
