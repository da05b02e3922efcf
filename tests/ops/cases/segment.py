"""Rows of segments, running sums, bins, sequences and norms."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
FLOATS = [np.float16, bf16, np.float32, np.float64]
INTEGERS = [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64]
COMPLEX = [np.complex64, np.complex128]
COUNTED = [np.int32, np.int64, np.float32, np.float64]
nan, inf = float("nan"), float("inf")


def f64(v):
    return np.array(v, np.float64)


def i32(v):
    return np.array(v, np.int32)


def i64(v):
    return np.array(v, np.int64)


def segments(t):
    data = np.array([[1, 2], [3, 4], [5, 6], [7, 8]])
    for d in FLOATS + INTEGERS + COMPLEX:
        x = data.astype(d)
        ops = ["Sum", "Prod"] if d in COMPLEX else ["Sum", "Prod", "Min", "Max"]
        for op in ops:
            t.case("Segment" + op, x, i32([0, 0, 2, 2]))
            t.case("UnsortedSegment" + op, x, i64([2, 0, 2, -1]), i32(4))
        t.case("SegmentMean", x, i64([0, 0, 2, 2]))
    x = data.astype(np.float32)
    # TensorFlow has no kernels on CPUs for V2.
    t.case("SegmentSumV2", x, i32([0, 0, 2, 2]), i32(4), expected=[np.array([[4, 6], [0, 0], [12, 14], [0, 0]], np.float32)])
    t.case("SegmentProdV2", x, i32([0, 0, 2, 2]), i32(4), expected=[np.array([[3, 8], [1, 1], [35, 48], [1, 1]], np.float32)])
    t.case("SegmentMinV2", x, i32([0, 0, 2, 2]), i32(3), expected=[np.array([[1, 2], [0, 0], [5, 6]], np.float32)])
    t.case("SegmentMaxV2", x, i32([0, 0, 2, 2]), i32(3), expected=[np.array([[3, 4], [0, 0], [7, 8]], np.float32)])
    t.case("SegmentSumV2", x, i32([0, 0, 2, 2]), i32(2), expected="INVALID_ARGUMENT")
    t.case("SegmentSumV2", data.astype(np.float64), i32([0, 0, 2, 2]), i32(3),
           expected=[f64([[4, 6], [0, 0], [12, 14]])], gradient=[0])
    for op in ["SegmentSum", "SegmentMean", "SegmentMax"]:
        t.case(op, x, i32([0, 0, 2, 1]))
        t.case(op, x, i32([-1, 0, 2, 2]))
        t.case(op, x, i32([0, 1]))
        t.case(op, x, i32([[0, 1], [2, 3]]))
        t.case(op, np.zeros([0, 2], np.float32), i32([]))
        t.case(op, np.float32(1), i32([0]))
    t.case("SegmentSum", data.astype(np.float64), i32([0, 0, 2, 2]), gradient=[0])
    for op in ["Sum", "Prod", "Min", "Max"]:
        t.case("UnsortedSegment" + op, x, np.array([1, 0, 1, 1], np.int32), i64(2))
        t.case("UnsortedSegment" + op, x, i32([[1, 0], [3, 1], [0, 0], [1, 1]]), i32(4))
        t.case("UnsortedSegment" + op, x, i32([1, 0, 1, 2]), i32(2))
        t.case("UnsortedSegment" + op, x, i32([1, 0, 1]), i32(2))
        t.case("UnsortedSegment" + op, x, i32([1, 0, 1, 1]), i32([2]))
        t.case("UnsortedSegment" + op, np.zeros([0, 2], np.float32), i32([]), i32(2))
    t.case("UnsortedSegmentSum", x, np.array([1, 0, 1, 1], np.int16), i32(2))


def sparse_segments(t):
    data = np.array([[1, 2], [3, 4], [5, 6.5]])
    indices, ids = [0, 2, 1, 2], [0, 0, 1, 3]
    for d in FLOATS:
        for op in ["SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"]:
            t.case(op, data.astype(d), i32(indices), i32(ids))
            t.case(op + "Grad", np.arange(8).reshape(4, 2).astype(d), i32(indices), i32(ids), i32(4))
    for d in INTEGERS:
        t.case("SparseSegmentSum", data.astype(d), i64(indices), i64(ids))
    x = data.astype(np.float32)
    for op in ["SparseSegmentSum", "SparseSegmentMean", "SparseSegmentSqrtN"]:
        t.case(op + "WithNumSegments", x, i64(indices), i32(ids), i64(6))
        t.case(op + "WithNumSegments", x, i32(indices), i64(ids), i32(3))
        t.case(op + "GradV2", np.arange(8).reshape(4, 2).astype(np.float32), i32([5, 2, 5, 2]), i32(ids), i32(7))
        t.case(op + "Grad", np.arange(8).reshape(4, 2).astype(np.float32), i64(indices), i64(ids), i32(2))
        t.case(op, x, i32([0, 3, 1, 2]), i32(ids))
        t.case(op, x, i32([0, -1, 1, 2]), i32(ids))
        t.case(op, x, i32(indices), i32([0, 1, 0, 1]))
        t.case(op, x, i32([0, 1]), i32(ids))
        t.case(op, x, i32([]), i32([]))
        t.case(op, data, i32(indices), i32(ids), gradient=[0])
        t.case(op + "WithNumSegments", data, i32(indices), i32(ids), i32(5), gradient=[0])


def scans(t):
    for d in FLOATS + INTEGERS + COMPLEX:
        x = np.array([[1, 2, 3], [4, 5, 1]]).astype(d)
        t.case("Cumsum", x, i32(1))
        t.case("Cumprod", x, i64(0))
    for d in FLOATS:
        t.case("CumulativeLogsumexp", np.array([[1, 2, 3], [4, 5, -1]]).astype(d), i32(1))
    x = np.arange(1, 13, dtype=np.float32).reshape(2, 3, 2)
    for op in ["Cumsum", "Cumprod", "CumulativeLogsumexp"]:
        for exclusive in [False, True]:
            for reverse in [False, True]:
                t.case(op, x / 4, i32(-2), exclusive=exclusive, reverse=reverse)
        t.case(op, x, i32(3))
        t.case(op, x, i32([1]))
        t.case(op, np.zeros([0, 3], np.float32), i32(0))
        t.case(op, np.float32(3), i32(0))
    t.case("CumulativeLogsumexp", np.array([-inf, 0, inf, 1, nan], np.float32), i32(0))
    for exclusive in [False, True]:
        t.case("Cumsum", f64([[1, 2, 3], [4, 5, 6]]), i32(1), exclusive=exclusive, reverse=exclusive, gradient=[0])
    t.case("Cumsum", f64([[1, 2, 3], [4, 5, 6]]), i32(0), reverse=True, gradient=[0])


def bins(t):
    for d in COUNTED:
        t.case("Bincount", i32([1, 3, 1, 0, 9]), i32(5), np.zeros([0], d))
        t.case("Bincount", i32([[1, 3], [1, 0]]), i32(4), np.array([[1, 2], [3, 4]]).astype(d))
        for index in [np.int32, np.int64]:
            t.case("DenseBincount", np.array([1, 3, 1, 0, 9], index), np.array(5, index), np.zeros([0], d))
        t.case("DenseBincount", i32([[1, 3], [1, 1]]), i32(4), np.array([[1, 2], [3, 4]]).astype(d))
        t.case("HistogramFixedWidth", np.array([-1, 0, 1, 2, 5, 9]).astype(d), np.array([0, 5]).astype(d), i32(5))
        t.case("Bucketize", np.array([-5, 10, 150, 9, 100]).astype(d), boundaries=[0.0, 10.0, 100.0])
    empty = np.zeros([0], np.float32)
    t.case("Bincount", i32([1, -1]), i32(5), empty)
    t.case("Bincount", i32([1, 1]), i32(-5), empty)
    t.case("Bincount", i32([1, 1]), i32(0), empty)
    t.case("Bincount", i32([]), i32(2), empty)
    t.case("DenseBincount", i32([[1, 3], [1, 1]]), i32(4), empty, binary_output=True)
    t.case("DenseBincount", i32([1, -1]), i32(4), empty)
    t.case("DenseBincount", i32([[[1]]]), i32(4), empty)
    t.case("RaggedBincount", i64([0, 2, 2, 3]), i32([1, 1, 0]), i32(3), empty)
    t.case("RaggedBincount", i64([0, 2, 3]), i32([1, 1, 0]), i32(3), np.array([1, 2, 3], np.float32))
    t.case("RaggedBincount", i64([1, 3]), i32([1, 1, 0]), i32(3), empty)
    t.case("SparseBincount", i64([[0, 1], [2, 0], [2, 1]]), i32([1, 1, 0]), i64([3, 2]), i32(3), empty)
    t.case("SparseBincount", i64([[0], [2]]), i32([1, 1]), i64([3]), i32(3), np.array([5, 6], np.float32), binary_output=False)
    t.case("HistogramFixedWidth", f64([1, 2]), f64([5, 5]), i32(5))
    t.case("HistogramFixedWidth", f64([1, 2]), f64([0, 5]), i32(0))
    t.case("HistogramFixedWidth", f64([1, 2]), f64([0, 5, 6]), i32(3))
    t.case("HistogramFixedWidth", f64([1, 2, inf, -inf]), f64([0, 4]), i32(3), dtype=tf.int64)


def sequences(t):
    for d in [np.float32, np.float64]:
        for n in [1, 2, 5]:
            t.case("LinSpace", np.array(1.5).astype(d), np.array(-3).astype(d), i32(n))
    t.case("LinSpace", f64(0), f64(1), i64(7))
    t.case("LinSpace", f64(0), f64(1), i32(0))
    t.case("LinSpace", f64([0]), f64(1), i32(3))
    for d in FLOATS + [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16]:
        t.case("ClipByValue", np.array([1, 5, 9]).astype(d), np.array(2).astype(d), np.array(7).astype(d))
        t.case("ClipByValue", np.array([1, 5, 9]).astype(d), np.array([2, 6, 1]).astype(d), np.array([3, 7, 2]).astype(d))
    t.case("ClipByValue", np.array([1, nan, 9], np.float32), np.float32(2), np.float32(7))
    t.case("ClipByValue", np.array([1, 9], np.float32), np.array([2, 3, 4], np.float32), np.float32(7))
    t.case("ClipByValue", f64([1, 5, 9]), f64(2), f64([6, 7, 8]), gradient=[0, 1, 2])
    for d in FLOATS + INTEGERS:
        t.case("Cross", np.array([[1, 2, 3], [4, 5, 6]]).astype(d), np.array([[7, 1, 2], [1, 2, 1]]).astype(d))
    t.case("Cross", f64([1, 2, 3]), f64([3, 1, -2]), gradient=[0, 1])
    # TensorFlow's client refuses vectors of two elements as INVALID_ARGUMENT, its kernel as FAILED_PRECONDITION.
    t.case("Cross", f64([1, 2]), f64([3, 1]), expected="INVALID_ARGUMENT")
    t.case("Cross", f64([1, 2, 3]), f64([[3, 1, 2]]))
    x, y = f64([1.5, 2]), f64([3, 4])
    t.case("AccumulateNV2", [x, y], shape=tf.TensorShape([2]), expected=[x + y], gradient=[0, 1])


def reductions(t):
    for d in COMPLEX:
        x = np.array([[1 + 2j, 2 - 1j, 0.5], [3j, -1, 1 - 1j]]).astype(d)
        for op in ["Sum", "Mean", "Prod", "EuclideanNorm"]:
            t.case(op, x, i32([0]))
            t.case(op, x, i32([0, 1]), keep_dims=True)
            t.case(op, x, i32([]))
        t.case("AddN", [x, x, x])
    for d in FLOATS + INTEGERS:
        t.case("EuclideanNorm", np.array([[3, 4], [1, 2]]).astype(d), i32([1]))
    t.case("EuclideanNorm", np.zeros([2, 0], np.float32), i32([1]))
    t.case("EuclideanNorm", np.float32(-3), i32([]))
    t.case("EuclideanNorm", f64([[3, 4], [1, 2]]), i32([1]), keep_dims=True, gradient=[0])
    t.case("EuclideanNorm", f64([[3, 4], [1, 2]]), i32([0]), gradient=[0])


def products(t):
    a, b = np.arange(6).reshape(2, 3) - 2, np.arange(12).reshape(3, 4) - 5
    for d in COMPLEX:
        x, y = (a + 1j * a[::-1]).astype(d), (b - 1j).astype(d)
        for op in ["MatMul", "BatchMatMul", "BatchMatMulV2"]:
            t.case(op, x, y)
        t.case("MatMul", x.T.copy(), y.T.copy(), transpose_a=True, transpose_b=True)
        t.case("BatchMatMulV2", x.T.copy(), y.T.copy(), adj_x=True, adj_y=True)
    t.case("BatchMatMulV2", a.astype(np.int16), b.astype(np.int16))
    for d in [np.uint8, np.uint16, np.uint32, np.uint64]:  # TensorFlow has no CPU kernels for these dtypes
        t.case("MatMul", a.astype(d) % 100, b.astype(d) % 100, expected=[(a.astype(d) % 100) @ (b.astype(d) % 100)])
    for d in FLOATS[1:] + [np.int16, np.int32, np.int64] + COMPLEX:
        t.case("BatchMatMulV3", a.astype(d), b.astype(d), Tout=tf.as_dtype(d))
    for x in [np.int8, np.uint8]:
        for y in [np.int8, np.uint8]:
            t.case("BatchMatMulV3", np.stack([a, a + 1]).astype(x), b.astype(y), Tout=tf.int32)
        t.case("BatchMatMulV3", a.astype(x), b.astype(bf16), Tout=tf.bfloat16)
        t.case("BatchMatMulV3", b.T.copy().astype(bf16), a.T.copy().astype(x), Tout=tf.bfloat16)
    for x in [np.float32, bf16]:
        for y in [np.float32, bf16]:
            t.case("SparseMatMul", a.astype(x), b.astype(y), a_is_sparse=True)
            t.case("SparseMatMul", a.T.copy().astype(x), b.T.copy().astype(y), transpose_a=True, transpose_b=True)
    t.case("SparseMatMul", a.astype(np.float32), a.astype(np.float32))
    c = np.array([True, False])
    for d in COMPLEX:
        t.case("Select", c, np.array([1j, 2]).astype(d), np.array([3, 4j]).astype(d))
        t.case("SelectV2", c, np.array([[1j], [2]]).astype(d), np.array(3).astype(d))
        for other in FLOATS + INTEGERS + COMPLEX + [np.bool_]:
            t.case("Cast", np.array([0, 1, 3]).astype(other), DstT=tf.as_dtype(d))
            t.case("Cast", np.array([0, 1 + 2j, 3]).astype(d), DstT=tf.as_dtype(other))


def add_cases(t):
    segments(t)
    sparse_segments(t)
    scans(t)
    bins(t)
    sequences(t)
    reductions(t)
    products(t)
