"""Rows whose gradients must be TensorFlow's: singular points, complex numbers, linear algebra, transforms."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float16, bf16, np.float32, np.float64]
COMPLEX = [np.complex64, np.complex128]
nan, inf = float("nan"), float("inf")
SINGULAR = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, inf, -inf, nan]


def f64(v):
    return np.array(v, np.float64)


def spread(shape, dtype=np.float64, seed=0):
    """Numbers of both signs without a pattern, for which no function here is near a singularity."""
    n = int(np.prod(shape))
    k = np.arange(n) + 1 + 31 * seed
    real = np.round(((k * 0.61803398875) % 1.0) * 1.6 - 0.7, 2)
    imag = np.round(((k * 0.41421356237) % 1.0) * 1.4 - 0.6, 2)
    if np.issubdtype(dtype, np.complexfloating):
        return (real + 1j * imag).reshape(shape).astype(dtype)
    return real.reshape(shape).astype(dtype)


def pairs(a, b):
    """Two vectors with each pair of elements."""
    x, y = np.meshgrid(np.array(a), np.array(b))
    return x.reshape(-1), y.reshape(-1)


def gradient_kernels_at_singular_points(t):
    with np.errstate(all="ignore"):
        y, dy = pairs(SINGULAR, [0.0, 1.0, -2.0, inf, nan])
        for op in ["ReciprocalGrad", "InvGrad", "SqrtGrad", "RsqrtGrad", "TanhGrad", "SigmoidGrad"]:
            for d in FLOATS:
                t.case(op, y.astype(d), dy.astype(d))
            for d in COMPLEX:
                z, dz = pairs([0, 1, -1, 0.5 - 2j, 3j], [0, 1, -2 + 1j])
                t.case(op, z.astype(d), dz.astype(d))
        y, dy = pairs(SINGULAR, [0.0, 1.0, -2.0])  # TensorFlow multiplies an infinite dy by 0
        for op in ["EluGrad", "SeluGrad", "SoftplusGrad", "SoftsignGrad", "ReluGrad", "Relu6Grad", "LeakyReluGrad"]:
            for d in FLOATS:
                t.case(op, dy.astype(d), y.astype(d))


UNARY = ["Abs", "Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Digamma", "Erf", "Erfc", "Erfinv", "Exp",
         "Expm1", "Inv", "Lgamma", "Log", "Log1p", "Ndtri", "Neg", "Reciprocal", "Rsqrt", "Sigmoid", "Sign", "Sin", "Sinh",
         "Sqrt", "Square", "Tan", "Tanh", "Dawsn", "Expint", "FresnelCos", "FresnelSin", "Spence", "BesselI0", "BesselI0e",
         "BesselI1", "BesselI1e", "BesselJ0", "BesselJ1", "BesselK0", "BesselK0e", "BesselK1", "BesselK1e", "BesselY0",
         "BesselY1", "Elu", "LeakyRelu", "Relu", "Relu6", "Selu", "Softplus", "Softsign"]
COMPLEX_UNARY = ["Acos", "Acosh", "Asin", "Asinh", "Atan", "Atanh", "Cos", "Cosh", "Exp", "Expm1", "Inv", "Log", "Log1p", "Neg",
                 "Reciprocal", "Rsqrt", "Sigmoid", "Sin", "Sinh", "Sqrt", "Square", "Tan", "Tanh", "Conj"]
BINARY = ["Add", "AddV2", "Atan2", "Div", "DivNoNan", "FloorMod", "Maximum", "Minimum", "Mul", "MulNoNan", "Pow", "RealDiv",
          "SquaredDifference", "Sub", "Xdivy", "Xlog1py", "Xlogy"]
COMPLEX_BINARY = ["Add", "AddV2", "Div", "DivNoNan", "Mul", "MulNoNan", "Pow", "RealDiv", "SquaredDifference", "Sub", "Xdivy",
                  "Xlog1py", "Xlogy"]


def gradients_at_singular_points(t):
    x, g = pairs(SINGULAR, [0.0, 1.0])
    for op in UNARY:
        for d in [np.float32, np.float64]:
            # TensorFlow's Erf of an infinite float64 is NaN.
            used = np.isfinite(x) if op == "Erf" else slice(None)
            t.case(op, x[used].astype(d), tf_gradient=[0], grad_ys=[g[used].astype(d)])
    for op in ["Sqrt", "Rsqrt", "Reciprocal", "Log", "Tanh", "Sigmoid"]:
        for d in [np.float16, bf16]:
            t.case(op, x.astype(d), tf_gradient=[0], grad_ys=[g.astype(d)])
    points = [0.0, -0.0, 1.0, -1.0, 2.0, -2.5, inf, nan]
    x, y = pairs(points, points)
    for op in BINARY:
        for g in [0.0, 1.5]:
            for d in [np.float32, np.float64]:
                t.case(op, x.astype(d), y.astype(d), tf_gradient=[0, 1], grad_ys=[np.full(x.shape, g, d)])
    for op in ["Sum", "Mean", "Prod", "Max", "Min", "EuclideanNorm"]:
        rows = np.array([[0.0, 0.0], [0.0, 2.0], [3.0, 3.0], [inf, 1.0], [nan, 1.0]], np.float32)
        for g in [0.0, 2.0]:
            t.case(op, rows, np.array([1], np.int32), tf_gradient=[0], grad_ys=[np.full([5], g, np.float32)])
    for op in ["Igamma", "Igammac"]:
        a, x = pairs([0.5, 1.0, 3.0], [0.0, 1.0, 4.0])
        for g in [0.0, 1.5]:
            t.case(op, a, x, tf_gradient=[0, 1], grad_ys=[np.full(a.shape, g)])
    for op in ["Zeta", "Polygamma"]:
        t.case(op, f64([2, 3, 2]), f64([1.5, 0.3, 2.0]), tf_gradient=[1])
    t.case("Betainc", f64([0.5, 2.0]), f64([1.5, 0.7]), f64([0.3, 0.6]), tf_gradient=[0, 1, 2])
    t.case("NextAfter", f64([[0.5, 2.0]]), f64([[1.5], [0.7]]), tf_gradient=[0, 1])
    for op in ["Softmax", "LogSoftmax"]:
        t.case(op, np.array([[0.0, 1000.0], [-inf, 0.0]], np.float32), tf_gradient=[0])


def complex_gradients(t):
    for d in COMPLEX:
        for op in COMPLEX_UNARY:
            t.case(op, spread([2, 5], d), tf_gradient=[0])
        for op in ["TanhGrad", "SigmoidGrad", "ReciprocalGrad", "InvGrad", "SqrtGrad", "RsqrtGrad"]:
            t.case(op, spread([5], d), spread([5], d, 1), tf_gradient=[0, 1])
        for op in COMPLEX_BINARY:
            t.case(op, spread([2, 3], d), spread([3], d, 2), tf_gradient=[0, 1])
            t.case(op, spread([2, 1], d), spread([2, 3], d, 3), tf_gradient=[0, 1])
        for zero in [0, 1.0]:  # the logarithm counts as 0 at 0 alone
            t.case("Pow", np.array([0, -1, 1j], d), np.array([2 + 1j, 1 - 1j, 2], d), tf_gradient=[0, 1],
                   grad_ys=[np.full([3], zero, d)])
        for op in ["Sum", "Mean", "Prod"]:
            t.case(op, spread([2, 3], d), np.array([1], np.int32), tf_gradient=[0])
            t.case(op, spread([2, 3], d), np.array([0, 1], np.int32), tf_gradient=[0])
        t.case("Prod", np.array([[0, 2 + 1j, 3j], [0, 0, 1], [1j, 2, 3]], d), np.array([1], np.int32), tf_gradient=[0])
        t.case("AddN", [spread([3], d), spread([3], d, 1)], tf_gradient=[0, 1])
        for ta in [False, True]:
            for tb in [False, True]:
                a, b = spread([3, 2] if ta else [2, 3], d), spread([4, 3] if tb else [3, 4], d, 1)
                t.case("MatMul", a, b, transpose_a=ta, transpose_b=tb, tf_gradient=[0, 1])
                t.case("BatchMatMul", np.stack([a, 2 * a]), np.stack([b, b - 1]), adj_x=ta, adj_y=tb, tf_gradient=[0, 1])
                t.case("BatchMatMulV2", np.stack([a, 2 * a]), b, adj_x=ta, adj_y=tb, tf_gradient=[0, 1])
        t.case("BatchMatMulV3", spread([2, 2, 3], d), spread([3, 2], d, 1), Tout=tf.as_dtype(d), tf_gradient=[0, 1])
        t.case("Transpose", spread([2, 3], d), np.array([1, 0], np.int32), tf_gradient=[0])
        t.case("ConjugateTranspose", spread([2, 3], d), np.array([1, 0], np.int32), tf_gradient=[0])
        t.case("Cumsum", spread([4], d), np.int32(0), tf_gradient=[0])
        real = np.float32 if d == np.complex64 else np.float64
        for op in ["Real", "Imag", "Angle", "ComplexAbs"]:
            t.case(op, spread([2, 3], d), Tout=tf.as_dtype(real), tf_gradient=[0])
        t.case("ComplexAbs", np.array([0, 3 - 4j], d), Tout=tf.as_dtype(real), tf_gradient=[0])
        t.case("Complex", spread([2, 3], real), spread([3], real, 1), Tout=tf.as_dtype(d),
               tf_gradient=[0, 1])
    for source in [np.float32, np.float64, np.complex64, np.complex128]:
        for target in [np.float16, np.float32, np.float64, np.complex64, np.complex128]:
            if source != target:
                t.case("Cast", spread([3], source), DstT=tf.as_dtype(target), tf_gradient=[0])
    t.case("SelectV2", np.array([True, False, True]), spread([3], np.complex64),
           spread([1], np.complex64, 1), tf_gradient=[1, 2])


def scans(t):
    for exclusive in [False, True]:
        for reverse in [False, True]:
            for x in [[0.5, -2.0, 3.0, 1.5], [0.5, 0.0, 3.0, 1.5]]:
                t.case("Cumprod", f64([x, x[::-1]]), np.int32(1), exclusive=exclusive, reverse=reverse, tf_gradient=[0])
            t.case("Cumprod", spread([2, 4]), np.int32(1), exclusive=exclusive, reverse=reverse, gradient=[0])
            t.case("Cumprod", spread([4], np.complex128), np.int32(0), exclusive=exclusive, reverse=reverse, tf_gradient=[0])
            t.case("CumulativeLogsumexp", spread([2, 4]), np.int32(1), exclusive=exclusive, reverse=reverse, tf_gradient=[0])
    t.case("CumulativeLogsumexp", spread([3, 2], np.float32), np.int64(0), tf_gradient=[0])
    t.case("CumulativeLogsumexp", spread([4]), np.int32(0), gradient=[0])


def segments(t):
    data = f64([[1, 2], [3, 2], [3, -4], [5, 0], [5, 0], [0, 7]])
    ids = np.array([0, 0, 0, 2, 2, 3], np.int32)
    for op in ["SegmentSum", "SegmentMean", "SegmentProd", "SegmentMin", "SegmentMax"]:
        t.case(op, data, ids, tf_gradient=[0])
    t.case("SegmentMean", spread([6, 2, 2]), ids.astype(np.int64), gradient=[0])
    t.case("SegmentMean", spread([6], np.complex64), ids, tf_gradient=[0])
    t.case("SegmentMax", spread([6, 2, 2]), ids, gradient=[0])
    for op in ["UnsortedSegmentSum", "UnsortedSegmentProd", "UnsortedSegmentMax", "UnsortedSegmentMin"]:
        for shuffled in [[2, 0, 2, -1, 0, 1], [3, 3, 3, 3, 3, 3]]:
            t.case(op, data, np.array(shuffled, np.int32), np.int32(4), tf_gradient=[0])
        t.case(op, spread([2, 3, 2]), np.array([[1, 0, 1], [0, -1, 3]], np.int64), np.int32(4), tf_gradient=[0])
        t.case(op, spread([3, 3]), np.array([1, 0, 1], np.int32), np.int32(2), gradient=[0])
    t.case("UnsortedSegmentProd", spread([4], np.complex128), np.array([1, 0, 1, 1], np.int32), np.int32(2), tf_gradient=[0])


def gathers(t):
    params = spread([2, 3, 4, 2])
    for d in [np.int32, np.int64]:
        indices = np.array([[[2, 0], [1, 1]], [[0, 0], [2, 2]]], d)
        t.case("GatherV2", params, indices, np.int32(1), batch_dims=1, tf_gradient=[0])
        t.case("GatherV2", params, indices, np.int32(2), batch_dims=1, tf_gradient=[0])
        t.case("GatherV2", params, np.array([[3, 0, 3], [1, 1, 1]], d), np.int32(2), batch_dims=1, gradient=[0])
        t.case("GatherV2", params, np.array([[3, 0, 3], [1, 1, 1]], d), np.int32(2), batch_dims=2, tf_gradient=[0])
        t.case("GatherV2", params, np.array([[1, 0, 1], [1, 1, 1]], d), np.int32(3), batch_dims=-1, tf_gradient=[0])
    t.case("GatherV2", params, np.array([1, 1], np.int32), np.int32(0), tf_gradient=[0])
    t.case("GatherV2", params, np.array([[1, 1], [0, 2]], np.int32), np.int32(1), tf_gradient=[0])


    ragged(t, spread([6]))
    ragged(t, spread([6, 2], np.complex64))


def ragged(t, values):
    outer, inner = np.array([0, 2, 2, 3], np.int64), np.array([0, 1, 4, 6], np.int64)
    for d in [np.int32, np.int64]:
        for indices in [[2, 0, 0, 1], [[0, 2], [2, 2]], 1]:
            indices = np.array(indices, d)
            t.case("RaggedGather", [inner], values, indices, OUTPUT_RAGGED_RANK=indices.ndim, tf_gradient=[1])
            t.case("RaggedGather", [outer.astype(d), inner.astype(d)], values, indices,
                   OUTPUT_RAGGED_RANK=indices.ndim + 1, tf_gradient=[2])


    def dense(shape, values, default, *partitions):
        t.case("RaggedTensorToTensor", shape, values, default, [tensor for _, tensor in partitions],
               row_partition_types=[kind for kind, _ in partitions], tf_gradient=[1, 2])
    splits, splits0 = ("ROW_SPLITS", inner), ("ROW_SPLITS", outer)
    ids = [("FIRST_DIM_SIZE", np.int64(4)), ("VALUE_ROWIDS", np.array([0, 1, 1, 1, 3, 3], np.int64))]
    default = np.array(0.5, values.dtype)
    for shape in [[-1, -1], [2, 2], [5, 4], [0, 2]]:
        shape = np.array(shape + list(values.shape[1:]), np.int64)
        dense(shape, values, default, splits)
        dense(shape, values, default, *ids)
    dense(np.int32(-1), values, default, splits0, splits)
    if values.ndim > 1:
        dense(np.int32(-1), values, np.array([1, 2], values.dtype), splits)
        dense(np.int32(-1), values, np.array([1], values.dtype), splits)


def updates(t):
    def i32(*v):
        return np.array(v, np.int32)
    for d in [np.float64, np.complex64]:
        x = spread([4, 3], d)
        for begin, end, strides, shape, masks in [
                (i32(0, 1), i32(4, 3), i32(1, 1), [4, 2], {}), (i32(3, 0), i32(0, 3), i32(-1, 2), [3, 2], {}),
                (i32(1), i32(2), i32(1), [3], dict(shrink_axis_mask=1)), (i32(0), i32(2), i32(1), [1, 3], {}),
                (i32(0), i32(2), i32(1), [], dict(ellipsis_mask=1)), (i32(0, 2), i32(9, 9), i32(1, 1), [4, 1], dict(end_mask=3))]:
            t.case("TensorStridedSliceUpdate", x, begin, end, strides, spread(shape, d, 1), tf_gradient=[0, 4], **masks)


def gamma_samples(t):
    seed = np.array([7, 11], np.int32)
    for d in [np.float32, np.float64]:
        tolerance = 1e-4 if d == np.float32 else 1e-8
        alpha = np.array([[0.5], [1.0], [3.0]], d)
        shape = np.array([4, 2, 3, 1], np.int32)
        t.case("StatelessRandomGammaV2", shape, seed, alpha, tf_gradient=[2], tolerance=tolerance)
        t.case("StatelessRandomGammaV3", shape, np.array([123], np.uint64), np.array([4, 5], np.uint64), np.int32(1), alpha,
               tf_gradient=[4], tolerance=tolerance)


def batch_norms(t):
    """Second derivatives."""
    f32 = np.float32
    for op in ["FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"]:
        end = [np.zeros([0], f32)] if op.endswith("V3") else []
        for d in [f32] if op == "FusedBatchNormGrad" else [f32, np.float16]:
            tolerance = 2e-4 if d == f32 else 2e-2
            formats = [("NHWC", [2, 2, 3, 3], (0, 1, 2)), ("NCHW", [2, 3, 2, 3], (0, 2, 3))]
            if end and d == f32:
                formats += [("NDHWC", [2, 1, 2, 3, 3], (0, 1, 2, 3)), ("NCDHW", [2, 3, 1, 2, 3], (0, 2, 3, 4))]
            for data_format, shape, axes in formats:
                x, dy = 2 * spread(shape, f32), spread(shape, d, 1)
                rest = [spread([3], f32, 2) + f32(1), x.mean(axes), x.var(axes), *end]
                ys = [spread(shape, d, 3), spread([3], f32, 4), spread([3], f32, 5), None, None]
                for training in [True, False]:
                    if not training and data_format.startswith("NC"):
                        continue  # TensorFlow's CPU has no kernel
                    for grad_ys in [ys, [ys[0], None, None, None, None]]:
                        t.case(op, dy, x.astype(d), *rest, epsilon=0.01, data_format=data_format, is_training=training,
                               tf_gradient=[0, 1, 2], grad_ys=grad_ys, tolerance=tolerance)


def einsums(t):
    for d in [np.float64, np.complex128]:
        one = [("ij->ji", [2, 3]), ("ij->i", [2, 3]), ("ij->j", [2, 3]), ("ij->", [2, 3]), ("ii->", [3, 3]),
               ("ii->i", [3, 3]), ("iij->ji", [2, 2, 3]), ("i->ii", [3]), ("...ij->...ji", [2, 2, 3]),
               ("ab...->b...", [2, 3, 2]), ("i...j->...", [2, 3, 4]), ("iijk->k", [2, 2, 3, 2]), ("->", []),
               ("...ij->j", [2, 3])]
        for equation, shape in one:
            t.case("Einsum", [spread(shape, d)], equation=equation, tf_gradient=[0])
        two = [("ij,jk->ik", [2, 3], [3, 4]), ("ij,jk->ki", [2, 3], [3, 4]), ("ij,ij->", [2, 3], [2, 3]),
               ("i,j->ij", [2], [3]), ("bij,bjk->bik", [2, 2, 3], [2, 3, 2]), ("...ij,...jk->...ik", [2, 2, 3], [3, 2]),
               ("...ij,...jk->...ik", [2, 1, 2, 3], [3, 3, 2]), ("ijk,j->i", [2, 3, 2], [3]), ("ij,k->ik", [2, 3], [2]),
               ("ii,ij->j", [3, 3], [3, 2]), ("i...,i->...", [2, 3], [2]), ("a...b,...->a...", [2, 3, 2], [3]),
               ("iij,jk->k", [2, 2, 3], [3, 2]), ("ij,jk->iikk", [2, 3], [3, 2]), ("i,i->i", [3], [3]), (",->", [], [])]
        for equation, a, b in two:
            t.case("Einsum", [spread(a, d), spread(b, d, 1)], equation=equation, tf_gradient=[0, 1])
    t.case("Einsum", [spread([2, 3]), spread([3, 4], seed=1)], equation="ij,jk->ik", gradient=[0, 1])
    t.case("Einsum", [spread([2, 3], np.float32), spread([3, 4], np.float32)], equation="ij,jk->ik", tf_gradient=[0, 1])


def well_conditioned(shape, dtype, seed=0):
    """Batches of matrices near a diagonal with different numbers."""
    n = min(shape[-2:])
    m = 0.4 * spread(shape, dtype, seed)
    for k in range(n):
        m[..., k, k] += 1.5 + 0.7 * k
    return m


def hermitian(shape, dtype, seed=0):
    a = well_conditioned(shape, dtype, seed)
    return ((a + np.conj(np.swapaxes(a, -1, -2))) / 2).astype(dtype)


def values_alone(t, op, m, g, tolerance, **attrs):
    """A row of a decomposition that computes only the values, not the vectors. TensorFlow returns scalars in place of
    the vectors, ours returns empty tensors."""
    outputs = t.tensorflow(op, [m], attrs)
    expected = outputs[:1] + [np.zeros([0], outputs[0].dtype if op == "Eig" else m.dtype) for _ in outputs[1:]]
    t.case(op, m, tf_gradient=[0], grad_ys=[g] + [None] * (len(outputs) - 1), expected=expected, tolerance=tolerance, **attrs)


def decompositions(t):
    for d in [np.float32, np.float64] + COMPLEX:
        tolerance = 3e-5 if d in (np.float32, np.complex64) else 1e-9
        a = well_conditioned([2, 3, 3], d)
        b = spread([2, 3, 2], d, 3)
        for adjoint in [False, True]:
            t.case("MatrixSolve", a, b, adjoint=adjoint, tf_gradient=[0, 1], tolerance=tolerance)
            t.case("MatrixInverse", a, adjoint=adjoint, tf_gradient=[0], tolerance=tolerance)
            for lower in [False, True]:
                t.case("MatrixTriangularSolve", a, b, adjoint=adjoint, lower=lower, tf_gradient=[0, 1], tolerance=tolerance)
                t.case("MatrixTriangularSolve", a[0], b, adjoint=adjoint, lower=lower, tf_gradient=[0, 1],
                       tolerance=tolerance)
        t.case("MatrixDeterminant", a, tf_gradient=[0], tolerance=tolerance)
        t.case("MatrixDeterminant", a[0], tf_gradient=[0], tolerance=tolerance)
        t.case("LogMatrixDeterminant", a, tf_gradient=[0], tolerance=tolerance)
        t.case("Cholesky", hermitian([2, 3, 3], d), tf_gradient=[0], tolerance=tolerance)
        t.case("MatrixSquareRoot", hermitian([2, 3, 3], d), tf_gradient=[0], tolerance=tolerance)
        for rows, columns in [(3, 3), (4, 2), (2, 4)]:
            m = well_conditioned([2, rows, columns], d)
            zeros = [np.zeros([2, rows, min(rows, columns)], d), np.zeros([2, columns, min(rows, columns)], d)]
            g = np.ones([2, min(rows, columns)], d) * np.array([0.5, -2.0] + [1.0] * (min(rows, columns) - 2), d)
            values_alone(t, "Svd", m, g, tolerance, compute_uv=False)
            t.case("Svd", m, compute_uv=True, tf_gradient=[0], grad_ys=[g, None, None], tolerance=tolerance)
            t.case("Svd", m, compute_uv=True, tf_gradient=[0], grad_ys=[g] + zeros, tolerance=tolerance)
            t.case("MatrixSolveLs", m, spread([2, rows, 2], d, 5), np.float64(0.3), tf_gradient=[0, 1],
                   tolerance=10 * tolerance)
        h = hermitian([2, 3, 3], d)
        g = np.array([[1.0, -2.0, 0.5]] * 2, d)
        values_alone(t, "SelfAdjointEigV2", h, g, tolerance, compute_v=False)
        t.case("SelfAdjointEigV2", h, compute_v=True, tf_gradient=[0], grad_ys=[g, None], tolerance=tolerance)
        diagonals = well_conditioned([2, 3, 4], d)
        diagonals[:, 1, :] += 3
        t.case("TridiagonalSolve", diagonals, spread([2, 4, 2], d, 4), tf_gradient=[0, 1], tolerance=tolerance)
        t.case("TridiagonalMatMul", spread([2, 1, 4], d), spread([2, 1, 4], d, 1), spread([2, 1, 4], d, 2),
               spread([2, 4, 3], d, 3), tf_gradient=[0, 1, 2, 3], tolerance=tolerance)
        for lower in [False, True]:
            for adjoint in [False, True]:
                bands = well_conditioned([2, 2, 4], d)
                bands[:, 0 if lower else 1, :] += 2
                t.case("BandedTriangularSolve", bands, spread([2, 4, 2], d, 3), lower=lower, adjoint=adjoint,
                       tf_gradient=[0, 1], tolerance=tolerance)
    for shape in [[3, 3], [4, 3], [3, 4]]:
        m = well_conditioned(shape, np.float64)
        t.case("Qr", m, gradient=[0])
        t.case("Svd", m, gradient=[0])
    t.case("Svd", well_conditioned([2, 3, 2], np.float64), full_matrices=True, gradient=[0])
    t.case("SelfAdjointEigV2", hermitian([2, 3, 3], np.float64), gradient=[0])
    values_alone(t, "Eig", well_conditioned([3, 3], np.float64), np.ones([3], np.complex128), 1e-8, Tout=tf.complex128,
                 compute_v=False)


def vectors(t):
    """The gradients of the vectors and triangles of decompositions."""
    for d in [np.float32, np.float64] + COMPLEX:
        tolerance = 1e-4 if d in (np.float32, np.complex64) else 1e-9
        for shape in [[3, 3], [2, 4, 2], [2, 2, 4]]:
            m = well_conditioned(shape, d)
            t.case("Qr", m, tf_gradient=[0], tolerance=tolerance)
            t.case("Svd", m, tf_gradient=[0], tolerance=tolerance)
        for shape in [[3, 3], [2, 3, 2], [2, 3]]:
            t.case("Svd", well_conditioned(shape, d), full_matrices=True, tf_gradient=[0], tolerance=tolerance)
        t.case("Qr", well_conditioned([2, 3], d), full_matrices=True, tf_gradient=[0], tolerance=tolerance)
        h = hermitian([2, 3, 3], d)
        t.case("SelfAdjointEigV2", h, compute_v=True, tf_gradient=[0], tolerance=tolerance)
        no_values = [None, spread([2, 3, 3], d, 6)]
        t.case("SelfAdjointEigV2", h, compute_v=True, tf_gradient=[0], grad_ys=no_values, tolerance=tolerance)
        out = tf.complex64 if d in (np.float32, np.complex64) else tf.complex128
        t.case("Eig", well_conditioned([2, 3, 3], d), Tout=out, tf_gradient=[0], tolerance=10 * tolerance)


def transforms(t):
    for d in COMPLEX:
        real = np.float32 if d == np.complex64 else np.float64
        for axes, shape in [("", [2, 5]), ("2D", [2, 3, 4]), ("3D", [2, 3, 2, 3])]:
            for op in ["FFT", "IFFT"]:
                t.case(op + axes, spread(shape, d), tf_gradient=[0])
        for n in [4, 5]:
            t.case("RFFT", spread([2, n], real), np.array([n], np.int32), Tcomplex=tf.as_dtype(d), tf_gradient=[0])
            t.case("IRFFT", spread([2, n // 2 + 1], d), np.array([n], np.int32), Treal=tf.as_dtype(real), tf_gradient=[0])
            for m in [2, 3]:
                t.case("RFFT2D", spread([2, m, n], real), np.array([m, n], np.int32), Tcomplex=tf.as_dtype(d),
                       tf_gradient=[0])
                t.case("IRFFT2D", spread([2, m, n // 2 + 1], d), np.array([m, n], np.int32), Treal=tf.as_dtype(real),
                       tf_gradient=[0])


def diagonals(t):
    for d in [np.float64, np.complex64]:
        t.case("MatrixDiag", spread([2, 3], d), tf_gradient=[0])
        for shape in [[2, 3, 3], [2, 3, 4], [2, 4, 3]]:
            t.case("MatrixDiagPart", spread(shape, d), tf_gradient=[0])
            t.case("MatrixSetDiag", spread(shape, d), spread([2, 3], d, 1), tf_gradient=[0, 1])
            padding = np.array(0.5, d)
            for k, width in [([0], 1), ([-1, 1], 3), ([1], 1), ([-1, 0], 2)]:
                longest = min(shape[1] + min(k[-1], 0), shape[2] - max(k[0], 0))
                diagonal = spread([2, longest] if width == 1 else [2, width, longest], d, 1)
                k = np.array(k, np.int32)
                sizes = [np.int32(shape[1]), np.int32(shape[2])]
                # TensorFlow's gradients of these take the gradients of several diagonals to be aligned as in version 3.
                if width == 1 or d == np.float64:
                    def check(*inputs):
                        return {"tf_gradient" if width == 1 else "gradient": list(inputs)}
                    t.case("MatrixDiagPartV2", spread(shape, d), k, padding, **check(0))
                    t.case("MatrixSetDiagV2", spread(shape, d), diagonal, k, **check(0, 1))
                    t.case("MatrixDiagV2", diagonal, k, *sizes, padding, **check(0))
                for align in ["LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"]:
                    t.case("MatrixDiagPartV3", spread(shape, d), k, padding, align=align, tf_gradient=[0])
                    t.case("MatrixSetDiagV3", spread(shape, d), diagonal, k, align=align, tf_gradient=[0, 1])
                    t.case("MatrixDiagV3", diagonal, k, *sizes, padding, align=align, tf_gradient=[0])


def sparse(t):
    indices = np.array([[0, 1], [2, 0], [2, 3], [1, 1]], np.int64)
    for d in [np.float64, np.complex64]:
        for adjoint_a in [False, True]:
            for adjoint_b in [False, True]:
                inner = 3 if adjoint_a else 4
                b = spread([2, inner] if adjoint_b else [inner, 2], d, 1)
                t.case("SparseTensorDenseMatMul", indices, spread([4], d), np.array([3, 4], np.int64), b,
                       adjoint_a=adjoint_a, adjoint_b=adjoint_b, tf_gradient=[1, 3])


def sparse_functions(t):
    indices = np.array([[0, 1], [0, 3], [1, 1], [2, 0]], np.int64)
    unordered = indices[[2, 0, 3, 1]]
    shape = np.array([3, 4], np.int64)
    values = spread([4])
    t.case("SparseReorder", unordered, values, shape, tf_gradient=[1])
    t.case("SparseSlice", indices, values, shape, np.array([0, 1], np.int64), np.array([2, 3], np.int64), tf_gradient=[1])
    others = np.array([[0, 0], [0, 3], [2, 0]], np.int64)
    t.case("SparseAdd", indices, values, shape, others, spread([3], seed=1), shape, np.float64(0), tf_gradient=[1, 4])
    t.case("SparseTensorDenseAdd", indices, values, shape, spread([3, 4], seed=1), tf_gradient=[1, 3])
    for axes in [[0], [1], [-1], [0, 1]]:
        for keep in [False, True]:
            t.case("SparseReduceSum", indices, values, shape, np.array(axes, np.int32), keep_dims=keep, tf_gradient=[1])
    t.case("SparseSoftmax", indices, values, shape, tf_gradient=[1])
    for op in ["SparseDenseCwiseMul", "SparseDenseCwiseDiv"]:
        for dense in [[3, 4], [1, 4], [3, 1], [4], [1]]:
            t.case(op, indices, values, shape, spread(dense, seed=2), tf_gradient=[1, 3])
    t.case("SparseToDense", indices, shape, values, np.float64(0.5), tf_gradient=[2, 3])
    t.case("SparseToDense", np.array([0, 2], np.int64), np.array([4], np.int64), spread([2]), np.float64(0.5), gradient=[2, 3])
    t.case("SparseToDense", indices, shape, np.float64(2.5), np.float64(0.5), gradient=[2, 3])
    t.case("RaggedTensorToSparse", [np.array([0, 2, 2, 3], np.int64)], spread([3]), tf_gradient=[1])
    for reverse in [False, True]:
        t.case("NthElement", f64([[3, 1, 2, 1], [5, 5, 5, 5]]), np.int32(1), reverse=reverse, tf_gradient=[0])
    at = np.array([[1], [3], [1]], np.int32)
    for op in ["TensorScatterMax", "TensorScatterMin"]:
        t.case(op, f64([1, 2, 3, 4]), at, f64([2, 5, -1]), tf_gradient=[0, 2])
    t.case("ScatterNdNonAliasingAdd", spread([4]), at, spread([3], seed=1), tf_gradient=[0, 2])
    for ta in [False, True]:
        for tb in [False, True]:
            a, b = spread([3, 2] if ta else [2, 3], np.float32), spread([4, 3] if tb else [3, 4], np.float32, 1)
            t.case("SparseMatMul", a, b, transpose_a=ta, transpose_b=tb, tf_gradient=[0, 1])


def add_cases(t):
    gradient_kernels_at_singular_points(t)
    gradients_at_singular_points(t)
    complex_gradients(t)
    scans(t)
    segments(t)
    gathers(t)
    updates(t)
    gamma_samples(t)
    batch_norms(t)
    einsums(t)
    decompositions(t)
    vectors(t)
    transforms(t)
    diagonals(t)
    sparse(t)
    sparse_functions(t)
