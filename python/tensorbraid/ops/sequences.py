"""Numbers at equal distances."""

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays, elementwise

__all__ = [
    "lin_space", "linspace", "range",
]


def range(start, limit=None, delta=1, dtype=None, name="range"):
    """The numbers from `start` to before `limit`."""
    if limit is None:
        start, limit = 0, start
    with name_scope(name, "Range", [start, limit, delta]) as scope:
        wanted = None if dtype is None else dtypes.as_dtype(dtype)
        values = ((start, "start"), (limit, "limit"), (delta, "delta"))
        if wanted is None:
            order = [dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64]
            kinds = [_kind(v) for v, _ in values]
            if any(kind not in order for kind in kinds):
                raise ValueError(f"dtypes {kinds} of tf.range must be numbers")
            wanted = order[max(order.index(kind) for kind in kinds)]
        values = [elementwise.cast(v, wanted) if isinstance(v, graphs.Tensor) else convert_to_tensor(v, wanted, name=n)
                  for v, n in values]
        return make_op("Range", values, scope).outputs[0]


def _kind(value):
    """The dtype that a value has as a tensor."""
    if hasattr(value, "dtype"):
        return dtypes.as_dtype(value.dtype)
    if isinstance(value, int) and not -2**31 <= value < 2**31:
        return dtypes.int64
    return dtypes.float32 if isinstance(value, float) else dtypes.int32


def linspace(start, stop, num, name=None, axis=0):
    """`num` numbers from `start` to `stop`, at equal distances, along a new axis."""
    with name_scope(name, "linspace", [start, stop]):
        start = convert_to_tensor(start, name="start")
        stop = convert_to_tensor(stop, start.dtype, name="stop")
        if start.shape.ndims == 0 and stop.shape.ndims == 0 and axis in (0, -1):
            return make_op("LinSpace", [start, stop, num], None).outputs[0]
        if not isinstance(num, (int, np.integer)):
            raise NotImplementedError("linspace of tensors with a num that is a tensor")
        dims = arrays.broadcast_static_shape(start.shape, stop.shape)
        if not dims.is_fully_defined():
            dims = arrays.broadcast_dynamic_shape(arrays.shape(start), arrays.shape(stop))
        start, stop = arrays.broadcast_to(start, dims), arrays.broadcast_to(stop, dims)
        if num == 1:
            return arrays.expand_dims(start, axis)
        step = (stop - start) / max(num - 1, 1)
        return arrays.stack([start + step * i for i in np.arange(num - 1)] + [stop], axis=axis)


lin_space = linspace
