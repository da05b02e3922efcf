"""Linear operators: tf.linalg.LinearOperator..."""

import numpy as np
from registry import Result, case, floats

LOWER = np.tril(floats(2, 3, 3, seed=3)) + 2 * np.eye(3, dtype=np.float32)
FULL = floats(3, 3, seed=4) + 3 * np.eye(3, dtype=np.float32)
POSITIVE = (FULL @ FULL.T).astype(np.float32)
DIAGONAL = floats(2, 3, low=0.5, high=2)
COMPLEX = (FULL + 1j * floats(3, 3, seed=5)).astype(np.complex64)
X = floats(2, 3, 2, seed=6)
U = floats(3, 2, seed=7)


def results(tf, operator, x=X, names="matmul matvec solve solvevec to_dense diag_part trace determinant "
                                     "log_abs_determinant add_to_tensor shape_tensor batch_shape_tensor "
                                     "tensor_rank_tensor domain_dimension_tensor range_dimension_tensor"):
    """What the methods of an operator return."""
    x = tf.constant(x)
    arguments = {"matmul": [x], "solve": [x], "matvec": [x[..., 0]], "solvevec": [x[..., 0]],
                 "add_to_tensor": [tf.ones(operator.shape, operator.dtype)]}
    outputs = [getattr(operator, name)(*arguments.get(name, [])) for name in names.split()]
    if "solve" in names:
        outputs += [operator.matmul(x, adjoint=True), operator.solve(x, adjoint=True),
                    operator.matmul(tf.linalg.adjoint(x), adjoint_arg=True),
                    operator.solve(tf.linalg.adjoint(x), adjoint_arg=True)]
        outputs += [operator.adjoint().to_dense(), operator.inverse().to_dense()]
    return Result([*outputs, str(operator.shape), str(operator.batch_shape), operator.tensor_rank,
                   [operator.is_square, operator.is_self_adjoint, operator.is_non_singular,
                    operator.is_positive_definite]])


def operators(covers, make, **options):
    case(covers, lambda tf: results(tf, make(tf), **options), names=False)


operators("linalg.LinearOperatorLowerTriangular", lambda tf: tf.linalg.LinearOperatorLowerTriangular(LOWER))
operators("linalg.LinearOperatorLowerTriangular", lambda tf: tf.linalg.LinearOperatorLowerTriangular(
    LOWER[0] + np.triu(np.ones([3, 3], np.float32), 1), is_non_singular=True, is_self_adjoint=False,
    is_positive_definite=False, is_square=True, name="given"), x=X[0])
operators("linalg.LinearOperatorFullMatrix", lambda tf: tf.linalg.LinearOperatorFullMatrix(FULL), x=X)
operators("linalg.LinearOperatorFullMatrix", lambda tf: tf.linalg.LinearOperatorFullMatrix(
    POSITIVE, is_non_singular=True, is_self_adjoint=True, is_positive_definite=True, is_square=True, name="given"))
operators("linalg.LinearOperatorFullMatrix", lambda tf: tf.linalg.LinearOperatorFullMatrix(COMPLEX),
          x=X.astype(np.complex64), names="matmul solve to_dense determinant diag_part trace")
operators("linalg.LinearOperatorFullMatrix", lambda tf: tf.linalg.LinearOperatorFullMatrix(floats(2, 3)), x=X[0],
          names="matmul matvec to_dense diag_part shape_tensor domain_dimension_tensor range_dimension_tensor")
operators("linalg.LinearOperatorDiag", lambda tf: tf.linalg.LinearOperatorDiag(DIAGONAL))
operators("linalg.LinearOperatorDiag", lambda tf: tf.linalg.LinearOperatorDiag(
    DIAGONAL[0], is_non_singular=True, is_self_adjoint=True, is_positive_definite=True, is_square=True, name="given"))
operators("linalg.LinearOperatorIdentity", lambda tf: tf.linalg.LinearOperatorIdentity(3))
operators("linalg.LinearOperatorIdentity", lambda tf: tf.linalg.LinearOperatorIdentity(
    3, batch_shape=[2], dtype=tf.float32, name="given"))
operators("linalg.LinearOperatorScaledIdentity", lambda tf: tf.linalg.LinearOperatorScaledIdentity(3, 2.5))
operators("linalg.LinearOperatorScaledIdentity", lambda tf: tf.linalg.LinearOperatorScaledIdentity(
    3, multiplier=DIAGONAL[:, 0], is_non_singular=True, is_positive_definite=True, name="given"))
operators("linalg.LinearOperatorLowRankUpdate", lambda tf: tf.linalg.LinearOperatorLowRankUpdate(
    tf.linalg.LinearOperatorDiag(DIAGONAL[0], is_positive_definite=True, is_non_singular=True), U))
operators("linalg.LinearOperatorLowRankUpdate", lambda tf: tf.linalg.LinearOperatorLowRankUpdate(
    tf.linalg.LinearOperatorFullMatrix(FULL, is_non_singular=True), U, diag_update=np.float32([0.5, 2]),
    v=floats(3, 2, seed=8), is_diag_update_positive=True, is_non_singular=True, name="given"))
for make in (lambda tf: tf.linalg.LinearOperatorFullMatrix(POSITIVE, is_self_adjoint=True, is_positive_definite=True),
             lambda tf: tf.linalg.LinearOperatorDiag(DIAGONAL, is_positive_definite=True),
             lambda tf: tf.linalg.LinearOperatorScaledIdentity(3, 4.0, is_positive_definite=True)):
    case("linalg.LinearOperatorFullMatrix.cholesky", lambda tf, make=make: make(tf).cholesky().to_dense(), names=False)


def gradient(tf):
    lower, x = tf.constant(LOWER), tf.constant(X)
    operator = tf.linalg.LinearOperatorLowerTriangular(lower)
    return Result([operator.solve(x), operator.log_abs_determinant(), operator.matmul(x)], wrt=[lower, x])


case("linalg.LinearOperatorLowerTriangular.solve", gradient, names=False)
case("linalg.LinearOperator.assert_non_singular", lambda tf: _with(
    tf, tf.linalg.LinearOperatorFullMatrix(FULL).assert_non_singular()), names=False)
case("linalg.LinearOperator.assert_positive_definite", lambda tf: _with(
    tf, tf.linalg.LinearOperatorFullMatrix(POSITIVE, is_self_adjoint=True).assert_positive_definite()), names=False)
case("linalg.LinearOperator.assert_self_adjoint", lambda tf: _with(
    tf, tf.linalg.LinearOperatorFullMatrix(POSITIVE).assert_self_adjoint()), names=False)
for make in (lambda tf: tf.linalg.LinearOperatorFullMatrix(FULL[0]),
             lambda tf: tf.linalg.LinearOperatorLowerTriangular(LOWER, is_square=False),
             lambda tf: tf.linalg.LinearOperatorIdentity(3, is_self_adjoint=False),
             lambda tf: tf.linalg.LinearOperatorFullMatrix(FULL, is_non_singular=False, is_positive_definite=True),
             lambda tf: tf.linalg.LinearOperatorFullMatrix(FULL).cholesky(),
             lambda tf: tf.linalg.LinearOperatorDiag(np.float32(1.0)),
             lambda tf: tf.linalg.LinearOperatorFullMatrix(FULL).matmul(np.float64(X))):
    case("linalg.LinearOperator", make)


def _with(tf, check):
    with tf.control_dependencies([check]):
        return tf.constant(1.0)
