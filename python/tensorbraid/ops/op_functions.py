"""Functions of Python for ops, made from the parameters that TensorFlow's functions have."""

import ast
import inspect
import re
from typing import Any, Callable, overload

from tensorbraid import _core, dtypes
from tensorbraid.internal.function_names import named
from tensorbraid.internal.graphs import Tensor, make_op, name_scope
from tensorbraid.internal.op_results import results_class

_USUAL_FUNCTION = re.compile(r"The usual function is (?:\w+::)*(\w+)")
_DTYPE_NAMES = {"dtype", "type", "out_type", "output_type", "output_idx_type"}


def _parameters(text):
    """inspect's parameters for "a, b=1, c=tf.int32"."""
    arguments = ast.parse(f"def f({text}): pass").body[0].args
    missing = len(arguments.args) - len(arguments.defaults)
    for i, argument in enumerate(arguments.args):
        default = inspect.Parameter.empty
        if i >= missing:
            node = arguments.defaults[i - missing]
            default = getattr(dtypes, node.attr) if isinstance(node, ast.Attribute) else ast.literal_eval(node)
        yield inspect.Parameter(argument.arg, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)


def op_doc(op_type):
    """The comments of the C++ headers about an op: those of its usual function, and its inputs and attributes."""
    own = _core._header_doc("raw_ops::" + op_type) or f"Adds a node of the op {op_type}; see docs/ops.md."
    found = _USUAL_FUNCTION.search(own)
    usual = _core._header_doc(found[1]) if found else ""
    return f"{usual}\n\n{own}" if usual else own


@overload
def op_function(op_type: str, inputs: str = "", attrs: str = "", *, name: str | None = None,
                scope: str | None = None) -> Callable[..., Tensor]: ...
@overload
def op_function(op_type: str, inputs: str = "", attrs: str = "", *, outputs: str, name: str | None = None,
                scope: str | None = None) -> Callable[..., Any]: ...
@overload
def op_function(op_type: str, inputs: str, attrs: str, outputs: str, name: str | None = None,
                scope: str | None = None) -> Callable[..., Any]: ...
def op_function(op_type, inputs="", attrs="", outputs="", name=None, scope=None):
    """A function that adds a node of the op and returns its output.

    `inputs` and `attrs` are the parameters, with their defaults, as in a definition: "transpose_a=False". The result is
    a tensor, an operation for an op without outputs, a list for the op's list of outputs (outputs="*"), or a named
    tuple of the `outputs`, which are separated by spaces. Nodes are called `name`, or else as the op. With a `scope`,
    the node is in a name scope of its own, as the newer functions of TensorFlow make it: "erfinv/Erfinv".
    """
    inputs = list(_parameters(inputs))
    attrs = list(_parameters(attrs))
    keyword = inspect.Parameter("name", inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None)
    signature = inspect.Signature(inputs + attrs + [keyword])
    input_names = [p.name for p in inputs]
    attr_names = [p.name for p in attrs]
    result = results_class(op_type, outputs) if " " in outputs else None

    def function(*args, **kwargs):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        values = bound.arguments
        given = {key: dtypes.as_dtype(values[key]) if key in _DTYPE_NAMES else values[key] for key in attr_names}
        operands = [values[key] for key in input_names]
        if scope is not None:
            with name_scope(values["name"], scope, operands):
                made = make_op(op_type, operands, op_type, **given)
        else:
            made = make_op(op_type, operands, values["name"] or name or op_type, **given)
        found = made.outputs
        if result is not None:
            return result(*found)
        if outputs == "*":
            return found
        return found[0] if found else made

    function.__signature__ = signature
    return named(function, op_type, op_doc(op_type))
