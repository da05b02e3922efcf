"""Compares gradients with finite differences, for tests of ops."""

import numpy as np

from tensorbraid.internal import graphs, session
from tensorbraid.ops import arrays, derivatives

__all__ = ["compute_gradient", "compute_gradient_error"]


def _size(shape):
    return int(np.prod([int(size) for size in shape], dtype=np.int64))


def _parts(dtype):
    """The number of real numbers in an element: 2 for complex dtypes, otherwise 1."""
    return 2 if dtype.is_complex else 1


def _real(array):
    """The elements as a vector of real numbers. A complex element becomes two."""
    array = np.ascontiguousarray(array)
    return array.reshape(-1).view(array.real.dtype) if np.iscomplexobj(array) else array.reshape(-1)


def _by_gradients(x, x_shape, x_value, y_shape, dy, dx, feeds):
    """The Jacobian from the gradient in the graph. Rows belong to the real numbers of x, columns to those of y."""
    columns = _parts(dy.dtype) * _size(y_shape)
    jacobian = np.zeros([_parts(x.dtype) * _size(x_shape), columns], x_value.real.dtype)
    seed = np.zeros(y_shape, dy.dtype.as_numpy_dtype)
    flat = _real(seed)
    for column in range(columns):
        flat[column] = 1
        found = session.get_default_session().run(dx, {x: x_value, dy: seed, **feeds})
        flat[column] = 0
        if hasattr(found, "indices"):
            dense = np.zeros(x_shape, x_value.dtype)
            np.add.at(dense, found.indices, found.values)
            found = dense
        jacobian[:, column] = _real(found)
    return jacobian


def _by_differences(x, x_value, y, delta, feeds):
    """The Jacobian from central differences of y. Rows and columns as in _by_gradients."""
    x_value = np.array(x_value, order="C")
    flat, rows = _real(x_value), []
    scale = 2 * delta
    for row in range(flat.size):
        before, ends = flat[row], []
        for step in (delta, -delta):
            flat[row] = before + step
            ends.append(_real(session.get_default_session().run(y, {x: x_value, **feeds})))
        flat[row] = before
        rows.append((ends[0] - ends[1]) / scale)
    return np.array(rows, flat.dtype)


def _jacobians(x, x_shape, y, y_shape, x_value, delta, feeds):
    for tensor in (x, y):
        if not (tensor.dtype.is_floating or tensor.dtype.is_complex):
            raise TypeError(f"a gradient needs real or complex numbers, not {tensor.dtype.name}: {tensor.name}")
    if x_value is None:
        x_value = np.random.uniform(-1, 1, x_shape).astype(x.dtype.as_numpy_dtype)
        if x.dtype.is_complex:
            x_value = x_value + 1j * np.random.uniform(-1, 1, x_shape).astype(x.dtype.as_numpy_dtype)
    x_value = np.asarray(x_value, x.dtype.as_numpy_dtype)
    with y.graph.as_default():
        dy = arrays.identity(graphs.placeholder(y.dtype, y_shape))  # the gradient may be dy itself
        dx = derivatives.gradients(y, x, grad_ys=dy)[0]
    if dx is None:
        theoretical = np.zeros([_parts(x.dtype) * _size(x_shape), _parts(y.dtype) * _size(y_shape)],
                               x_value.real.dtype)
    else:
        theoretical = _by_gradients(x, x_shape, x_value, y_shape, dy, dx, feeds)
    return theoretical, _by_differences(x, x_value, y, delta, feeds)


def compute_gradient(x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None, extra_feed_dict=None):
    """The Jacobian d(y)/d(x) twice: from the gradient in the graph, and from finite differences with the step `delta`.

    The result is a pair of NumPy matrices, or a list of such pairs if `x` is a list. A row belongs to a number of x and
    a column to a number of y; a complex element counts as two numbers. The default session first runs `init_targets`
    and then computes the matrices. TypeError if x or y is not real or complex.
    """
    if init_targets is not None:
        for target in init_targets if isinstance(init_targets, (list, tuple)) else [init_targets]:
            target.run()
    feeds = dict(extra_feed_dict or {})
    if not isinstance(x, list):
        return _jacobians(x, x_shape, y, y_shape, x_init_value, delta, feeds)
    values = x_init_value or [None] * len(x)
    return [_jacobians(*one, y, y_shape, value, delta, feeds) for *one, value in zip(x, x_shape, values)]


def compute_gradient_error(x, x_shape, y, y_shape, x_init_value=None, delta=1e-3, init_targets=None,
                           extra_feed_dict=None):
    """The largest difference between the two Jacobians of compute_gradient."""
    found = compute_gradient(x, x_shape, y, y_shape, x_init_value, delta, init_targets, extra_feed_dict)
    return max((float(np.fabs(a - b).max()) for a, b in (found if isinstance(found, list) else [found]) if a.size),
               default=0.0)
