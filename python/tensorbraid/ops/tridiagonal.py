"""Matrices that have a diagonal and its two neighbours only.

They are given as "compact", [..., 3, n]; as a "sequence" of the diagonal above, the diagonal and the one below; or as a
whole "matrix".
"""

from tensorbraid.internal.graphs import convert_to_tensor, make_op
from tensorbraid.ops import arrays, diagonals as whole, elementwise


def _compact(matrix):
    """The three diagonals of whole matrices, [..., 3, n]."""
    rows, columns = matrix.shape.as_list()[-2:]
    if rows and columns and rows != columns:
        raise ValueError(f"Expected last two dimensions of diagonals to be same, got {columns} and {rows}")
    return whole.matrix_diag_part(matrix, k=(-1, 1), padding_value=0.0, align="LEFT_RIGHT")


def _padded(diagonal, size, at_end, name):
    """A diagonal with one more element if it has one less than the main diagonal."""
    length = diagonal.shape.as_list()[-1]
    if length in (None, size):
        return diagonal
    if length != size - 1:
        raise ValueError(f"Expected {name} to have length {size} or {size - 1}, got {length}.")
    return arrays.pad(diagonal, [[0, 0]] * (diagonal.shape.ndims - 1) + [[0, 1] if at_end else [1, 0]])


def tridiagonal_matmul(diagonals, rhs, diagonals_format="compact", name=None):
    """The product of tridiagonal matrices and matrices."""
    if diagonals_format == "sequence":
        parts = [convert_to_tensor(part) for part in diagonals]
        above, main, below = parts
    elif diagonals_format in ("compact", "matrix"):
        rows = convert_to_tensor(diagonals) if diagonals_format == "compact" else _compact(convert_to_tensor(diagonals))
        above, main, below = [rows[..., i, :] for i in range(3)]
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    parts = [arrays.expand_dims(part, -2) for part in (above, main, below)]
    return make_op("TridiagonalMatMul", parts + [rhs], name).outputs[0]


def tridiagonal_solve(diagonals, rhs, diagonals_format="compact", transpose_rhs=False, conjugate_rhs=False, name=None,
                      partial_pivoting=True, perturb_singular=False):
    """x for which the tridiagonal matrix times x is `rhs`: vectors or matrices."""
    if perturb_singular and not partial_pivoting:
        raise ValueError("partial_pivoting must be True if perturb_singular is.")
    if diagonals_format == "sequence":
        if not isinstance(diagonals, (list, tuple)) or len(diagonals) != 3:
            raise ValueError("Expected diagonals to be a sequence of length 3.")
        above, main, below = [convert_to_tensor(part) for part in diagonals]
        size = main.shape.as_list()[-1]
        diagonals = arrays.stack([_padded(above, size, True, "superdiagonal"), main,
                                  _padded(below, size, False, "subdiagonal")], axis=-2)
    elif diagonals_format == "matrix":
        diagonals = _compact(convert_to_tensor(diagonals))
    elif diagonals_format != "compact":
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    diagonals, rhs = convert_to_tensor(diagonals), convert_to_tensor(rhs)
    if diagonals.shape.ndims is None or rhs.shape.ndims is None:
        raise NotImplementedError("tridiagonal_solve of tensors of unknown rank")
    if diagonals.shape.ndims < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {diagonals.shape.ndims}")
    if rhs.shape.ndims not in (diagonals.shape.ndims - 1, diagonals.shape.ndims):
        raise ValueError(f"Expected the rank of rhs to be {diagonals.shape.ndims - 1} or {diagonals.shape.ndims}, "
                         f"got {rhs.shape.ndims}")
    rows, size = diagonals.shape.as_list()[-2:]
    if rows not in (None, 3):
        raise ValueError(f"Expected 3 diagonals got {rows}")
    vectors = rhs.shape.ndims == diagonals.shape.ndims - 1
    if vectors:
        rhs = arrays.expand_dims(elementwise.conj(rhs) if conjugate_rhs else rhs, -1)
    elif transpose_rhs:
        rhs = arrays.matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = elementwise.conj(rhs)
    if None not in (size, rhs.shape.as_list()[-2]) and size != rhs.shape.as_list()[-2]:
        raise ValueError(f"Expected number of left-hand sided and right-hand sides to be equal, got {size} and "
                         f"{rhs.shape.as_list()[-2]}")
    solved = make_op("TridiagonalSolve", [diagonals, rhs], name, partial_pivoting=partial_pivoting,
                     perturb_singular=perturb_singular).outputs[0]
    return arrays.squeeze(solved, [-1]) if vectors else solved
