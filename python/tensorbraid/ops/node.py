"""Short forms for modules that compose ops."""

from tensorbraid import _core, dtypes
from tensorbraid.internal import graphs


def op(op_type, inputs, name=None, **attrs) -> graphs.Tensor:
    """The only output of a new node; its name is that of the op if no other is given."""
    if "DstT" in attrs:
        attrs["DstT"] = dtypes.as_dtype(attrs["DstT"])
    return graphs.make_op(op_type, inputs, name, **attrs).outputs[0]


def tensor(value, dtype=None, name=None) -> graphs.Tensor:
    """A value as a tensor; a variable becomes its value."""
    if isinstance(value, _core.Variable):
        return value.value()
    if hasattr(value, "_as_graph_tensor"):
        return value._as_graph_tensor()
    return graphs.convert_to_tensor(value, dtype, name)


def one_axis(axis, dim):
    """The axis, or `dim`, its old name; ValueError if both are given."""
    if axis is not None and dim is not None:
        raise ValueError("Cannot specify both 'dim' and 'axis'.")
    return dim if axis is None else axis


def known_rank(value, what):
    """The rank of a tensor; ValueError if it is unknown."""
    if value.shape.ndims is None:
        raise ValueError(f"{what} of unknown rank")
    return value.shape.ndims


def cast(value, dtype) -> graphs.Tensor:
    """The tensor in another dtype."""
    return value if value.dtype == dtype else op("Cast", [value], DstT=dtype)


def shape_of(value):
    """The shape as an int32 tensor."""
    return op("Shape", [value])


def reduce(kind, value, axes, keep_dims=False, name=None):
    """A reduction along a list of axes; None stands for all."""
    if axes is None:
        axes = list(range(value.shape.ndims)) if value.shape.ndims is not None else op(
            "Range", [0, op("Rank", [value]), 1])
    if isinstance(axes, (list, tuple)):
        axes = graphs.constant([int(axis) for axis in axes], "int32", [len(axes)])
    return op(kind, [value, axes], name, keep_dims=keep_dims)


def zeros_like(value):
    """Zeros of the shape and dtype of a tensor."""
    return op("ZerosLike", [value])
