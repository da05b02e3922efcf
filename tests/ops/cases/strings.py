"""Rows of the string ops: text, hashes, numbers, regular expressions, joining and splitting, Unicode."""
import numpy as np
import tensorflow as tf


def s(v):
    """Strings as TensorFlow has them: bytes that may end with zeros."""
    def encoded(x):
        return [encoded(i) for i in x] if isinstance(x, list) else x.encode() if isinstance(x, str) else x
    return np.array(encoded(v), dtype=object)


def i32(*v):
    return np.array(v, np.int32)


def i64(*v):
    return np.array(v, np.int64)


EMPTY = np.zeros([0, 2], object)


def text(t):
    t.case("StringStrip", s([[" \t\r\n\x0b\x0ca b \x00", " "], ["", "x"]]))
    t.case("StringLength", s(["hé", b"\xff\xbf", ""]))
    t.case("StringLength", s(["hé", b"\xff\xbf", ""]), unit="UTF8_CHAR")
    t.case("StringLower", s("ÀÉabCİß"))
    t.case("StringUpper", s("ÀÉabCİß"))
    t.case("StringLower", s(["ÀÉabCİΣ", b"\xffA"]), encoding="utf-8")
    t.case("StringUpper", s(["ÀÉabCİß", b"\xffa"]), encoding="utf-8")
    t.case("StringLower", s("A"), encoding="latin1")
    t.case("StringLower", EMPTY)
    for unit in ["BYTE", "UTF8_CHAR"]:
        for pos, length in [(0, 2), (-3, 2), (5, 1), (6, 1), (-6, 1), (2, -1), (2, 100), (-1, 0)]:
            t.case("Substr", s("héllo" if unit == "UTF8_CHAR" else "hello"), np.int32(pos), np.int32(length), unit=unit)
        t.case("Substr", s(b"\xbfa\xff\xbfb"), np.int64(1), np.int64(1), unit=unit)
    t.case("Substr", s([["hello"], ["world"]]), i32(0, 1), i32(2, 3))
    t.case("Substr", s("hello"), i64(0, 1), i64(2, 3))
    t.case("Substr", s(["hello", "ab"]), np.int64(1), np.int64(2))
    t.case("Substr", s("hello"), i32(0, 1), i32(2))
    t.case("Substr", s(["hello", "a", "b"]), i32(0, 1), i32(2, 1))
    for pad in [False, True]:
        t.case("EncodeBase64", s(["", "a", "ab", "abc", b"\xff\xfe\xfd"]), pad=pad)
    for v in ["YQ", "YQ==", "YQ=", "Y", "YR", "__79", "//79", "a b", "YQ==YQ==", "====", "YQ\n", ""]:
        t.case("DecodeBase64", s(v))


def hashes(t):
    samples = s(["", "a", "seven b", "8 bytes.", "nine byte", "x" * 20, "y" * 40, "z" * 64, "w" * 65, "v" * 200, b"\xff\x00\x01"])
    for buckets in [1, 10, 2**62 + 1]:
        for op in ["StringToHashBucket", "StringToHashBucketFast"]:
            t.case(op, samples, num_buckets=buckets)
        t.case("StringToHashBucketStrong", samples, num_buckets=buckets, key=[1, -2])
    t.case("StringToHashBucketFast", EMPTY, num_buckets=3)
    t.case("StringToHashBucketFast", s("a"), num_buckets=0)
    t.case("StringToHashBucketStrong", s("a"), num_buckets=10, key=[1, 2, 3])
    for data in [i32(1, 2, 3), np.arange(12.0).reshape(3, 4), np.zeros([0, 2], np.float32), np.zeros([2, 0], np.float32),
                 s(["a", "b"]), s([["a", "b"]]), np.array([True, False])]:
        t.case("Fingerprint", data, s("farmhash64"))
    t.case("Fingerprint", s(["a"]), s("md5"))
    t.case("Fingerprint", s("a"), s("farmhash64"))
    t.case("Fingerprint", s(["a"]), s(["farmhash64"]))


def numbers(t):
    for d in ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]:
        t.case("AsString", np.array([1, 0, 100]).astype(d))
        t.case("AsString", np.array([1, 0, 100]).astype(d), width=6, fill="0")
    for d in ["float16", "float32", "float64", "complex64", "complex128"]:
        v = np.array([[1.5, -1000, 0], [np.nan, np.inf, -0.0]]).astype(d)
        for attrs in [{}, {"precision": 2}, {"scientific": True}, {"shortest": True}, {"width": 9, "precision": 1},
                      {"width": 12, "fill": "0"}, {"width": 12, "fill": "-"}, {"fill": "+"}]:
            t.case("AsString", v[:1] if d.startswith("complex") else v, **attrs)
    t.case("AsString", np.array([1.5, -2]).astype(tf.bfloat16.as_numpy_dtype))
    t.case("AsString", np.array([2**63 - 1, -(2**63)], np.int64))
    t.case("AsString", np.array([2**64 - 1], np.uint64))
    t.case("AsString", np.array([True, False]), width=10)
    for attrs in [{}, {"width": 4}, {"width": 4, "fill": "-"}, {"width": 4, "fill": "0"}, {"precision": 1}]:
        t.case("AsString", s(["a", "", "longer"]), **attrs)
    for attrs in [{"precision": 2}, {"scientific": True}, {"shortest": True}, {"width": 6, "fill": "x"}, {"fill": "00"}]:
        t.case("AsString", i32(1), **attrs)
    t.case("AsString", np.float32(1), shortest=True, scientific=True)
    reals = [" 1 ", "1e40", "inf", "-Infinity", "nan", "0x1p3", "0x10", "-0", "+3", "1e-50", "3.4028236e38", "5e-324", ".5", "1."]
    for v in ["", " ", "1_0", "1e", "1.5x", "+-3", "--3", "0x", "1 2", b"1\x00"]:
        for out in [tf.float32, tf.int32]:
            t.case("StringToNumber", s(v), out_type=out)
    for out in [tf.float32, tf.float64]:
        t.case("StringToNumber", s(reals), out_type=out)
    for out, low, high in [(tf.int32, -2**31, 2**31), (tf.int64, -2**63, 2**63), (tf.uint32, 0, 2**32), (tf.uint64, 0, 2**64)]:
        t.case("StringToNumber", s([str(low), str(high - 1), " +7\n", "007"]), out_type=out)
        for v in [str(low - 1), str(high), "1.0", "0x10"]:
            t.case("StringToNumber", s(v), out_type=out)
    t.case("StringToNumber", EMPTY)


def formats(t):
    x = np.arange(120).reshape(2, 3, 4, 5)
    for summarize in [-1, 0, 1, 2, 3]:
        t.case("StringFormat", [x, i32(1, 2, 3), np.zeros([0]), np.zeros([2, 0, 1])],
               template="%s|%s|%s|%s", summarize=summarize)
    values = [s(["a\n\"b", "é"]), np.array([True, False]), np.array([1 + 2j]), np.float32(1e-7), np.float64(1 / 3),
              np.float32(1e20), np.array([1, -2], np.int8), np.float16(0.1), np.float32(np.nan), np.float64(-np.inf), s("x")]
    for v in values:
        t.case("StringFormat", [v], template="a{}b", placeholder="{}")
    t.case("StringFormat", [i32(1)], template="")
    t.case("StringFormat", [i32(1)], template="%s %s")


def regexes(t):
    t.case("RegexReplace", s(["abc", "aXc", ""]), s(r"a(.)"), s(r"\1-\0"))
    t.case("RegexReplace", s([["aaa"]]), s("a"), s("b"), replace_global=False)
    t.case("RegexReplace", s("abc"), s(""), s("-"))
    t.case("RegexReplace", s("aaa"), s("(a"), s("b"))
    t.case("RegexReplace", s("aaa"), s("a"), s(r"\3"))
    t.case("RegexReplace", s("aaa"), s(["a"]), s("b"))
    t.case("StaticRegexReplace", s(["abc", "héllo"]), pattern=r"[é-]|b", rewrite="_")
    t.case("StaticRegexReplace", s(["aaa"]), pattern=r"a", rewrite="b", replace_global=False)
    t.case("StaticRegexReplace", s(["aaa"]), pattern=r"a", rewrite=r"\3")
    t.case("StaticRegexReplace", s(["aaa"]), pattern=r"a[", rewrite="b")
    t.case("RegexFullMatch", s([["aaa", "ab"], ["", "a"]]), s("a+"))
    t.case("RegexFullMatch", s("a"), s("a+)"))
    t.case("RegexFullMatch", s("a"), s(["a"]))
    t.case("StaticRegexFullMatch", s(["a.b", "acb"]), pattern=r"a\.b")
    t.case("StaticRegexFullMatch", s("a"), pattern="*")


def joins(t):
    t.case("StringJoin", [s(["a", "b"]), s("-"), s(["c", "d"])])
    t.case("StringJoin", [s("a"), s("b")], separator=", ")
    t.case("StringJoin", [s(["a"])])
    t.case("StringJoin", [])
    t.case("StringJoin", [EMPTY, s("x")])
    t.case("StringJoin", [s(["a"]), s(["a", "b"])])
    matrix = s([["a", "b"], ["c", "d"]])
    # No axis here is out of range, because the error for such an axis has one code while the graph is built and another
    # at run time. The function scalars_and_vectors of tests/interop/programs/messages.py tests this error.
    for axes in [[0], [1], [-1], [0, 1], [1, 0], [], [0, 0], [0, -2]]:
        t.case("ReduceJoin", matrix, i32(*axes), separator=".")
    t.case("ReduceJoin", matrix, i32(1), keep_dims=True)
    t.case("ReduceJoin", s([[["a", "b"], ["c", "d"]], [["e", "f"], ["g", "h"]]]), i32(2, 0), separator=",")
    t.case("ReduceJoin", np.zeros([2, 0], object), i32(1))
    t.case("ReduceJoin", EMPTY, i32(1))
    t.case("ReduceJoin", s("x"), i32())
    t.case("ReduceJoin", s(["x", "y"]), np.int32(0))
    rows = s([["a", "b"], ["c", "d"], ["e", "f"]])
    t.case("UnsortedSegmentJoin", rows, i32(0, 0, 2), np.int32(3), separator="+")
    t.case("UnsortedSegmentJoin", rows, i64([0, 1], [1, 0], [3, 3]), np.int64(4), separator="+")
    t.case("UnsortedSegmentJoin", rows, i32(0, 0, 3), np.int32(3))
    t.case("UnsortedSegmentJoin", rows, i32(0, -1, 2), np.int32(3))
    t.case("UnsortedSegmentJoin", rows, i32(0, 0), np.int32(3))
    t.case("UnsortedSegmentJoin", rows, i32(0, 0, 0), np.int32(-3))
    t.case("UnsortedSegmentJoin", EMPTY, i32(), np.int32(2))


def splits(t):
    lines = s([" a, b,,c ", "", "x\ty"])
    for sep in ["", " ", ",", ", "]:
        for skip in [True, False]:
            t.case("StringSplit", lines, s(sep), skip_empty=skip)
        for most in [-1, 0, 1, 2, 3, -5]:
            t.case("StringSplitV2", lines, s(sep), maxsplit=most)
    t.case("StringSplit", np.zeros([0], object), s(","))
    t.case("StringSplitV2", np.zeros([0], object), s(","))
    t.case("StringSplit", s("a"), s(" "))
    t.case("StringSplit", s(["a"]), s([" "]))
    t.case("StringSplitV2", s(["a"]), s([" "]))
    data = s(["a", "b", "c", "d"])

    def ngrams(splits, widths, pad_width, preserve=False, left="L", right="R", **attrs):
        t.case("StringNGrams", data, splits, separator="|", ngram_widths=widths, left_pad=left, right_pad=right,
               pad_width=pad_width, preserve_short_sequences=preserve, **attrs)

    ngrams(i64(0, 3, 4), [2, 1], -1)
    ngrams(i32(0, 3, 3, 4), [2, 1], -1)
    ngrams(i64(0, 3, 4), [3], 1, True)
    ngrams(i64(0, 3, 3, 4), [3], 0, True)
    ngrams(i64(0, 3, 4), [3], 0)
    ngrams(i64(0, 3, 4), [7], 2, True)
    ngrams(i64(0, 3, 4), [7], 2, True, left="")
    ngrams(i64(0, 4), [], 0, True)
    for bad in [(0, 3), (1, 4), (0, 3, 2, 4), (0, 5), (0,)]:
        ngrams(i64(*bad), [1], 0)
    ngrams(i64(), [1], 0)
    ngrams(i64(0, 4), [0], 0)


def unicode(t):
    t.case("UnicodeScript", i32(97, 1041, 0x4E00, -1, 0x110000, 32, 0x0378))
    raw = s([b"a\xc3\xa9", b"\xff\x00b\xe4\xb8", b"", b"\x00A\xd8\x00"])
    for errors in ["strict", "replace", "ignore"]:
        for encoding in ["UTF-8", "UTF-16-BE", "UTF-32-BE", "latin1", "US-ASCII", "shift_jis", "windows-1252"]:
            t.case("UnicodeDecodeWithOffsets", raw, input_encoding=encoding, errors=errors,
                   replace_control_characters=errors == "replace")
    t.case("UnicodeDecode", raw[:1], input_encoding="UTF-8", errors="strict")
    t.case("UnicodeDecode", s([["a"], ["ü"]]), input_encoding="UTF-8", Tsplits=tf.int32)
    t.case("UnicodeDecode", s("a"), input_encoding="nonsense")
    t.case("UnicodeDecode", s(b"\xff"), input_encoding="UTF-8", replacement_char=0x110000)
    points = i32(97, 0x1F600, 0xD800, 0x110000, -1, 0xFFFE)
    for out in ["UTF-8", "UTF-16-BE", "UTF-32-BE"]:
        for errors in ["strict", "replace", "ignore"]:
            t.case("UnicodeEncode", points, i64(0, 2, 2, 6), errors=errors, output_encoding=out, replacement_char=63)
            t.case("UnicodeTranscode", s(["aé\x01", b"\xffb"]), input_encoding="UTF-8", errors=errors, output_encoding=out,
                   replacement_char=63, replace_control_characters=True)
        t.case("UnicodeTranscode", s([[b"a\xe9\x01", b"\x81b"]]), input_encoding="windows-1252", output_encoding=out)
    t.case("UnicodeEncode", i32(97, 98), i32(0, 2), output_encoding="UTF-8")
    for bad in [(1, 2), (0, 7), (0, 3, 2, 6), (), (0, 2)]:
        t.case("UnicodeEncode", i32(97, 98, 99, 100, 101, 102), i64(*bad), output_encoding="UTF-8")


def add_cases(t):
    text(t)
    hashes(t)
    numbers(t)
    formats(t)
    regexes(t)
    joins(t)
    splits(t)
    unicode(t)
