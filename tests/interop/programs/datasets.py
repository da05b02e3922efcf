"""tf.data in the graph, through all kinds of iterators."""
import os
import tempfile

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
ds = tf.data.Dataset


def _all(s, dataset, n, once=True):
    """Records `n` elements (or the end) of a dataset by a one-shot and an initializable iterator."""
    iterator = tf1.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    s.run(iterator.initializer)
    for _ in range(n):
        s.run(element)
    if once:
        element = tf1.data.make_one_shot_iterator(dataset).get_next()
        for _ in range(n):
            s.run(element)


def slices_map_batch(s):
    _all(s, ds.from_tensor_slices(([1, 2, 3, 4, 5], ["a", "b", "c", "d", "e"])).map(lambda x, y: (x * 2, y + "!")).batch(2), 4)


def tensors_zip_concatenate(s):
    a = ds.from_tensors([1, 2])
    b = ds.from_tensors([3, 4])
    _all(s, ds.zip((a.concatenate(b), ds.range(10))), 3)


def ranges(s):
    for args in ((5,), (2, 8, 3), (5, 0, -2), (3, 3)):
        _all(s, ds.range(*args), 4)


def range_of_float(s):
    _all(s, ds.range(4, output_type=tf.float32), 5)


def take_skip_repeat(s):
    _all(s, ds.range(5).skip(1).take(3).repeat(2), 7)
    _all(s, ds.range(3).repeat(), 7)
    _all(s, ds.range(3).take(-1).skip(-1), 1)
    _all(s, ds.range(0).repeat(), 2)


def filter_and_flat_map(s):
    _all(s, ds.range(10).filter(lambda x: tf.equal(x % 3, 0)).flat_map(lambda x: ds.range(x, x + 2)), 9)


def interleaves(s):
    f = lambda x: ds.from_tensors(x).repeat(3)
    _all(s, ds.range(1, 6).interleave(f, cycle_length=2, block_length=2), 16)
    _all(s, ds.range(1, 6).interleave(f, cycle_length=3, block_length=1), 16)
    _all(s, ds.range(1, 6).interleave(f, cycle_length=2, block_length=1, num_parallel_calls=2), 16)


def shuffles(s):
    for size in (1, 2, 7, 19, 20, 100):
        _all(s, ds.range(20).shuffle(size, seed=1), 21)
    for reshuffle in (True, False):
        _all(s, ds.range(9).shuffle(4, seed=2, reshuffle_each_iteration=reshuffle).repeat(3), 28)
        _all(s, ds.range(9).shuffle(30, seed=2, reshuffle_each_iteration=reshuffle).repeat(3).batch(5), 6)
        _all(s, ds.range(3).repeat(4).shuffle(5, seed=3, reshuffle_each_iteration=reshuffle), 13)
        _all(s, ds.range(5).repeat(2).shuffle(3, reshuffle_each_iteration=reshuffle).repeat(), 25, once=False)
    _all(s, ds.range(6).apply(tf.data.experimental.shuffle_and_repeat(4, 3, seed=5)), 19)
    _all(s, ds.range(6).apply(tf.data.experimental.shuffle_and_repeat(50, seed=5)), 40, once=False)
    _all(s, ds.range(2).apply(tf.data.experimental.shuffle_and_repeat(50, seed=5)), 20, once=False)
    _all(s, ds.from_tensor_slices([1, 2, 3, 4, 5, 6]).shuffle(3).flat_map(
        lambda x: ds.range(4).shuffle(2, seed=7).map(lambda y: tf.cast(x, tf.int64) * 10 + y)), 25)
    # Each initialization starts anew.
    iterator = tf1.data.make_initializable_iterator(ds.range(8).shuffle(8).repeat(2))
    element = iterator.get_next()
    for _ in range(2):
        s.run(iterator.initializer)
        for _ in range(10):
            s.run(element)


def random_datasets(s):
    _all(s, ds.random(seed=4).take(9), 10)
    _all(s, ds.random().take(3).repeat(2), 7)
    _all(s, ds.random(seed=4, rerandomize_each_iteration=True).take(3).repeat(3), 10, once=False)
    numbers = lambda i: ds.range(100 * i, 100 * i + 20)
    _all(s, ds.sample_from_datasets([numbers(0), numbers(1), numbers(2)], seed=3), 61)
    _all(s, ds.sample_from_datasets([numbers(0), numbers(1)], [0.2, 0.8], seed=3, stop_on_empty_dataset=True), 30)
    _all(s, ds.sample_from_datasets([numbers(0), numbers(1)], [0.5, 0.5]), 41)
    classes = ds.from_tensor_slices([0, 0, 0, 1, 0, 2, 0, 0, 1, 0] * 3)
    for initial in (None, [0.7, 0.2, 0.1]):
        _all(s, classes.rejection_resample(lambda x: x, [0.3, 0.3, 0.4], initial, seed=6), 20)


def random_ops_in_maps(s):
    f = lambda x: tf.cast(x, tf.float32) + tf.random.uniform([2], seed=3)
    _all(s, ds.range(5).map(f), 6)
    _all(s, ds.range(3).map(f).repeat(2), 7)
    iterator = tf1.data.make_initializable_iterator(ds.range(4).shuffle(4, seed=1).map(f).batch(2))
    for _ in range(2):
        s.run(iterator.initializer)
        element = iterator.get_next()
        s.run(element)
        s.run(element)


def batches(s):
    _all(s, ds.range(7).batch(3), 4)
    _all(s, ds.range(7).batch(3, drop_remainder=True), 3)
    _all(s, ds.range(7).batch(3, num_parallel_calls=2), 4)
    _all(s, ds.range(7).map(lambda x: tf.fill([tf.cast(x, tf.int32)], x)).batch(2), 1, once=False)


def padded_batches(s):
    d = ds.range(1, 6).map(lambda x: (tf.fill([tf.cast(x, tf.int32)], x), tf.fill([2, tf.cast(x, tf.int32)], "ab")))
    _all(s, d.padded_batch(2, ([None], [2, None])), 4)
    _all(s, d.padded_batch(2, ([6], [3, 7]), padding_values=(tf.constant(-1, tf.int64), "x"), drop_remainder=True), 3)
    _all(s, d.padded_batch(2, ([2], [2, None])), 2, once=False)


def caches_and_shards(s):
    _all(s, ds.range(4).cache().repeat(2), 9)
    _all(s, ds.range(10).shard(3, 1), 4)


def prefetches(s):
    _all(s, ds.range(5).map(lambda x: x + 1).prefetch(2), 6)
    _all(s, ds.range(5).prefetch(tf.data.AUTOTUNE), 6)


def parallel_maps(s):
    _all(s, ds.range(10).map(lambda x: x * x, num_parallel_calls=3), 11)
    _all(s, ds.range(10).map(lambda x: x * x, num_parallel_calls=tf.data.AUTOTUNE).batch(4), 4)


def windows_and_unbatch(s):
    _all(s, ds.range(7).window(3, shift=2).flat_map(lambda w: w.batch(3)), 5)
    _all(s, ds.range(7).batch(3).unbatch(), 8)
    _all(s, ds.range(5).enumerate(start=3), 6)


def scans_and_others(s):
    _all(s, ds.range(5).scan(tf.constant(0, tf.int64), lambda a, x: (a + x, a * 10 + x)), 6)
    _all(s, ds.range(9).take_while(lambda x: x < 3), 4)
    _all(s, ds.from_tensor_slices([1, 2, 1, 3, 2]).unique(), 4)
    _all(s, ds.range(8).group_by_window(lambda x: x % 2, lambda k, d: d.batch(3), window_size=3), 5)
    _all(s, ds.choose_from_datasets([ds.range(3), ds.range(10, 13)], ds.from_tensor_slices(tf.constant([0, 1, 1, 0, 1], tf.int64))), 6)
    _all(s, ds.from_tensor_slices([1.0, 0.0, 4.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, "")).ignore_errors(), 3)


def options_and_map_and_batch(s):
    options = tf.data.Options()
    options.threading.private_threadpool_size = 2
    _all(s, ds.range(5).with_options(options), 6)
    _all(s, ds.range(5).apply(tf.data.experimental.map_and_batch(lambda x: x * 2, 2)), 4)


def initializable_with_feeds(s):
    n = tf1.placeholder(tf.int64, [])
    dataset = ds.range(n).map(lambda x: x * n)
    iterator = tf1.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    s.run(element)
    s.run(iterator.initializer, {n: 2})
    for _ in range(3):
        s.run(element)
    s.run(iterator.initializer, {n: 3})
    for _ in range(4):
        s.run(element)


def reinitializable(s):
    iterator = tf1.data.Iterator.from_structure(tf.int64, [])
    element = iterator.get_next()
    first = iterator.make_initializer(ds.range(2))
    second = iterator.make_initializer(ds.range(10, 13))
    s.run(first)
    s.run(element)
    s.run(second)
    for _ in range(4):
        s.run(element)


def feedable(s):
    handle = tf1.placeholder(tf.string, [])
    element = tf1.data.Iterator.from_string_handle(handle, tf.int64, []).get_next()
    a = tf1.data.make_one_shot_iterator(ds.range(3))
    b = tf1.data.make_initializable_iterator(ds.range(100, 102))
    ha, hb = s.session.run([a.string_handle(), b.string_handle()])
    s.run(b.initializer)
    for h in (ha, hb, ha, hb, hb, ha, ha):
        s.run(element, {handle: h})
    s.run(element, {handle: b"nonsense"})


def variables_in_maps(s):
    v = tf1.get_variable("v", initializer=tf.constant(3, tf.int64), use_resource=True)
    iterator = tf1.data.make_initializable_iterator(ds.range(4).map(lambda x: x * v))
    element = iterator.get_next()
    s.run(v.initializer)
    s.run(iterator.initializer)
    s.run(element)
    s.run(element)
    s.run(v.assign(10))
    s.run(iterator.initializer)
    s.run(element)
    s.run(element)


def control_flow_in_maps(s):
    f = lambda x: tf.cond(x > 2, lambda: x * 2, lambda: tf.while_loop(lambda i: i < 10, lambda i: i + x + 1, [x])[0])
    _all(s, ds.range(5).map(f), 6)


def errors_in_maps(s):
    d = ds.range(2, 4).map(lambda x: tf.reshape(tf.zeros([3]), [x]))
    _all(s, d, 3, once=False)
    _all(s, ds.from_tensor_slices([1.0, 0.0, 2.0]).map(lambda x: tf.debugging.check_numerics(1.0 / x, "bad")), 4)


def arguments_out_of_range(s):
    n = tf1.placeholder(tf.int64, [])
    for make in (lambda d: d.batch(n), lambda d: d.shuffle(n), lambda d: d.prefetch(n), lambda d: d.shard(n, 0), lambda d: d.window(n)):
        iterator = tf1.data.make_initializable_iterator(make(ds.range(3)))
        s.run(iterator.initializer, {n: -5})


def datasets_within_functions(s):
    _all(s, ds.range(1, 4).flat_map(lambda x: ds.range(x).cache().repeat(2)), 13)
    element = tf1.data.make_one_shot_iterator(ds.range(1, 4).flat_map(lambda x: ds.range(x).shuffle(3)).batch(6)).get_next()
    s.run(tf.sort(element))

    @tf.function
    def total(n):
        t = tf.constant(0, tf.int64)
        for x in ds.range(n):
            t += x
        return t

    @tf.function
    def first_two(n):
        iterator = iter(ds.range(n).map(lambda x: x * 3 + 1))
        return next(iterator), next(iterator)

    n = tf1.placeholder(tf.int64, [])
    for value in (0, 1, 5):
        s.run(total(n), {n: value})
        s.run(first_two(n), {n: value})


def optionals(s):
    iterator = tf1.data.make_initializable_iterator(ds.range(1))
    optional = tf.data.experimental.get_next_as_optional(iterator)
    has = optional.has_value()
    value = optional.get_value()
    s.run(iterator.initializer)
    s.run([has, value])
    s.run(has)
    s.run(value)


def single_element_and_reduce(s):
    s.run(ds.range(5).batch(10).get_single_element())
    s.run(ds.range(5).get_single_element())
    s.run(ds.range(5).reduce(tf.constant(0, tf.int64), lambda a, x: a + x))


def training_from_a_dataset(s):
    xs = np.linspace(-1, 1, 20).astype(np.float32)
    d = ds.from_tensor_slices((xs, 3 * xs + 1)).repeat().batch(5).prefetch(1)
    x, y = tf1.data.make_one_shot_iterator(d).get_next()
    w = tf1.get_variable("w", initializer=0.0)
    b = tf1.get_variable("b", initializer=0.0)
    loss = tf.reduce_mean((w * x + b - y) ** 2)
    train = tf1.train.GradientDescentOptimizer(0.1).minimize(loss)
    s.run(tf1.global_variables_initializer())
    for _ in range(8):
        s.run([loss, train])
    s.run([w, b])


def files(s):
    with tempfile.TemporaryDirectory() as folder:
        text = os.path.join(folder, "text")
        with open(text, "wb") as f:
            f.write(b"one\ntwo\r\n\nthree")
        _all(s, tf.data.TextLineDataset([text, text]).skip(1), 8, once=False)
        fixed = os.path.join(folder, "fixed")
        with open(fixed, "wb") as f:
            f.write(b"HHabcdefghF")
        _all(s, tf.data.FixedLengthRecordDataset(fixed, 4, 2, 1), 3, once=False)
        _all(s, tf.data.FixedLengthRecordDataset(fixed, 3, 2, 1), 1, once=False)
        for compression in ("", "GZIP", "ZLIB"):
            records = os.path.join(folder, "records" + compression)
            with tf.io.TFRecordWriter(records, compression) as w:
                for i in range(3):
                    w.write(b"record %d" % i * (i + 1))
            _all(s, tf.data.TFRecordDataset([records], compression), 4, once=False)
        with open(os.path.join(folder, "records"), "r+b") as f:
            f.seek(14)
            f.write(b"XX")
        _all(s, tf.data.TFRecordDataset([os.path.join(folder, "records")]), 1, once=False)
        _all(s, tf.data.TFRecordDataset([os.path.join(folder, "missing")]), 1, once=False)
        _all(s, tf.data.TFRecordDataset([os.path.join(folder, "recordsGZIP")] * 2, "GZIP", num_parallel_reads=2), 7, once=False)


def sparse_elements(s):
    """Inside of datasets a sparse tensor is a vector of three variants."""
    rows = tf.data.Dataset.from_tensor_slices(tf.sparse.from_dense([[0, 1, 0], [2, 0, 3], [0, 0, 0]]))
    _all(s, rows, 4)
    _all(s, rows.repeat(2).batch(4), 3)
    _all(s, rows.batch(2).map(tf.sparse.to_dense).unbatch(), 4)
    words = tf.data.Dataset.from_tensor_slices(["a b", "", "c"]).map(lambda t: tf1.strings.split([t], sep=" "))
    _all(s, words.batch(3), 2)
    features = {"x": tf.io.VarLenFeature(tf.int64), "y": tf.io.FixedLenFeature([], tf.float32)}
    examples = []
    for i in range(3):
        numbers = tf.train.Feature(int64_list=tf.train.Int64List(value=range(i)))
        examples.append(tf.train.Example(features=tf.train.Features(feature={
            "x": numbers, "y": tf.train.Feature(float_list=tf.train.FloatList(value=[i]))})).SerializeToString())
    parsed = tf.data.Dataset.from_tensor_slices(examples).map(lambda e: tf.io.parse_single_example(e, features))
    _all(s, parsed.shuffle(1).prefetch(1).batch(2), 3)
    _all(s, tf.data.Dataset.from_tensor_slices(examples).batch(2).map(lambda e: tf.io.parse_example(e, features)), 3)


def variants_that_are_no_sparse_tensors(s):
    raw = tf.raw_ops
    optional = raw.OptionalNone()
    for serialized in (tf.stack([optional] * 3), tf.stack([[optional] * 3])):
        s.run(raw.DeserializeSparse(serialized_sparse=serialized, dtype=tf.int32))
    sparse = tf.sparse.from_dense([[0, 1], [2, 0]])
    with tf.device(s.ps):
        there = raw.SerializeManySparse(sparse_indices=sparse.indices, sparse_values=sparse.values,
                                        sparse_shape=sparse.dense_shape, out_type=tf.variant)
    with tf.device(s.worker(1)):
        for dtype in (tf.int32, tf.float32):
            s.run(raw.DeserializeSparse(serialized_sparse=there, dtype=dtype))
        one = raw.DeserializeSparse(serialized_sparse=there[1], dtype=tf.int32)
    s.run(one)
