"""tf.raw_ops: a function for each op, with the names of TensorFlow's functions for its inputs and attributes.

The functions are made from the definitions of the ops when they are first used. Their docstrings are the comments of
the C++ functions (include/tensorbraid/raw_ops), and of the usual function of the op.
"""

import inspect
import sys

from tensorbraid import _core, dtypes
from tensorbraid.internal import graph_defs, graphs, missing_names
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.op_results import results_class
from tensorbraid.ops.op_functions import op_doc

__all__ = []

# Names of inputs and attributes that TensorFlow's functions call otherwise.
_RENAMED = {"reduction_indices": "axis", "split_dim": "axis", "squeeze_dims": "axis"}
_RENAMED_IN = {("ExpandDims", "dim"): "axis", ("Select", "t"): "x", ("Select", "e"): "y",
               ("Where", "input"): "condition"}


def _public(op, name):
    return _RENAMED_IN.get((op.name, name), _RENAMED.get(name, name))


def _default(attr):
    value = graph_defs.attr_value(attr.default_value)
    if attr.type == "shape":
        return None if value.unknown_rank else [dim.size for dim in value.dim]
    return value.decode() if isinstance(value, bytes) else value


def _typed(attr, value):
    """The attribute's value, with names and classes of dtypes as DTypes."""
    if value is not None and attr.type == "type":
        return dtypes.as_dtype(value)
    if value is not None and attr.type == "list(type)":
        return [dtypes.as_dtype(item) for item in value]
    return value


def _results(op, operation):
    """The function's result: the operation if it has no outputs, a tensor or a list, or a named tuple of them."""
    values, rest = [], list(operation.outputs)
    for output in op.output_arg:
        if output.number_attr or output.type_list_attr:
            length = (operation.get_attr(output.number_attr) if output.number_attr
                      else len(operation.get_attr(output.type_list_attr)))
            values.append(rest[:length])
            rest = rest[length:]
        else:
            values.append(rest.pop(0))
    if len(values) > 1:
        return results_class(op.name, " ".join(output.name for output in op.output_arg))(*values)
    return values[0] if values else operation


def _function(op):
    inferred = {attr for arg in op.input_arg for attr in (arg.type_attr, arg.number_attr, arg.type_list_attr)}
    attrs = [attr for attr in op.attr if attr.name not in inferred]
    attrs.sort(key=lambda attr: attr.HasField("default_value"))
    keyword = inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = [inspect.Parameter(_public(op, arg.name), keyword) for arg in op.input_arg]
    for attr in attrs:
        default = _default(attr) if attr.HasField("default_value") else inspect.Parameter.empty
        parameters.append(inspect.Parameter(_public(op, attr.name), keyword, default=default))
    parameters.append(inspect.Parameter("name", keyword, default=None))
    signature = inspect.Signature(parameters)

    def function(*args, **kwargs):
        if args:
            raise TypeError(f"{op.name} only takes keyword args (possible keys: {list(signature.parameters)}). Please "
                            "pass these args as kwargs instead.")
        try:
            values = signature.bind(**kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{op.name}: {error}") from None
        given = {attr.name: _typed(attr, values[_public(op, attr.name)]) for attr in attrs
                 if _public(op, attr.name) in values}
        inputs = [values[_public(op, arg.name)] for arg in op.input_arg]
        return _results(op, make_op(op.name, inputs, values.get("name"), **given))

    function.__module__ = __name__
    function.__signature__ = signature
    return named(function, op.name, op_doc(op.name))


def positional(name):
    """The function of an op that, unlike that of tf.raw_ops, also accepts positional inputs and attributes."""
    function = getattr(sys.modules[__name__], name)

    def call(*args, **kwargs):
        try:
            values = function.__signature__.bind(*args, **kwargs).arguments
        except TypeError as error:
            raise TypeError(f"{name}: {error}") from None
        return function(**values)

    call.__signature__ = function.__signature__
    return named(call, name, function.__doc__)


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    try:
        op = graphs.get_default_graph().op_def_for_type(name)
    except ValueError:
        raise missing_names.error(__name__, name) from None
    function = globals()[name] = _function(op)
    return function


def __dir__():
    return [name for name in _core.op_names() if not name.startswith("_")]
