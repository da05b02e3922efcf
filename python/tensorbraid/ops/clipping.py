"""Tensors and gradients that are scaled or cut to a bound, and the norms for it."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays, elementwise, reductions

__all__ = [
    "clip_by_average_norm", "clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm",
]


def clip_by_value(t, clip_value_min, clip_value_max, name=None) -> graphs.Tensor:
    """The elements, with those outside of the two bounds replaced by the nearer bound."""
    with name_scope(name, "clip_by_value", [t, clip_value_min, clip_value_max]) as scope:
        slices = t if isinstance(t, graphs.IndexedSlices) else None
        values = convert_to_tensor(t if slices is None else slices.values, name="t")
        clipped = elementwise.maximum(elementwise.minimum(values, clip_value_max), clip_value_min, name=scope)
        if not _same_or_wider(values.shape, clipped.shape):
            raise ValueError(f"Shapes {values.shape} and {clipped.shape} are incompatible")
        return clipped if slices is None else graphs.IndexedSlices(clipped, slices.indices, slices.dense_shape)


def _same_or_wider(a, b):
    return a.ndims is None or b.ndims is None or (a.ndims == b.ndims and all(
        x is None or y is None or x == y for x, y in zip(a.as_list(), b.as_list())))


def clip_by_norm(t, clip_norm, axes=None, name=None) -> graphs.Tensor:
    """The tensor, scaled down to an L2 norm of at most `clip_norm`."""
    with name_scope(name, "clip_by_norm", [t, clip_norm]) as scope:
        slices = t if isinstance(t, graphs.IndexedSlices) else None
        values = convert_to_tensor(t if slices is None else slices.values, name="t")
        l2sum = reductions.reduce_sum(values * values, axes, keepdims=True)
        positive = l2sum > 0
        safe = make_op("Select", [positive, l2sum, arrays.ones_like(l2sum)]).outputs[0]
        norm = make_op("Select", [positive, elementwise.sqrt(safe), l2sum]).outputs[0]
        scaled = values * clip_norm
        clipped = arrays.identity(scaled / elementwise.maximum(norm, clip_norm), name=scope)
        return clipped if slices is None else graphs.IndexedSlices(clipped, slices.indices, slices.dense_shape)


def clip_by_average_norm(t, clip_norm, name=None):
    """The tensor, scaled down to an L2 norm per element of at most `clip_norm`."""
    with name_scope(name, "clip_by_average_norm", [t, clip_norm]) as scope:
        t = convert_to_tensor(t, name="t")
        count = elementwise.cast(reductions.size(t), dtypes.float32)
        inverse = elementwise.rsqrt(reductions.reduce_sum(t * t))
        return arrays.identity(
            t * clip_norm * elementwise.minimum(inverse * count, graphs.constant(1.0) / clip_norm), name=scope)


def _parts(t_list):
    if not isinstance(t_list, (list, tuple)):
        raise TypeError(f"`t_list` argument should be a sequence. Received {type(t_list).__name__}")
    return [t if t is None or isinstance(t, graphs.IndexedSlices) else convert_to_tensor(t, name=f"t_{i}")
            for i, t in enumerate(t_list)]


def global_norm(t_list, name=None):
    """The L2 norm of all tensors of a list together. None entries are left out."""
    with name_scope(name, "global_norm", [t for t in t_list if t is not None]):
        values = [t.values if isinstance(t, graphs.IndexedSlices) else t for t in _parts(t_list) if t is not None]
        halves = [make_op("L2Loss", [v]).outputs[0] for v in values]
        total = reductions.reduce_sum(arrays.stack(halves))
        return elementwise.sqrt(total * graphs.constant(2.0, total.dtype), name="global_norm")


def clip_by_global_norm(t_list, clip_norm, use_norm=None, name=None):
    """The tensors, all scaled down so that their global norm is at most `clip_norm`, and that norm."""
    parts = _parts(t_list)
    if use_norm is None:
        use_norm = global_norm(parts, name)
    with name_scope(name, "clip_by_global_norm", [t for t in parts if t is not None] + [clip_norm]) as scope:
        one = graphs.constant(1.0, use_norm.dtype)
        scale_for_finite = clip_norm * elementwise.minimum(1.0 / use_norm, one / clip_norm)
        scale = scale_for_finite + (use_norm - use_norm)  # NaN if the norm is infinite or NaN
        clipped = []
        for i, t in enumerate(parts):
            if t is None:
                clipped.append(None)
                continue
            values = t.values if isinstance(t, graphs.IndexedSlices) else t
            scaled = arrays.identity(values * elementwise.cast(scale, values.dtype), name=f"{scope}_{i}")
            clipped.append(graphs.IndexedSlices(scaled, t.indices, t.dense_shape)
                           if isinstance(t, graphs.IndexedSlices) else scaled)
        return clipped, use_norm
