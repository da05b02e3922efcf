"""Rows of linear algebra: decompositions, equations, diagonals, Einsum, Fourier transforms."""
import numpy as np
import tensorflow as tf

REAL = [np.float32, np.float64]
COMPLEX = [np.complex64, np.complex128]
nan, inf = float("nan"), float("inf")
S = np.array([[4.0, 1, 2], [1, 3, 0.5], [2, 0.5, 5]])  # symmetric and positive
G = np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 10]])


def f64(v):
    return np.array(v, np.float64)


def i32(v):
    return np.array(v, np.int32)


def i64(v):
    return np.array(v, np.int64)


def loose(d):
    return 1e-4 if d in (np.float32, np.complex64) else 1e-9


def decompositions(t):
    for d in REAL + COMPLEX:
        imaginary = 0.5j * np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]]) if d in COMPLEX else 0
        s, g = (S + imaginary).astype(d), (G + imaginary).astype(d)
        t.case("Cholesky", np.stack([s, 2 * s]))
        for op in ["Lu", "MatrixDeterminant", "LogMatrixDeterminant", "MatrixInverse", "MatrixSquareRoot"]:
            t.case(op, np.stack([s, s + 1]), tolerance=loose(d))
        t.case("MatrixDeterminant", g, tolerance=loose(d))
        t.case("LogMatrixDeterminant", g, tolerance=loose(d))
        t.case("Lu", g, output_idx_type=tf.int64, tolerance=loose(d))
        t.case("MatrixInverse", g, adjoint=True, tolerance=10 * loose(d))
        t.case("Qr", g, tolerance=loose(d))
        t.case("Qr", g[:2], tolerance=loose(d))
        t.case("Qr", g[:, :2], tolerance=loose(d))
        t.case("Qr", g[:, :2], full_matrices=True, tolerance=loose(d))
        t.case("Svd", g, tolerance=loose(d))
        t.case("Svd", g[:2], tolerance=loose(d))
        t.case("Svd", np.stack([g, s])[:, :, :2], tolerance=loose(d))
        t.case("SelfAdjointEigV2", np.stack([s, 2 * s]), tolerance=loose(d))
        if d in COMPLEX:
            t.case("MatrixLogarithm", s, tolerance=loose(d))
        out = tf.complex64 if d in (np.float32, np.complex64) else tf.complex128
        t.case("Eig", s, Tout=out, tolerance=loose(d))
        t.case("Eig", g, Tout=out, tolerance=loose(d))
    for d in REAL:
        lower = np.linalg.cholesky(S)
        t.case("CholeskyGrad", lower.astype(d), (np.arange(9.0).reshape(3, 3) + 1).astype(d))
    for d in REAL:  # The first matrix has no decomposition. TensorFlow then leaves any numbers above the diagonal.
        t.case("Cholesky", np.array([[[1, 2], [2, 1]], [[4, 2], [2, 5]]], d),
               expected=[np.array([[[nan, 0], [nan, nan]], [[2, 0], [1, 2]]], d)])
    for op in ["Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "MatrixSquareRoot"]:
        t.case(op, np.zeros([0, 0]))
        t.case(op, np.zeros([0, 2, 2]))
        t.case(op, f64([1, 2]))
        t.case(op, f64([[1, 2]]))
    for op in ["MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant", "Lu"]:
        t.case(op, np.ones([2, 2]))
    t.case("Qr", np.ones([0, 2]))
    t.case("Qr", np.ones([2, 0]), full_matrices=True)
    t.case("Svd", np.ones([0, 2]))
    t.case("Svd", np.ones([0, 2]), full_matrices=True)
    t.case("Svd", f64([[nan, 1], [1, 2]]))
    t.case("SelfAdjointEigV2", f64([[nan, 1], [1, 2]]))
    t.case("Eig", f64([[nan, 1], [1, 2]]), Tout=tf.complex128)


def equations(t):
    for d in REAL + COMPLEX:
        i = 0.5j if d in COMPLEX else 0
        a, b = (G + i * S).astype(d), np.array([[1 + i, 2], [3, 4], [5, 6 - i]]).astype(d)
        for adjoint in [False, True]:
            t.case("MatrixSolve", np.stack([a, a.T]), np.stack([b, b + 1]), adjoint=adjoint, tolerance=10 * loose(d))
            for lower in [False, True]:
                t.case("MatrixTriangularSolve", a, b, adjoint=adjoint, lower=lower, tolerance=loose(d))
        t.case("MatrixTriangularSolve", np.stack([a, a.T])[:, None], b, tolerance=loose(d))
        for l2 in [0.0, 0.3]:
            t.case("MatrixSolveLs", a[:, :2], b, f64(l2), tolerance=10 * loose(d))
            t.case("MatrixSolveLs", a[:2], b[:2], f64(l2), tolerance=10 * loose(d))
        t.case("MatrixSolveLs", a[:, :2], b, f64(0), fast=False, tolerance=10 * loose(d))
        diagonals = np.array([[1, 2, 0], [4 + i, 5, 6], [0, 9, 1]]).astype(d)
        t.case("TridiagonalSolve", diagonals, b, tolerance=loose(d))
        t.case("TridiagonalSolve", np.stack([diagonals, diagonals + 3]), np.stack([b, b]), partial_pivoting=False,
               tolerance=loose(d))
        t.case("TridiagonalMatMul", diagonals[:1], diagonals[1:2], diagonals[2:], b)
        for lower in [False, True]:
            for adjoint in [False, True]:
                bands = np.array([[2, 3, 4], [9, 1 + i, 1.5]] if lower else [[9, 1 + i, 1.5], [2, 3, 4]]).astype(d)
                t.case("BandedTriangularSolve", bands, b, lower=lower, adjoint=adjoint, tolerance=loose(d))
    t.case("BandedTriangularSolve", np.stack([bands, 2 * bands])[:, None], b)
    t.case("BandedTriangularSolve", f64([[1, 2, 3]]), f64([[1], [2]]))
    t.case("MatrixSolve", np.ones([2, 2]), np.ones([2, 1]))
    t.case("MatrixSolve", np.ones([2, 2, 2]), np.ones([2, 1]))
    t.case("MatrixSolve", np.ones([2, 2]), np.ones([3, 1]))
    t.case("MatrixSolve", np.zeros([0, 0]), np.zeros([0, 2]))
    t.case("MatrixTriangularSolve", f64([[1, 0], [2, 3]]), np.ones([3, 1]))
    t.case("MatrixSolveLs", np.zeros([2, 2]), np.ones([2, 1]), f64(0))
    t.case("MatrixSolveLs", np.zeros([2, 2]), np.ones([2, 1]), f64(-1))
    t.case("TridiagonalSolve", np.ones([2, 3]), np.ones([3, 1]))
    t.case("TridiagonalMatMul", np.ones([1, 3]), np.ones([1, 3]), np.ones([1, 2]), np.ones([3, 1]))


def diagonals(t):
    for d in [np.float16, np.float32, np.float64, np.int8, np.int64, np.uint16, np.bool_] + COMPLEX:
        x = np.array([[1, 2], [3, 0]]).astype(d)
        t.case("MatrixDiag", x)
        t.case("MatrixDiagPart", x)
        t.case("MatrixSetDiag", x, x[1])
        t.case("MatrixBandPart", x, i64(0), i64(-1))
    for d in [np.float16, np.float32, np.float64, np.int32, np.int64] + COMPLEX:
        t.case("Diag", np.array([[1, 2], [3, 0]]).astype(d))
        t.case("DiagPart", np.arange(9).reshape(3, 3).astype(d))
    m = np.arange(1.0, 25).reshape(2, 3, 4)
    for align in ["LEFT_LEFT", "LEFT_RIGHT", "RIGHT_LEFT", "RIGHT_RIGHT"]:
        for k in [[-1, 2], [-2, -1], [1, 3], [0, 0], [-2, 3]]:
            t.case("MatrixDiagPartV3", m, i32(k), f64(-1), align=align)
            count, longest = k[1] - k[0] + 1, min(3 + min(k[1], 0), 4 - max(k[0], 0))
            shape = [2, longest] if count == 1 else [2, count, longest]
            new = 100 + np.arange(float(np.prod(shape))).reshape(shape)
            t.case("MatrixSetDiagV3", m, new, i32(k), align=align)
            t.case("MatrixDiagV3", new, i32(k), i32(3), i32(4), f64(-1), align=align)
    t.case("MatrixDiagPartV2", m, i32([-1, 2]), f64(-1))
    t.case("MatrixSetDiagV2", m, 100 + np.arange(12.0).reshape(2, 2, 3), i32([0, 1]))
    t.case("MatrixDiagV2", f64([[0, 1, 2], [3, 4, 5]]), i32([-1, 0]), i32(-1), i32(-1), f64(9))
    two = f64([[0, 1, 2], [3, 4, 5]])
    for rows, columns in [(-1, -1), (2, -1), (5, 7), (3, -1), (-1, 5), (3, 3), (4, 3)]:
        t.case("MatrixDiagV3", two, i32([-1, 0]), i32(rows), i32(columns), f64(9))
    for rows, columns in [(-1, -1), (5, -1), (2, 3), (1, 3)]:
        t.case("MatrixDiagV3", f64([1, 2]), i32(1), i32(rows), i32(columns), f64(9))
    t.case("MatrixDiagV3", two, i32([0, 2]), i32(-1), i32(-1), f64(9))
    for k in [5, -3, [1, 0], [0, 1, 2], [1], [-2, 4]]:
        t.case("MatrixDiagPartV3", m, i32(k), f64(0))
    t.case("MatrixSetDiagV3", m, np.ones([2, 2]), i32(1))
    t.case("MatrixSetDiag", m, np.ones([2, 2]))
    t.case("MatrixDiagPart", np.zeros([0, 3]))
    t.case("MatrixDiag", np.zeros([2, 0]))
    t.case("MatrixDiagPart", np.zeros([3]))
    for lower, upper in [(1, 0), (0, 1), (-1, 0), (-2, 0), (3, 4), (5, 0), (0, 5)]:
        t.case("MatrixBandPart", m, i64(lower), i64(upper))
    t.case("MatrixBandPart", m, i32(1), i32(1))
    t.case("MatrixBandPart", np.zeros([3]), i64(1), i64(1))
    t.case("MatrixBandPart", m, i64([1]), i64(1))
    t.case("Diag", f64(3))
    t.case("DiagPart", np.zeros([2, 3]))
    t.case("DiagPart", np.zeros([3]))
    t.case("MatrixDiag", f64([[1, 2], [3, 4]]), gradient=[0])
    t.case("MatrixBandPart", m, i64(1), i64(0), gradient=[0])
    t.case("Diag", f64([1, 2]), gradient=[0])
    t.case("DiagPart", f64([[1, 2], [3, 4]]), gradient=[0])


def einsum(t):
    a, b = np.arange(6).reshape(2, 3) - 2, np.arange(12).reshape(3, 4) - 5
    for d in [np.float16, tf.bfloat16.as_numpy_dtype, np.int32, np.int64] + REAL + COMPLEX:
        t.case("Einsum", [a.astype(d), b.astype(d)], equation="ij,jk->ki")
        t.case("Einsum", [a.astype(d)], equation="ij->j")
    x, y = np.arange(24.0).reshape(2, 3, 4) - 7, np.arange(24.0).reshape(4, 3, 2) / 3
    for equation in ["abc,cbd->ad", "abc,cbd->abd", "abc,dba->cd", "abc,cba->", "abc,cba->b", "abc,def->", "abc,cbe->bea",
                     "abc,cbd->dca", "...c,cbd->...bd", "...,cbd->...cbd", "abc,c...->ab...", "abc,cba->abc"]:
        t.case("Einsum", [x, y], equation=equation)
    for equation in ["abc->cab", "abc->", "abc->b", "...c->c...", "a...->...", "abc->abc", "ab...->ba..."]:
        t.case("Einsum", [x], equation=equation)
    s = np.arange(27.0).reshape(3, 3, 3)
    for equation in ["aaa->a", "aab->b", "aba->ab", "aba->ba", "aab->", "...aa->...a", "...aa->..."]:
        t.case("Einsum", [s], equation=equation)
    t.case("Einsum", [f64([1, 2, 3])], equation="i->ii")
    t.case("Einsum", [f64([1, 2, 3]), f64([4, 5])], equation="i,j->iji")
    t.case("Einsum", [f64([1, 2, 3]), f64([4, 5])], equation="i,j->jij")
    t.case("Einsum", [s, s], equation="aab,bcc->ac")
    t.case("Einsum", [np.ones([2, 1, 3]), np.ones([5, 3, 4])], equation="...ij,...jk->...ik")
    t.case("Einsum", [np.ones([5, 1, 2, 3]), np.ones([7, 3, 4])], equation="...ij,...jk->...ik")
    t.case("Einsum", [np.zeros([2, 0]), np.zeros([0, 4])], equation="ij,jk->ik")
    t.case("Einsum", [f64(3), f64([1, 2])], equation=",a->a")
    for operands, equation in [([a, b], "ij,jk"), ([a], "ij,jk->ik"), ([a, b], "ij,jk->il"), ([a, b], "ij,ik->jk"),
                               ([a], "ijk->i"), ([a], "..i->i"), ([a], "...i->i"), ([a, a], "...i,...i->i"), ([a], "ij->jk"),
                               ([a, a[:1]], "ab,ab->ab"), ([a, b], "ij,jk->i->k")]:
        t.case("Einsum", [f64(o) for o in operands], equation=equation)


def fourier(t):
    rng = np.random.RandomState(7)
    for c, r in [(np.complex64, np.float32), (np.complex128, np.float64)]:
        ct, rt = tf.as_dtype(c), tf.as_dtype(r)
        for n in [1, 2, 3, 5, 7, 8, 12, 31]:
            x = rng.randn(2, n) + 1j * rng.randn(2, n)
            for op in ["FFT", "IFFT"]:
                t.case(op, x.astype(c))
            t.case("RFFT", x.real.astype(r), i32([n]), Tcomplex=ct)
            t.case("IRFFT", x[:, :n // 2 + 1].astype(c), i32([n]), Treal=rt)
        x = rng.randn(2, 3, 4, 5) + 1j * rng.randn(2, 3, 4, 5)
        for op in ["FFT2D", "IFFT2D", "FFT3D", "IFFT3D"]:
            t.case(op, x.astype(c))
        t.case("RFFT2D", x.real.astype(r), i32([3, 4]), Tcomplex=ct)
        t.case("RFFT3D", x.real.astype(r), i32([3, 4, 5]), Tcomplex=ct)
        t.case("IRFFT2D", x.astype(c), i32([3, 8]), Treal=rt)
        t.case("IRFFT2D", x.astype(c), i32([4, 9]), Treal=rt)
        t.case("IRFFT3D", x.astype(c), i32([2, 4, 7]), Treal=rt)
    x = np.arange(4.0).astype(np.float32)
    t.case("RFFT", x, i32([3]))
    t.case("RFFT", x, i32([6]))
    t.case("RFFT", x, i32([-1]))
    t.case("RFFT", x, i32([4, 4]))
    t.case("IRFFT", x.astype(np.complex64), i32([8]))
    t.case("FFT2D", x.astype(np.complex64))
    t.case("FFT", np.complex64(1))
    t.case("FFT", np.zeros([2, 0], np.complex64))
    t.case("FFT", np.zeros([0, 3], np.complex64))


def add_cases(t):
    decompositions(t)
    equations(t)
    diagonals(t)
    einsum(t)
    fourier(t)
