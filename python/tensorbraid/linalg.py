"""The namespace tf.linalg."""

from tensorbraid.ops.arrays import matrix_transpose, matrix_transpose as transpose  # noqa: F401
from tensorbraid.ops.clipping import global_norm  # noqa: F401
from tensorbraid.ops.diagonals import (  # noqa: F401
    diag as tensor_diag, diag_part as tensor_diag_part, eye, matrix_band_part as band_part, matrix_diag as diag,
    matrix_diag_part as diag_part, matrix_set_diag as set_diag)
from tensorbraid.ops.elementwise import cross  # noqa: F401
from tensorbraid.ops.linalg_ops import (  # noqa: F401
    adjoint, cholesky, cholesky_solve, einsum, logdet, logm, lu, lu_matrix_inverse, lu_reconstruct, lu_solve, matmul,
    matrix_determinant as det, matrix_inverse as inv, matrix_rank, normalize, matrix_solve as solve,
    matrix_solve_ls as lstsq, matrix_square_root as sqrtm, matrix_triangular_solve as triangular_solve, matvec, norm,
    pinv, qr, self_adjoint_eig
    as eigh, self_adjoint_eigvals as eigvalsh, slogdet, svd, tensordot, trace)
from tensorbraid.ops.linear_operator_forms import *  # noqa: F401,F403
from tensorbraid.ops.linear_operators import *  # noqa: F401,F403
from tensorbraid.ops.matrix_exponential import expm  # noqa: F401
from tensorbraid.ops.special_math import l2_normalize  # noqa: F401
from tensorbraid.ops.tridiagonal import tridiagonal_matmul, tridiagonal_solve  # noqa: F401

__all__ = [
    "LinearOperator", "LinearOperatorDiag", "LinearOperatorFullMatrix", "LinearOperatorIdentity",
    "LinearOperatorLowRankUpdate", "LinearOperatorLowerTriangular", "LinearOperatorScaledIdentity", "adjoint",
    "band_part", "cholesky", "cholesky_solve", "cross", "det", "diag", "diag_part", "eigh", "eigvalsh",
    "einsum", "expm", "eye", "global_norm", "inv", "l2_normalize", "logdet", "logm", "lstsq", "lu", "lu_matrix_inverse",
    "lu_reconstruct", "lu_solve", "matmul", "matrix_rank", "matrix_transpose", "matvec", "norm", "normalize", "pinv",
    "qr", "set_diag", "slogdet", "solve", "sqrtm", "svd", "tensor_diag", "tensor_diag_part", "tensordot", "trace",
    "transpose", "triangular_solve", "tridiagonal_matmul", "tridiagonal_solve"]
