"""Rows of the ops that make, shape, join, cut and rearrange tensors."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
nan, inf = float("nan"), float("inf")
TYPES = [np.float16, bf16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
         np.uint64, np.bool_]
# Ops that only move elements take any of these types.
MOVED = TYPES + [np.complex64, np.complex128]
X = np.arange(12.0).reshape(3, 4) / 8 - 0.6
Y = np.arange(24.0).reshape(2, 3, 4) / 8 - 0.6


def i32(*v):
    return np.array(v, np.int32)


def shapes(t):
    for op in ["Identity", "ZerosLike", "OnesLike", "StopGradient", "PreventGradient"]:
        for d in MOVED:
            t.case(op, np.array([[0, 1, 3]]).astype(d))
    t.case("Identity", X, gradient=[0])
    t.case("Identity", np.array(["a", ""]))
    t.case("IdentityN", [X, Y], gradient=[0, 1])
    t.case("PlaceholderWithDefault", X, shape=tf.TensorShape([3, 4]), gradient=[0])
    for shape in [(6, 2), (-1,), (2, -1, 3), (12, 1)]:
        t.case("Reshape", X, i32(*shape), gradient=[0])
    t.case("Reshape", np.zeros([0, 3], np.float32), i32(-1, 0))
    t.case("Reshape", np.zeros([0, 3], np.float32), i32(3, -1))
    t.case("Reshape", X, i32(5, 2))
    t.case("Reshape", X, i32(-1, -1))
    t.case("Reshape", np.float32(3), np.array([1, 1], np.int64))
    for op in ["Shape", "Size"]:
        for out in [tf.int32, tf.int64]:
            t.case(op, Y, out_type=out)
        t.case(op, np.float32(1))
    t.case("ShapeN", [X, Y])
    t.case("Rank", Y)
    t.case("Rank", np.array("s"))
    t.case("Fill", i32(2, 3), np.float64(1.5), gradient=[1])
    t.case("Fill", np.array([0], np.int64), np.int16(3))
    t.case("Fill", i32(-1), np.float32(3))
    for axis in [0, 1, 2, -1, -3]:
        t.case("ExpandDims", X, np.int32(axis), gradient=[0])
    t.case("ExpandDims", X, np.int32(3))
    t.case("Squeeze", X[None, :, None], gradient=[0])
    t.case("Squeeze", X[None, :, None], squeeze_dims=[0], gradient=[0])
    t.case("Squeeze", X[None, :, None], squeeze_dims=[-2], gradient=[0])
    t.case("Squeeze", X, squeeze_dims=[0])
    t.case("BroadcastTo", X[:1], i32(3, 4), gradient=[0])
    t.case("BroadcastTo", X, i32(2, 3, 4), gradient=[0])
    t.case("BroadcastTo", np.float64(2), i32(2, 2), gradient=[0])
    t.case("BroadcastTo", X, i32(3, 5))
    t.case("BroadcastArgs", i32(2, 1), i32(3))
    t.case("BroadcastArgs", i32(2), i32(3))
    for axis in [-1, 0, 1]:
        t.case("OneHot", i32(0, 2, -1, 5), np.int32(3), np.float32(1), np.float32(0), axis=axis)
    t.case("CheckNumerics", X, message="m", gradient=[0])
    t.case("CheckNumerics", np.array([1, float("nan")], np.float32), message="m")


def joining(t):
    for axis in [0, 1, -1]:
        t.case("ConcatV2", [X, X * 2], np.int32(axis), gradient=[0, 1])
        t.case("Concat", np.int32(axis), [X, X * 2], gradient=[1, 2])
    for d in MOVED:
        t.case("ConcatV2", [np.array([[1, 0]]).astype(d), np.array([[0, 1], [1, 1]]).astype(d)], np.int32(0))
        t.case("Pack", [np.array([1, 0]).astype(d), np.array([0, 1]).astype(d)])
    t.case("ConcatV2", [np.array(["a"]), np.array(["b", "c"])], np.int64(0))
    t.case("ConcatV2", [X, X[:, :2], np.zeros([3, 0])], np.int32(1), gradient=[0, 1])
    t.case("ConcatV2", [X, X[:, :2]], np.int32(0))
    t.case("ConcatV2", [X, X], np.int32(2))
    t.case("ConcatOffset", np.int32(1), [i32(2, 3), i32(2, 5), i32(2, 1)])
    for axis in [0, 1, 2, -1]:
        t.case("Pack", [X, X + 1], axis=axis, gradient=[0, 1])
    t.case("Pack", [X, X[:2]])
    for axis in [0, 1, -1]:
        t.case("Unpack", X, num=X.shape[axis], axis=axis, gradient=[0])
    t.case("Unpack", X, num=2)
    t.case("Split", np.int32(1), X, num_split=2, gradient=[1])
    t.case("Split", np.int32(-1), X, num_split=4, gradient=[1])
    t.case("Split", np.int32(0), X, num_split=2)
    t.case("SplitV", X, i32(1, 3), np.int32(1), num_split=2, gradient=[0])
    t.case("SplitV", X, i32(1, -1), np.int32(0), num_split=2, gradient=[0])
    t.case("SplitV", X, i32(1, 1), np.int32(0), num_split=2)


def cutting(t):
    t.case("Slice", Y, i32(0, 1, 1), i32(2, -1, 2), gradient=[0])
    t.case("Slice", Y, i32(0, 1, 1), i32(2, 3, 2))
    t.case("Slice", i32(1, 2, 3), np.int32(1), i32(1))
    t.case("Slice", i32(1, 2, 3), i32(1), np.int32(1))
    t.case("Slice", Y, i32(1, 1, 1), i32(0, 2, 3))
    for d in MOVED:
        t.case("Slice", np.array([1, 0, 1]).astype(d), i32(1), i32(2))
    for masks in [{}, {"begin_mask": 1}, {"end_mask": 2}, {"shrink_axis_mask": 1}, {"ellipsis_mask": 1}, {"new_axis_mask": 2}]:
        t.case("StridedSlice", Y, i32(0, 1), i32(2, 3), i32(1, 1), gradient=[0], **masks)
    t.case("StridedSlice", Y, i32(1, 2, 3), i32(-3, -4, -5), i32(-1, -2, -1), gradient=[0])
    t.case("StridedSlice", Y, i32(0), i32(2), i32(0))
    t.case("StridedSlice", Y, i32(2), i32(3), i32(1), shrink_axis_mask=1)
    t.case("StridedSliceGrad", i32(3, 4), i32(1, 0), i32(3, 4), i32(1, 2), X[1:, ::2].copy(), gradient=[4])
    t.case("Pad", X, np.array([[1, 0], [0, 2]], np.int32), gradient=[0])
    t.case("Pad", X, np.array([[1, 0]], np.int32))
    t.case("PadV2", X, np.array([[1, 0], [0, 2]], np.int32), np.float64(7), gradient=[0])


def rearranging(t):
    t.case("Tile", X, i32(2, 3), gradient=[0])
    t.case("Tile", X, i32(0, 1))
    t.case("Tile", X, i32(2))
    t.case("Tile", i32(7), np.int32(2))
    for p in [(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1), (2, 0, 1)]:
        t.case("Transpose", Y, i32(*p), gradient=[0])
    t.case("Transpose", Y, i32(0, 0, 1))
    for d in MOVED:
        t.case("Transpose", np.array([[1, 0, 1], [0, 0, 1]]).astype(d), i32(1, 0))
        t.case("GatherV2", np.array([1, 0, 1]).astype(d), i32(2, 1), np.int32(0))
        t.case("Where", np.array([[1, 0, 1], [0, 0, 1]]).astype(d), expected=[np.array([[0, 0], [0, 2], [1, 2]])])
    t.case("InvertPermutation", i32(2, 0, 1))
    t.case("InvertPermutation", i32(2, 0, 0))
    t.case("ReverseV2", Y, i32(0, 2), gradient=[0])
    t.case("ReverseV2", Y, i32(-1), gradient=[0])
    t.case("Gather", X, i32(2, 0, 2), gradient=[0])
    t.case("GatherV2", X, np.array([[2, 0], [1, 2]], np.int64), np.int32(0), gradient=[0])
    t.case("GatherV2", X, i32(3, 3, 0), np.int32(1), gradient=[0])
    t.case("GatherV2", X, np.int32(1), np.int32(-1), gradient=[0])
    t.case("GatherV2", X, i32(3), np.int32(0))
    t.case("GatherV2", X, np.zeros([0], np.int32), np.int32(0))
    t.case("GatherNd", X, np.array([[0, 1], [2, 3]], np.int32), gradient=[0])
    t.case("GatherNd", X, np.array([[2], [2]], np.int32), gradient=[0])
    t.case("GatherNd", X, np.array([[2], [3]], np.int32))
    t.case("GatherNd", X, np.array([[2, 1], [3, 0], [-1, 2]], np.int32), bad_indices_policy="IGNORE")
    t.case("GatherNd", X, np.array([[2, 1], [3, 0]], np.int32), bad_indices_policy="DEFAULT")


def searching(t):
    x = np.array([3, 1, 3, 0, 1, 7])
    for d in TYPES:
        if d != np.bool_:
            t.case("Unique", x.astype(d))
            t.case("ListDiff", x.astype(d), np.array([1, 7]).astype(d))
    t.case("Unique", x, out_idx=tf.int64)
    t.case("Unique", np.array(["b", "a", "b", ""]))
    t.case("Unique", np.array([True, False, True]))
    t.case("Unique", np.zeros([0], np.float32))
    t.case("Unique", np.array([[1, 2]]))
    t.case("Unique", np.array([0.0, -0.0, 1.0], np.float32))
    t.case("UniqueWithCounts", x)
    t.case("UniqueWithCounts", np.array(["b", "a", "b"]), out_idx=tf.int64)
    rows = np.array([[1, 0, 0], [1, 0, 0], [2, 0, 0]])
    for op in ["UniqueV2", "UniqueWithCountsV2"]:
        for axis in [0, 1, -1]:
            t.case(op, rows, np.array([axis], np.int64))
        t.case(op, x, np.array([], np.int64))
        t.case(op, rows, np.array([], np.int64))
        t.case(op, rows, np.array([2], np.int64))
        t.case(op, rows, np.array([0, 1], np.int64))
    t.case("ListDiff", np.array(["a", "b", "a"]), np.array(["b"]), out_idx=tf.int64)
    t.case("ListDiff", x, np.zeros([0], np.int64))
    t.case("ListDiff", np.array([[1]]), np.array([1]))
    for op in ["LowerBound", "UpperBound"]:
        for d in [np.float32, np.int32, np.int64, np.float64, np.uint8]:
            t.case(op, np.array([[0, 3, 9, 9, 10], [1, 2, 3, 4, 5]]).astype(d), np.array([[2, 4, 9], [0, 2, 6]]).astype(d))
        t.case(op, np.array([[1, 2]]), np.array([[1], [2]]))
        t.case(op, np.array([[1, 2]]), np.array([[1]]), out_type=tf.int64)
        t.case(op, np.array([1, 2]), np.array([1]))
    for d in TYPES:
        if d != np.bool_:
            t.case("TopKV2", np.array([[3, 1, 3], [0, 7, 2]]).astype(d), np.int32(2))
            t.case("NthElement", np.array([[3, 1, 3], [0, 7, 2]]).astype(d), np.int32(1))
    t.case("TopKV2", X, np.int32(2), gradient=[0])
    t.case("TopKV2", Y[0, 0], np.int32(3), gradient=[0])
    # TensorFlow has removed the first form from new graphs.
    t.case("TopK", Y, k=2, gradient=[0], expected=[Y[:, :, :1:-1], np.tile(i32(3, 2), [2, 3, 1])])
    t.case("TopK", X, k=5, expected="INVALID_ARGUMENT")
    t.case("TopKV2", X, np.int32(-1))
    t.case("TopKV2", np.float32(1), np.int32(1))
    # NaNs are where TensorFlow's algorithms leave them.
    for d in [np.float16, bf16, np.float32, np.float64]:
        for row in [[1, nan, 3, 2], [nan, 1, nan, -inf, inf, 0], [3, 2, nan, 1, 5], [nan, nan, 1], [nan, nan]]:
            for k in range(1, len(row) + 1):
                t.case("TopKV2", np.array([row]).astype(d), np.int32(k))
    t.case("TopKV2", np.array([5, nan, 3, 7, 1, nan, nan, 2, 9, 4, -1, nan, 8, 0, 6, 3], np.float32), np.int32(16))
    random = np.random.RandomState(1)
    for size in [17, 18, 21, 31, 40, 59, 100]:
        for share in [0.05, 0.2, 0.5]:
            row = random.randint(-9, 10, size).astype(np.float32)
            row[random.random_sample(size) < share] = nan
            for k in sorted(random.choice(np.arange(2, size), 4, replace=False)) + [size]:
                t.case("TopKV2", row, np.int32(k))
    # Without `sorted`, the largest k elements come in the order of a heap. If k is the size of the row, they are sorted
    # all the same.
    for k in [1, 2, 5, 16, 19, 20]:
        t.case("TopKV2", random.randint(0, 9, [3, 20]).astype(np.int32), np.int32(k), sorted=False)
        t.case("TopKV2", np.float32([nan, 3, 1, nan, 7] * 4), np.int32(k), sorted=False)
    t.case("TopKV2", np.zeros([0, 3], np.float32), np.int32(2))
    t.case("TopKV2", X, np.int32(1), index_type=tf.int64)
    t.case("NthElement", Y, np.int32(0), reverse=True)
    t.case("NthElement", X, np.int32(4))
    t.case("NthElement", X, np.int32(-1))
    t.case("UnravelIndex", i32(22, 41, 37), i32(7, 6))
    t.case("UnravelIndex", np.int64(1621), np.array([6, 7, 8, 9], np.int64))
    t.case("UnravelIndex", i32(42), i32(7, 6))
    t.case("UnravelIndex", i32(-1), i32(7, 6))
    t.case("UnravelIndex", i32(1), i32(7, 0))


def scattering(t):
    places = np.array([[1], [0], [1]], np.int32)
    for d in TYPES:
        updates = np.array([[1, 0], [1, 1], [0, 1]]).astype(d)
        t.case("ScatterNd", places, updates, i32(3, 2))
        t.case("TensorScatterUpdate", np.array([[1, 0], [0, 1], [1, 1]]).astype(d), places[:2], updates[:2])
        if d != np.bool_:
            for kind in ["Add", "Sub", "Min", "Max"]:
                t.case("TensorScatter" + kind, np.array([[5, 4], [3, 2]]).astype(d), places, updates)
    t.case("ScatterNd", places.astype(np.int64), X, np.array([2, 4], np.int64), gradient=[1])
    t.case("ScatterNd", np.array([[0, 1], [1, 0]], np.int32), np.array([1.5, 2.5]), i32(2, 2), gradient=[1])
    t.case("ScatterNd", np.zeros([0, 1], np.int32), np.zeros([0, 2]), i32(3, 2))
    t.case("ScatterNd", places, X, i32(1, 4))
    t.case("ScatterNd", places - 1, X, i32(3, 4))
    t.case("ScatterNd", places, X[:2], i32(3, 4))
    t.case("ScatterNd", places, X, i32(2, 4), bad_indices_policy="IGNORE")
    t.case("ScatterNd", places * 3, X, i32(2, 4), bad_indices_policy="IGNORE")
    t.case("ScatterNd", places, np.array(["a", "b", "c"]), i32(3))
    t.case("ScatterNdNonAliasingAdd", X, places, X * 2)
    for kind in ["Update", "Add", "Sub"]:
        t.case("TensorScatter" + kind, X, places[1:], X[:2] * 3 + 1, gradient=[0, 2])
        t.case("TensorScatter" + kind, X, np.array([[0, 1], [2, 3]], np.int64), np.array([1.0, 2.0]), gradient=[0, 2])
        t.case("TensorScatter" + kind, X, places + 2, X)
        t.case("TensorScatter" + kind, X, places, X[:2])
    t.case("TensorScatterUpdate", np.array(["a", "b", "c"]), np.array([[2]], np.int32), np.array(["z"]))
    for op in ["InplaceUpdate", "InplaceAdd", "InplaceSub"]:
        t.case(op, X.astype(np.float32), i32(1, 0), np.ones([2, 4], np.float32))
        t.case(op, X.astype(np.float32), i32(1), np.ones([2, 4], np.float32))
    t.case("ParallelConcat", [X[:1], X[1:2]], shape=tf.TensorShape([2, 4]), expected=[X[:2]])  # rewritten by TensorFlow
    t.case("_ParallelConcatUpdate", X, X[:1], loc=2, expected=[np.stack([X[0], X[1], X[0]])])
    t.case("TensorStridedSliceUpdate", Y, i32(0, 1), i32(2, 3), i32(1, 1), Y[:, 1:3] * 2)
    t.case("TensorStridedSliceUpdate", X, i32(2, 0), i32(0, 4), i32(-1, 2), X[:2, :2].copy())
    t.case("TensorStridedSliceUpdate", X, i32(0), i32(2), i32(1), X)


def blocks(t):
    around = np.array([[1, 2], [2, 0]], np.int32)
    for mode in ["REFLECT", "SYMMETRIC"]:
        t.case("MirrorPad", X, around, mode=mode, gradient=[0])
        t.case("MirrorPad", X, np.array([[3, 0], [0, 0]], np.int32), mode=mode)
        t.case("MirrorPad", X, np.array([[4, 0], [0, 0]], np.int64), mode=mode)
        t.case("MirrorPad", X, np.array([[-1, 0], [0, 0]], np.int32), mode=mode)
        t.case("MirrorPad", np.array(["a", "b"]), np.array([[1, 1]], np.int32), mode=mode)
        t.case("MirrorPadGrad", np.arange(36.0).reshape(6, 6), around, mode=mode, gradient=[0])
    for d in MOVED:
        t.case("MirrorPad", np.array([1, 0, 1]).astype(d), np.array([[2, 1]], np.int32), mode="REFLECT")
        t.case("Roll", np.array([1, 0, 1]).astype(d), np.int32(1), np.int32(0))
        t.case("Reverse", np.array([[1, 0, 1]]).astype(d), np.array([False, True]))
        t.case("ReverseSequence", np.array([[1, 0, 1]]).astype(d), np.array([2], np.int64), seq_dim=1)
    t.case("Reverse", Y, np.array([True, False, True]), gradient=[0])
    t.case("Reverse", X, np.array([True]))
    t.case("Roll", Y, i32(1, -2, 5), i32(0, -1, 1), gradient=[0])
    t.case("Roll", X, np.array([1, 2], np.int64), i32(0, 0), gradient=[0])
    t.case("Roll", np.array(["a", "b", "c"]), np.int32(-1), np.int32(0))
    t.case("Roll", np.zeros([0, 2]), np.int32(1), np.int32(0))
    t.case("Roll", X, np.int32(1), np.int32(2))
    t.case("Roll", X, i32(1), i32(0, 1))
    t.case("ReverseSequence", Y, np.array([3, 2], np.int64), seq_dim=1, gradient=[0])
    t.case("ReverseSequence", Y, i32(2, 0, 1, 2), seq_dim=0, batch_dim=2, gradient=[0])
    t.case("ReverseSequence", Y, np.array([4, 2], np.int64), seq_dim=1)
    t.case("ReverseSequence", Y, np.array([1, 2, 3], np.int64), seq_dim=1)
    t.case("ReverseSequence", Y, np.array([1, 2], np.int64), seq_dim=0)
    image = np.arange(48.0).reshape(2, 4, 2, 3)
    pad = np.array([[0, 0], [1, 1]], np.int32)
    t.case("SpaceToBatch", image, pad, block_size=2, gradient=[0])
    t.case("SpaceToBatch", image, np.array([[0, 1], [0, 0]], np.int32), block_size=2)
    t.case("BatchToSpace", np.arange(48.0).reshape(8, 2, 3, 1), np.array([[0, 1], [2, 0]], np.int32), block_size=2,
           gradient=[0])
    t.case("BatchToSpace", image, np.array([[0, 0], [0, 0]], np.int32), block_size=2)
    t.case("SpaceToBatchND", image, i32(2, 3), np.array([[1, 1], [0, 1]], np.int32), gradient=[0])
    t.case("SpaceToBatchND", X, i32(2), np.array([[0, 0]], np.int64), gradient=[0])
    t.case("SpaceToBatchND", X, i32(3), np.array([[0, 0]], np.int64))
    t.case("SpaceToBatchND", X, i32(0), np.array([[0, 0]], np.int64))
    t.case("BatchToSpaceND", np.arange(72.0).reshape(6, 3, 2, 2), i32(3, 2), np.array([[1, 2], [0, 1]], np.int32),
           gradient=[0])
    t.case("BatchToSpaceND", X, i32(3), np.array([[0, 1]], np.int64), gradient=[0])
    t.case("BatchToSpaceND", X, i32(2), np.array([[0, 1]], np.int64))
    t.case("BatchToSpaceND", X, i32(3), np.array([[7, 6]], np.int64))
    for d in [np.float16, np.float32, np.int32, np.uint8, np.int64, np.bool_]:
        t.case("SpaceToDepth", image[:, :, :, :1].astype(d), block_size=2)
    t.case("SpaceToDepth", image, block_size=2, gradient=[0])
    t.case("SpaceToDepth", image, block_size=3)
    nchw = np.transpose(image, [0, 3, 1, 2]).copy()
    deep = np.arange(32.0).reshape(1, 2, 2, 8)
    wide = tf.nn.depth_to_space(deep, 2).numpy()
    flat = tf.nn.space_to_depth(image, 2).numpy()
    # TensorFlow has this format on other devices only.
    t.case("SpaceToDepth", nchw, block_size=2, data_format="NCHW", expected=[np.transpose(flat, [0, 3, 1, 2])], gradient=[0])
    t.case("DepthToSpace", np.transpose(deep, [0, 3, 1, 2]).copy(), block_size=2, data_format="NCHW",
           expected=[np.transpose(wide, [0, 3, 1, 2])], gradient=[0])
    t.case("DepthToSpace", deep, block_size=2, gradient=[0])
    t.case("DepthToSpace", image, block_size=2)


def passing(t):
    for op in ["Snapshot"]:
        t.case(op, X, gradient=[0])
    for op in ["Copy", "CopyHost", "DebugGradientIdentity"]:
        t.case(op, X)
    t.case("EnsureShape", X, shape=tf.TensorShape([None, 4]), gradient=[0])
    t.case("EnsureShape", X, shape=tf.TensorShape([2, 4]))
    t.case("Bitcast", np.array([1.0, -2.5], np.float32), type=tf.int32)
    t.case("Bitcast", np.array([1.0, -2.5], np.float32), type=tf.uint8)
    t.case("Bitcast", np.array([[1, 2, 3, 4]], np.uint8), type=tf.uint32)
    t.case("Bitcast", np.array([[1, 2, 3, 4]], np.uint16), type=tf.int64)
    t.case("Bitcast", np.array([1, 2, 3], np.uint8), type=tf.uint16)
    t.case("Bitcast", np.zeros([0], np.float32), type=tf.int16)
    t.case("DataFormatDimMap", i32(-4, -3, -1, 0, 1, 2, 3))
    t.case("DataFormatDimMap", np.array([0, 1, 2, 3], np.int64), src_format="NCHW", dst_format="NHWC")
    t.case("DataFormatDimMap", i32(0), src_format="NHWC", dst_format="NH")
    t.case("DataFormatVecPermute", i32(7, 4, 9, 3))
    t.case("DataFormatVecPermute", i32(4, 9), src_format="NHWC", dst_format="NCHW")
    t.case("DataFormatVecPermute", np.array([[7, 4], [9, 3], [4, 5], [5, 1]], np.int64), src_format="NCHW",
           dst_format="NHWC")
    t.case("DataFormatVecPermute", i32(7, 4, 9))
    t.case("DataFormatVecPermute", i32(7, 4), src_format="1234", dst_format="4321")
    t.case("DataFormatVecPermute", i32(7, 4, 9), src_format="ABCDE", dst_format="EDCBA")
    t.case("ConjugateTranspose", X, i32(1, 0), gradient=[0])
    t.case("ConjugateTranspose", np.array([["a", "b"]]), i32(1, 0))
    for d in [np.complex64, np.complex128]:
        t.case("ConjugateTranspose", np.array([[1 + 2j, 3, -4j]]).astype(d), i32(1, 0))
        t.case("ConjugateTranspose", np.array([1 + 2j, 3]).astype(d), i32(0))
        t.case("ScatterNd", np.array([[1], [0], [1]], np.int32), np.array([1j, 2, 3]).astype(d), i32(2))
        t.case("TensorScatterSub", np.array([1j, 2]).astype(d), np.array([[1]], np.int32), np.array([3j]).astype(d))
    t.case("ConjugateTranspose", X, i32(0, 0))


def add_cases(t):
    shapes(t)
    joining(t)
    cutting(t)
    rearranging(t)
    searching(t)
    scattering(t)
    blocks(t)
    passing(t)
