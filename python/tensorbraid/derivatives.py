"""What gradients are made with, and second derivatives."""

import enum

from tensorbraid import arrays, graphs

__all__ = ["AggregationMethod", "UnconnectedGradients", "hessians"]


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


def hessians(ys, xs, name="hessians", colocate_gradients_with_ops=False, gate_gradients=False, aggregation_method=None):
    """For each x, the second derivatives of the sum of `ys`, in the shape of x twice."""
    xs = list(xs) if isinstance(xs, (list, tuple)) else [xs]
    made = []
    for gradient, x in zip(graphs.gradients(ys, xs), xs):
        if gradient is None:
            raise ValueError("None values not supported: the result does not depend on one of the xs")
        sizes = x.shape
        if not sizes.is_fully_defined():
            raise NotImplementedError("hessians by a tensor whose shape is not known")
        flat = arrays.reshape(gradient, [-1])
        rows = []
        for i in range(flat.shape.as_list()[0]):
            row = graphs.gradients(flat[i], x)[0]
            rows.append(arrays.zeros(sizes, gradient.dtype) if row is None else graphs.convert_to_tensor(row))
        made.append(arrays.reshape(arrays.stack(rows), sizes.as_list() + sizes.as_list()))
    return made
