"""tf.load_op_library: ops of a library of one's own, see docs/custom_ops.md."""

import inspect
import keyword
import os
import types

from tensorbraid import _core, dtypes
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import get_default_graph, make_op
from tensorbraid.internal.op_results import results_class
from tensorbraid.internal.shapes import TensorShape

__all__ = ["load_op_library"]


def load_op_library(library_filename):
    """Loads a library of ops into this process. Returns a module with a function for each of its ops.

    The function of the op ScaledTanh is `scaled_tanh`: its parameters are the inputs, the attributes that do not follow
    from the inputs, and `name`. A library that was loaded before is not loaded again.
    """
    path = os.fspath(library_filename)
    module = types.ModuleType(os.path.splitext(os.path.basename(path))[0])
    module.__file__ = path
    for op in _core.load_op_library(path):
        function = _function(op)
        setattr(module, function.__name__, function)
    return module


def _snake_case(op):
    """scaled_tanh for ScaledTanh, l2_loss for L2Loss, conv2d for Conv2D."""
    name = ""
    for i, letter in enumerate(op):
        if i > 0 and letter.isupper() and (op[i - 1].islower() or op[i + 1 : i + 2].islower()):
            name += "_"
        name += letter.lower()
    return name


def _python_name(name):
    return name + "_" if keyword.iskeyword(name) else name


def _default_of(attr):
    """The default of an attribute, if Python can show it; None leaves the attribute to the op's definition."""
    kind = attr.default_value.WhichOneof("value")
    if kind == "s":
        return attr.default_value.s.decode(errors="replace")
    if kind == "type":
        return dtypes.as_dtype(attr.default_value.type)
    return getattr(attr.default_value, kind) if kind in ("i", "f", "b") else None


def _attr_value(kind, value):
    if value is None:
        return None
    if kind == "type":
        return dtypes.as_dtype(value)
    if kind == "list(type)":
        return [dtypes.as_dtype(item) for item in value]
    if kind == "shape":
        return TensorShape(value)
    if kind == "list(shape)":
        return [TensorShape(item) for item in value]
    return value


def _function(op):
    definition = get_default_graph().op_def_for_type(op)
    inputs = [_python_name(arg.name) for arg in definition.input_arg]
    inferred = {attr for arg in definition.input_arg for attr in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
    attrs = {_python_name(attr.name): attr for attr in definition.attr if attr.name not in inferred}
    signature = _signature(inputs, attrs)
    lists = [bool(arg.number_attr or arg.type_list_attr) for arg in definition.output_arg]
    result = results_class(op, " ".join(_python_name(arg.name) for arg in definition.output_arg))

    def function(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        given = {attr.name: _attr_value(attr.type, values[name]) for name, attr in attrs.items()}
        made = make_op(op, [values[name] for name in inputs], values["name"] or op, **given)
        if not lists:
            return made
        outputs = list(made.outputs)
        if len(lists) == 1:
            return outputs if lists[0] else outputs[0]
        return result(*_grouped(outputs, made, definition.output_arg))

    function.__signature__ = signature
    return named(function, _snake_case(op), _core.doc_of_custom_op(op) or f"Adds a node of the op {op}.")


def _signature(inputs, attrs):
    parameter = inspect.Parameter
    parameters = [parameter(name, parameter.POSITIONAL_OR_KEYWORD) for name in inputs]
    optional = []
    for name, attr in attrs.items():
        if attr.HasField("default_value"):
            optional.append(parameter(name, parameter.POSITIONAL_OR_KEYWORD, default=_default_of(attr)))
        else:
            parameters.append(parameter(name, parameter.POSITIONAL_OR_KEYWORD))
    optional.append(parameter("name", parameter.POSITIONAL_OR_KEYWORD, default=None))
    return inspect.Signature(parameters + optional)


def _grouped(outputs, operation, args):
    """The outputs of each argument: a tensor, or a list of tensors."""
    for arg in args:
        if arg.number_attr:
            count = operation.get_attr(arg.number_attr)
        elif arg.type_list_attr:
            count = len(operation.get_attr(arg.type_list_attr))
        else:
            yield outputs.pop(0)
            continue
        yield [outputs.pop(0) for _ in range(count)]
