"""The exponential of matrices."""

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.ops import arrays, control_flow, diagonals, elementwise, indexing, linalg_ops, reductions

# The coefficients of Padé approximants of the exponential, by their order, and the norm up to which each is exact
# (N. Higham, The Scaling and Squaring Method for the Matrix Exponential Revisited, 2005).
_COEFFICIENTS = {
    3: [120, 60, 12, 1],
    5: [30240, 15120, 3360, 420, 30, 1],
    7: [17297280, 8648640, 1995840, 277200, 25200, 1512, 56, 1],
    9: [17643225600, 8821612800, 2075673600, 302702400, 30270240, 2162160, 110880, 3960, 90, 1],
    13: [64764752532480000, 32382376266240000, 7771770303897600, 1187353796428800, 129060195264000, 10559470521600,
         670442572800, 33522128640, 1323241920, 40840800, 960960, 16380, 182, 1],
}
_SINGLE = [(3, 4.258730016922831e-1), (5, 1.880152677804762), (7, 3.925724783138660)]
_DOUBLE = [(3, 1.495585217958292e-2), (5, 2.539398330063230e-1), (7, 9.504178996162932e-1), (9, 2.097847961257068),
           (13, 5.371920351148152)]


def _pade(x, order):
    """The odd and the even part of the numerator: exp(x) is about (even - odd)^-1 (even + odd)."""
    b = _COEFFICIENTS[order]
    square = linalg_ops.matmul(x, x)
    power = diagonals.eye(arrays.shape(x)[-1], batch_shape=arrays.shape(x)[:-2], dtype=x.dtype)
    odd, even = b[1] * power, b[0] * power
    for i in range(2, order, 2):
        power = square if i == 2 else linalg_ops.matmul(power, square)
        odd, even = odd + b[i + 1] * power, even + b[i] * power
    return linalg_ops.matmul(x, odd), even


def expm(input, name=None):
    """The exponentials of square matrices."""
    with name_scope(name, "matrix_exponential", [input]):
        matrix = convert_to_tensor(input, name="input")
        if matrix.shape.as_list()[-2:] == [0, 0]:
            return matrix
        if not (matrix.dtype.is_floating or matrix.dtype.is_complex):
            raise ValueError(f"tf.linalg.expm does not support matrices of type {matrix.dtype!r}")
        sizes = arrays.shape(matrix)
        x = arrays.reshape(matrix, arrays.concat([[-1], sizes[-2:]], 0))
        norm = reductions.reduce_max(reductions.reduce_sum(elementwise.abs(x), axis=-2), axis=-1)[..., None, None]
        orders = _DOUBLE if matrix.dtype in (dtypes.float64, dtypes.complex128) else _SINGLE

        def number(value):
            return graphs.constant(value, norm.dtype)

        halvings = elementwise.maximum(
            elementwise.floor(elementwise.log(norm / number(orders[-1][1])) / elementwise.log(number(2.0))),
            number(0.0))
        smaller = x / elementwise.cast(elementwise.pow(number(2.0), halvings), matrix.dtype)
        odd, even = _pade(smaller, orders[-1][0])
        for order, limit in reversed(orders[:-1]):
            with_order = _pade(x, order)
            fits = norm < number(limit)
            odd, even = indexing.where_v2(fits, with_order[0], odd), indexing.where_v2(fits, with_order[1], even)
        finite = elementwise.is_finite(reductions.reduce_max(norm))
        result = control_flow.cond(finite, lambda: linalg_ops.matrix_solve(even - odd, even + odd),
                                   lambda: arrays.fill(arrays.shape(x), graphs.constant(np.nan, matrix.dtype)))
        most = indexing.where(finite, reductions.reduce_max(halvings), number(0.0))
        _, result = control_flow.while_loop(
            lambda i, _: i < most,
            lambda i, r: (i + 1.0, indexing.where_v2(i < halvings, linalg_ops.matmul(r, r), r)), [number(0.0), result])
        result = arrays.reshape(result, sizes)
        result.set_shape(matrix.shape)
        return result
