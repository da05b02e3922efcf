"""Ops that make, reorder, join, split and index tensors."""

import numpy as np
from registry import Result, Type, case, each, floats, ints, op

X = floats(2, 3)
CUBE = floats(2, 3, 4)
I32 = ints(2, 3)
NO_NAMES = {"names": False}
FOLDED = "the shape rules of C++ see constants, but not what StridedSlice, Pack, Fill or Maximum make of them"
WEAKER = {"names": False, "shapes": FOLDED}
NO_RULE = {"shapes": "the shape rule of C++ gives the rank only"}

# Slices.
for label, key in (
    ("number", 0), ("negative", -1), ("range", slice(1, 3)), ("strides", (slice(None), slice(None, None, 2))),
    ("reverse", (0, slice(None, None, -1))), ("ellipsis", (Ellipsis, 1)), ("new axis", (None, slice(None), None, 0)),
    ("ellipsis in the middle", (1, Ellipsis, slice(0, 2))), ("to negative", (slice(None), slice(None, -1))),
    ("list of numbers as one index", (1, 2, 3)), ("numpy integer", np.int64(1)), ("empty", slice(2, 1)),
    ("all", Ellipsis), ("two new axes", (Ellipsis, None, None)), ("out of range", (5,)), ("float", 1.5), ("text", "a"),
    ("too many", (0, 0, 0, 0)), ("bool", True), ("mask", np.array([True, False])),
):
    def sliced(tf, key=key):
        x = tf.constant(CUBE)
        return Result(x[key], wrt=[x])
    case("Tensor.__getitem__", sliced, label="getitem: " + label, names=label != "mask")
case("Tensor.__getitem__", lambda tf: [tf.constant(CUBE)[tf.constant(1)], tf.constant(CUBE)[:, tf.constant(1):],
                                       tf.constant(CUBE)[tf.constant(0, tf.int64), 1:tf.constant(2, tf.int64)],
                                       tf.constant(X)[tf.constant(X) > 0]], label="getitem: tensors", **WEAKER)
case("Tensor.__getitem__",
     lambda tf: [tf.placeholder(tf.float32, [None, 4])[1:], tf.placeholder(tf.float32, [None, 4])[:, 2],
                                       tf.placeholder(tf.float32)[0]].__len__(), label="getitem: unknown sizes")


def unknown(tf, function, shape=(None, 3)):
    """The static and the run-time result of a function of a tensor whose sizes are not known."""
    x = tf.placeholder(tf.float32, list(shape) if shape is not None else None, name="x")
    return Result(function(x), feed={x: X}, wrt=[x])


for names, function in (
    ("shape", lambda tf, f: lambda x: f(x, out_type=tf.int64)),
    ("size", lambda tf, f: lambda x: f(x, out_type=tf.int64)),
    ("rank", lambda tf, f: lambda x: f(x, name="r")), ("zeros_like", lambda tf, f: lambda x: f(x, name="z")),
    ("zeros_like", lambda tf, f: lambda x: f(x, tf.int32)), ("ones_like", lambda tf, f: lambda x: f(x, dtype=tf.int32)),
    ("reshape", lambda tf, f: lambda x: f(x, [-1, 1])), ("reshape", lambda tf, f: lambda x: f(x, [tf.shape(x)[1], -1])),
    ("transpose", lambda tf, f: lambda x: f(x)), ("expand_dims", lambda tf, f: lambda x: f(x, 1)),
    ("concat", lambda tf, f: lambda x: f([x, x], 1)), ("stack", lambda tf, f: lambda x: f([x, x], axis=-1)),
    ("split", lambda tf, f: lambda x: f(x, 3, 1)), ("tile", lambda tf, f: lambda x: f(x, [2, 1])),
    ("fill", lambda tf, f: lambda x: f(tf.shape(x), 3.0)), ("zeros", lambda tf, f: lambda x: f(tf.shape(x))),
    ("ones", lambda tf, f: lambda x: f([tf.shape(x)[0], 2])), ("where", lambda tf, f: lambda x: f(x > 0)),
    ("boolean_mask", lambda tf, f: lambda x: f(x, x > 0)), ("gather", lambda tf, f: lambda x: f(x, [0, 1], axis=1)),
    ("one_hot", lambda tf, f: lambda x: f(tf.cast(x, tf.int32), 3)), ("reverse", lambda tf, f: lambda x: f(x, [0])),
    ("pad", lambda tf, f: lambda x: f(x, [[1, 0], [0, 2]])), ("eye", lambda tf, f: lambda x: f(tf.shape(x)[0])),
    ("eye", lambda tf, f: lambda x: f(tf.shape(x)[0], 4, batch_shape=[2])),
    ("meshgrid", lambda tf, f: lambda x: f(x[:, 0], x[0])), ("squeeze", lambda tf, f: lambda x: f(x[:, :1], 1)),
    ("matrix_transpose", lambda tf, f: lambda x: f(x)),
    ("sequence_mask", lambda tf, f: lambda x: f(tf.range(tf.size(x)))),
    ("broadcast_to", lambda tf, f: lambda x: f(x, tf.concat([[2], tf.shape(x)], 0))),
    ("reduce_sum", lambda tf, f: lambda x: f(x, 0)), ("reduce_mean", lambda tf, f: lambda x: f(x, keepdims=True)),
    ("sort", lambda tf, f: lambda x: f(x, direction="DESCENDING")), ("repeat", lambda tf, f: lambda x: f(x, 2, 0)),
    ("unique", lambda tf, f: lambda x: f(x[:, 0])), ("matmul", lambda tf, f: lambda x: f(x, x, transpose_b=True)),
    ("tensordot", lambda tf, f: lambda x: f(x, x, [[1], [1]])),
    ("tensordot", lambda tf, f: lambda x: f(x, x, [[0], [0]])),
    ("histogram_fixed_width", lambda tf, f: lambda x: f(x, [-1.0, 1.0], 4)),
    ("bincount", lambda tf, f: lambda x: f(tf.cast(x * x, tf.int32))),
    ("clip_by_norm", lambda tf, f: lambda x: f(x, 1.0, axes=[1])),
    ("unsorted_segment_sum", lambda tf, f: lambda x: f(x, [1, 0], 3)),
    ("unsorted_segment_mean", lambda tf, f: lambda x: f(x, [1, 1], 3)),
    ("random_normal", lambda tf, f: lambda x: f(tf.shape(x), seed=3)),
):
    each(names, lambda tf, f, function=function: unknown(tf, function(tf, f)), **WEAKER)
    if names not in ("squeeze", "unstack", "meshgrid", "boolean_mask", "matmul", "tensordot", "split", "unique",
                     "tile"):
        each(names, lambda tf, f, function=function: unknown(tf, function(tf, f), None), **WEAKER)

for shape in ([2, 3], [], 4, (2, 0), np.array([2, 2]), [30, 40]):
    op("zeros ones", shape)
    op("zeros ones", shape, Type("int32"), name="given")
op("zeros ones", [2], Type("bool"))
op("zeros", [2], Type("string"))
op("zeros ones", [2, -1])
op("zeros_like ones_like", I32)
op("zeros_like ones_like", X, Type("int64"), name="given")
op("zeros_like ones_like", X, optimize=False, _options=NO_NAMES)
op("zeros_like ones_like", [1, 2])
op("zeros_like", np.array(["a", "b"]))
op("fill", [2, 3], 2.5)
op("fill", [2], "a", name="given")
op("fill", [2], np.float64(2))
op("constant", [1, 2, 3])
op("constant", [1, 2, 3], Type("float64"), name="given")
op("constant", 3, shape=[2, 2])
op("constant", [1.0, 2.0], shape=[2, 2])
op("constant", [1.0, 2.0, 3.0], shape=[2])
op("constant", [[1, 2], [3]])
op("constant", "a", Type("int32"))
op("constant", 1.5, Type("int32"))
op("constant", True)
op("constant", [1, 2.5])
op("constant", 2**40)
op("constant", b"abc", name="given")
op("convert_to_tensor", [1, 2], Type("float32"), name="given")
op("convert_to_tensor", X, Type("int32"))
case("convert_to_tensor", lambda tf: [tf.convert_to_tensor([tf.constant(1), 2]),
                                      tf.convert_to_tensor(np.ones([2], np.float64), preferred_dtype=tf.float32),
                                      tf.convert_to_tensor([[1.0, tf.constant(2.0)], [3.0, 4.0]], name="p")])
case("convert_to_tensor", lambda tf: tf.convert_to_tensor(tf.TensorShape([2, 3]), name="s"))
case("reshape", lambda tf: tf.reshape(tf.constant(X), tf.TensorShape([3, 2])))
case("reshape", lambda tf: tf.reshape(tf.constant(X), [tf.constant(X).shape[1], tf.constant(X).get_shape()[0]]))
case("zeros", lambda tf: tf.zeros([tf.constant(X).shape[1], 2]))
case("zeros", lambda tf: tf.zeros(tf.constant(X).shape, name="z"))
op("eye linalg.eye", 3)
op("eye linalg.eye", 2, 3, name="given")
op("eye linalg.eye", 3, batch_shape=[2], dtype=Type("int32"))
op("eye linalg.eye", 2, num_columns=4, batch_shape=[2, 1], dtype=Type("float64"))
op("shape", CUBE)
op("shape", CUBE, name="given", out_type=Type("int64"))
op("shape_n", [X, CUBE])
op("shape_n", [X, CUBE], out_type=Type("int64"), name="given")
op("size rank", CUBE)
op("size rank", CUBE, name="given")
op("size", CUBE, out_type=Type("int64"))
op("reshape", X, [3, 2])
op("reshape", X, [-1], name="given")
op("reshape", X, [4, 2])
op("reshape", np.ones([1], np.float32), [])
op("expand_dims", X, 0)
op("expand_dims", X, -1, name="given")
op("expand_dims", X, dim=1)
op("expand_dims", X)
op("expand_dims", X, axis=1, dim=1)
op("expand_dims", X, 5)
op("squeeze", floats(1, 2, 1))
op("squeeze", floats(1, 2, 1), [0], name="given")
op("squeeze", floats(1, 2, 1), axis=-1)
op("squeeze", floats(1, 2, 1), squeeze_dims=[2])
op("squeeze", floats(1, 2, 1), 1)
op("transpose", CUBE)
op("transpose", CUBE, [1, 2, 0], name="given")
op("transpose", CUBE, [0, 1])
op("transpose", (X + 1j * X).astype(np.complex64), conjugate=True)
op("matrix_transpose linalg.matrix_transpose linalg.transpose", CUBE)
op("matrix_transpose linalg.matrix_transpose", (X + 1j * X).astype(np.complex64), name="given", conjugate=True)
op("matrix_transpose", np.ones([3], np.float32))
op("concat", [X, X], 0)
op("concat", [X, X, X], axis=-1, name="given")
op("concat", [X], 0)
op("concat", [X, I32], 0)
op("concat", [X, CUBE], 0)
op("concat", [X, [[1, 2, 3]]], 0)
op("concat", [[1, 2], [3]], 0)
op("stack", [X, X])
op("stack", [X, X], axis=2, name="given")
op("stack", [1, 2, 3])
op("stack", [X, CUBE])
op("stack", [X, X], axis=5)
op("stack", [[1, 2], np.array([3, 4], np.int32)])
op("parallel_stack", [X, X], _options=NO_NAMES)
op("parallel_stack", [X, X], name="given", _options=NO_NAMES)
op("unstack", X)
op("unstack", CUBE, num=3, axis=1, name="given")
op("unstack", CUBE, axis=-1)
op("unstack", X, num=3)
op("unstack", X, axis=3)
case("unstack", lambda tf: tf.unstack(tf.placeholder(tf.float32, [None, 2])))
op("split", CUBE, 2)
op("split", CUBE, 2, axis=2, name="given")
op("split", CUBE, [1, 2], 1)
op("split", CUBE, [1, -1], axis=1, num=2, name="given")
op("split", CUBE, 3)
op("split", CUBE, [1, 1], 1)
op("gather", CUBE, [1, 0])
op("gather", CUBE, [[0, 2]], axis=1, name="given")
op("gather", CUBE, [[0, 2], [1, 1]], axis=1, batch_dims=1)
op("gather", CUBE, np.array([1], np.int64), axis=-1)
op("gather", X, [5])
op("gather", X, [0.5])
op("batch_gather", X, [[0, 2], [1, 1]], _options=NO_NAMES)
op("batch_gather", X, [[0, 2], [1, 1]], name="given", _options=NO_NAMES)
op("gather_nd", CUBE, [[0, 1], [1, 2]])
op("gather_nd", CUBE, [[0, 1, 2]], name="given")
op("gather_nd", CUBE, [[[1], [0]], [[2], [1]]], batch_dims=1, _options=NO_NAMES)
op("gather_nd", CUBE, [[3, 0]])
op("scatter_nd", [[0], [3]], X, [5, 3])
op("scatter_nd", [[0], [0]], X, [5, 3], name="given")
op("scatter_nd", [[7]], X[:1], [5, 3])
for name in ("tensor_scatter_add", "tensor_scatter_nd_add", "tensor_scatter_sub", "tensor_scatter_nd_sub",
             "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_update", "tensor_scatter_nd_update"):
    op(name, X, [[1]], X[:1])
    op(name, X, [[0, 1], [1, 2]], np.array([9, -9], np.float32), name="given")
op("where", np.array([[True, False], [True, True]]))
op("where", np.array([1, 0, 2]), name="given")
op("where", X > 0, X, 2 * X)
op("where", np.array([True, False]), X, 2 * X, name="given")
op("where", X > 0, X)
op("where", X > 0, X, X[:1])
op("where_v2", X > 0, X, 0.0)
op("where_v2", np.array([[True], [False]]), X, X[:1], name="given")
op("where_v2", X > 0)
op("boolean_mask", X, [True, False], _options=NO_NAMES)
op("boolean_mask", CUBE, [True, False, True], axis=1, name="given", _options=NO_NAMES)
op("boolean_mask", CUBE, X > 0, _options=NO_NAMES)
op("boolean_mask", X, True)
op("boolean_mask", X, [True, False, True])
op("tile", X, [2, 1])
op("tile", X, [1, 3], name="given")
op("tile", X, [1])
for arguments in ({}, {"name": "given"}, {"mode": "REFLECT"}, {"mode": "symmetric", "name": "given"},
                  {"constant_values": 7},
                  {"constant_values": 2.5, "name": "given"}, {"mode": "WRAP"}):
    op("pad", X, [[1, 0], [0, 2]], **arguments)
op("pad", X, [[1, 1]])
op("pad", X, [[3, 0], [0, 2]], mode="REFLECT")
op("reverse reverse_v2", CUBE, [0, 2])
op("reverse reverse_v2", CUBE, [-2], name="given")
op("reverse_sequence", CUBE, [1, 3], seq_axis=1)
op("reverse_sequence", CUBE, [1, 3, 2], seq_axis=2, batch_axis=1, name="given")
op("reverse_sequence", CUBE, [1, 3], seq_dim=1, batch_dim=0)
op("sequence_mask", [1, 3, 2], _options=WEAKER)
op("sequence_mask", [1, 3, 2], 5, Type("float32"), name="given", _options=NO_NAMES)
op("sequence_mask", [[1], [2]], maxlen=2)
op("one_hot", [0, 2, -1], 3)
op("one_hot", [0, 2], 3, on_value=5.0, off_value=-1.0, axis=0, name="given")
op("one_hot", [[0], [1]], 2, dtype=Type("int32"))
op("one_hot", [0, 1], 2, on_value=True, off_value=False)
op("one_hot", [0, 1], 2, on_value=1, dtype=Type("float32"))
op("unique", np.array([3, 1, 3, 2]))
op("unique", np.array(["a", "b", "a"]), out_idx=Type("int64"), name="given")
op("unique_with_counts", np.array([3, 1, 3, 2]))
op("unique_with_counts", np.array([3.0, 1.0, 3.0]), out_idx=Type("int64"), name="given")
op("setdiff1d", [1, 2, 3, 2], [2])
op("setdiff1d", [1, 2, 3, 2], [2], index_dtype=Type("int64"), name="given")
op("meshgrid", [1, 2, 3], [4, 5])
op("meshgrid", np.array([1., 2.], np.float32), np.array([3., 4.], np.float32), indexing="ij", name="given")
op("meshgrid", [1, 2], [3], [4, 5, 6])
op("meshgrid", [1, 2], indexing="no")
op("space_to_batch", floats(1, 4, 4, 1), [[0, 0], [0, 0]], 2, _options=NO_RULE)
op("space_to_batch", floats(1, 3, 4, 1), [[1, 0], [0, 0]], block_size=2, name="given", _options=NO_RULE)
op("space_to_batch_nd", floats(1, 4, 4, 1), [2, 2], [[0, 0], [0, 0]], _options=NO_RULE)
op("space_to_batch_nd", floats(1, 4, 4, 1), [2, 2], [[0, 0], [2, 0]], name="given", _options=NO_RULE)
op("batch_to_space", floats(4, 2, 2, 1), [[0, 0], [0, 1]], 2, _options=NO_RULE)
op("batch_to_space", floats(4, 2, 2, 1), [[0, 0], [0, 0]], block_size=2, name="given", _options=NO_RULE)
op("batch_to_space_nd", floats(4, 2, 2, 1), [2, 2], [[0, 0], [1, 0]], _options=NO_RULE)
op("batch_to_space_nd", floats(4, 2, 2, 1), [2, 2], [[0, 0], [1, 0]], name="given", _options=NO_RULE)
op("space_to_depth", floats(1, 4, 4, 1), 2)
op("space_to_depth", floats(1, 4, 4, 2), 2, name="given", data_format="NHWC")
op("depth_to_space", floats(1, 2, 2, 8), 2)
op("depth_to_space", floats(1, 2, 2, 8), 2, name="given")
op("required_space_to_batch_paddings", [5, 4], [2, 3])
op("required_space_to_batch_paddings", [5, 4], [2, 3], base_paddings=[[1, 0], [0, 1]], name="given", _options=NO_NAMES)
op("broadcast_to", X, [2, 2, 3])
op("broadcast_to", X[:1], [4, 3], name="given")
op("broadcast_dynamic_shape", [2, 1], [3])
op("broadcast_dynamic_shape", np.array([2, 1], np.int64), np.array([1, 5], np.int64))
case("broadcast_static_shape", lambda tf: [tf.broadcast_static_shape(tf.TensorShape([2, 1]), tf.TensorShape([3])),
                                           tf.broadcast_static_shape(tf.TensorShape([None, 1]), tf.TensorShape([3])),
                                           tf.broadcast_static_shape(tf.TensorShape(None), tf.TensorShape([3]))])
case("broadcast_static_shape", lambda tf: tf.broadcast_static_shape(tf.TensorShape([2]), tf.TensorShape([3])))
op("roll", X, 1, 0)
op("roll", X, [1, -1], [0, 1], name="given")
op("repeat", X, 2, _options=WEAKER)
op("repeat", X, [1, 0, 2], axis=1, name="given", _options=WEAKER)
op("repeat", X, 2, axis=0, _options=WEAKER)
op("searchsorted", [1.0, 2.0, 3.0], [1.5, 3.0], _options=NO_NAMES)
op("searchsorted", [[1, 3], [2, 4]], [[3], [2]], side="right", out_type=Type("int64"), name="given", _options=NO_NAMES)
op("searchsorted", [1.0], [1.5], side="up")
for arguments in ({}, {"direction": "DESCENDING"}, {"axis": 0, "name": "given"}):
    op("sort argsort", X, _options=NO_NAMES, **arguments)
    op("sort argsort", ints(3, 4), _options=NO_NAMES, **arguments)
op("argsort", ints(3, 4, high=-2), stable=True, _options=NO_NAMES)
op("sort", X, direction="UP")
op("ensure_shape", X, [None, 3])
op("ensure_shape", X, [2, 3], name="given")
op("ensure_shape", X, [3, 3])
op("identity", X)
op("identity", X, name="given")
op("identity_n", [X, I32])
op("identity_n", [X, I32], name="given")
op("stop_gradient", X)
op("stop_gradient", X, name="given")
op("guarantee_const", X)
op("guarantee_const", X, name="given")
case("placeholder_with_default", lambda tf: tf.placeholder_with_default(tf.constant(X), [None, 3], name="given"))


def fed_default(tf):
    x = tf.placeholder_with_default(X, [None, 3])
    return Result(x * 2, feed={x: np.ones([1, 3])})


case("placeholder_with_default", fed_default)
op("invert_permutation math.invert_permutation", [2, 0, 1])
op("invert_permutation math.invert_permutation", [2, 0, 1], name="given")
op("slice", CUBE, [0, 1, 1], [2, 1, -1])
op("slice", CUBE, [0, 1, 1], [1, 1, 1], name="given")
op("strided_slice", CUBE, [0, 0, 1], [2, 3, 4], [1, 2, 2])
op("strided_slice", CUBE, [0, 1], [1, 3], begin_mask=1, shrink_axis_mask=1, name="given")
op("strided_slice", CUBE, [0, 1, 0], [1, 2, 1], end_mask=2, ellipsis_mask=4, _options=NO_NAMES)
op("dynamic_partition", X, [1, 0], 2)
op("dynamic_partition", X, [1, 1], 3, name="given")
op("dynamic_stitch", [[0, 2], [1]], [X, X[:1]])
op("dynamic_stitch", [[0, 2], [1]], [X, X[:1]], name="given")
op("unravel_index", [7, 3], [3, 4])
op("unravel_index", [7, 3], [3, 4], name="given")
op("fingerprint", np.array(["a", "b"]))
op("fingerprint", np.array(["a", "b"]), name="given")
op("extract_image_patches image.extract_image_patches", floats(1, 4, 4, 1), [1, 2, 2, 1], [1, 1, 1, 1], [1, 1, 1, 1],
   "VALID")
op("extract_image_patches image.extract_image_patches", floats(1, 4, 4, 2), ksizes=[1, 2, 2, 1], strides=[1, 2, 2, 1],
   rates=[1, 2, 2, 1], padding="SAME", name="given")
op("extract_volume_patches", floats(1, 3, 3, 3, 1), [1, 2, 2, 2, 1], [1, 1, 1, 1, 1], "VALID")
op("extract_volume_patches", floats(1, 3, 3, 3, 1), [1, 2, 2, 2, 1], [1, 2, 2, 2, 1], "SAME", name="given")
op("diag linalg.tensor_diag", X[0])
op("diag linalg.tensor_diag", X, name="given")
op("diag_part linalg.tensor_diag_part", floats(3, 3))
op("diag_part linalg.tensor_diag_part", floats(2, 3, 2, 3), name="given")
op("matrix_diag linalg.diag", X)
op("matrix_diag linalg.diag", X, name="given", k=1, padding_value=9)
op("matrix_diag linalg.diag", X, k=(0, 1), num_rows=3, num_cols=4, align="LEFT_RIGHT")
op("matrix_diag_part linalg.diag_part", CUBE)
op("matrix_diag_part linalg.diag_part", CUBE, name="given", k=(-1, 1), padding_value=5, align="LEFT_LEFT")
op("matrix_set_diag linalg.set_diag", CUBE, X)
op("matrix_set_diag linalg.set_diag", CUBE, floats(2, 2, seed=3), name="given", k=-1)
op("matrix_band_part linalg.band_part", CUBE, 1, 0)
op("matrix_band_part linalg.band_part", CUBE, 0, -1, name="given")
case("get_static_value",
     lambda tf: [tf.get_static_value(tf.constant([1, 2])), tf.get_static_value(tf.placeholder(tf.int32))])
case("dimension_value dimension_at_index",
     lambda tf: [tf.dimension_value(tf.TensorShape([3])[0]), tf.dimension_value(4),
                                                       tf.dimension_at_index(tf.TensorShape([3, 4]), 1).value])
case("newaxis", lambda tf: tf.newaxis)


def distance(tf):
    a = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "c"], [2, 2])
    b = tf.SparseTensor([[0, 0], [1, 0]], ["a", "d"], [2, 1])
    return [tf.edit_distance(a, b), tf.edit_distance(a, b, normalize=False, name="given")]


case("edit_distance", distance, **NO_RULE)


# Sequences beyond the dense shape have the places that their indices have in row-major order.
for hypothesis, truth in (
        (([[0, 0, 0], [0, 0, 5]], [2, 1, 1]), ([[0, 0, 0], [0, 0, 4], [1, 0, 7]], [2, 1, 2])),
        (([[0, 2, 0]], [2, 2, 1]), ([[0, 0, 0]], [2, 2, 2])),
        (([[0, 0, 0]], [2, 2, 1]), ([[0, 3, 0]], [2, 2, 2])),
        (([[0, 0, 0], [0, 5, 0], [1, 0, 0]], [2, 2, 1]), ([[0, 0, 0]], [2, 3, 2])),
        (([[0, 0, 0], [0, 5, 0], [1, 0, 0]], [2, 2, 1]), ([[0, 0, 0]], [2, 2, 2])),
        (([[3, 0, 0]], [2, 2, 1]), ([[3, 0, 0]], [2, 2, 2])),
        (([[-1, 0, 0]], [2, 2, 1]), ([[-1, 0, 0]], [2, 2, 2])),
        (([[1, -1, 0]], [2, 2, 1]), ([[1, 1, 0]], [2, 2, 2]))):
    def distant(tf, hypothesis=hypothesis, truth=truth):
        a, b = (tf.SparseTensor(indices, list("abcd"[:len(indices)]), shape) for indices, shape in (hypothesis, truth))
        return [tf.edit_distance(a, b), tf.edit_distance(a, b, normalize=False)]

    case("edit_distance", distant, **NO_RULE)


def slices(tf):
    dense = tf.IndexedSlices(tf.constant(X), tf.constant([0, 2]), tf.constant([3, 3]))
    x = tf.constant(CUBE)
    grad = tf.gradients(tf.gather(x, [0, 0]), x)[0]
    return [dense, tf.convert_to_tensor(dense), tf.identity(dense), tf.scalar_mul(2.0, dense),
            tf.convert_to_tensor_or_indexed_slices(dense),
            tf.convert_to_tensor_or_indexed_slices([1, 2], tf.int64, name="c"),
            tf.convert_to_tensor(grad)]


case("IndexedSlices convert_to_tensor_or_indexed_slices", slices, names=False)
