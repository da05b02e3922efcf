"""Conditionals and loops; queues and readers; tables; SequenceExamples."""

import os
import tempfile

from registry import Result, case, each, floats

X = floats(4, 3)
QUIET = {"names": False}
UNKNOWN = {"names": False, "shapes": "C++ merges and loops keep less of the static shapes"}


def chosen(tf, value, **options):
    x, y = tf.placeholder(tf.int32, []), tf.constant(X)
    result = tf.cond(x < 2, lambda: {"a": y * 2.0, "b": [tf.constant(1)]},
                     lambda: {"a": y + 1.0, "b": [tf.constant(2)]}, **options)
    return Result(result, feed={x: value}, wrt=[y])


case("cond", lambda tf: chosen(tf, 1), **UNKNOWN)
case("cond", lambda tf: chosen(tf, 2, strict=True, name="given"), **UNKNOWN)
case("cond", lambda tf: tf.cond(tf.constant(True), lambda: tf.constant(1), lambda: tf.constant(2.0)))
case("cond", lambda tf: tf.cond(tf.constant(True), lambda: tf.constant(1), 3))
case("cond", lambda tf: tf.cond(True, lambda: tf.constant(1), lambda: tf.constant(2)))
for number in (0, 1, 5):
    def which(tf, number=number, **options):
        x = tf.placeholder(tf.int32, [])
        return Result(tf.case([(x < 1, lambda: tf.constant(10)), (x < 3, lambda: tf.constant(20))],
                              default=lambda: tf.constant(30), **options), feed={x: number})

    def switched(tf, number=number, **options):
        x = tf.placeholder(tf.int32, [])
        branches = [lambda: tf.constant(10), lambda: tf.constant(20), lambda: tf.constant(30)]
        return Result([tf.switch_case(x, branches, name="given"),
                       tf.switch_case(x, {0: branches[0], 1: branches[1]}, default=branches[2])], feed={x: number})

    case("case", which, **UNKNOWN)
    case("case", lambda tf, which=which: which(tf, exclusive=number > 0, name="given"), **UNKNOWN)
    case("switch_case", switched, **UNKNOWN)
case("case", lambda tf: tf.case([(tf.constant(True), 3)]))
case("switch_case", lambda tf: tf.switch_case(tf.constant(1), []))
case("switch_case", lambda tf: tf.switch_case(tf.constant(1), {0: lambda: tf.constant(1), 4: lambda: tf.constant(1)}))
case("switch_case", lambda tf: tf.switch_case(tf.constant(1), [3]))
case("switch_case", lambda tf: tf.switch_case(tf.constant(1.0), [lambda: tf.constant(1)]))


def loop(tf, **options):
    x = tf.constant(X)
    result = tf.while_loop(lambda i, a: i < 4, lambda i, a: [i + 1, a * x], [tf.constant(1), x], **options)
    return Result(result, wrt=[x])


case("while_loop", loop, **UNKNOWN)
case("while_loop", lambda tf: loop(tf, parallel_iterations=1, maximum_iterations=2, name="given",
                                   return_same_structure=True), **UNKNOWN)
case("while_loop", lambda tf: tf.while_loop(
    lambda i, a: i < 3, lambda i, a: (i + 1, tf.concat([a, a], 0)), [tf.constant(0), tf.constant([1.0])],
    shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])], back_prop=False), **UNKNOWN)
case("while_loop", lambda tf: tf.while_loop(3, lambda i: i, [tf.constant(1)]))
case("while_loop", lambda tf: tf.while_loop(lambda i: i < 3, lambda i: i + 1, []))
each("foldl foldr", lambda tf, f: f(lambda a, x: a - 2.0 * x, tf.constant(X), initializer=tf.constant([1.0, 2.0, 3.0]),
                                    name="given"),
     **UNKNOWN)
each("foldl foldr", lambda tf, f: f(lambda a, x: a - 2.0 * x, tf.constant(X), parallel_iterations=2, back_prop=False),
     **UNKNOWN)
case("scan", lambda tf: [tf.scan(lambda a, x: a - 2.0 * x, tf.constant(X), reverse=True, name="given"),
                         tf.scan(lambda a, x: a + x, tf.constant(X), initializer=tf.zeros([3]), parallel_iterations=2)],
     **UNKNOWN)


def mapped(tf):
    x = tf.constant(X)
    return Result([tf.map_fn(lambda v: v * v, x, parallel_iterations=2, name="given"),
                   tf.map_fn(lambda v: (v[0] + v[1], tf.cast(v[1], tf.int32)), (x, 2.0 * x),
                             dtype=(tf.float32, tf.int32)),
                   tf.map_fn(tf.reduce_sum, x, fn_output_signature=tf.float32)], wrt=[x])


case("map_fn", mapped, **UNKNOWN)


def filled(tf, queue):
    with tf.Session() as session:
        session.run(queue.enqueue_many([[3, 1, 2]], name="many"))
        session.run(queue.enqueue([4]))
        found = [queue.name, queue.dtypes, queue.shapes, session.run(queue.size()), session.run(queue.dequeue()),
                 session.run(queue.dequeue_many(2, name="two")), session.run(queue.is_closed())]
        session.run(queue.close(cancel_pending_enqueues=True))
        return found + [session.run(queue.dequeue_up_to(5)), session.run(queue.is_closed())]


for names in ("FIFOQueue", "PaddingFIFOQueue io.PaddingFIFOQueue"):
    each(names, lambda tf, f: filled(tf, f(10, [tf.int32], shapes=[[]], name="given")))
each("RandomShuffleQueue io.RandomShuffleQueue",
     lambda tf, f: sorted_values(tf, f(10, 0, [tf.int32], shapes=[[]], seed=3, name="given")))


def sorted_values(tf, queue):
    with tf.Session() as session:
        session.run(queue.enqueue_many([[3, 1, 2]]))
        return [queue.name, sorted(session.run(queue.dequeue_many(3)).tolist())]


def by_priority(tf, f):
    queue = f(10, [tf.string], shapes=[[]], name="given")
    with tf.Session() as session:
        session.run(queue.enqueue_many([tf.constant([3, 1, 2], tf.int64), ["c", "a", "b"]]))
        return [queue.name, queue.dtypes, [session.run(queue.dequeue()) for _ in range(3)]]


each("PriorityQueue io.PriorityQueue", by_priority)
each("QueueBase io.QueueBase", lambda tf, f: [
    isinstance(tf.FIFOQueue(3, tf.int32), f),
    f.from_list(tf.constant(1), [tf.FIFOQueue(3, tf.int32), tf.FIFOQueue(3, tf.int32)]).dtypes])
case("FIFOQueue", lambda tf: tf.FIFOQueue(3, [tf.int32, tf.float32], shapes=[[]]))
case("FIFOQueue", lambda tf: tf.FIFOQueue(3, tf.int32, names=["a"]).enqueue(1))
case("PaddingFIFOQueue", lambda tf: tf.PaddingFIFOQueue(3, [tf.int32], None))


def read_with(tf, reader, text=b"line 1\nline 2\nline 3\n"):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "file")
        with open(path, "wb") as file:
            file.write(text)
        queue = tf.FIFOQueue(2, [tf.string], shapes=[[]])
        key, value = reader.read(queue, name="given")
        with tf.Session() as session:
            session.run(queue.enqueue([path]))
            session.run(queue.close())
            found = [session.run(value), session.run(reader.num_records_produced()),
                     session.run(reader.num_work_units_completed())]
            return found + [isinstance(reader, tf.ReaderBase), reader.supports_serialize]


case("TextLineReader ReaderBase", lambda tf: read_with(tf, tf.TextLineReader(skip_header_lines=1, name="r")))
case("WholeFileReader", lambda tf: read_with(tf, tf.WholeFileReader(name="r")))
case("FixedLengthRecordReader",
     lambda tf: read_with(tf, tf.FixedLengthRecordReader(3, header_bytes=2, footer_bytes=1, name="r")))


def table(tf):
    keys = tf.constant(["a", "b"])
    t = tf.lookup.StaticVocabularyTable(tf.lookup.KeyValueTensorInitializer(keys, tf.constant([0, 1], tf.int64)), 3,
                                        name="given")
    n = tf.lookup.StaticVocabularyTable(None, num_oov_buckets=4, lookup_key_dtype=tf.string)
    return [t.lookup(tf.constant([["a", "x"], ["y", "b"]]), name="l"), t.size(), n.lookup(tf.constant(["3", "9"])),
            t.lookup(tf.SparseTensor([[0, 1]], ["b"], [1, 2]))]


case("lookup.StaticVocabularyTable", table, **QUIET)
case("lookup.StaticVocabularyTable", lambda tf: tf.lookup.StaticVocabularyTable(None, 0, lookup_key_dtype=tf.string))
case("lookup.StaticVocabularyTable", lambda tf: tf.lookup.StaticVocabularyTable(
    tf.lookup.KeyValueTensorInitializer(["a"], [1.0]), 2))


def sequences(tf):
    def example(n):
        numbers = tf.train.FeatureList(feature=[tf.train.Feature(int64_list=tf.train.Int64List(value=[i, n]))
                                                for i in range(n)])
        return tf.train.SequenceExample(
            context=tf.train.Features(feature={"c": tf.train.Feature(float_list=tf.train.FloatList(value=[n + 0.5]))}),
            feature_lists=tf.train.FeatureLists(feature_list={"s": numbers, "v": numbers})).SerializeToString()

    return tf.io.parse_sequence_example(
        tf.constant([example(2), example(1)]), {"c": tf.FixedLenFeature([], tf.float32)},
        {"s": tf.FixedLenSequenceFeature([2], tf.int64), "v": tf.VarLenFeature(tf.int64)}, name="given")


case("io.parse_sequence_example", sequences, **QUIET)
case("io.parse_sequence_example", lambda tf: tf.io.parse_sequence_example(tf.constant(["a"])))


def matched(tf):
    with tempfile.TemporaryDirectory() as folder:
        for name in "ab":
            open(os.path.join(folder, name), "w").close()
        files = tf.io.match_filenames_once(os.path.join(folder, "*"), name="given")
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            return [files.name, [os.path.basename(f).decode() for f in sorted(session.run(files))]]


case("io.match_filenames_once", matched)


def written(tf, f):
    with tempfile.TemporaryDirectory() as folder:
        tf.constant(1.0, name="c")
        path = f(tf.get_default_graph(), folder, "graph.pbtxt", as_text=True)
        binary = f(tf.get_default_graph().as_graph_def(), os.path.join(folder, "new"), "graph.pb", False)
        with open(binary, "rb") as file:
            nodes = [node.name for node in tf.GraphDef.FromString(file.read()).node]
        return [os.path.basename(path), nodes, os.path.getsize(path) > 0]


each("io.write_graph train.write_graph", written)
