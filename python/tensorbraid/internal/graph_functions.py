"""Functions about the default graph as a whole."""

import contextlib

from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import make_op
from tensorbraid.ops import control

__all__ = ["add_check_numerics_ops", "colocate_with", "init_scope", "is_symbolic_tensor", "op_scope",
           "register_tensor_conversion_function"]


def add_check_numerics_ops():
    """An operation that fails if a float of the default graph is infinite or no number."""
    checks = []
    for op in graphs.get_default_graph().get_operations():
        for output in op.outputs:
            if output.dtype.name in ("float16", "bfloat16", "float32", "float64"):
                with graphs.control_dependencies(checks[-1:]):
                    checks.append(make_op("CheckNumerics", [output], message=f"{op.name}:{op.outputs.index(output)}"))
    return control.group(*checks)


def colocate_with(op, ignore_existing=False):
    """tf.Graph.colocate_with of the default graph."""
    if ignore_existing:
        raise NotImplementedError("colocate_with with ignore_existing")
    return graphs.get_default_graph().colocate_with(op)


@contextlib.contextmanager
def init_scope():
    """Nodes made inside of the `with` do not depend on the enclosing control_dependencies."""
    with graphs.control_dependencies(None):
        yield


@contextlib.contextmanager
def op_scope(values, name, default_name=None):
    """The old form of name_scope."""
    with graphs.name_scope(name, default_name, values) as scope:
        yield scope


def is_symbolic_tensor(tensor):
    """Whether the value is a tensor of a graph."""
    return isinstance(tensor, graphs.Tensor)


_conversions = {}  # for each class: pairs of a priority and a function


def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """Objects of the class, or of the classes, become tensors by this function: f(value, dtype, name, as_ref)."""
    classes = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(kind, type) for kind in classes):
        raise TypeError(f"Argument `base_type` must be a type or a tuple of types. Got {base_type!r}.")
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable. Received {conversion_func!r}.")
    if any(kind.__flags__ & (1 << 8) or kind.__module__ in ("builtins", "numpy") for kind in classes):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy scalars and arrays.")
    for kind in classes:
        _conversions.setdefault(kind, []).append((priority, conversion_func))
        _conversions[kind].sort(key=lambda pair: pair[0])
        kind._as_graph_tensor = _convert


def _convert(value, dtype=None, name=None):
    for kind in type(value).__mro__:
        for _, function in _conversions.get(kind, ()):
            made = function(value, dtype=dtype, name=name, as_ref=False)
            if made is not NotImplemented:
                return made
    raise TypeError(f"no function converts a {type(value).__name__} to a tensor")
