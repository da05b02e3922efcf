"""Rows of the sparse tensor ops."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
NUMBERS = [np.float16, bf16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16]


def i32(*v):
    return np.array(v, np.int32)


def i64(*v):
    return np.array(v, np.int64)


# [[1 0 2 0][0 0 0 0][0 3 0 4]] and another of that shape.
INDICES = i64([0, 0], [0, 2], [2, 1], [2, 3])
VALUES = np.array([1.0, 2.0, 3.0, 4.0])
SHAPE = i64(3, 4)
OTHER = (i64([0, 0], [1, 1], [2, 3]), np.array([10.0, 20.0, -4.0]), SHAPE)
DEEP = (i64([0, 0, 1], [0, 1, 0], [0, 1, 2], [1, 0, 0]), np.array([1.0, -2.0, 3.0, 4.0]), i64(2, 2, 3))


def dense(t):
    for d in [np.float32, np.float64, np.int32]:
        t.case("SparseToDense", i32(1, 3), i32(5), np.array([1, 1]).astype(d), np.array(0).astype(d), validate_indices=True)
    t.case("SparseToDense", INDICES, SHAPE, VALUES, np.float64(-1))
    t.case("SparseToDense", INDICES, SHAPE, np.float64(7), np.float64(0))
    t.case("SparseToDense", np.int64(2), i64(4), np.float32(7), np.float32(0))
    t.case("SparseToDense", i32(1), i32(3), np.array(["a"]), np.array(""))
    t.case("SparseToDense", INDICES[::-1].copy(), SHAPE, VALUES, np.float64(0))
    t.case("SparseToDense", INDICES[::-1].copy(), SHAPE, VALUES, np.float64(0), validate_indices=False)
    t.case("SparseToDense", INDICES[[0, 0]], SHAPE, VALUES[:2], np.float64(0))
    t.case("SparseToDense", INDICES, i64(2, 4), VALUES, np.float64(0))
    t.case("SparseToDense", INDICES, i64(2, 4), VALUES, np.float64(0), validate_indices=False)
    t.case("SparseToDense", INDICES, i64(3), VALUES, np.float64(0))
    t.case("SparseToDense", INDICES, SHAPE, VALUES[:3], np.float64(0))
    b = np.arange(8.0).reshape(4, 2) - 3
    for d in [np.float32, np.float64, np.int32, bf16]:
        t.case("SparseTensorDenseMatMul", INDICES, VALUES.astype(d), SHAPE, b.astype(d))
    t.case("SparseTensorDenseMatMul", INDICES.astype(np.int32), VALUES, SHAPE, b)
    t.case("SparseTensorDenseMatMul", INDICES, VALUES, SHAPE, b.T.copy(), adjoint_b=True)
    t.case("SparseTensorDenseMatMul", INDICES, VALUES, SHAPE, b[:3], adjoint_a=True)
    t.case("SparseTensorDenseMatMul", INDICES, VALUES, SHAPE, b[:3].T.copy(), adjoint_a=True, adjoint_b=True)
    t.case("SparseTensorDenseMatMul", INDICES[:0], VALUES[:0], SHAPE, b)
    t.case("SparseTensorDenseMatMul", INDICES, VALUES, SHAPE, b[:3])
    t.case("SparseTensorDenseMatMul", INDICES, VALUES, i64(2, 4), b)
    t.case("SparseTensorDenseMatMul", INDICES, VALUES, SHAPE, b[0])
    full = np.arange(12.0).reshape(3, 4)
    for d in [np.float32, np.float64, np.int32, np.int64]:
        t.case("SparseTensorDenseAdd", INDICES, VALUES.astype(d), SHAPE, full.astype(d))
    t.case("SparseTensorDenseAdd", INDICES.astype(np.int32), VALUES, SHAPE.astype(np.int32), full)
    t.case("SparseTensorDenseAdd", INDICES, VALUES, SHAPE, full.T.copy())
    t.case("SparseTensorDenseAdd", INDICES + 1, VALUES, SHAPE, full)
    for kind in ["Add", "Mul", "Div"]:
        op = "SparseDenseCwise" + kind
        for d in [np.float32, np.float64, np.int32, np.int64, np.float16]:
            t.case(op, INDICES, VALUES.astype(d), SHAPE, (full + 1).astype(d))
        t.case(op, INDICES, VALUES, SHAPE, full[:, :1] + 1)
        t.case(op, INDICES, VALUES, SHAPE, full[0] + 1)
        t.case(op, INDICES, VALUES, SHAPE, np.float64(2))
        t.case(op, INDICES, VALUES, SHAPE, full.T + 1)


def structure(t):
    t.case("SparseReorder", INDICES[[2, 0, 3, 1]], VALUES, SHAPE)
    t.case("SparseReorder", INDICES[[2, 0]], np.array(["a", "b"]), SHAPE)
    t.case("SparseReorder", INDICES[:0], VALUES[:0], SHAPE)
    t.case("SparseReorder", INDICES, VALUES[:3], SHAPE)
    t.case("SparseReorder", i64([2, 50], [0, -1]), VALUES[:2], i64(1, 2))
    for shape in [i64(4, 3), i64(2, -1), i64(12), i64(-1), i64(2, 2, 3)]:
        t.case("SparseReshape", INDICES, SHAPE, shape)
    t.case("SparseReshape", INDICES, SHAPE, i64(5, -1))
    t.case("SparseReshape", INDICES, SHAPE, i64(5, 2))
    t.case("SparseReshape", INDICES, SHAPE, i64(-1, -1))
    t.case("SparseReshape", INDICES[:0], i64(0, 4), i64(0, 2))
    for axis in [0, 1, -1]:
        t.case("SparseConcat", [INDICES, OTHER[0]], [VALUES, OTHER[1]], [SHAPE, SHAPE], concat_dim=axis)
    t.case("SparseConcat", [INDICES, OTHER[0]], [VALUES, OTHER[1]], [SHAPE, i64(3, 5)], concat_dim=0)
    t.case("SparseConcat", [INDICES, OTHER[0]], [VALUES, OTHER[1]], [SHAPE, i64(3, 5)], concat_dim=1)
    t.case("SparseConcat", [INDICES, OTHER[0]], [VALUES, OTHER[1]], [SHAPE, SHAPE], concat_dim=2)
    for axis, num in [(0, 3), (1, 2), (1, 3)]:
        t.case("SparseSplit", np.int64(axis), INDICES, VALUES, SHAPE, num_split=num)
    t.case("SparseSplit", np.int64(0), INDICES, VALUES, SHAPE, num_split=4)
    t.case("SparseSplit", np.int64(2), INDICES, VALUES, SHAPE, num_split=1)
    t.case("SparseSlice", INDICES, VALUES, SHAPE, i64(0, 1), i64(3, 2))
    t.case("SparseSlice", INDICES, VALUES, SHAPE, i64(1, 1), i64(9, 9))
    t.case("SparseSlice", INDICES, VALUES, SHAPE, i64(5, 1), i64(1, 1))
    t.case("SparseSlice", INDICES, VALUES, SHAPE, i64(0), i64(1))
    t.case("SparseSliceGrad", np.array([5.0, 6.0]), INDICES, i64(0, 1), i64([0, 1], [2, 0]))
    t.case("SparseSliceGrad", np.array([5.0]), INDICES, i64(0, 1), i64([0, 0]))
    for values, filler in [(VALUES, np.float64(9)), (np.array(["a", "b", "c", "d"]), np.array("z")),
                           (np.array([1, 2, 3, 4], np.int64), np.int64(-1))]:
        t.case("SparseFillEmptyRows", INDICES, values, i64(5, 4), filler)
    t.case("SparseFillEmptyRows", INDICES[[2, 0, 3, 1]], VALUES, SHAPE, np.float64(0), gradient=[1, 3])
    t.case("SparseFillEmptyRows", INDICES[:0], VALUES[:0], i64(0, 4), np.float64(0))
    t.case("SparseFillEmptyRows", INDICES[:0], VALUES[:0], i64(2, 4), np.float64(3))
    t.case("SparseFillEmptyRows", INDICES, VALUES, i64(0, 4), np.float64(0))
    t.case("SparseFillEmptyRows", INDICES, VALUES, i64(2, 4), np.float64(0))
    for d in [np.float32, np.float64, np.int32]:
        t.case("SparseFillEmptyRowsGrad", i64(0, 1, 3), np.array([1, 2, 3, 4, 5]).astype(d))
    t.case("SparseFillEmptyRowsGrad", i64(0, 5), np.array([1.0, 2.0]))
    truth = (i64([0, 0], [0, 1], [1, 0], [2, 0]), i64(1, 2, 3, 4), i64(4, 2))
    guess = (i64([0, 0], [1, 0], [1, 1], [3, 0]), i64(1, 3, 4, 5), i64(4, 2))
    for normalize in [True, False]:
        t.case("EditDistance", *guess, *truth, normalize=normalize)
        t.case("EditDistance", guess[0], np.array(["a", "b", "c", "d"]), guess[2], truth[0],
               np.array(["a", "x", "c", "b"]), truth[2], normalize=normalize)
    t.case("EditDistance", *guess, truth[0], truth[1], i64(6, 2))
    t.case("EditDistance", *guess, i64([0, 0, 0]), i64(1), i64(4, 2, 1))


def arithmetic(t):
    a = (INDICES, VALUES, SHAPE)
    for thresh in [0.0, 3.0, 11.0]:
        t.case("SparseAdd", *a, *OTHER, np.float64(thresh))
    for d in [np.float32, np.int32, np.int64, np.int8]:
        t.case("SparseAdd", INDICES, VALUES.astype(d), SHAPE, OTHER[0], OTHER[1].astype(d), SHAPE, d(1))
    t.case("SparseAdd", *a, OTHER[0], OTHER[1], i64(3, 5), np.float64(0))
    t.case("SparseAdd", *a, INDICES[:0], VALUES[:0], SHAPE, np.float64(0))
    t.case("SparseAdd", i64([5]), VALUES[:1], i64(1), i64([5]), VALUES[:1], i64(1), np.float64(0))
    t.case("SparseAddGrad", np.array([5.0, 6.0, 7.0, 8.0]), INDICES, OTHER[0], i64([0, 0], [0, 2], [1, 1], [2, 1]))
    t.case("SparseAddGrad", np.array([5.0]), INDICES, OTHER[0], i64([0, 0], [0, 2]))
    for op in ["SparseSparseMinimum", "SparseSparseMaximum"]:
        for d in [np.float32, np.float64, np.int32, np.int64, np.float16]:
            t.case(op, INDICES, VALUES.astype(d), SHAPE, OTHER[0], OTHER[1].astype(d), SHAPE)
        t.case(op, *a, OTHER[0], OTHER[1], i64(3, 5))
    for kind in ["Sum", "Max"]:
        for form in ["", "Sparse"]:
            op = "SparseReduce" + kind + form
            for axes in [i32(0), i32(1), i32(2), i32(0, 2), i32(-1), i32(0, 1, 2), i32(1, 1)]:
                t.case(op, *DEEP, axes)
                t.case(op, *DEEP, axes, keep_dims=True)
            t.case(op, *DEEP, np.int32(1))
            t.case(op, *DEEP, i32(3))
            for d in [np.float32, np.int32, np.int64, np.float16]:
                t.case(op, INDICES, VALUES.astype(d), SHAPE, i32(1))
            t.case(op, INDICES[:0], VALUES[:0], SHAPE, i32(1))
    for d in [np.float16, np.float32, np.float64]:
        t.case("SparseSoftmax", INDICES, VALUES.astype(d), SHAPE)
    t.case("SparseSoftmax", *DEEP)
    t.case("SparseSoftmax", i64([0], [1]), VALUES[:2], i64(3))
    t.case("SparseSoftmax", INDICES[:0], VALUES[:0], SHAPE)


def stored(t):
    t.case("DeserializeSparse", np.array(["a", "b", "c"]), dtype=tf.float64)
    t.case("DeserializeSparse", np.array(["a", "b"]), dtype=tf.float64)
    t.case("DeserializeManySparse", np.array([["a", "b", "c"]]), dtype=tf.float64)
    t.case("DeserializeManySparse", np.array(["a", "b", "c"]), dtype=tf.float64)


def sets(t):
    a = np.array([[[1, 2, 2], [3, 4, 5]], [[6, 6, 6], [0, 1, 2]]])
    b = np.array([[[2, 9], [5, 3]], [[7, 8], [1, 2]]])
    first = (i64([0, 0], [0, 1], [1, 0], [2, 3]), i64(3, 1, 2, 2), SHAPE)
    second = (i64([0, 0], [1, 2], [1, 3], [2, 0]), i64(1, 2, 7, 5), SHAPE)
    for operation in ["a-b", "b-a", "intersection", "union"]:
        t.case("DenseToDenseSetOperation", a, b, set_operation=operation)
        t.case("DenseToSparseSetOperation", np.array([[1, 2], [2, 3], [5, 5]]), *second, set_operation=operation)
        t.case("SparseToSparseSetOperation", *first, *second, set_operation=operation)
        for d in [np.int8, np.int16, np.int32, np.uint8, np.uint16]:
            t.case("DenseToDenseSetOperation", a.astype(d), b.astype(d), set_operation=operation)
        t.case("DenseToDenseSetOperation", np.array([["a", "b"]]), np.array([["c", "a", ""]]), set_operation=operation)
    t.case("DenseToDenseSetOperation", a, b, set_operation="xor")
    t.case("DenseToDenseSetOperation", a, b[:1], set_operation="union")
    t.case("DenseToDenseSetOperation", a[0, 0], b[0, 0], set_operation="union")
    t.case("DenseToSparseSetOperation", np.array([[1, 2]]), *second, set_operation="union")
    t.case("SparseToSparseSetOperation", *first, second[0][::-1].copy(), *second[1:], set_operation="union")
    t.case("SparseToSparseSetOperation", *first, second[0], second[1], i64(4, 4), set_operation="union")
    t.case("SetSize", *first)
    t.case("SetSize", first[0], np.array(["a", "a", "b", "c"]), SHAPE)
    t.case("SetSize", first[0][::-1].copy(), first[1], SHAPE)
    t.case("SetSize", first[0][::-1].copy(), first[1], SHAPE, validate_indices=False)


def ragged(t):
    for dtype in (np.int32, np.int64):
        t.case("RaggedTensorToSparse", [np.array([0, 2, 2, 5], dtype)], np.array([1, 2, 3, 4, 5], np.float32))
    t.case("RaggedTensorToSparse", [i64(0, 2, 3, 3), i64(0, 1, 1, 4)], np.array(["a", "b", "c", "d"]))
    t.case("RaggedTensorToSparse", [i64(0, 1, 3)], i64([1, 2], [3, 4], [5, 6]))
    t.case("RaggedTensorToSparse", [i64(0)], np.zeros([0], np.float32))
    t.case("RaggedTensorToSparse", [i64(0, 0, 0)], np.zeros([0, 2], np.float32))
    for splits in (i64(1, 2), i64(0, 3), i64(0, 2, 1, 2)):
        t.case("RaggedTensorToSparse", [splits], i64(1, 2))


def crosses(t):
    sparse = (i64([0, 0], [1, 0], [1, 1]), i64(3, 2))
    words, numbers = np.array(["x", "y", "z"]), i64(4, 5, 6)
    texts, ints = np.array([["b", "c"], ["d", "e"], ["f", "g"]]), i64([1, 2], [3, 4], [5, 6])
    t.case("SparseCrossV2", [sparse[0]], [words], [sparse[1]], [ints], np.array("-"))
    t.case("SparseCrossV2", [sparse[0]], [words], [sparse[1]], [ints[:2]], np.array("-"))
    common = {"num_buckets": 0, "hash_key": 956888297470}
    t.case("SparseCross", [sparse[0]], [words], [sparse[1]], [texts], hashed_output=False, out_type=tf.string,
           internal_type=tf.string, **common)
    t.case("SparseCross", [sparse[0]], [words], [sparse[1]], [texts], hashed_output=True, out_type=tf.int64,
           internal_type=tf.string, **common)
    t.case("SparseCross", [sparse[0]], [numbers], [sparse[1]], [ints, ints], hashed_output=True, out_type=tf.int64,
           internal_type=tf.int64, num_buckets=100, hash_key=1)
    t.case("SparseCross", [sparse[0]], [numbers], [sparse[1]], [texts], hashed_output=True, out_type=tf.int64,
           internal_type=tf.int64, **common)
    salt = i64(11, 22)
    t.case("SparseCrossHashed", [sparse[0]], [numbers], [sparse[1]], [ints], np.int64(1000), np.array(False), salt)
    far = i64(2**40 + 4, -1, 2**31)
    for strong in [False, True]:
        t.case("SparseCrossHashed", [sparse[0]], [far], [sparse[1]], [], np.int64(0), np.array(strong), salt)
        t.case("SparseCrossHashed", [sparse[0]], [words], [sparse[1]], [texts], np.int64(1000), np.array(strong), salt)


def rows_of_ragged(t):
    for d in [np.float32, np.float64, np.int32, np.int64]:
        t.case("RaggedRange", np.array([2, 5, 8]).astype(d), np.array([3, 5, 12]).astype(d), np.array(1).astype(d))
        t.case("RaggedRange", np.array(0).astype(d), np.array(-7).astype(d), np.array([-3, 1]).astype(d), Tsplits=tf.int32)
    t.case("RaggedRange", i32(0), i32(5, 6), i32(0))
    t.case("RaggedRange", i32(0, 1), i32(5, 6, 7), i32(1))
    t.case("RaggedRange", np.int32(0), np.int32(3), np.int32(1))
    t.case("RaggedRange", np.zeros([0], np.int32), np.int32(3), np.int32(1))
    t.case("RaggedRange", np.float32(0), np.float32(1), np.float32(0.3))
    outer, inner, values = i64(0, 2, 2, 3), i64(0, 1, 4, 6), np.array([1.5, 2.5, 3.5, 4.5, 5.5, 6.5])
    for indices in [i32(2, 0, 0, 1), i64(1), i32([[0, 2], [2, 2]]), np.zeros([0], np.int32)]:
        t.case("RaggedGather", [inner], values, indices, OUTPUT_RAGGED_RANK=indices.ndim)
        t.case("RaggedGather", [outer, inner], values, indices, OUTPUT_RAGGED_RANK=indices.ndim + 1)
    t.case("RaggedGather", [inner.astype(np.int32)], np.array([["a", "b"]] * 6), i64(1, 0), OUTPUT_RAGGED_RANK=1)
    t.case("RaggedGather", [inner], values, np.int64(1), OUTPUT_RAGGED_RANK=0)
    t.case("RaggedGather", [inner], values, i32(3), OUTPUT_RAGGED_RANK=1)
    t.case("RaggedGather", [inner], values, i32(-1), OUTPUT_RAGGED_RANK=1)
    t.case("RaggedGather", [inner], values[:5], i32(0), OUTPUT_RAGGED_RANK=1)
    t.case("RaggedGather", [i64(0, 3, 2, 6)], values, i32(0), OUTPUT_RAGGED_RANK=1)

    def dense(shape, values, default, *partitions, **more):
        t.case("RaggedTensorToTensor", shape, values, default, [tensor for _, tensor in partitions],
               row_partition_types=[kind for kind, _ in partitions], **more)

    splits, splits0 = ("ROW_SPLITS", inner), ("ROW_SPLITS", outer)
    ids = [("FIRST_DIM_SIZE", np.int64(4)), ("VALUE_ROWIDS", i64(0, 1, 1, 1, 3, 3))]
    for shape in [np.int32(-1), i64(-1, -1), i64(2, 2), i64(5, -1), i64(-1, 4), i64(0, 2), i64(2, 0)]:
        dense(shape, values, np.float64(9), splits)
        dense(shape, values, np.float64(9), *ids)
    for shape in [np.int64(-1), i64(-1, -1, -1), i64(2, 3, 2), i64(4, 1, 5)]:
        dense(shape, values, np.float64(9), splits0, splits)
        dense(shape, values, np.float64(9), ("FIRST_DIM_SIZE", np.int64(3)), ("VALUE_ROWIDS", i64(0, 0, 2)),
              ("VALUE_ROWIDS", i64(0, 1, 1, 1, 2, 2)))
    pairs = np.arange(12.0).reshape(6, 2)
    for default in [np.float64(9), np.array([8.0, 9.0]), np.array([7.0])]:
        dense(np.int32(-1), pairs, default, splits)
    dense(i64(-1, -1, 2), pairs, np.float64(0), splits)
    dense(i64(-1, -1, 3), pairs, np.float64(0), splits)
    dense(np.int32(-1), np.array(list("abcdef")), np.array(""), splits)
    dense(np.int32(-1), values[:0], np.float64(9), ("ROW_SPLITS", i64(0, 0, 0)))
    # TensorFlow reads past the end of the values.
    dense(np.int32(-1), values[:5], np.float64(9), splits, expected="INVALID_ARGUMENT")
    dense(i64(2), values, np.float64(9), splits)
    dense(np.int32(-1), values, np.array([8.0, 9.0]), splits)
    dense(np.int32(-1), values, np.float64(9), ids[0], ("VALUE_ROWIDS", i64(0, 1, 1, 1, 3, 4)))


def filled_rows_of_ragged(t):
    values = np.array([1.0, 2.0, 3.0, 4.0])
    nine = np.float64(9)
    for rowids, rows in ((i64(1, 1, 3, 4), 7), (i64(3, 1, 1, 0), 5), (i64(1, 0, 1, 0), 2)):
        t.case("RaggedFillEmptyRows", rowids, values, np.int64(rows), nine, gradient=[1, 3])
    t.case("RaggedFillEmptyRows", i64(2), np.array(["a"]), np.int64(4), np.array("none"))
    t.case("RaggedFillEmptyRows", i64(2), np.int32([7]), np.int64(4), np.int32(-1))
    t.case("RaggedFillEmptyRows", i64(0, 2), np.array([True, False]), np.int64(4), np.array(True))
    t.case("RaggedFillEmptyRows", i64(), values[:0], np.int64(2), nine)
    t.case("RaggedFillEmptyRows", i64(), values[:0], np.int64(0), nine,
           expected=[i64(), values[:0], np.zeros([0], bool), i64()])  # TensorFlow's row numbers are a matrix then
    for bad in ((i64(0), values[:1], np.int64(0), nine), (i64(3), values[:1], np.int64(3), nine),
                (i64(-1), values[:1], np.int64(3), nine), (i64(), values[:0], np.int64(-1), nine),
                (i64(0, 1), values[:1], np.int64(3), nine), (i64([0]), values[:1], np.int64(3), nine),
                (i64(0), values[None, :1], np.int64(3), nine), (i64(0), values[:1], i64(3), nine),
                (i64(0), values[:1], np.int64(3), values[:1])):
        t.case("RaggedFillEmptyRows", *bad)
    for d in [np.float32, np.float64, np.int32]:
        t.case("RaggedFillEmptyRowsGrad", i64(0, 1, 3), np.array([1, 0, 3, 0, 5]).astype(d))
    for bad in ((i64(5), values), (i64(-1), values), (i64([1]), values), (i64(1), values[None])):
        t.case("RaggedFillEmptyRowsGrad", *bad)


def add_cases(t):
    sets(t)
    crosses(t)
    ragged(t)
    rows_of_ragged(t)
    filled_rows_of_ragged(t)
    dense(t)
    structure(t)
    arithmetic(t)
    stored(t)
