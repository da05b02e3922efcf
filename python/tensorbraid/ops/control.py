"""Ops that only order, pass on or print."""

import builtins
import pprint
import sys

from tensorbraid import _core, dtypes, nest
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays, string_ops
from tensorbraid.ops.sparse_tensor import SparseTensor


def no_op(name=None) -> graphs.Operation:
    """An operation that does nothing."""
    return graphs.get_default_graph()._op("NoOp", [], {}, name or "NoOp")


def _flat(values):
    for value in values:
        if isinstance(value, dict):
            yield from _flat(value[key] for key in sorted(value))
        elif isinstance(value, (list, builtins.tuple)):
            yield from _flat(value)
        elif value is not None:
            yield value


def _operation(value):
    if isinstance(value, graphs.IndexedSlices):
        return value.op
    if hasattr(value, "op") and not isinstance(value, graphs.Operation):
        return value.op
    if not isinstance(value, graphs.Operation):
        raise TypeError(f"'inputs' should be zero or more (nested) Tensors. Received '{value}' with type "
                        f"'{type(value)}'.")
    return value


def group(*inputs, **kwargs) -> graphs.Operation:
    """An operation that runs after all `inputs`, which may be nested."""
    name = kwargs.pop("name", None)
    if kwargs:
        raise ValueError(f"Unknown keyword arguments: {', '.join(kwargs)}.")
    flat = [value if isinstance(value, _core.Variable) else _operation(value) for value in _flat(inputs)]
    graph = graphs.graph_of(flat)
    with graph.control_dependencies(flat):
        return graph._op("NoOp", [], {}, name or "group_deps")


def with_dependencies(dependencies, output, name=None):
    """The tensor, which is passed on after the dependencies have run."""
    with name_scope(name, "control_dependency", [output]) as scope:
        with graphs.control_dependencies([d for d in dependencies if d is not None]):
            return arrays.identity(output, name=scope)


def tuple(tensors, name=None, control_inputs=None):
    """The tensors, of which each is passed on after all have been computed."""
    tensors = arguments.items("tensors", tensors, "a list of tensors")
    with name_scope(name, "tuple", [t for t in tensors if t is not None]):
        gating = [_operation(t) for t in tensors if t is not None]
        if not gating:
            raise ValueError(f"'tensors' must have at least one Tensor. Received: {tensors}.")
        gating += [value if isinstance(value, graphs.Operation) else _operation(value)
                   for value in control_inputs or []]
        gate = group(*gating)
        result = []
        for t in tensors:
            if t is None or isinstance(t, graphs.Operation):
                result.append(None)
            else:
                result.append(with_dependencies([gate], t))
        return result


def Print(input_, data, message=None, first_n=None, summarize=None, name=None):
    """The input; prints the data to standard error when it is passed on."""
    data = arguments.items("data", data, "a list of tensors")
    return make_op("Print", [input_, data], name or "Print", message=message, first_n=first_n,
                   summarize=summarize).outputs[0]


def print(*inputs, **kwargs):
    """An operation that prints its inputs, tensors with their values."""
    output_stream = kwargs.pop("output_stream", sys.stderr)
    name = kwargs.pop("name", None)
    summarize = kwargs.pop("summarize", 3)
    sep = kwargs.pop("sep", " ")
    end = kwargs.pop("end", "\n")
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments for tf.print: {kwargs}")
    streams = {id(sys.stdout): "stdout", id(sys.stderr): "stderr", id(sys.__stdout__): "stdout",
               id(sys.__stderr__): "stderr"}
    if isinstance(output_stream, str):
        stream = output_stream
    else:
        stream = streams.get(id(output_stream))
    if stream is None:
        raise ValueError(f"Unsupported output stream, logging level, or file: {output_stream}")
    with name_scope(name, "print"):
        template, tensors, placeholder = _template(inputs, sep)
        text = string_ops.format(template, tensors, placeholder, summarize=summarize)
        return make_op("PrintV2", [text], "PrintV2", output_stream=stream, end=end)


class _Placeholder:
    """Stands for a tensor in a structure that is printed."""

    def __init__(self, text):
        self._text = text

    def __repr__(self):
        return self._text


def _template(inputs, sep):
    """The text of the inputs with a placeholder for each tensor, also for those in structures; the tensors; and the
    placeholder, which does not occur in the text otherwise."""
    tensors = []

    def parts(value, placeholder):
        if isinstance(value, (graphs.Tensor, _core.Variable)):
            tensors.append(convert_to_tensor(value))
            return _Placeholder(placeholder)
        if isinstance(value, SparseTensor):
            tensors.extend([value.indices, value.values, value.dense_shape])
            return _Placeholder(f"SparseTensor(indices={placeholder}, values={placeholder}, shape={placeholder})")
        return value

    def text(placeholder):
        tensors.clear()
        shown = [nest.map_structure(lambda leaf: parts(leaf, placeholder), value) for value in inputs]
        return sep.join(value if isinstance(value, str) else pprint.pformat(value) for value in shown)

    own = text("")
    placeholder = "{}"
    while placeholder in own:
        placeholder = "{" + placeholder + "}"
    return text(placeholder), list(tensors), placeholder


def Assert(condition, data, summarize=None, name=None):
    """An operation that fails with the data if the condition is false."""
    data = arguments.items("data", data, "a list of tensors")
    with name_scope(name, "Assert", [condition] + data):
        condition = condition if isinstance(condition, graphs.Tensor) else convert_to_tensor(
            condition, dtypes.bool, name="condition")
        if condition.dtype != dtypes.bool:
            raise TypeError("the condition of tf.Assert must be a bool")
        values = [value if isinstance(value, (graphs.Tensor, _core.Variable)) else convert_to_tensor(value)
                  for value in data]
        return make_op("Assert", [condition, values], "Assert", summarize=summarize)


def convert_to_tensor_or_indexed_slices(value, dtype=None, name=None):
    """A tensor, or IndexedSlices themselves."""
    if isinstance(value, graphs.IndexedSlices):
        if dtype is not None and value.dtype != dtypes.as_dtype(dtype):
            raise ValueError(f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for IndexedSlices with "
                             f"dtype {value.dtype.name}")
        return value
    return convert_to_tensor(value, dtype, name)


def is_tensor(x):
    """Whether the value is a tensor, a variable, a SparseTensor or IndexedSlices."""
    return isinstance(x, (graphs.Tensor, _core.Variable, SparseTensor, graphs.IndexedSlices))


def timestamp(name=None):
    """Seconds since 1970."""
    return make_op("Timestamp", [], name or "Timestamp").outputs[0]


def verify_tensor_all_finite(t=None, msg=None, name=None, x=None, message=None):
    """The tensor, after a check in the step that it has no NaN and no infinity."""
    x = t if x is None else x
    message = msg if message is None else message
    with name_scope(name, "VerifyFinite", [x]):
        x = convert_to_tensor(x)
        check = make_op("CheckNumerics", [x], message=message).outputs[0]
        return with_dependencies([check], x)


__all__ = [
    "Assert", "Print", "convert_to_tensor_or_indexed_slices", "group", "is_tensor", "no_op", "print", "timestamp",
    "tuple", "verify_tensor_all_finite",
]
