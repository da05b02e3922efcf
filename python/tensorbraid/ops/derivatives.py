"""Gradients and second derivatives."""

import enum
from typing import Any

from tensorbraid import _core, errors
from tensorbraid.internal import arguments, graphs
from tensorbraid.ops import arrays

__all__ = ["AggregationMethod", "UnconnectedGradients", "gradients", "hessians"]


class AggregationMethod:
    """How the gradients of a tensor that several ops use are added. C++ adds them with one AddN whatever is chosen."""

    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


class UnconnectedGradients(enum.Enum):
    """The gradient by a tensor that the result does not depend on."""

    NONE = "none"
    ZERO = "zero"


def _variable_or_tensor(x):
    """The variable if `x` is a variable's value, otherwise `x`.

    The derivative is then with respect to all reads of the variable, which are one tensor in TensorFlow 1.
    """
    variable = _core.variable_of(x) if isinstance(x, graphs.Tensor) else None
    return x if variable is None else variable


def _check_graph(ys, xs):
    """Raises an error unless `xs` are tensors and variables of the graph of `ys`."""
    graph = graphs.graph_of(ys)
    for x in xs:
        arguments.check(hasattr(x, "graph") or hasattr(x, "_as_graph_tensor"), "xs", "a tensor or a list of tensors", x)
    if not graph.building_function:
        for tensor in [*ys, *xs]:
            if getattr(tensor, "graph", graph) is not graph:
                raise ValueError(f"gradients: {tensor} is not in the graph of {ys[0]}: ys and xs must be in one graph")


def gradients(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False,
              aggregation_method=None, stop_gradients=None, unconnected_gradients="none") -> list[Any]:
    """The partial derivatives of the sum of `ys` with respect to each of `xs`.

    Where no y depends on an x, the result is None, or zeros with `unconnected_gradients` "zero". The operations that
    make `stop_gradients` are taken as constants.
    """
    unconnected = getattr(unconnected_gradients, "value", unconnected_gradients)
    if unconnected not in ("none", "zero"):
        raise ValueError(f"Unknown value for unconnected_gradients: '{unconnected_gradients}'")
    ys = list(ys) if isinstance(ys, (list, tuple)) else [ys]
    xs = [_variable_or_tensor(x) for x in (xs if isinstance(xs, (list, tuple)) else [xs])]
    grad_ys = [] if grad_ys is None else list(grad_ys) if isinstance(grad_ys, (list, tuple)) else [grad_ys]
    stops = [] if stop_gradients is None else \
        list(stop_gradients) if isinstance(stop_gradients, (list, tuple)) else [stop_gradients]
    if not grad_ys:
        for y in ys:
            if isinstance(y, graphs.Tensor) and y.dtype.is_complex:
                raise TypeError(f"Gradients of complex tensors ({y}) must set grad_ys (y.dtype = {y.dtype.name})")
    _check_graph(ys, xs)
    graphs.graph_of(ys)._check_not_finalized()
    graphs.graph_of(ys)._mark_own_gradients()
    try:
        found = graphs.graph_of(ys)._gradients(ys, xs, grad_ys, stops, name or "gradients")
    except errors.InvalidArgumentError as error:
        kind = LookupError if error.message.startswith("no gradient is defined") else ValueError
        raise kind(error.message) from None
    if unconnected == "zero":
        found = [graphs.make_op("ZerosLike", [x], "zeros_like").outputs[0] if grad is None else grad
                 for grad, x in zip(found, xs)]
    return [graphs.IndexedSlices(*grad) if isinstance(grad, tuple) else grad for grad in found]


def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None):
    """For each x, the second derivatives of the sum of `ys`, in the shape of x twice."""
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    made = []
    for gradient, x in zip(gradients(ys, xs), xs):
        if gradient is None:
            raise ValueError("None values not supported: the result does not depend on one of the xs")
        sizes = x.shape
        if not sizes.is_fully_defined():
            raise NotImplementedError("hessians by a tensor whose shape is not known")
        flat = arrays.reshape(gradient, [-1])
        rows = []
        for i in range(flat.shape.as_list()[0]):
            row = gradients(flat[i], x)[0]
            rows.append(arrays.zeros(sizes, gradient.dtype) if row is None else graphs.convert_to_tensor(row))
        made.append(arrays.reshape(arrays.stack(rows), sizes.as_list() + sizes.as_list()))
    return made
