"""Rows of the ops that parse examples, sequence examples, tensors, raw bytes and lines of values, and of file ops."""
import zlib

import numpy as np
import tensorflow as tf

Feature = tf.train.Feature


def floats(*v):
    return Feature(float_list=tf.train.FloatList(value=v))


def ints(*v):
    return Feature(int64_list=tf.train.Int64List(value=v))


def texts(*v):
    return Feature(bytes_list=tf.train.BytesList(value=v))


def example(**features):
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString(deterministic=True)


def sequence(context, **lists):
    lists = {k: tf.train.FeatureList(feature=v) for k, v in lists.items()}
    return tf.train.SequenceExample(context=tf.train.Features(feature=context),
                                    feature_lists=tf.train.FeatureLists(feature_list=lists)).SerializeToString(deterministic=True)


def s(v):
    return np.array(v, dtype=object)


def i64(*v):
    return np.array(v, np.int64)


NONE = s([])
A = example(f=floats(1, 2), i=ints(3), b=texts(b"x", b"y\xff"))
B = example(f=floats(3, 4), b=texts())
C = example(f=floats(5), i=ints(3, -4, 5), e=Feature())
GARBAGE = b"\x0a\xff"


def v1(t, serialized, names=NONE, sparse=(), dense=()):
    """sparse: (key, type); dense: (key, default, shape)."""
    t.case("ParseExample", serialized, names, [s(k) for k, _ in sparse], [s(k) for k, _, _ in dense], [d for _, d, _ in dense],
           sparse_types=[d for _, d in sparse], dense_shapes=[x for _, _, x in dense])


def v2(t, serialized, names=NONE, sparse=(), dense=(), ragged=()):
    """ragged: (key, type of values, type of splits)."""
    t.case("ParseExampleV2", serialized, names, s([k for k, _ in sparse]), s([k for k, _, _ in dense]), s([k for k, _, _ in ragged]),
           [d for _, d, _ in dense], num_sparse=len(sparse), sparse_types=[d for _, d in sparse],
           dense_shapes=[x for _, _, x in dense], ragged_value_types=[v for _, v, _ in ragged],
           ragged_split_types=[d for _, _, d in ragged])


NO_FLOAT = np.zeros([0], np.float32)
NO_INT = np.zeros([0], np.int64)


def examples(t):
    sparse = [("f", tf.float32), ("i", tf.int64), ("b", tf.string), ("absent", tf.int64)]
    for f in [v1, v2]:
        f(t, s([A, B, C]), sparse=sparse)
        f(t, NONE, sparse=sparse[:1])
        f(t, s([A]), sparse=[("f", tf.int64)])
        f(t, s([A, B]), dense=[("f", NO_FLOAT, [2])])
        f(t, s([A, B]), dense=[("i", NO_INT, [1])])
        f(t, s([A, B]), dense=[("i", i64(7), [1]), ("b", s([b"d", b"e"]), [2])][:1])
        f(t, s([A, B]), dense=[("i", np.int64(7), [])])
        f(t, s([A, B]), dense=[("i", i64(7, 8), [])])
        f(t, s([A, C]), dense=[("f", NO_FLOAT, [2])])
        f(t, s([A]), dense=[("f", NO_INT, [2])])
        f(t, s([C]), dense=[("e", np.array([7], np.float32), [1])])
        f(t, s([A, B, C]), dense=[("i", i64(7), [None]), ("b", s([b"."]), [None])])
        f(t, s([A, B, C]), dense=[("i", np.int64(7), [None])])
        f(t, s([A, B, C]), dense=[("i", NO_INT, [None])])
        f(t, s([A, B]), dense=[("f", np.array([7], np.float32), [None, 2])])
        f(t, s([A, C]), dense=[("f", np.array([7], np.float32), [None, 2])])
        f(t, s([A]), dense=[("f", np.array([7, 8], np.float32), [None, 2])])
        f(t, s([A]), dense=[("f", np.array([7], np.float32), [2, None])])
        f(t, s([A, B]), names=s([b"first", b"second"]), sparse=sparse[:1])
        f(t, s([A, B]), names=s([b"first"]), sparse=sparse[:1])
        f(t, s([A + example(f=floats(9))]), sparse=sparse[:1])
        f(t, s([[A]]), sparse=sparse[:1])
        f(t, s([A, B, C]), sparse=sparse[:1], dense=[("i", i64(7), [None])])
    t.case("ParseExample", s([A, GARBAGE]), NONE, [s(b"f")], [], [], sparse_types=[tf.float32], dense_shapes=[], expected="INVALID_ARGUMENT")
    v1(t, s(A), sparse=sparse[:1])
    ragged = [("b", tf.string, tf.int32), ("f", tf.float32, tf.int64), ("absent", tf.int64, tf.int64)]
    v2(t, s([A, B, C]), sparse=[("i", tf.int64)], dense=[("e", np.float32(2), [])], ragged=ragged)
    v2(t, s([A]), ragged=[("b", tf.int64, tf.int32)])
    v2(t, NONE, sparse=sparse[:1], dense=[("i", i64(7), [None]), ("e", NO_FLOAT, [3])], ragged=ragged[:1])
    v2(t, s(A), sparse=sparse[:1], dense=[("i", i64(7), [None])], ragged=[ragged[0], ragged[2]])
    v2(t, s(A), dense=[("absent", NO_INT, [1])])
    t.case("ParseExampleV2", s([A]), NONE, s(["f", "i"]), NONE, NONE, [], num_sparse=1, sparse_types=[tf.int64], dense_shapes=[],
           ragged_value_types=[], ragged_split_types=[])

    def single(serialized, sparse=(), dense=()):
        t.case("ParseSingleExample", serialized, [d for _, d, _ in dense], num_sparse=len(sparse), sparse_keys=[k for k, _ in sparse],
               sparse_types=[d for _, d in sparse], dense_keys=[k for k, _, _ in dense], dense_shapes=[x for _, _, x in dense])

    single(s(A), [("b", tf.string), ("absent", tf.int64)], [("i", i64(7), [None]), ("f", np.array([1, 1], np.float32), [2])])
    single(s(B), [], [("i", NO_INT, [1])])
    single(s(B), [], [("i", i64(7), [1])])
    single(s([A]), [("b", tf.string)])


S1 = sequence({"c": ints(1), "s": texts(b"p", b"q")}, a=[floats(1, 2), floats(3, 4), floats(5, 6)], v=[ints(1), ints(), ints(2, 3)])
S2 = sequence({"c": ints(2)}, a=[floats(1, 2)])
S3 = sequence({"c": ints(2)}, a=[floats(1)], v=[floats(1)])


def sequences(t):
    def single(serialized, missing=NONE, sparse=(), dense=(), list_sparse=(), list_dense=()):
        t.case("ParseSingleSequenceExample", serialized, missing, [s(k) for k, _ in sparse], [s(k) for k, _, _ in dense],
               [s(k) for k, _ in list_sparse], [s(k) for k, _, _ in list_dense], [d for _, d, _ in dense], s(b"name"),
               context_sparse_types=[d for _, d in sparse], context_dense_shapes=[x for _, _, x in dense],
               feature_list_sparse_types=[d for _, d in list_sparse], feature_list_dense_types=[d for _, d, _ in list_dense],
               feature_list_dense_shapes=[x for _, _, x in list_dense])

    single(s(S1), sparse=[("s", tf.string), ("absent", tf.int64)], dense=[("c", NO_INT, [])],
           list_sparse=[("v", tf.int64), ("w", tf.float32)], list_dense=[("a", tf.float32, [2])])
    single(s(S1), list_dense=[("absent", tf.float32, [2])])
    single(s(S1), missing=s([b"absent"]), list_dense=[("absent", tf.float32, [2])])
    single(s(S3), list_dense=[("v", tf.int64, [1])])
    single(s(S3), list_sparse=[("v", tf.int64)])
    single(s(S3), list_dense=[("a", tf.float32, [2])])
    single(s(S3), dense=[("absent", NO_INT, [1])])
    single(s(S3), dense=[("absent", i64(5), [1])])

    def batch(op, serialized, sparse=(), dense=(), ragged=(), list_sparse=(), list_dense=(), list_ragged=(), missing=(),
              expected=None):
        common = dict(Ncontext_sparse=len(sparse), context_sparse_types=[d for _, d in sparse],
                      context_dense_shapes=[x for _, _, x in dense], Nfeature_list_sparse=len(list_sparse),
                      Nfeature_list_dense=len(list_dense), feature_list_sparse_types=[d for _, d in list_sparse],
                      feature_list_dense_types=[d for _, d, _ in list_dense],
                      feature_list_dense_shapes=[x for _, _, x in list_dense])
        keys = [[k for k, *_ in columns] for columns in [sparse, dense, ragged, list_sparse, list_dense, list_ragged]]
        defaults = [d for _, d, _ in dense]
        if op == "ParseSequenceExample":
            t.case(op, serialized, NONE, defaults, feature_list_dense_missing_assumed_empty=list(missing), context_sparse_keys=keys[0],
                   context_dense_keys=keys[1], feature_list_sparse_keys=keys[3], feature_list_dense_keys=keys[4],
                   Ncontext_dense=len(dense), **common)
        else:
            t.case(op, serialized, NONE, *[s(k) for k in keys], np.array([k in missing for k in keys[4]], bool), defaults,
                   context_ragged_value_types=[v for _, v, _ in ragged], context_ragged_split_types=[d for _, _, d in ragged],
                   feature_list_ragged_value_types=[v for _, v, _ in list_ragged],
                   feature_list_ragged_split_types=[d for _, _, d in list_ragged], expected=expected, **common)

    for op in ["ParseSequenceExample", "ParseSequenceExampleV2"]:
        batch(op, s([S1, S2]), sparse=[("s", tf.string)], dense=[("c", NO_INT, [])], list_sparse=[("v", tf.int64)],
              list_dense=[("a", tf.float32, [2])])
        batch(op, s([S1, S2]), list_dense=[("v", tf.int64, [1])], missing=["v"])
        batch(op, s([S2, S2]), list_dense=[("v", tf.int64, [1])])
        batch(op, s([S2, S2]), list_dense=[("v", tf.int64, [1])], missing=["v"])
        batch(op, s([S1, S3]), list_sparse=[("v", tf.int64)])
        batch(op, s([S1]), dense=[("absent", NO_INT, [1])])
        batch(op, s([S1]), dense=[("absent", i64(5), [1])])
        batch(op, s([S1, S2]), dense=[("c", i64(3), [None])])
    op = "ParseSequenceExampleV2"
    batch(op, s(S1), sparse=[("s", tf.string)], dense=[("c", NO_INT, [])], list_sparse=[("v", tf.int64)],
          list_dense=[("a", tf.float32, [2])])
    batch(op, s([S1, S2]), ragged=[("s", tf.string, tf.int32), ("absent", tf.float32, tf.int64)],
          list_ragged=[("v", tf.int64, tf.int64), ("absent", tf.string, tf.int32)])
    # Without a batch, TensorFlow returns uninitialized memory as the row splits of the context.
    batch(op, s(S1), ragged=[("s", tf.string, tf.int32)], list_ragged=[("v", tf.int64, tf.int64)],
          expected=[s(["p", "q"]), np.int32(0), i64(1, 2, 3), np.int64(0), i64(0, 1, 1, 3)])
    batch(op, s([S1]), sparse=[("s", tf.string)], ragged=[("s", tf.string, tf.int32)])


def tensors(t):
    for d in ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "bool",
              "complex64", "complex128"]:
        v = np.array([[1, 0, 3]]).astype(d)
        t.case("SerializeTensor", v)
        t.case("ParseTensor", s(tf.make_tensor_proto(v).SerializeToString()), out_type=tf.as_dtype(d))
    t.case("SerializeTensor", s([b"a", b"\xff"]))
    t.case("SerializeTensor", np.zeros([0, 2], np.float32))
    t.case("ParseTensor", s(tf.make_tensor_proto(["a", "b"]).SerializeToString()), out_type=tf.string)
    t.case("ParseTensor", s(tf.make_tensor_proto(1.0, shape=[3]).SerializeToString()), out_type=tf.float32)
    t.case("ParseTensor", s(tf.make_tensor_proto(1.0).SerializeToString()), out_type=tf.int32)
    t.case("ParseTensor", s([b"", b""]), out_type=tf.int32)
    t.case("ParseTensor", s(b"\x0a\x01"), out_type=tf.int32, expected="INVALID_ARGUMENT")


def raw(t):
    for d in ["float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16", "complex64", "complex128"]:
        v = np.array([1, 2, 100]).astype(d)
        for little in [True, False]:
            b = (v if little else v.byteswap() if not d.startswith("complex") else v).tobytes()
            t.case("DecodeRaw", s([b, b]), out_type=tf.as_dtype(d), little_endian=little)
            if not d.startswith("complex") and d != "float16":
                t.case("DecodePaddedRaw", s([b, b[:v.itemsize], b""]), np.int32(2 * v.itemsize), out_type=tf.as_dtype(d),
                       little_endian=little)
    t.case("DecodeRaw", s(b"\x01\x00\x01"), out_type=tf.bool)
    t.case("DecodeRaw", s([[b"ab"], [b"cd"]]), out_type=tf.uint8)
    t.case("DecodeRaw", np.zeros([0, 2], object), out_type=tf.int32)
    t.case("DecodeRaw", s([b"", b""]), out_type=tf.int32)
    t.case("DecodeRaw", s([b"abc"]), out_type=tf.int32)
    t.case("DecodeRaw", s([b"abcd", b"ab"]), out_type=tf.int16)
    for length in [0, -4, 6]:
        t.case("DecodePaddedRaw", s([b"abcd"]), np.int32(length), out_type=tf.int32)
    t.case("DecodePaddedRaw", s([b"abcd"]), np.array([4], np.int32), out_type=tf.int32)
    deflate = zlib.compressobj(9, zlib.DEFLATED, 31)
    gzipped = deflate.compress(b"hello" * 100) + deflate.flush()
    t.case("DecodeCompressed", s([b"a", b""]))
    t.case("DecodeCompressed", s([gzipped]), compression_type="GZIP")
    t.case("DecodeCompressed", s([zlib.compress(b"hello")]), compression_type="ZLIB")
    t.case("DecodeCompressed", s([b"hello"]), compression_type="ZLIB")
    t.case("DecodeCompressed", s([b"hello"]), compression_type="LZ")
    t.case("DecodeJSONExample", s(['{"features": {"feature": {"a": {"int64List": {"value": [1, "2"]}}}}}', "{}"]),
           expected=[s([example(a=ints(1, 2)), b""])])  # TensorFlow does not pack the numbers
    t.case("DecodeJSONExample", s('{"features": {"feature": {"a": {"bytesList": {"value": ["eA=="]}}}}}'))
    t.case("DecodeJSONExample", s("{"))


def csv(t):
    def case(records, defaults, **attrs):
        t.case("DecodeCSV", s(records), defaults, **attrs)

    i, f, text = np.array([7], np.int32), np.array([0.5], np.float32), s([b"d"])
    need = np.zeros([0], np.int32)
    case(["1,2.5,a", ",,", " 3 ,4,\"x\"\"y,\""], [i, f, text])
    case([["1\n", "2\r\n"]], [i])
    case(["1,2"], [np.int64(0), np.float64(0)])
    case(["1", ""], [need])
    case(["1,"], [need, need])
    case(["1,2,3"], [i, i])
    case([""], [i])
    case(["x"], [i])
    case(["1.5"], [i])
    case(["99999999999"], [i])
    case(["1;2"], [i, i], field_delim=";")
    case(["1;2"], [i, i], field_delim=";;")
    case(["NA,1"], [i, i], na_value="NA")
    case(["a,1,b,2"], [i, i], select_cols=[1, 3])
    case(["a,1"], [text], select_cols=[1])
    case(["a,1"], [text], select_cols=[2])
    case(["a,\"1,1\",2"], [i], select_cols=[2])
    case(["a,1"], [text, text], select_cols=[1, 0])
    case(["a,1"], [text, text], select_cols=[1])
    case(["a\"b"], [text])
    case(["\"a"], [text])
    case(["\"a\"b"], [text])
    case(["a\"b,\"c"], [text, text], use_quote_delim=False)
    case(["\"a\nb\""], [text])
    case(["a\nb"], [text])
    case(["1"], [np.array([1, 2], np.int32)])
    case(["1"], [np.array([[1]], np.int32)])
    t.case("DecodeCSV", s("5,6"), [i, i])


def files(t):
    t.case("ReadFile", s("/no/such/file"))
    t.case("ReadFile", s("/"))
    t.case("ReadFile", s(["/no/such/file"]))
    t.case("MatchingFiles", s("/no/such/directory/*"))
    t.case("MatchingFiles", s(["/no/such/file", "/et[c]", "/us?"]))


def add_cases(t):
    examples(t)
    sequences(t)
    tensors(t)
    raw(t)
    csv(t)
    files(t)
