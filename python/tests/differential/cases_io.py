"""Files, parsing of records, tables."""

import os
import tempfile

import numpy as np
from registry import Result, case, floats

FOLDER = tempfile.gettempdir()
WORDS = os.path.join(FOLDER, "tensorbraid_differential_words.txt")


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def field(number, data):
    return bytes([number << 3 | 2]) + varint(len(data)) + data


def feature(value):
    """A Feature of floats, integers or bytes."""
    if isinstance(value[0], float):
        return field(2, field(1, np.array(value, np.float32).tobytes()))
    if isinstance(value[0], int):
        return field(3, field(1, b"".join(varint(v) for v in value)))
    return field(1, b"".join(field(1, v) for v in value))


def features(values):
    return b"".join(field(1, field(1, key.encode()) + field(2, feature(value))) for key, value in values.items())


def example(**values):
    """A serialized Example."""
    return field(1, features(values))


FIRST = example(x=[1.0, 2.0], n=[7], words=[b"a", b"b"], at=[3], value=[5.0])
SECOND = example(x=[3.0, 4.0], words=[b"c"])


def wanted(tf):
    return {"x": tf.FixedLenFeature([2], tf.float32), "n": tf.FixedLenFeature([], tf.int64, default_value=-1),
            "words": tf.VarLenFeature(tf.string), "seq": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True),
            "sparse": tf.SparseFeature("at", "value", tf.float32, 10)}


def sequence(**lists):
    """A serialized SequenceExample with the context feature "n"."""
    body = b"".join(field(1, field(1, key.encode()) + field(2, b"".join(field(1, feature([v])) for v in values)))
                    for key, values in lists.items())
    return field(1, features({"n": [9]})) + field(2, body)


LESS = {"names": False, "shapes": "the shape rule of C++ knows less"}
case(
    "parse_example io.parse_example FixedLenFeature FixedLenSequenceFeature VarLenFeature SparseFeature "
    "io.FixedLenFeature "
     "io.FixedLenSequenceFeature io.VarLenFeature io.SparseFeature",
     lambda tf: tf.parse_example([FIRST, SECOND], wanted(tf), name="given", example_names=["a", "b"]), **LESS)
case("parse_single_example io.parse_single_example",
     lambda tf: tf.parse_single_example(FIRST, wanted(tf), name="given"), **LESS)
case("parse_single_example", lambda tf: tf.parse_single_example(SECOND, {"n": tf.FixedLenFeature([], tf.int64)}),
     **LESS)
case("parse_example", lambda tf: tf.parse_example([FIRST], {}))
case("parse_example", lambda tf: tf.parse_example([FIRST], {"x": 3}))
case("parse_single_sequence_example io.parse_single_sequence_example", lambda tf: tf.parse_single_sequence_example(
    sequence(tokens=[b"a", b"b"], ids=[4, 5, 6]), {"n": tf.FixedLenFeature([], tf.int64)},
    {"tokens": tf.FixedLenSequenceFeature([], tf.string), "ids": tf.VarLenFeature(tf.int64)}, name="given"), **LESS)
case("decode_raw io.decode_raw", lambda tf: [
    tf.decode_raw([b"\1\2\3\4"], tf.uint8), tf.io.decode_raw([b"\1\2\3\4"], tf.int16, little_endian=False,
                                                             name="given"),
    tf.decode_raw(bytes=[b"\1\0\0\0"], out_type=tf.int32)])
case("decode_csv io.decode_csv", lambda tf: [
    tf.decode_csv(["1,2.5,a", "3,,b"], [[0], [1.5], [""]]),
    tf.io.decode_csv(["1;\"2\";NA"], [[0], [3]], field_delim=";", use_quote_delim=True, na_value="NA",
                     select_cols=[0, 2],
                     name="given")])
case("decode_csv", lambda tf: tf.decode_csv(["1,2"], [[0]], select_cols=[1, 0]))
case("decode_csv", lambda tf: tf.decode_csv(["x"], [[0]]))
case("decode_compressed io.decode_compressed", lambda tf: tf.decode_compressed(
    [__import__("zlib").compress(b"text")], compression_type="ZLIB", name="given"))
case("decode_json_example io.decode_json_example",
     lambda tf: tf.parse_example(tf.decode_json_example(
         ['{"features": {"feature": {"a": {"int64List": {"value": [1]}}}}}'], name="given"),
         {"a": tf.FixedLenFeature([], tf.int64)}), **LESS)
case("serialize_tensor io.serialize_tensor parse_tensor io.parse_tensor", lambda tf: tf.parse_tensor(
    tf.serialize_tensor(tf.constant(floats(2, 3)), name="s"), tf.float32, name="given"))


def files(tf):
    path = WORDS + ".written"
    with tf.control_dependencies([tf.write_file(path, "contents", name="w")]):
        text = tf.read_file(tf.identity(tf.constant(path)), name="given")
        with tf.control_dependencies([text]):
            found = tf.io.matching_files(path + "*", name="m")
    return Result([text, found])


case("read_file write_file matching_files io.read_file io.write_file io.matching_files", files, names=False)
case("read_file", lambda tf: tf.read_file("/nowhere/at/all"))


def table(tf):
    init = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2], tf.string, tf.int64, name="init")
    found = tf.lookup.StaticHashTable(init, -1, name="table")
    sparse = tf.SparseTensor([[0, 1], [2, 0]], ["b", "x"], [3, 2])
    return [found.lookup(tf.constant([["a", "no"], ["b", "a"]]), name="given"), found.size(name="size"),
            found.lookup(sparse),
            found[tf.constant("b")], found.key_dtype, found.value_dtype]


def table_of_file(tf):
    with open(WORDS, "w") as out:
        out.write("zero\none\ntwo\n")
    init = tf.lookup.TextFileInitializer(WORDS, tf.string, tf.lookup.TextFileIndex.WHOLE_LINE, tf.int64,
                                         tf.lookup.TextFileIndex.LINE_NUMBER, vocab_size=3, name="file")
    return tf.lookup.StaticHashTable(init, 99).lookup(tf.constant(["two", "three"]))


def initialized(tf):
    found = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], ["x", "y"]), "?")
    value = found.lookup(tf.constant([2, 3]))
    with tf.Session() as session:
        session.run(tf.tables_initializer(name="given"))
        return session.run(value)


case("lookup.StaticHashTable lookup.KeyValueTensorInitializer", table, names=False)
case("lookup.StaticHashTable lookup.TextFileInitializer lookup.TextFileIndex", table_of_file, names=False)
case("tables_initializer initialize_all_tables", initialized)
case("lookup.StaticHashTable", lambda tf: tf.lookup.StaticHashTable(
    tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1).lookup(tf.constant([1, 2])))
