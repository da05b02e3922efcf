"""Linear algebra."""

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graphs import convert_to_tensor, make_op, name_scope
from tensorbraid.ops import arrays, complex_parts, diagonals, elementwise, indexing, reductions
from tensorbraid.ops.old_arguments import renamed
from tensorbraid.ops.op_functions import op_function

cholesky = op_function("Cholesky", "input")
logm = op_function("MatrixLogarithm", "input")
lu = op_function("Lu", "input", "output_idx_type=tf.int32", outputs="lu p")
matrix_determinant = op_function("MatrixDeterminant", "input")
matrix_inverse = op_function("MatrixInverse", "input", "adjoint=False")
matrix_solve = op_function("MatrixSolve", "matrix, rhs", "adjoint=False")
matrix_square_root = op_function("MatrixSquareRoot", "input")
_triangular_solve = op_function("MatrixTriangularSolve", "matrix, rhs", "lower=True, adjoint=False")
matrix_triangular_solve = op_function("MatrixTriangularSolve", "matrix, rhs", "lower=True, adjoint=False",
                                      scope="triangular_solve")
qr = op_function("Qr", "input", "full_matrices=False", outputs="q r")
slogdet = op_function("LogMatrixDeterminant", "input", outputs="sign log_abs_determinant")
sparse_matmul = op_function("SparseMatMul", "a, b",
                            "transpose_a=False, transpose_b=False, a_is_sparse=False, b_is_sparse=False")


def matmul(a, b, transpose_a=False, transpose_b=False, adjoint_a=False, adjoint_b=False, a_is_sparse=False,
           b_is_sparse=False, output_type=None, grad_a=False, grad_b=False, name=None):
    """The product of two matrices, or of batches of matrices.

    `a` is [..., n, k] and `b` [..., k, m], of one numeric dtype; the batches before them may be broadcast. The result
    is [..., n, m]. A matrix that is transposed has its last two axes the other way round. Raises ValueError for shapes
    that do not fit and TypeError for two dtypes; vectors are refused (see tf.tensordot and tf.expand_dims).
    """
    if output_type is not None or grad_a or grad_b:
        raise NotImplementedError("output_type, grad_a and grad_b of tf.matmul")
    if transpose_a and adjoint_a:
        raise ValueError("Only one of `transpose_a` and `adjoint_a` can be True.")
    if transpose_b and adjoint_b:
        raise ValueError("Only one of `transpose_b` and `adjoint_b` can be True.")
    with name_scope(name, "MatMul", [a, b]) as scope:
        a = convert_to_tensor(a, name="a")
        b = convert_to_tensor(b, None if isinstance(b, graphs.Tensor) else a.dtype, name="b")
        ranks = a.shape.ndims, b.shape.ndims
        batched = ranks == (None, None) or any(rank is not None and rank > 2 for rank in ranks)
        if batched:
            if transpose_a:
                a, adjoint_a = elementwise.conj(a), True
            if transpose_b:
                b, adjoint_b = elementwise.conj(b), True
            return make_op("BatchMatMulV2", [a, b], scope, adj_x=adjoint_a, adj_y=adjoint_b).outputs[0]
        if adjoint_a:
            a, transpose_a = elementwise.conj(a), True
        if adjoint_b:
            b, transpose_b = elementwise.conj(b), True
        return make_op("MatMul", [a, b], scope, transpose_a=transpose_a, transpose_b=transpose_b).outputs[0]


def matvec(a, b, transpose_a=False, adjoint_a=False, a_is_sparse=False, b_is_sparse=False, name=None):
    """The product of a matrix and a vector, or of batches of them."""
    with name_scope(name, "MatVec", [a, b]):
        product = matmul(a, arrays.expand_dims(b, -1), transpose_a, adjoint_a=adjoint_a, a_is_sparse=a_is_sparse,
                         b_is_sparse=b_is_sparse)
        return arrays.squeeze(product, [-1])


def trace(x, name=None):
    """The sum of the diagonals of matrices."""
    with name_scope(name, "Trace", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return reductions.reduce_sum(diagonals.matrix_diag_part(x), [-1], name=scope)


def tensordot(a, b, axes, name=None):
    """The sums of products over the given axes of both tensors."""
    with name_scope(name, "Tensordot", [a, b, axes]) as scope:
        a, b = convert_to_tensor(a, name="a"), convert_to_tensor(b, name="b")
        if isinstance(axes, graphs.Tensor):
            axes = axes._constant().tolist()
        if a.shape.ndims is None or b.shape.ndims is None:
            return _tensordot_of_any_rank(a, b, axes, scope)
        if isinstance(axes, (int, np.integer)):
            if axes < 0 or axes > a.shape.ndims:
                raise ValueError(f"`axes` must be between 0 and the rank of a, got {axes}")
            axes = [list(np.arange(a.shape.ndims - axes, a.shape.ndims)), list(np.arange(axes))]
        if len(axes) != 2:
            raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
        of_a, of_b = ([axis] if isinstance(axis, (int, np.integer)) else list(axis) for axis in axes)
        if len(of_a) != len(of_b):
            raise ValueError(f"Different number of contraction axes `a` and `b`, {len(of_a)} != {len(of_b)}.")
        left, left_free = _as_matrix(a, [x % a.shape.ndims for x in of_a], last=True)
        right, right_free = _as_matrix(b, [x % b.shape.ndims for x in of_b], last=False)
        product = matmul(left, right)
        if isinstance(left_free, list) and isinstance(right_free, list):
            if product.shape.as_list() == left_free + right_free:
                return product
            return arrays.reshape(product, np.array(left_free + right_free, np.int32), name=scope)
        return arrays.reshape(product, arrays.concat([left_free, right_free], 0), name=scope)


def _tensordot_of_any_rank(a, b, axes, name):
    """tensordot of tensors whose ranks are known only in a step."""
    if isinstance(axes, (int, np.integer)):
        rank = arrays.rank(a)
        axes = [make_op("Range", [rank - int(axes), rank, 1]).outputs[0], list(range(int(axes)))]
    elif len(axes) != 2:
        raise ValueError(f"`axes` must be an integer or have length 2. Received {axes}.")
    left, left_free = _as_matrix_of_any_rank(a, axes[0], last=True)
    right, right_free = _as_matrix_of_any_rank(b, axes[1], last=False)
    return arrays.reshape(matmul(left, right), arrays.concat([left_free, right_free], 0), name=name)


def _as_matrix_of_any_rank(x, axes, last):
    """Like _as_matrix for a tensor of unknown rank. `axes` is a list or a tensor."""
    sizes, rank = arrays.shape(x), arrays.rank(x)
    axes = convert_to_tensor([axes] if isinstance(axes, (int, np.integer)) else axes, dtype=sizes.dtype)
    axes = make_op("FloorMod", [axes, rank]).outputs[0]
    free = make_op("ListDiff", [make_op("Range", [0, rank, 1]).outputs[0], axes]).outputs[0]
    x = arrays.transpose(x, arrays.concat([free, axes] if last else [axes, free], 0))
    free_sizes = indexing.gather(sizes, free)
    rows, columns = (reductions.reduce_prod(part) for part in (free_sizes, indexing.gather(sizes, axes)))
    return arrays.reshape(x, arrays.stack([rows, columns] if last else [columns, rows])), free_sizes


def _as_matrix(x, axes, last):
    """The tensor as a matrix whose columns (or rows) are the contracted axes, and the sizes of its other axes."""
    free = [i for i in range(x.shape.ndims) if i not in axes]
    perm = free + axes if last else axes + free
    if perm != list(range(x.shape.ndims)):
        x_ordered = arrays.transpose(x, np.array(perm, np.int32))
    else:
        x_ordered = x
    if len(free) == len(axes) == 1:
        sizes = x.shape.as_list()
        return x_ordered, [sizes[free[0]]] if sizes[free[0]] is not None else arrays.shape(x)[free[0]:free[0] + 1]
    dims = x.shape.as_list()
    if None not in dims:
        rows = int(np.prod([dims[i] for i in free]))
        columns = int(np.prod([dims[i] for i in axes]))
        shape = [rows, columns] if last else [columns, rows]
        return arrays.reshape(x_ordered, np.array(shape, np.int32)), [dims[i] for i in free]
    of = arrays.shape(x)
    free_sizes = indexing.gather(of, np.array(free, np.int32))
    rows = reductions.reduce_prod(free_sizes)
    columns = reductions.reduce_prod(indexing.gather(of, np.array(axes, np.int32)))
    return arrays.reshape(x_ordered, arrays.stack([rows, columns] if last else [columns, rows])), free_sizes


def einsum(equation, *inputs, **kwargs):
    """Sums of products as an equation of subscripts says: "ij,jk->ik"."""
    name = kwargs.pop("name", None)
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError(f"Invalid keyword arguments for this function: {', '.join(kwargs)}")
    operands = list(inputs[0]) if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)) else list(inputs)
    with name_scope(name, "einsum", operands):
        equation = arguments.text("equation", equation).replace(" ", "")
        if "->" not in equation:
            letters = [c for c in equation.replace(",", "").replace("...", "")]
            single = sorted(c for c in set(letters) if letters.count(c) == 1)
            equation += "->" + ("..." if "..." in equation else "") + "".join(single)
        left, right = equation.split("->")
        terms = left.split(",")
        if len(terms) != len(operands):
            raise ValueError(f"Got {len(operands)} arguments for equation \"{equation}\", expecting {len(terms)}.")
        operands = [convert_to_tensor(x) for x in operands]
        while len(operands) > 2:
            needed = set("".join(terms[2:]) + right)
            kept = "".join(c for c in dict.fromkeys(terms[0].replace("...", "") + terms[1].replace("...", ""))
                           if c in needed)
            kept = ("..." if "..." in terms[0] + terms[1] else "") + kept
            product = make_op("Einsum", [operands[:2]], equation=f"{terms[0]},{terms[1]}->{kept}").outputs[0]
            operands, terms = [product] + operands[2:], [kept] + terms[2:]
        return make_op("Einsum", [operands], equation=",".join(terms) + "->" + right).outputs[0]


def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None) -> graphs.Tensor:
    """The norm of vectors, or of matrices if `axis` is a pair."""
    keepdims = bool(renamed("keepdims", keepdims, "keep_dims", keep_dims))
    is_matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
    if isinstance(axis, (list, tuple)) and len(axis) > 2:
        raise ValueError("'axis' must be None, an integer, or a tuple of 2 unique integers")
    allowed = ["euclidean", "fro", 1, 2, np.inf, -np.inf] if is_matrix else ["euclidean", 1, 2, np.inf, -np.inf]
    if ord not in allowed and (is_matrix or isinstance(ord, str) or ord <= 0):
        raise ValueError(f"'ord' must be a supported {'matrix' if is_matrix else 'vector'} norm, got {ord}")
    with name_scope(name, "norm", [tensor]):
        x = convert_to_tensor(tensor)
        if ord in ("fro", "euclidean", 2, 2.0) and not (is_matrix and ord in (2, 2.0)):
            squares = reductions.reduce_sum(x * elementwise.conj(x), axis, keepdims=True)
            if x.dtype.is_complex:
                squares = elementwise.cast(complex_parts.real(squares), x.dtype)
            result = elementwise.sqrt(squares)
            result = elementwise.cast(elementwise.abs(result), x.dtype) if x.dtype.is_complex else result
        elif is_matrix and ord in (2, 2.0):
            ndims = x.shape.ndims
            at = [a % ndims for a in axis]
            perm = [i for i in range(ndims) if i not in at] + at
            values = svd(arrays.transpose(x, perm), compute_uv=False)
            largest = reductions.reduce_max(values, -1)
            for a in sorted(at):
                largest = arrays.expand_dims(largest, a)
            result = largest
        else:
            result = elementwise.abs(x)
            if ord == 1 and is_matrix:
                result = reductions.reduce_max(reductions.reduce_sum(result, axis[0], keepdims=True), axis[1],
                                               keepdims=True)
            elif ord == np.inf and is_matrix:
                result = reductions.reduce_max(reductions.reduce_sum(result, axis[1], keepdims=True), axis[0],
                                               keepdims=True)
            elif ord == np.inf:
                result = reductions.reduce_max(result, axis, keepdims=True)
            elif ord == -np.inf:
                result = reductions.reduce_min(result, axis, keepdims=True)
            elif ord == 1:
                result = reductions.reduce_sum(result, axis, keepdims=True)
            else:
                power = elementwise.pow(result, ord)
                result = elementwise.pow(reductions.reduce_sum(power, axis, keepdims=True), 1.0 / ord)
        return result if keepdims else arrays.squeeze(result, axis)


def svd(tensor, full_matrices=False, compute_uv=True, name=None):
    """The singular values of matrices, and with `compute_uv` their singular vectors."""
    s, u, v = make_op("Svd", [tensor], name or "Svd", compute_uv=compute_uv, full_matrices=full_matrices).outputs
    return (s, u, v) if compute_uv else s


def self_adjoint_eig(tensor, name=None):
    """Eigenvalues and eigenvectors of self-adjoint matrices."""
    e, v = make_op("SelfAdjointEigV2", [tensor], name or "SelfAdjointEigV2", compute_v=True).outputs
    return e, v


def self_adjoint_eigvals(tensor, name=None):
    """Eigenvalues of self-adjoint matrices."""
    return make_op("SelfAdjointEigV2", [tensor], name or "SelfAdjointEigV2", compute_v=False).outputs[0]


def cholesky_solve(chol, rhs, name=None):
    """Solves A x = rhs, where A = chol @ adjoint(chol)."""
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        y = _triangular_solve(chol, rhs, adjoint=False, lower=True)
        return _triangular_solve(chol, y, adjoint=True, lower=True)


def matrix_solve_ls(matrix, rhs, l2_regularizer=0.0, fast=True, name=None):
    """The least squares solution of matrix x = rhs."""
    matrix = convert_to_tensor(matrix, name="matrix")
    return make_op("MatrixSolveLs", [matrix, rhs, convert_to_tensor(l2_regularizer, dtypes.float64)],
                   name or "MatrixSolveLs", fast=fast).outputs[0]


def adjoint(matrix, name=None):
    """The conjugate transposes of matrices."""
    with name_scope(name, "adjoint", [matrix]):
        return arrays.matrix_transpose(convert_to_tensor(matrix, name="matrix"), conjugate=True)


def logdet(matrix, name=None):
    """The logarithms of the determinants of positive definite matrices."""
    with name_scope(name, "logdet", [matrix]):
        diagonal = complex_parts.real(diagonals.matrix_diag_part(cholesky(matrix)))
        return 2.0 * reductions.reduce_sum(elementwise.log(diagonal), [-1])


def lu_solve(lower_upper, perm, rhs, validate_args=False, name=None):
    """Solves A x = rhs from the LU factors of A."""
    if validate_args:
        raise NotImplementedError("validate_args of tf.linalg.lu_solve")
    with name_scope(name or "lu_solve"):
        lower_upper, rhs = convert_to_tensor(lower_upper), convert_to_tensor(rhs)
        perm = convert_to_tensor(perm, dtypes.int32 if not isinstance(perm, graphs.Tensor) else None)
        if lower_upper.shape.ndims == 2 and perm.shape.ndims == 1:
            permuted = indexing.gather(rhs, perm, axis=-2)
        else:
            permuted = indexing.gather(rhs, perm, axis=rhs.shape.ndims - 2, batch_dims=perm.shape.ndims - 1)
        first = matrix_triangular_solve(_lower(lower_upper), permuted)
        return matrix_triangular_solve(lower_upper, first, lower=False)


def _lower(lower_upper):
    """The lower LU factors, whose diagonals are 1."""
    return diagonals.matrix_set_diag(diagonals.matrix_band_part(lower_upper, -1, 0),
                                     arrays.ones(arrays.shape(lower_upper)[:-1], lower_upper.dtype))


def lu_reconstruct(lower_upper, perm, validate_args=False, name=None):
    """The matrix whose LU factors these are."""
    if validate_args:
        raise NotImplementedError("validate_args of tf.linalg.lu_reconstruct")
    with name_scope(name or "lu_reconstruct"):
        lower_upper = convert_to_tensor(lower_upper)
        perm = convert_to_tensor(perm, dtypes.int32 if not isinstance(perm, graphs.Tensor) else None)
        product = matmul(_lower(lower_upper), diagonals.matrix_band_part(lower_upper, 0, -1))
        if perm.shape.ndims == 1:
            return indexing.gather(product, arrays.invert_permutation(perm))
        inverse = indexing.argsort(perm)
        return indexing.gather(product, inverse, axis=perm.shape.ndims - 1, batch_dims=perm.shape.ndims - 1)


def lu_matrix_inverse(lower_upper, perm, validate_args=False, name=None):
    """The inverse of the matrix whose LU factors these are."""
    with name_scope(name or "lu_matrix_inverse"):
        lower_upper = convert_to_tensor(lower_upper)
        dims = lower_upper.shape.as_list()
        return lu_solve(lower_upper, perm, diagonals.eye(dims[-1], batch_shape=dims[:-2], dtype=lower_upper.dtype),
                        validate_args)


def matrix_rank(a, tol=None, validate_args=False, name=None):
    """How many singular values are larger than `tol`."""
    if validate_args:
        raise NotImplementedError("validate_args of tf.linalg.matrix_rank")
    with name_scope(name or "matrix_rank"):
        a = convert_to_tensor(a, name="a")
        values = svd(a, compute_uv=False)
        if tol is None:
            eps = np.finfo(a.dtype.as_numpy_dtype).eps
            tol = eps * max(a.shape.as_list()[-2:]) * reductions.reduce_max(values, -1, keepdims=True)
        return reductions.reduce_sum(elementwise.cast(values > tol, dtypes.int32), -1)


def pinv(a, rcond=None, validate_args=False, name=None):
    """The Moore-Penrose inverses of matrices."""
    if validate_args:
        raise NotImplementedError("validate_args of tf.linalg.pinv")
    with name_scope(name or "pinv"):
        a = convert_to_tensor(a, name="a")
        if rcond is None:
            rcond = 10.0 * max(a.shape.as_list()[-2:]) * np.finfo(a.dtype.as_numpy_dtype).eps
        rcond = convert_to_tensor(rcond, a.dtype, name="rcond")
        s, u, v = svd(a, full_matrices=False, compute_uv=True)
        cutoff = rcond * reductions.reduce_max(s, -1)
        s = indexing.where_v2(s > arrays.expand_dims(cutoff, -1), s, np.array(np.inf, s.dtype.as_numpy_dtype))
        return matmul(v / arrays.expand_dims(s, -2), u, adjoint_b=True)


def normalize(tensor, ord="euclidean", axis=None, name=None):
    """The tensor divided by its norm, and the norm."""
    with name_scope(name, "normalize", [tensor]):
        tensor = convert_to_tensor(tensor)
        size = elementwise.cast(norm(tensor, ord, axis, keepdims=True), tensor.dtype)
        return tensor / size, size


__all__ = [
    "cholesky", "cholesky_solve", "einsum", "matmul", "matrix_determinant", "matrix_inverse", "matrix_solve",
    "matrix_solve_ls", "matrix_square_root", "matrix_triangular_solve", "norm", "qr", "self_adjoint_eig",
    "self_adjoint_eigvals", "sparse_matmul", "svd", "tensordot", "trace",
]
