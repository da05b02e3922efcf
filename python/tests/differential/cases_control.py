"""Assertions, grouping, printing."""

import sys

import numpy as np
from registry import Result, case, each, floats, op

X = floats(2, 3)
I32 = np.array([1, 2, 3], np.int32)
QUIET = {"names": False}

for name, good, bad in (
    ("assert_equal", (I32, I32), (I32, [1, 2, 4])), ("assert_none_equal", (I32, [0, 0, 0]), (I32, [0, 2, 0])),
    ("assert_less", (I32, 4), (I32, 3)), ("assert_less_equal", (I32, 3), (I32, 2)),
    ("assert_greater", (I32, 0), (I32, 1)), ("assert_greater_equal", (I32, 1), (I32, 2)),
    ("assert_near", (X, X + 1e-7), (X, X + 1)), ("assert_negative", (-I32,), (I32,)),
    ("assert_positive", (I32,), (I32 - 1,)),
    ("assert_non_negative", (I32,), (-I32,)), ("assert_non_positive", (-I32,), (I32,)),
):
    def placed(tf, f, values, **arguments):
        with tf.control_dependencies([f(*values, **arguments)]):
            return tf.identity(tf.constant(1.0), name="result")

    def fed(tf, f, values):
        x = tf.placeholder(tf.float32 if values[0].dtype == np.float32 else tf.int32)
        with tf.control_dependencies([f(x, *values[1:])]):
            return Result(tf.identity(x), feed={x: values[0]})

    names = f"{name} debugging.{name}"
    each(names, lambda tf, f, v=good, placed=placed: placed(tf, f, v, message="m", summarize=2, name="given"), **QUIET)
    each(names, lambda tf, f, v=good, fed=fed: fed(tf, f, v), **QUIET)
    each(names, lambda tf, f, v=bad, fed=fed: fed(tf, f, v), **QUIET)
    if name != "assert_near":
        each(names, lambda tf, f, v=bad, placed=placed: placed(tf, f, v, data=["d"]), **QUIET)
for name, good, bad in (
    ("assert_rank", 2, 1), ("assert_rank_at_least", 1, 3), ("assert_rank_in", [1, 2], [0, 3]), ("assert_rank", 2, [2]),
):
    def checked(tf, f, rank, known):
        x = tf.placeholder(tf.float32, [None, 3] if known else None)
        with tf.control_dependencies([f(x, rank, message="m")]):
            return Result(tf.identity(x), feed={x: X})

    for rank in (good, bad):
        for known in (True, False):
            each(f"{name} debugging.{name}", lambda tf, f, r=rank, k=known, checked=checked: checked(tf, f, r, k),
                 **QUIET)
op("assert_integer debugging.assert_integer", I32, message="m")
op("assert_integer debugging.assert_integer", X, message="m")
case("assert_type debugging.assert_type", lambda tf: tf.assert_type(tf.constant(X), tf.float32, name="given"), **QUIET)
case("assert_type debugging.assert_type", lambda tf: tf.assert_type(tf.constant(X), tf.int32, message="m"))
op("assert_scalar debugging.assert_scalar", 3, name="given", _options=QUIET)
op("assert_scalar debugging.assert_scalar", X, message="m")
case("assert_proper_iterable debugging.assert_proper_iterable", lambda tf: tf.assert_proper_iterable([tf.constant(1)]))
case("assert_proper_iterable", lambda tf: tf.assert_proper_iterable(tf.constant(X)))
case("assert_proper_iterable", lambda tf: tf.assert_proper_iterable("text"))
case("assert_same_float_dtype debugging.assert_same_float_dtype",
     lambda tf: [tf.assert_same_float_dtype([tf.constant(X)]), tf.assert_same_float_dtype([tf.constant(X)], tf.float32),
                 tf.assert_same_float_dtype()])
case("assert_same_float_dtype", lambda tf: tf.assert_same_float_dtype([tf.constant(X)], tf.float64))
case("assert_same_float_dtype", lambda tf: tf.assert_same_float_dtype([tf.constant(I32)]))
case("is_numeric_tensor debugging.is_numeric_tensor",
     lambda tf: [tf.is_numeric_tensor(tf.constant(X)), tf.is_numeric_tensor(tf.constant("a")), tf.is_numeric_tensor(3)])
case("is_tensor",
     lambda tf: [tf.is_tensor(tf.constant(X)), tf.is_tensor(3), tf.is_tensor(tf.SparseTensor([[0]], [1], [2]))])
for name in ("is_non_decreasing", "is_strictly_increasing"):
    op(f"{name} math.{name} debugging.{name}", [1, 2, 2, 3], name="given", _options=QUIET)
    op(f"{name} math.{name}", [1, 2, 3], _options=QUIET)


def asserted(tf, condition):
    x = tf.placeholder(tf.bool, [])
    with tf.control_dependencies([tf.Assert(x, [tf.constant(X), "text"], summarize=2, name="given")]):
        return Result(tf.identity(tf.constant(1)), feed={x: condition})


case("Assert debugging.Assert", lambda tf: asserted(tf, True), **QUIET)
case("Assert debugging.Assert", lambda tf: asserted(tf, False), **QUIET)
case("group", lambda tf: [tf.group(), tf.group(tf.constant(1), [tf.constant(2), {"a": tf.constant(3)}], name="given")])
case("group", lambda tf: tf.group(tf.constant(1), nothing=True))
case("group", lambda tf: tf.group(3))
case("tuple", lambda tf: tf.tuple([tf.constant(1), tf.constant(X)]))
case("tuple", lambda tf: tf.tuple([tf.constant(1), None, tf.constant(X)], name="given", control_inputs=[tf.no_op()]))
case("tuple", lambda tf: tf.tuple([None]))
case("no_op", lambda tf: [tf.no_op(), tf.no_op("given"), tf.no_op(name="given")])


def printed(tf):
    x = tf.constant(X)
    y = tf.Print(x, [x, tf.constant("a")], message="m", first_n=1, summarize=2, name="given")
    return Result([y, tf.Print(x, [x])], wrt=[x])


case("Print", printed)
case("print", lambda tf: tf.print("x =", tf.constant(I32), 3, output_stream=sys.stderr, summarize=1, sep=", ",
                                  end="!\n", name="given"),
     names=False)
case("print", lambda tf: tf.print(tf.constant(I32), wrong=1))
case("timestamp", lambda tf: tf.timestamp(name="given"), values=False)
