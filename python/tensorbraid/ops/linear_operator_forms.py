"""Linear operators with structure: the identity, its multiples, and low-rank updates."""

from tensorbraid import dtypes
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops import arrays, diagonals, elementwise, linalg_ops, reductions
from tensorbraid.ops.linear_operators import LinearOperator, LinearOperatorDiag, in_one_batch, unless

__all__ = ["LinearOperatorIdentity", "LinearOperatorLowRankUpdate", "LinearOperatorScaledIdentity"]


def _adjoint_if(x, adjoint):
    return linalg_ops.adjoint(x) if adjoint else x


class _Identity(LinearOperator):
    """The common base of the identity and its multiples. `num_rows` is an integer or a scalar tensor."""

    def _set_rows(self, num_rows):
        self._num_rows = convert_to_tensor(num_rows, dtypes.int32, "num_rows")
        if self._num_rows.shape.ndims != 0:
            raise ValueError(f"Argument num_rows must be a 0-D Tensor. Found: {num_rows}")
        known = arrays.get_static_value(self._num_rows)
        self._rows = None if known is None else int(known)
        if self._rows is not None and self._rows < 0:
            raise ValueError(f"Argument num_rows must be non-negative. Found: {num_rows}")

    def _shape(self):
        return self._batch.concatenate(TensorShape([self._rows, self._rows]))

    def _shape_tensor(self):
        rows = arrays.reshape(self._num_rows, [1])
        return arrays.concat([self._batch_tensor(), rows, rows], 0)

    def _diagonal_of_ones(self):
        ones = arrays.ones(self._shape_tensor()[:-1], self.dtype)
        ones.set_shape(self._shape()[:-1])
        return ones

    def _in_batch(self, x):
        """The matrices x, broadcast to the operator's batch shape."""
        if self._batch.ndims == 0:
            return x
        return x + arrays.zeros(arrays.concat([self._batch_tensor(), [1, 1]], 0), self.dtype)


class LinearOperatorIdentity(_Identity):
    """The identity matrix [num_rows, num_rows], or a batch of it. Source: tf.linalg.LinearOperatorIdentity.

    ValueError if a hint is False.
    """

    def __init__(self, num_rows, batch_shape=None, dtype=None, is_non_singular=True, is_self_adjoint=True,
                 is_positive_definite=True, is_square=True, assert_proper_shapes=False, name="LinearOperatorIdentity"):
        for hint, what in ((is_self_adjoint, "self adjoint"), (is_non_singular, "non-singular"),
                           (is_positive_definite, "positive-definite"), (is_square, "square")):
            unless(hint, True, what, "identity operator")
        with name_scope(name):
            self._set_rows(num_rows)
            self._given_batch = None
            self._batch = TensorShape([])
            if batch_shape is not None:
                self._given_batch = convert_to_tensor(batch_shape, dtypes.int32, "batch_shape_arg")
                known = arrays.get_static_value(self._given_batch)
                sizes = self._given_batch.shape.as_list()[0] if known is None else None
                self._batch = TensorShape([None] * sizes if known is None else [int(size) for size in known])
        super().__init__(dtype or dtypes.float32, [], True, True, True, True, name)

    def _batch_tensor(self):
        return convert_to_tensor([], dtypes.int32) if self._given_batch is None else self._given_batch

    def _matmul(self, x, adjoint, adjoint_arg):
        return self._in_batch(_adjoint_if(x, adjoint_arg))

    def _solve(self, rhs, adjoint, adjoint_arg):
        return self._in_batch(_adjoint_if(rhs, adjoint_arg))

    def _diag_part(self):
        return self._diagonal_of_ones()

    def _determinant(self):
        return arrays.ones(self._batch_tensor(), self.dtype)

    def _log_abs_determinant(self):
        return arrays.zeros(self._batch_tensor(), self.dtype)

    def _add_to_tensor(self, x):
        return LinearOperatorDiag(self._diagonal_of_ones()).add_to_tensor(x)

    def _inverse(self):
        return self

    _cholesky = _inverse


class LinearOperatorScaledIdentity(_Identity):
    """`multiplier`, a scalar or a batch of them, times the identity. Source: tf.linalg.LinearOperatorScaledIdentity."""

    def __init__(self, num_rows, multiplier, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=True, assert_proper_shapes=False, name="LinearOperatorScaledIdentity"):
        unless(is_square, True, "square", "scaled identity operator")
        with name_scope(name, values=[multiplier, num_rows]):
            self._multiplier = convert_to_tensor(multiplier, name="multiplier")
            self._set_rows(num_rows)
            self._batch = self._multiplier.shape
        if not self._multiplier.dtype.is_complex:
            is_self_adjoint = unless(is_self_adjoint, True, "self-adjoint", "real scaled identity operator")
        super().__init__(self._multiplier.dtype, [self._multiplier], is_non_singular, is_self_adjoint,
                         is_positive_definite, True, name)

    multiplier = property(lambda self: self._multiplier)

    def _batch_tensor(self):
        return arrays.shape(self._multiplier)

    def _factor(self, adjoint):
        """The multiplier, or its conjugate, as matrices [..., 1, 1]."""
        factor = arrays.expand_dims(arrays.expand_dims(self._multiplier, -1), -1)
        return elementwise.conj(factor) if adjoint else factor

    def _matmul(self, x, adjoint, adjoint_arg):
        return _adjoint_if(x, adjoint_arg) * self._factor(adjoint)

    def _solve(self, rhs, adjoint, adjoint_arg):
        return _adjoint_if(rhs, adjoint_arg) / self._factor(adjoint)

    def _diag_part(self):
        return arrays.expand_dims(self._multiplier, -1) * self._diagonal_of_ones()

    def _determinant(self):
        return self._multiplier ** elementwise.cast(self._num_rows, self.dtype)

    def _log_abs_determinant(self):
        return elementwise.cast(self._num_rows, self.dtype) * elementwise.log(elementwise.abs(self._multiplier))

    def _add_to_tensor(self, x):
        return diagonals.matrix_set_diag(x, diagonals.matrix_diag_part(x) + arrays.expand_dims(self._multiplier, -1))

    def _alike(self, multiplier):
        return LinearOperatorScaledIdentity(self._num_rows, multiplier, self.is_non_singular, self.is_self_adjoint,
                                            self.is_positive_definite, True)

    def _adjoint(self):
        return self._alike(elementwise.conj(self._multiplier))

    def _inverse(self):
        return self._alike(1.0 / self._multiplier)

    def _cholesky(self):
        return self._alike(elementwise.sqrt(self._multiplier))


class LinearOperatorLowRankUpdate(LinearOperator):
    """The matrix L + U D Vᴴ, where L is `base_operator`. Source: tf.linalg.LinearOperatorLowRankUpdate.

    U and V are matrices [..., N, K] and D is the diagonal matrix of `diag_update` [..., K]. By default, V = U and D is
    the identity. `solve` uses the Woodbury identity, and the determinants use the matrix determinant lemma. TypeError
    if a dtype is not the dtype of L.
    """

    def __init__(self, base_operator, u, diag_update=None, v=None, is_diag_update_positive=None, is_non_singular=None,
                 is_self_adjoint=None, is_positive_definite=None, is_square=None, name="LinearOperatorLowRankUpdate"):
        if diag_update is None:
            is_diag_update_positive = unless(is_diag_update_positive, True, "positive", "default diag_update")
        is_square = unless(is_square, True, "square", "low rank update")
        if v is None and is_diag_update_positive and base_operator.is_self_adjoint:
            is_self_adjoint = unless(is_self_adjoint, True, "self-adjoint", "low rank update of this form")
            if base_operator.is_positive_definite:
                is_positive_definite = unless(is_positive_definite, True, "positive definite",
                                              "low rank update of this form")
        with name_scope(name):
            self._base, self._u = base_operator, convert_to_tensor(u, name="u")
            self._v = self._u if v is None else convert_to_tensor(v, name="v")
            self._diag = None if diag_update is None else convert_to_tensor(diag_update, name="diag_update")
        self._positive = is_diag_update_positive
        for tensor in (self._u, self._v, self._diag):
            if tensor is not None and tensor.dtype != base_operator.dtype:
                raise TypeError(f"u, v and diag_update must have the dtype of the base operator, "
                                f"{base_operator.dtype.name}: {tensor}")
        super().__init__(base_operator.dtype, [], is_non_singular, is_self_adjoint, is_positive_definite, is_square, name)

    base_operator = property(lambda self: self._base)
    u = property(lambda self: self._u)
    v = property(lambda self: self._v)
    diag_update = property(lambda self: self._diag)
    is_diag_update_positive = property(lambda self: self._positive)

    def _shape(self):
        batch = self._base.batch_shape
        for tensor in (self._u, self._v):
            batch = arrays.broadcast_static_shape(batch, tensor.shape[:-2])
        return batch.concatenate(self._base.shape[-2:])

    def _shape_tensor(self):
        batch = self._base.batch_shape_tensor()
        for tensor in (self._u, self._v):
            batch = arrays.broadcast_dynamic_shape(batch, arrays.shape(tensor)[:-2])
        return arrays.concat([batch, self._base.shape_tensor()[-2:]], 0)

    def _scaled(self, x, adjoint=False):
        """D x."""
        if self._diag is None:
            return x
        return arrays.expand_dims(elementwise.conj(self._diag) if adjoint else self._diag, -1) * x

    def _sides(self, adjoint):
        return (self._v, self._u) if adjoint else (self._u, self._v)

    def _matmul(self, x, adjoint, adjoint_arg):
        x = _adjoint_if(x, adjoint_arg)
        left, right = self._sides(adjoint)
        inner = self._scaled(linalg_ops.matmul(right, x, adjoint_a=True), adjoint)
        return self._base.matmul(x, adjoint=adjoint) + linalg_ops.matmul(left, inner)

    def _capacitance(self):
        """The capacitance matrix D⁻¹ + Vᴴ L⁻¹ U."""
        product = linalg_ops.matmul(self._v, self._base.solve(self._u), adjoint_a=True)
        size = arrays.shape(self._u)[-1]
        inverse = arrays.ones([size], self.dtype) if self._diag is None else 1.0 / self._diag
        return product + diagonals.matrix_diag(inverse)

    def _solve(self, rhs, adjoint, adjoint_arg):
        rhs = _adjoint_if(rhs, adjoint_arg)
        left, right = self._sides(adjoint)
        solved = self._base.solve(rhs, adjoint=adjoint)
        capacitance, product = in_one_batch(self._capacitance(), linalg_ops.matmul(right, solved, adjoint_a=True))
        inner = linalg_ops.matrix_solve(capacitance, product, adjoint)
        return solved - self._base.solve(linalg_ops.matmul(left, inner), adjoint=adjoint)

    def _determinant(self):
        found = linalg_ops.matrix_determinant(self._capacitance()) * self._base.determinant()
        return found if self._diag is None else found * reductions.reduce_prod(self._diag, axis=-1)

    def _log_abs_determinant(self):
        found = linalg_ops.slogdet(self._capacitance())[1] + self._base.log_abs_determinant()
        if self._diag is None:
            return found
        return found + reductions.reduce_sum(elementwise.log(elementwise.abs(self._diag)), axis=-1)
