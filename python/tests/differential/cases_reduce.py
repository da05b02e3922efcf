"""Reductions, cumulative sums, segments, counting, linear algebra."""

import numpy as np
from registry import Result, Type, case, floats, ints, op

X = floats(2, 3)
CUBE = floats(2, 3, 4)
I32 = ints(2, 3)
SQUARE = floats(3, 3, seed=4)
DEFINITE = (SQUARE @ SQUARE.T + 3 * np.eye(3)).astype(np.float32)
BATCH = np.stack([DEFINITE, 2 * DEFINITE])
NO_NAMES = {"names": False}
WEAKER = {"names": False, "shapes": "the shape rules of C++ do not compute with values that ops make of constants"}

for name in ("sum", "mean", "max", "min", "prod", "logsumexp"):
    names = f"reduce_{name} math.reduce_{name}"
    for arguments in ({}, {"axis": 1}, {"axis": [0, 2], "keepdims": True, "name": "given"},
                      {"axis": -1, "keep_dims": True},
                      {"reduction_indices": [1]}, {"axis": []}, {"axis": np.array([0, 1])},
                      {"axis": 0, "reduction_indices": 0},
                      {"axis": 7}):
        op(names, CUBE, **arguments)
    op(names, [[1.0, 2.0], [3.0, 4.0]], 0)
    if name != "logsumexp":
        op(names, I32, 1)
    op(names, np.array(2.5, np.float32))
for names in ("reduce_all math.reduce_all", "reduce_any math.reduce_any"):
    for arguments in ({}, {"axis": 1}, {"axis": [0], "keepdims": True, "name": "given"},
                      {"reduction_indices": [1], "keep_dims": True}):
        op(names, X > 0, **arguments)
    op(names, X)
for names in ("math.reduce_std", "math.reduce_variance", "math.reduce_euclidean_norm"):
    for arguments in ({}, {"axis": 1}, {"axis": [0, 2], "keepdims": True, "name": "given"}):
        op(names, CUBE, **arguments)
op("math.reduce_variance", I32)
for arguments in ({}, {"axis": 1, "keepdims": True}, {"dtype": Type("int32"), "name": "given"},
                  {"reduction_indices": [0]}):
    op("count_nonzero math.count_nonzero", np.array([[0, 1, 2], [0, 0, 3]], np.float32), **arguments)
op("count_nonzero", np.array(["", "a"]))
case("count_nonzero", lambda tf: tf.count_nonzero(input=tf.constant([0, 1])))
for names in ("argmax math.argmax", "argmin math.argmin"):
    for arguments in ({}, {"axis": 1, "name": "given"}, {"dimension": 2}, {"axis": -1, "output_type": Type("int32")},
                      {"axis": 1, "dimension": 1}):
        op(names, CUBE, **arguments)
op("arg_max arg_min", X, 1)
op("arg_max arg_min", X, 1, output_type=Type("int32"), name="given")
for names in ("cumsum math.cumsum", "cumprod math.cumprod", "math.cumulative_logsumexp"):
    for arguments in ({}, {"axis": 1, "exclusive": True}, {"axis": -1, "reverse": True, "name": "given"}):
        op(names, CUBE, **arguments)
for name in ("segment_sum", "segment_mean", "segment_max", "segment_min", "segment_prod"):
    op(f"{name} math.{name}", floats(4, 2), [0, 0, 1, 3])
    op(f"{name} math.{name}", floats(4, 2), np.array([0, 0, 1, 1], np.int64), name="given")
for name in ("unsorted_segment_sum", "unsorted_segment_max", "unsorted_segment_min", "unsorted_segment_prod",
             "unsorted_segment_mean", "unsorted_segment_sqrt_n"):
    op(f"{name} math.{name}", floats(4, 2), [2, 0, 2, 0], 3, _options=WEAKER if name.endswith(("mean", "_n")) else {})
    op(f"{name} math.{name}", floats(2, 2, 3), [[0, 1], [1, -1]], 2, name="given",
       _options=WEAKER if name.endswith(("mean", "_n")) else {})
for name in ("sparse_segment_sum", "sparse_segment_mean", "sparse_segment_sqrt_n"):
    op(f"{name} sparse.{name[7:]}", floats(4, 2), [0, 2, 3], [0, 0, 1])
    op(f"{name} sparse.{name[7:]}", floats(4, 2), [0, 2, 3], [0, 0, 2], name="given", num_segments=4)
op("bincount math.bincount", [1, 1, 3], _options=WEAKER)
op("bincount math.bincount", [1, 1, 3], weights=[0.5, 1.0, 2.0], minlength=6, dtype=Type("float32"), _options=WEAKER)
op("bincount", [1, 1, 7], maxlength=3, dtype=Type("int64"), _options=WEAKER)
op("histogram_fixed_width", X, [-1.0, 1.0], nbins=4)
op("histogram_fixed_width", X, [-1.0, 1.0], nbins=4, dtype=Type("int64"), name="given")
op("histogram_fixed_width_bins", X, [-1.0, 1.0], nbins=4, _options=NO_NAMES)
op("histogram_fixed_width_bins", X, [-1.0, 1.0], nbins=4, name="given", _options=NO_NAMES)
op("confusion_matrix math.confusion_matrix", [0, 1, 1], [1, 1, 0], _options=WEAKER)
op("confusion_matrix math.confusion_matrix", [0, 1, 1], [1, 1, 0], num_classes=3, dtype=Type("float32"), name="given",
   weights=[1.0, 2.0, 3.0], _options=WEAKER)
op("confusion_matrix", [0, 5], [1, 1], num_classes=3,
   _options={"known": "TensorFlow finds the wrong label when the graph is built, Tensorbraid in the step"})
for arguments in ((5,), (1, 5), (1.0, 5.0, 0.5), (5, 1, -2), (np.int64(3),)):
    op("range", *arguments)
op("range", 1, 5, 2, Type("float32"), name="given")
op("range", 0, 5, -1, _options={"known": "TensorFlow finds the wrong delta when the graph is built"})
op("linspace lin_space", 0.0, 1.0, 5, _options=NO_NAMES)
op("linspace lin_space", np.array([0., 1.], np.float32), [1.0, 3.0], 4, name="given", axis=-1, _options=NO_NAMES)

# Linear algebra.
for arguments in ({}, {"transpose_a": True}, {"transpose_b": True, "name": "given"},
                  {"adjoint_a": True, "adjoint_b": True},
                  {"transpose_a": True, "adjoint_a": True}, {"a_is_sparse": True}):
    op("matmul linalg.matmul", SQUARE, DEFINITE, **arguments)
    op("matmul linalg.matmul", BATCH, BATCH, **({**arguments, "a_is_sparse": False}))
COMPLEX = (SQUARE + 1j * DEFINITE).astype(np.complex64)
for arguments in ({}, {"transpose_a": True}, {"adjoint_b": True}):
    op("matmul", COMPLEX, COMPLEX, **arguments)
op("matmul", X, X)
op("matmul", BATCH, SQUARE, name="given")
op("matmul", [[1.0, 2.0]], [[3.0], [4.0]])
op("matmul", I32, ints(3, 2))
op("matmul", X, [1.0, 2.0, 3.0])
op("sparse_matmul", X, floats(3, 2))
op("sparse_matmul", X, floats(2, 3), transpose_b=True, a_is_sparse=True, name="given")
op("linalg.matvec", X, [1.0, 2.0, 3.0])
op("linalg.matvec", X, [1.0, 2.0], transpose_a=True, name="given")
op("trace linalg.trace", BATCH)
op("trace linalg.trace", SQUARE, name="given")
op("tensordot linalg.tensordot", CUBE, floats(4, 5), 1)
op("tensordot linalg.tensordot", CUBE, floats(3, 4, 2), [[1, 2], [0, 1]], name="given")
op("tensordot", CUBE, CUBE, 3)
op("tensordot", X, X, 0)
op("tensordot", X, X, [[0], [0, 1]])
op("tensordot", X, X, [[0], [1]])
for equation, operands in (("ij,jk->ik", (X, floats(3, 2))), ("ij->ji", (X,)), ("ij->", (X,)),
                           ("bij,bjk->bik", (BATCH, BATCH)),
                           ("...ij,...jk->...ik", (BATCH, SQUARE)), ("ij,jk,kl->il", (X, SQUARE, DEFINITE)),
                           ("ii->i", (SQUARE,)),
                           ("ij,jk", (X, SQUARE)), ("i,j->ij", (X[0], X[1]))):
    op("einsum linalg.einsum", equation, *operands, _options=NO_NAMES)
op("einsum linalg.einsum", "ij,jk->ik", X, SQUARE, name="given")
op("einsum", "ij,jk->ik", X)
for arguments in ({}, {"ord": 1}, {"ord": np.inf, "axis": 1}, {"ord": 2, "axis": 0, "keepdims": True, "name": "given"},
                  {"ord": 3},
                  {"ord": "euclidean", "axis": [0, 1]}, {"ord": "fro", "axis": (0, 1), "keep_dims": True},
                  {"ord": 1, "axis": (0, 1)},
                  {"ord": np.inf, "axis": (0, 1)}, {"ord": 2, "axis": (0, 1)}, {"ord": "no"}):
    op("norm linalg.norm", X, _options=NO_NAMES, **arguments)
for names in ("matrix_determinant linalg.det", "matrix_inverse linalg.inv", "cholesky linalg.cholesky",
              "matrix_square_root linalg.sqrtm", "linalg.slogdet"):
    op(names, BATCH)
    op(names, DEFINITE, name="given")
op("matrix_inverse linalg.inv", SQUARE, adjoint=True)
op("linalg.logm", DEFINITE.astype(np.complex64))
case("linalg.logm", lambda tf: tf.linalg.logm(tf.constant(DEFINITE.astype(np.complex64)), name="given"))
op("linalg.logdet", BATCH)
op("linalg.logdet", BATCH, name="given")
op("linalg.adjoint", COMPLEX)
op("linalg.adjoint", COMPLEX, name="given")
op("matrix_solve linalg.solve", DEFINITE, SQUARE)
op("matrix_solve linalg.solve", DEFINITE, SQUARE, adjoint=True, name="given")
op("matrix_triangular_solve linalg.triangular_solve", DEFINITE, SQUARE)
op("matrix_triangular_solve linalg.triangular_solve", DEFINITE, SQUARE, lower=False, adjoint=True, name="given")
op("matrix_solve_ls linalg.lstsq", floats(4, 3), floats(4, 2, seed=2), _options=WEAKER)
op("matrix_solve_ls linalg.lstsq", floats(4, 3), floats(4, 2, seed=2), l2_regularizer=0.5, name="given",
   _options=WEAKER)
op("matrix_solve_ls", floats(2, 3), floats(2, 2, seed=2), l2_regularizer=0.5, _options=WEAKER)
op("matrix_solve_ls", floats(4, 3).astype(np.float64), floats(4, 2, seed=2).astype(np.float64), fast=False,
   _options=WEAKER)
op("cholesky_solve linalg.cholesky_solve", np.linalg.cholesky(DEFINITE), SQUARE)
op("cholesky_solve linalg.cholesky_solve", np.linalg.cholesky(DEFINITE), SQUARE, name="given")
op("self_adjoint_eig linalg.eigh", DEFINITE.astype(np.float64), _options={"values": False})
op("self_adjoint_eig linalg.eigh", DEFINITE, name="given", _options={"values": False})
op("self_adjoint_eigvals linalg.eigvalsh", DEFINITE)
op("self_adjoint_eigvals linalg.eigvalsh", DEFINITE, name="given")
op("svd linalg.svd", X.astype(np.float64), compute_uv=False)
op("svd linalg.svd", X, full_matrices=True, name="given", _options={"values": False})
op("qr linalg.qr", floats(3, 2), _options={"values": False})
op("qr linalg.qr", floats(3, 2), full_matrices=True, name="given", _options={"values": False})


def factors(tf):
    a = tf.constant(SQUARE)
    lu, p = tf.linalg.lu(a, name="given")
    b = tf.constant(X.T)
    return Result([lu, p, tf.linalg.lu_solve(lu, p, b, name="s"), tf.linalg.lu_reconstruct(lu, p, name="r"),
                   tf.linalg.lu_matrix_inverse(lu, p, name="i"), tf.linalg.lu(a, output_idx_type=tf.int64).p], wrt=[b])


case("linalg.lu linalg.lu_solve linalg.lu_reconstruct linalg.lu_matrix_inverse", factors, names=False)
case("svd", lambda tf: [tf.matmul(u * s, v, transpose_b=True) for s, u, v in [tf.svd(tf.constant(X), name="given")]],
     names=False)
case("self_adjoint_eig", lambda tf: [tf.matmul(v * e, v, transpose_b=True)
                                     for e, v in [tf.self_adjoint_eig(tf.constant(DEFINITE), name="given")]],
     names=False)
op("linalg.matrix_rank", np.array([[1., 2.], [2., 4.]], np.float32), _options=NO_NAMES)
op("linalg.matrix_rank", BATCH, tol=5.0, name="given", _options=NO_NAMES)
op("linalg.pinv", X, _options=NO_NAMES)
op("linalg.pinv", X, rcond=0.1, name="given", _options=NO_NAMES)
