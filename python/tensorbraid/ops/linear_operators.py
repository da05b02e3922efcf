"""Linear operators: matrices, or batches of matrices, whose structure makes products and solutions cheaper."""

import functools

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops import arrays, checks, diagonals, elementwise, linalg_ops, reductions

__all__ = ["LinearOperator", "LinearOperatorDiag", "LinearOperatorFullMatrix", "LinearOperatorLowerTriangular"]


def in_scope(method):
    """A decorator: the method's nodes get names in a scope, called like the method, within that of the operator."""
    @functools.wraps(method)
    def scoped(self, *args, name=None, **kwargs):
        values = [value for value in args if isinstance(value, graphs.Tensor)]
        with name_scope(f"{self.name}/"), name_scope(name or method.__name__.strip("_"), values=values):
            return method(self, *args, **kwargs)

    return scoped


def unless(hint, wanted, name, form):
    """Returns `wanted`, the value of a property that follows from the form. ValueError if the hint contradicts it."""
    if hint is not None and hint != wanted:
        raise ValueError(f"A {form} is always {'' if wanted else 'not '}{name}.")
    return wanted


class LinearOperator:
    """The base class: a matrix [M, N], or a batch of matrices [..., M, N]. Source: tf.linalg.LinearOperator.

    A derived class defines at least `_shape`, `_shape_tensor` and `_matmul`. The hints `is_non_singular`, ... are
    promises of the program, and None if a property is unknown. ValueError if hints contradict each other.

    Methods raise TypeError for tensors of another dtype, and NotImplementedError if they need a square or non-singular
    matrix and the shape or a hint says that it is not.
    """

    def __init__(self, dtype, graph_parents=None, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=None, name=None, parameters=None):
        if is_non_singular is False and is_positive_definite:
            raise ValueError("A positive definite operator is always non-singular.")
        if is_positive_definite or is_self_adjoint or is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular, self-adjoint or positive definite operator is always square.")
            is_square = True
        self._dtype = dtypes.as_dtype(dtype)
        self._graph_parents = list(graph_parents or [])
        self._is_non_singular = True if is_positive_definite else is_non_singular
        self._is_self_adjoint, self._is_positive_definite = is_self_adjoint, is_positive_definite
        self._is_square_set_or_implied_by_hints = is_square
        self._name = name or type(self).__name__

    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._name)
    graph_parents = property(lambda self: self._graph_parents)
    is_non_singular = property(lambda self: self._is_non_singular)
    is_self_adjoint = property(lambda self: self._is_self_adjoint)
    is_positive_definite = property(lambda self: self._is_positive_definite)

    @property
    def is_square(self):
        """Whether the matrix is square; None if neither the shape nor the hints say so. ValueError if they disagree."""
        rows, columns = self.range_dimension.value, self.domain_dimension.value
        by_shape = None if rows is None or columns is None else rows == columns
        hint = self._is_square_set_or_implied_by_hints
        if hint is not None and by_shape is not None and hint != by_shape:
            raise ValueError(f"is_square is {hint}, but the shape of the operator is {self.shape}")
        return hint if by_shape is None else by_shape

    # Shapes.

    shape = property(lambda self: self._shape())
    batch_shape = property(lambda self: self._shape()[:-2])
    tensor_rank = property(lambda self: self._shape().ndims)
    domain_dimension = property(lambda self: TensorShape(self._shape()).with_rank_at_least(2).dims[-1])
    range_dimension = property(lambda self: TensorShape(self._shape()).with_rank_at_least(2).dims[-2])

    @in_scope
    def shape_tensor(self):
        """The shape as a tensor."""
        known = self.shape
        return convert_to_tensor(known.as_list(), dtypes.int32) if known.is_fully_defined() else self._shape_tensor()

    @in_scope
    def batch_shape_tensor(self):
        """The batch shape as a tensor."""
        return self.shape_tensor()[:-2]

    @in_scope
    def tensor_rank_tensor(self):
        """The number of dimensions as a tensor."""
        return reductions.size(self.shape_tensor())

    @in_scope
    def domain_dimension_tensor(self):
        """The number of columns as a tensor."""
        return self.shape_tensor()[-1]

    @in_scope
    def range_dimension_tensor(self):
        """The number of rows as a tensor."""
        return self.shape_tensor()[-2]

    # Checks.

    @in_scope
    def assert_non_singular(self):
        """An operation that fails if a matrix is singular: its smallest singular value is 0 within rounding errors."""
        values = linalg_ops.svd(self._to_dense(), compute_uv=False)
        smallest, largest = reductions.reduce_min(values, axis=-1), reductions.reduce_max(values, axis=-1)
        epsilon = 10.0 * 2.220446049250313e-16 if self.dtype.size >= 8 else 10.0 * 1.1920929e-07
        limit = epsilon * largest * elementwise.cast(arrays.shape(values)[-1], largest.dtype)
        return checks.assert_less(limit, smallest, message="Singular matrix encountered")

    @in_scope
    def assert_self_adjoint(self):
        """An operation that fails if a matrix is not self-adjoint."""
        dense = self._to_dense()
        return checks.assert_equal(dense, linalg_ops.adjoint(dense), message="Matrix was not equal to its adjoint.")

    @in_scope
    def assert_positive_definite(self):
        """An operation that fails if a matrix is not positive definite. It computes the Cholesky decomposition."""
        with graphs.control_dependencies([linalg_ops.cholesky(self._to_dense())]):
            return graphs.make_op("NoOp", [])

    # Products.

    @in_scope
    def matmul(self, x, adjoint=False, adjoint_arg=False):
        """The product with matrices x [..., N, R], or with `adjoint`, of the adjoint with x [..., M, R].

        `adjoint_arg` replaces x by its adjoint. If x is an operator, so is the result.
        """
        if isinstance(x, LinearOperator):
            left = self._to_dense()
            product = linalg_ops.matmul(left, x.to_dense(), adjoint_a=adjoint, adjoint_b=adjoint_arg)
            return LinearOperatorFullMatrix(product)
        x = self._converted(x)
        return self._matmul(x, adjoint, adjoint_arg)

    @in_scope
    def matvec(self, x, adjoint=False):
        """The product with vectors [..., N], or with `adjoint`, of the adjoint with vectors [..., M]."""
        return arrays.squeeze(self._matmul(arrays.expand_dims(self._converted(x), -1), adjoint, False), [-1])

    @in_scope
    def solve(self, rhs, adjoint=False, adjoint_arg=False):
        """The solution X [..., N, R] of A X = rhs [..., M, R], where A is this matrix or, with `adjoint`, its adjoint.

        `adjoint_arg` replaces `rhs` by its adjoint. The matrix must be square and non-singular.
        """
        self._check_solvable("solve")
        if isinstance(rhs, LinearOperator):
            rhs = rhs.to_dense()
        return self._solve(self._converted(rhs), adjoint, adjoint_arg)

    @in_scope
    def solvevec(self, rhs, adjoint=False):
        """The solution x [..., N] of A x = rhs [..., M], where A is this matrix or, with `adjoint`, its adjoint."""
        self._check_solvable("solve")
        return arrays.squeeze(self._solve(arrays.expand_dims(self._converted(rhs), -1), adjoint, False), [-1])

    # Values.

    @in_scope
    def to_dense(self):
        """The matrices as a tensor [..., M, N]."""
        return self._to_dense()

    @in_scope
    def diag_part(self):
        """The diagonals, a tensor [..., min(M, N)]."""
        return self._diag_part()

    @in_scope
    def trace(self):
        """The traces, a tensor [...]."""
        return reductions.reduce_sum(self._diag_part(), axis=-1)

    @in_scope
    def determinant(self):
        """The determinants of square matrices, a tensor [...]."""
        self._check_square("determinant")
        return self._determinant()

    @in_scope
    def log_abs_determinant(self):
        """The logarithms of the absolute values of the determinants, a tensor [...]."""
        self._check_square("log_abs_determinant")
        return self._log_abs_determinant()

    @in_scope
    def add_to_tensor(self, x):
        """The matrices plus the tensor x [..., M, N]."""
        return self._add_to_tensor(self._converted(x))

    # Other operators.

    @in_scope
    def adjoint(self):
        """The operator whose matrices are the adjoints (conjugate transposes)."""
        return self if self.is_self_adjoint else self._adjoint()

    H = property(lambda self: self.adjoint())

    @in_scope
    def inverse(self):
        """The operator whose matrices are the inverses."""
        self._check_solvable("inverse")
        return self._inverse()

    @in_scope
    def cholesky(self):
        """The operator whose matrices are the Cholesky factors: lower triangular L with L Lᴴ equal to this matrix.

        ValueError unless the hints say that the matrix is self-adjoint and positive definite.
        """
        if not (self.is_positive_definite and self.is_self_adjoint):
            raise ValueError("Cannot take the Cholesky decomposition: Not a positive definite self adjoint matrix.")
        return self._cholesky()

    # Implementations for any matrix, which derived classes override.

    def _matmul(self, x, adjoint, adjoint_arg):
        raise NotImplementedError(f"the product with a {type(self).__name__}")

    def _to_dense(self):
        size = self.domain_dimension_tensor() if self.domain_dimension.value is None else self.domain_dimension.value
        batch = self.batch_shape_tensor()
        return self._matmul(diagonals.eye(size, batch_shape=batch, dtype=self.dtype), False, False)

    def _solve(self, rhs, adjoint, adjoint_arg):
        rhs = linalg_ops.adjoint(rhs) if adjoint_arg else rhs
        dense, rhs = in_one_batch(self._to_dense(), rhs)
        return linalg_ops.matrix_solve(dense, rhs, adjoint)

    def _diag_part(self):
        return diagonals.matrix_diag_part(self._to_dense())

    def _determinant(self):
        return linalg_ops.matrix_determinant(self._to_dense())

    def _log_abs_determinant(self):
        return linalg_ops.slogdet(self._to_dense())[1]

    def _add_to_tensor(self, x):
        return self._to_dense() + x

    def _adjoint(self):
        return LinearOperatorFullMatrix(linalg_ops.adjoint(self._to_dense()), self.is_non_singular,
                                        self.is_self_adjoint, self.is_positive_definite, self.is_square)

    def _inverse(self):
        return LinearOperatorFullMatrix(linalg_ops.matrix_inverse(self._to_dense()), True, self.is_self_adjoint,
                                        self.is_positive_definite, True)

    def _cholesky(self):
        return LinearOperatorLowerTriangular(linalg_ops.cholesky(self._to_dense()), is_non_singular=True)

    def _converted(self, x):
        x = convert_to_tensor(x, None if hasattr(x, "dtype") else self.dtype)
        if x.dtype != self.dtype:
            raise TypeError(f"Input argument has dtype {x.dtype.name}, but the operator has {self.dtype.name}: {x}")
        return x

    def _check_square(self, what):
        if self.is_square is False:
            raise NotImplementedError(f"{what} needs a square matrix, but the shape of the operator is {self.shape}")

    def _check_solvable(self, what):
        self._check_square(what)
        if self.is_non_singular is False:
            raise NotImplementedError(f"{what} needs a non-singular matrix, but is_non_singular is False")


def in_one_batch(a, b):
    """Broadcasts two tensors of matrices to their common batch shape."""
    known = [x.shape[:-2] for x in (a, b)]
    if not all(shape.is_fully_defined() for shape in known):
        batch = arrays.broadcast_dynamic_shape(arrays.shape(a)[:-2], arrays.shape(b)[:-2])
        return tuple(arrays.broadcast_to(x, arrays.concat([batch, arrays.shape(x)[-2:]], 0)) for x in (a, b))
    batch = arrays.broadcast_static_shape(*known).as_list()
    return tuple(x if x.shape[:-2].as_list() == batch else _broadcast(x, batch) for x in (a, b))


def _broadcast(x, batch):
    sizes = x.shape[-2:]
    known = sizes.is_fully_defined()
    return arrays.broadcast_to(x, batch + sizes.as_list() if known else arrays.concat([batch, arrays.shape(x)[-2:]], 0))


class _OfMatrix(LinearOperator):
    """The common base of operators that store the whole matrix, in `_matrix`."""

    def _shape(self):
        return self._matrix.shape

    def _shape_tensor(self):
        return arrays.shape(self._matrix)

    def _to_dense(self):
        return self._matrix

    def _matmul(self, x, adjoint, adjoint_arg):
        return linalg_ops.matmul(self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg)


def _checked_matrix(matrix, name):
    matrix = convert_to_tensor(matrix, name=name)
    if matrix.dtype.name not in ("float16", "float32", "float64", "complex64", "complex128"):
        raise TypeError(f"Argument {name} must have a dtype of real or complex numbers: {matrix.dtype.name}")
    if matrix.shape.ndims is not None and matrix.shape.ndims < 2:
        raise ValueError(f"Argument {name} must have at least 2 dimensions. Found: {matrix}")
    return matrix


class LinearOperatorFullMatrix(_OfMatrix):
    """A matrix [..., M, N] without structure. Source: tf.linalg.LinearOperatorFullMatrix."""

    def __init__(self, matrix, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorFullMatrix"):
        with name_scope(name, values=[matrix]):
            self._matrix = _checked_matrix(matrix, "matrix")
        super().__init__(self._matrix.dtype, [self._matrix], is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)


class LinearOperatorLowerTriangular(_OfMatrix):
    """The lower triangle of a square matrix. Source: tf.linalg.LinearOperatorLowerTriangular."""

    def __init__(self, tril, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorLowerTriangular"):
        with name_scope(name, values=[tril]):
            self._tril = _checked_matrix(tril, "tril")
            self._matrix = diagonals.matrix_band_part(self._tril, -1, 0)
        super().__init__(self._tril.dtype, [self._tril], is_non_singular, is_self_adjoint, is_positive_definite,
                         unless(is_square, True, "square", "LinearOperatorLowerTriangular"), name)

    def _solve(self, rhs, adjoint, adjoint_arg):
        rhs = linalg_ops.adjoint(rhs) if adjoint_arg else rhs
        matrix, rhs = in_one_batch(self._matrix, rhs)
        return linalg_ops.matrix_triangular_solve(matrix, rhs, lower=True, adjoint=adjoint)

    def _determinant(self):
        return reductions.reduce_prod(self._diag_part(), axis=[-1])

    def _log_abs_determinant(self):
        return reductions.reduce_sum(elementwise.log(elementwise.abs(self._diag_part())), axis=[-1])


class LinearOperatorDiag(LinearOperator):
    """The diagonal matrix of a diagonal [..., N]. Source: tf.linalg.LinearOperatorDiag."""

    def __init__(self, diag, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorDiag"):
        with name_scope(name, values=[diag]):
            self._diag = convert_to_tensor(diag, name="diag")
            if self._diag.shape.ndims == 0:
                raise ValueError(f"Argument diag must have at least 1 dimension.  Found: {self._diag}")
        if not self._diag.dtype.is_complex:
            is_self_adjoint = unless(is_self_adjoint, True, "self-adjoint", "real diagonal matrix")
        super().__init__(self._diag.dtype, [self._diag], is_non_singular, is_self_adjoint, is_positive_definite,
                         unless(is_square, True, "square", "diagonal matrix"), name)

    diag = property(lambda self: self._diag)

    def _shape(self):
        return self._diag.shape.concatenate(self._diag.shape[-1:])

    def _shape_tensor(self):
        shape = arrays.shape(self._diag)
        return arrays.concat([shape, shape[-1:]], 0)

    def _adjusted(self, adjoint):
        """The diagonal, or its conjugate, as a column [..., N, 1]."""
        return arrays.expand_dims(elementwise.conj(self._diag) if adjoint else self._diag, -1)

    def _matmul(self, x, adjoint, adjoint_arg):
        return self._adjusted(adjoint) * (linalg_ops.adjoint(x) if adjoint_arg else x)

    def _solve(self, rhs, adjoint, adjoint_arg):
        return (linalg_ops.adjoint(rhs) if adjoint_arg else rhs) * (1.0 / self._adjusted(adjoint))

    def _to_dense(self):
        return diagonals.matrix_diag(self._diag)

    def _diag_part(self):
        return self._diag

    def _determinant(self):
        return reductions.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self):
        logs = elementwise.log(elementwise.abs(self._diag))
        return reductions.reduce_sum(elementwise.cast(logs, self.dtype), axis=[-1])

    def _add_to_tensor(self, x):
        return diagonals.matrix_set_diag(x, diagonals.matrix_diag_part(x) + self._diag)

    def _adjoint(self):
        return self._alike(elementwise.conj(self._diag))

    def _inverse(self):
        return self._alike(1.0 / self._diag)

    def _cholesky(self):
        return self._alike(elementwise.sqrt(self._diag))

    def _alike(self, diagonal):
        return LinearOperatorDiag(diagonal, self.is_non_singular, self.is_self_adjoint, self.is_positive_definite, True)
