"""Rows of the ops that make, shape, join, cut and rearrange tensors."""
import numpy as np
import tensorflow as tf

bf16 = tf.bfloat16.as_numpy_dtype
TYPES = [np.float16, bf16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32,
         np.uint64, np.bool_]
X = np.arange(12.0).reshape(3, 4) / 8 - 0.6
Y = np.arange(24.0).reshape(2, 3, 4) / 8 - 0.6


def i32(*v):
    return np.array(v, np.int32)


def shapes(t):
    for op in ["Identity", "ZerosLike", "OnesLike", "StopGradient", "PreventGradient"]:
        for d in TYPES:
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
    for d in TYPES:
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
    t.case("Slice", Y, i32(1, 1, 1), i32(0, 2, 3))
    for d in TYPES:
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
    for p in [(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1), (2, 0, 1)]:
        t.case("Transpose", Y, i32(*p), gradient=[0])
    t.case("Transpose", Y, i32(0, 0, 1))
    for d in TYPES:
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
    t.case("GatherNd", X, np.array([[0, 1], [2, 3]], np.int32))
    t.case("GatherNd", X, np.array([[2], [0]], np.int32))


def add_cases(t):
    shapes(t)
    joining(t)
    cutting(t)
    rearranging(t)
