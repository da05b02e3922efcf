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


def _goes_on(s, dataset, before, after):
    """Saves the position after `before` elements and reads `after` more. Then restores the position and reads them
    again, and restores it in a new session too."""
    iterator = tf1.data.make_initializable_iterator(dataset)
    element = iterator.get_next()
    saver = tf1.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tempfile.TemporaryDirectory() as directory:
        s.run(iterator.initializer)
        for _ in range(before):
            s.run(element)
        path = saver.save(s.session, os.path.join(directory, "input"), write_meta_graph=False)
        for _ in range(after):
            s.run(element)
        saver.restore(s.session, path)
        for _ in range(after):
            s.run(element)
        with tf1.Session(s.target, config=tf1.ConfigProto(operation_timeout_in_ms=20000)) as other:
            other.run(iterator.initializer)
            saver.restore(other, path)
            s.record(other.run(element))


def positions_of_sources(s):
    numbers = ds.from_tensor_slices((np.arange(24).reshape(12, 2), [f"n{i}" for i in range(12)]))
    _goes_on(s, numbers, 5, 8)
    _goes_on(s, ds.range(3, 40, 4), 3, 5)
    with tempfile.TemporaryDirectory() as directory:
        paths = []
        for k in range(3):
            paths.append(os.path.join(directory, f"lines{k}"))
            with open(paths[-1], "w") as f:
                f.write("".join(f"{k}:{i}\n" for i in range(5)))
        _goes_on(s, tf.data.TextLineDataset(paths), 7, 9)
        for k in range(2):
            with tf.io.TFRecordWriter(paths[k]) as writer:
                for i in range(6):
                    writer.write(f"{k}-{i}".encode())
        _goes_on(s, tf.data.TFRecordDataset(paths[:2]).shuffle(4, seed=1), 5, 8)
        _goes_on(s, ds.from_tensor_slices(paths[:2]).interleave(tf.data.TFRecordDataset, cycle_length=2), 5, 8)


def positions_of_pipelines(s):
    numbers = ds.range(10)
    _goes_on(s, numbers.shuffle(4, seed=3), 4, 7)
    _goes_on(s, numbers.shuffle(4, seed=3).repeat(), 17, 15)
    _goes_on(s, numbers.shuffle(4, seed=3, reshuffle_each_iteration=False).repeat(3), 17, 14)
    _goes_on(s, numbers.apply(tf.data.experimental.shuffle_and_repeat(20, 3, seed=3)), 17, 14)
    _goes_on(s, numbers.map(lambda x: x * x).batch(3).repeat(2), 3, 6)
    _goes_on(s, numbers.map(lambda x: x * x, num_parallel_calls=3).prefetch(2).take(8), 3, 6)
    _goes_on(s, numbers.filter(lambda x: x % 3 != 1).skip(2).shard(2, 1), 1, 3)
    _goes_on(s, numbers.flat_map(lambda x: ds.range(x).map(lambda y: x * 10 + y)), 12, 20)
    _goes_on(s, numbers.interleave(lambda x: ds.range(x), cycle_length=3, block_length=2), 12, 20)
    _goes_on(s, ds.zip((numbers, numbers.repeat(2))).concatenate(ds.zip((numbers, numbers))), 11, 9)
    _goes_on(s, numbers.batch(4).unbatch().padded_batch(3, []), 2, 3)
    _goes_on(s, numbers.cache().repeat(3), 5, 20)
    _goes_on(s, numbers.cache().repeat(3), 15, 12)
    _goes_on(s, numbers.scan(np.int64(0), lambda a, x: (a + x, a * x)), 4, 7)
    _goes_on(s, numbers.repeat(2).unique(), 4, 7)
    _goes_on(s, numbers.group_by_window(lambda x: x % 3, lambda k, w: w.batch(2), 2), 2, 5)
    _goes_on(s, numbers.take_while(lambda x: x < 7), 3, 5)
    _goes_on(s, ds.sample_from_datasets([numbers, ds.range(100, 120)], seed=5), 9, 15)
    _goes_on(s, ds.random(seed=6).take(20), 9, 8)


def positions_in_snapshots(s):
    with tempfile.TemporaryDirectory() as folder:
        stored = lambda name: ds.range(9).snapshot(os.path.join(folder, name), compression="NONE",
                                                   shard_func=lambda x: x % 1)
        _goes_on(s, stored("begun"), 4, 7)
        _all(s, stored("complete"), 10, once=False)
        _goes_on(s, stored("complete"), 4, 7)


def positions_that_do_not_exist(s):
    iterator = tf1.data.make_initializable_iterator(ds.range(3))
    s.run(tf.raw_ops.SerializeIterator(resource_handle=iterator._iterator_resource), text="not.*been initialized")


_FEATURES = {"a": tf.io.FixedLenFeature([], tf.int64), "v": tf.io.VarLenFeature(tf.float32),
             "s": tf.io.FixedLenFeature([2], tf.string, default_value=["x", "y"])}


def _write_examples(path, count):
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(count):
            feature = {"a": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
                       "v": tf.train.Feature(float_list=tf.train.FloatList(value=[0.5 * i] * (i % 3)))}
            if i % 2:
                feature["s"] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"p%d" % i, b"q"]))
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def examples(s):
    with tempfile.TemporaryDirectory() as directory:
        paths = [os.path.join(directory, f"examples{k}") for k in range(2)]
        for k, path in enumerate(paths):
            _write_examples(path, 5 + k)
        records = tf.data.TFRecordDataset(paths)
        with tf.name_scope("parse"):
            _all(s, records.batch(4).apply(tf.data.experimental.parse_example_dataset(_FEATURES)), 4)
        _all(s, tf.data.experimental.make_batched_features_dataset(paths, 3, _FEATURES, shuffle=False, num_epochs=1), 5)
        _all(s, tf.data.experimental.make_batched_features_dataset(paths, 3, _FEATURES, shuffle_seed=4, num_epochs=2,
                                                                   label_key="a"), 8)
        strict = {"s": tf.io.FixedLenFeature([2], tf.string)}
        _all(s, records.batch(4).apply(tf.data.experimental.parse_example_dataset(strict)), 1)
        _all(s, ds.from_tensor_slices([["no example"]]).apply(tf.data.experimental.parse_example_dataset(_FEATURES)), 1)


def comma_separated_values(s):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "table.csv")
        with open(path, "w") as f:
            f.write('a,b,c,d\n1,0.5,x,10\n2,,"quoted, ""twice""",20\n3,NA,"two\nlines",\n-4,1e3,,40\n')
        types = [tf.int32, tf.float32, tf.string, tf.int64]
        defaults = [tf.constant([], tf.int32), [0.25], [""], tf.constant([-1], tf.int64)]
        csv = tf.data.experimental.CsvDataset
        _all(s, csv(path, defaults, header=True, na_value="NA"), 5)
        _all(s, csv([path, path], defaults, header=True, na_value="NA").shuffle(3, seed=2), 9)
        _all(s, csv(path, [defaults[0], defaults[3]], header=True, select_cols=[0, 3]), 5)
        _all(s, csv(path, defaults[1:3], header=True, na_value="NA", exclude_cols=[0, 3]), 5)
        _all(s, csv(path, types, header=True), 3)
        _all(s, csv(path, types[:2], header=True), 1)
        _all(s, csv(path, types[:3], header=False), 1)
        with open(path, "w") as f:
            f.write("".join(f"{i}|{i / 4}|name {i}\n" for i in range(7)))
        _all(s, csv(path, types[:3], field_delim="|"), 8)
        _goes_on(s, csv(path, types[:3], field_delim="|"), 3, 5)
        with open(path, "w") as f:
            f.write("n,f,t\n" + "".join(f"{i},{i / 4},name {i}\n" for i in range(7)))
        _all(s, tf.data.experimental.make_csv_dataset(path, 3, label_name="t", shuffle=False, num_epochs=1), 4)
        _all(s, tf.data.experimental.make_csv_dataset(path, 3, shuffle_seed=5, num_epochs=2), 6)


def sparse_batches(s):
    sparse = tf.SparseTensor([[0, 0], [0, 2], [2, 1]], [1.0, 2.0, 3.0], [4, 3])
    _all(s, tf1.data.Dataset.from_sparse_tensor_slices(sparse), 5)
    rows = ds.range(5).map(lambda x: tf.fill([x], x))
    _all(s, rows.apply(tf.data.experimental.dense_to_sparse_batch(2, [6])), 4)
    _all(s, rows.apply(tf.data.experimental.dense_to_sparse_batch(3, [None])), 3)
    _all(s, rows.apply(tf.data.experimental.dense_to_sparse_batch(2, [2])), 2)
    _goes_on(s, rows.apply(tf.data.experimental.dense_to_sparse_batch(2, [6])), 1, 3)


def reducers_and_rebatches(s):
    reducer = tf.data.experimental.Reducer(lambda key: (key * 100, np.float32(0)),
                                           lambda a, x: (a[0] + x, a[1] + tf.cast(x, tf.float32) / 2),
                                           lambda total, half: {"total": total, "half": half})
    _all(s, ds.range(7).apply(tf.data.experimental.group_by_reducer(lambda x: x % 3, reducer)), 4)
    _all(s, ds.range(10).batch(4).rebatch(3), 5)
    _all(s, ds.range(10).batch(4).rebatch(3, drop_remainder=True), 4)
    _all(s, ds.range(12).batch(4).rebatch([2, 3, 1]), 7)
    _all(s, ds.zip((ds.range(6), ds.range(6).map(tf.as_string))).batch(2).rebatch(4), 3)


def caches_in_files(s):
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "ours" if s.target else "theirs")
        dataset = ds.range(5).map(lambda x: (x, tf.as_string(x) + "!", tf.fill([x], 0.5))).cache(path)
        _all(s, dataset.repeat(2), 11)
        _all(s, dataset.take(2), 3)


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


def _raw(s, variant, types, shapes, n, text=None):
    """As _all, for a dataset that only tf.raw_ops can make. If `text` is given, the last of the n + 1 steps must fail
    with it."""
    raw = tf.raw_ops
    iterator = raw.IteratorV2(shared_name="", container="", output_types=types, output_shapes=shapes)
    element = raw.IteratorGetNext(iterator=iterator, output_types=types, output_shapes=shapes)
    s.run(raw.MakeIterator(dataset=variant, iterator=iterator))
    for i in range(n + 1):
        s.run(element, text=text if i == n else None)


def batches_for_replicas(s):
    def rebatch(dataset, replicas, n, text=None):
        _raw(s, tf.raw_ops.RebatchDataset(input_dataset=dataset._variant_tensor, num_replicas=replicas,
                                          output_types=[tf.int64], output_shapes=[None]), [tf.int64], [None], n, text)
    for size, batch, replicas in ((8, 4, 2), (10, 4, 3), (3, 2, 4), (0, 2, 2), (5, 5, 1)):
        rebatch(ds.range(size).batch(batch), replicas, 9)
    rebatch(ds.range(3), 2, 0, "must have at least one dimension.*[Cc]omponent 0 is scalar")
    for replicas in (0, -1):
        s.run(tf.raw_ops.DatasetCardinality(input_dataset=tf.raw_ops.RebatchDataset(
            input_dataset=ds.range(3)._variant_tensor, num_replicas=replicas, output_types=[tf.int64],
            output_shapes=[None])), text="num_replicas must be greater than zero")


def matching_files(s):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("b.txt", "a.txt", "c.log", "inner/x.txt", "inner/deep/y.txt"):
            os.makedirs(os.path.dirname(os.path.join(folder, name)), exist_ok=True)
            open(os.path.join(folder, name), "w").close()

        def match(patterns, n, text=None):
            variant = tf.raw_ops.MatchingFilesDataset(patterns=[os.path.join(folder, p) for p in patterns])
            iterator = tf.raw_ops.IteratorV2(shared_name="", container="", output_types=[tf.string], output_shapes=[[]])
            path = tf.raw_ops.IteratorGetNext(iterator=iterator, output_types=[tf.string], output_shapes=[[]])[0]
            # The two runs use different folders, so only the rest of the path is compared.
            name = tf.strings.substr(path, len(folder), tf.strings.length(path) - len(folder))
            s.run(tf.raw_ops.MakeIterator(dataset=variant, iterator=iterator))
            for _ in range(n):
                s.run(name, text=text)
        for patterns in (["*.txt"], ["*.log", "*.txt"], ["*"], ["inner/*", "b*"], ["none*", "a*"], ["*.txt", "a*"],
                         ["*/x.txt"], ["*/*"], ["a.txt"]):
            match(patterns, 5)
        for patterns in (["none*"], ["inner"]):
            match(patterns, 1, "Don't find any matched files")


def sleeps(s):
    for microseconds in (0, 1000):
        _raw(s, tf.raw_ops.SleepDataset(input_dataset=ds.range(2)._variant_tensor, sleep_microseconds=microseconds,
                                        output_types=[tf.int64], output_shapes=[[]]), [tf.int64], [[]], 2)
    s.run(tf.raw_ops.DatasetCardinality(input_dataset=tf.raw_ops.SleepDataset(
        input_dataset=ds.range(2)._variant_tensor, sleep_microseconds=-1, output_types=[tf.int64], output_shapes=[[]])),
          text="`sleep_microseconds` must be >= 0")


def generators(s):
    """Three functions make the elements: one for the state, one for the next element, one for the end."""
    ends = tf1.get_variable("ends", initializer=0, use_resource=True)
    source = tf1.data.make_initializable_iterator(ds.range(3))
    function = lambda f, *signature: tf.function(f).get_concrete_function(*signature)
    number = tf.TensorSpec([], tf.int64)
    start = function(lambda: tf.constant(10, tf.int64))
    following = function(lambda factor: (factor * source.get_next(), tf.strings.as_string(factor)), number)
    finish = function(lambda factor: factor + tf.cast(ends.assign_add(1), tf.int64), number)
    for f in (start, following, finish):
        f.add_to_graph(tf1.get_default_graph())
    types, shapes = [tf.int64, tf.string], [[], []]
    s.init()
    s.run(source.initializer)
    generator = tf.raw_ops.GeneratorDataset(
        init_func_other_args=start.captured_inputs, next_func_other_args=following.captured_inputs,
        finalize_func_other_args=finish.captured_inputs, init_func=start, next_func=following, finalize_func=finish,
        output_types=types, output_shapes=shapes)
    _raw(s, generator, types, shapes, 4)
    s.run(ends.read_value())
    # The third function also runs if the iterator is dropped before its end, at some time after the step that drops it.
    again = tf.raw_ops.IteratorV2(shared_name="", container="", output_types=types, output_shapes=shapes)
    start_again = tf.raw_ops.MakeIterator(dataset=generator, iterator=again)
    element = tf.raw_ops.IteratorGetNext(iterator=again, output_types=types, output_shapes=shapes)
    s.run([source.initializer, start_again])
    s.run(element)
    before = s.session.run(ends.read_value())
    s.run([start_again])
    dropped = ends.read_value() - before
    while s.session.run(dropped) == 0:
        pass
    s.run(dropped)


def copies_to_a_device(s):
    """Functions make the elements. Each of them calls another function on the device of the source."""
    squares = ds.range(4).map(lambda x: (x * x, tf.strings.as_string(x)))
    _all(s, squares.apply(tf.data.experimental.copy_to_device("/cpu:0")), 6)
    _all(s, squares.batch(2).apply(tf.data.experimental.prefetch_to_device("/cpu:0", buffer_size=2)), 4)
    _all(s, squares.apply(tf.data.experimental.copy_to_device("/cpu:0")).repeat(2), 9)


def generators_of_the_client(s):
    """Python functions run in the process of the client, so servers refuse them with an error that says so."""
    element = tf1.data.make_one_shot_iterator(ds.from_generator(lambda: iter([1, 2]), tf.int32, [])).get_next()
    if s.is_reference:
        return s.record("refused")
    try:
        s.record(s.session.run(element))
    except tf.errors.FailedPreconditionError as e:
        s.record("refused" if "function of the program that built the graph" in str(e) else str(e))


def snapshots(s):
    with tempfile.TemporaryDirectory() as folder:
        counter = tf1.get_variable("counter", initializer=tf.constant(0, tf.int64), use_resource=True)
        s.init()

        def count(x):  # counts the elements that are computed, and not read from the snapshot
            with tf.control_dependencies([counter.assign_add(1)]):
                return tf.identity(x), tf.strings.as_string(x)
        for compression in ("NONE", "GZIP", "AUTO"):
            path = os.path.join(folder, compression)
            for _ in range(2):  # equal pipelines share a snapshot
                dataset = ds.range(5).map(count).snapshot(path, compression=compression, shard_func=lambda x, y: x % 2)
                _all(s, dataset, 6, once=False)
                s.run(counter.read_value())
            # Another pipeline has a snapshot of its own.
            _all(s, ds.range(4).map(count).snapshot(path, compression=compression), 5, once=False)
            s.run(counter.read_value())
        in_turn = lambda shards: shards.interleave(lambda shard: shard, cycle_length=3)
        by_three = lambda x: x % 3
        for _ in range(2):
            _all(s, ds.range(9).snapshot(os.path.join(folder, "turns"), compression="GZIP", reader_func=in_turn,
                                         shard_func=by_three), 10, once=False)
        # A pass that ends early leaves no snapshot. (TensorFlow computes some elements ahead, so these are not counted.)
        for n in (3, 3, 7, 7):
            _all(s, ds.range(6).map(tf.strings.as_string).snapshot(os.path.join(folder, "early"), compression="NONE",
                                                                   shard_func=lambda x: tf.constant(0, tf.int64)),
                 n, once=False)
        _all(s, ds.range(0).snapshot(os.path.join(folder, "empty"), compression="NONE"), 1, once=False)


def saved_and_loaded(s):
    numbers = ds.range(5).map(lambda x: (x, tf.cast(x, tf.float32) / 2, tf.strings.as_string(x)))
    spec = (tf.TensorSpec([], tf.int64), tf.TensorSpec([], tf.float32), tf.TensorSpec([], tf.string))

    def save(path, **options):
        before = set(tf1.get_default_graph().get_operations())
        numbers.save(path, **options)
        s.run([o for o in tf1.get_default_graph().get_operations() if o.type == "SaveDataset" and o not in before])
    with tempfile.TemporaryDirectory() as folder:
        for compression in ("NONE", "GZIP"):
            path = os.path.join(folder, compression)
            save(path, compression=compression)
            _all(s, ds.load(path, spec, compression), 6, once=False)
        path = os.path.join(folder, "shards")
        save(path, shard_func=lambda x, y, z: x % 2)
        for cycle in (1, 2):
            reader = lambda shards: shards.interleave(lambda shard: shard, cycle_length=cycle)
            _all(s, ds.load(path, spec, reader_func=reader), 6, once=False)
        s.run(tf.raw_ops.DatasetCardinality(input_dataset=ds.load(path, spec)._variant_tensor))
        # TensorFlow's own programs read what was saved here, and the other way round.
        with tf.Graph().as_default(), tf1.Session() as local:
            element = tf1.data.make_one_shot_iterator(ds.load(os.path.join(folder, "GZIP"), spec, "GZIP")).get_next()
            s.record([local.run(element) for _ in range(5)])
            other = os.path.join(folder, "other")
            ds.range(3).save(other, compression="GZIP")
            local.run([o for o in tf1.get_default_graph().get_operations() if o.type == "SaveDataset"])
        _all(s, ds.load(other, tf.TensorSpec([], tf.int64), "GZIP"), 4, once=False)
        missing = ds.load(os.path.join(folder, "missing"), spec)
        s.run(tf.raw_ops.DatasetCardinality(input_dataset=missing._variant_tensor), text="Could not find metadata file")


def ragged_elements(s):
    """Inside of datasets a ragged tensor is a variant."""
    def parts(dataset, n, **options):
        _all(s, dataset.map(lambda r: (r.flat_values, *r.nested_row_splits)), n, **options)
    rows = tf.ragged.constant([[1, 2], [], [3, 4, 5], [6]])
    _all(s, ds.from_tensor_slices(rows).map(tf.reduce_sum), 5)
    parts(ds.from_tensors(rows).map(lambda r: r.with_values(r.values * 2)), 2)
    parts(ds.from_tensor_slices(rows).batch(2), 3)
    _all(s, ds.from_tensor_slices(rows).batch(3).map(lambda r: r.to_tensor()).unbatch(), 5)
    deep = tf.ragged.constant([[["a"], ["b", "c"]], [], [[], ["d"]]])
    _all(s, ds.from_tensor_slices(deep).map(lambda r: r.to_tensor("-")), 4)
    parts(ds.from_tensor_slices(deep).batch(2).prefetch(1), 3)
    parts(ds.range(4).map(lambda n: tf.ragged.range(tf.range(n))).batch(3), 3)
    numbers = tf.ragged.constant([[[1], [2, 3]], [], [[], [4]]])
    mapped = tf.map_fn(lambda r: r.with_values(r.values + 1), numbers,
                       fn_output_signature=tf.RaggedTensorSpec([None, None], tf.int32))
    s.run([mapped.flat_values, *mapped.nested_row_splits])


def ragged_variants(s):
    raw = tf.raw_ops
    splits = lambda *numbers: tf.constant(numbers, tf.int64)
    unknown = lambda t: tf1.placeholder_with_default(t, None)
    values = tf.range(5.0)

    def encode(levels, dense, batched):
        return raw.RaggedTensorToVariant(rt_nested_splits=levels, rt_dense_values=dense, batched_input=batched)

    def decode(encoded, inner, levels, text=None, dtype=tf.float32):
        out = raw.RaggedTensorFromVariant(encoded_ragged=encoded, input_ragged_rank=inner, output_ragged_rank=levels,
                                          Tvalues=dtype, Tsplits=tf.int64)
        s.run([*out.output_nested_splits, out.output_dense_values], text=text)
    one, rows = encode([splits(0, 2, 5)], values, False), encode([splits(0, 2, 5)], values, True)
    deep = encode([splits(0, 2, 3), splits(0, 1, 1, 5)], values, True)
    matrix = encode([], tf.reshape(tf.range(6.0), [3, 2]), True)
    decode(one, 1, 1)
    decode(rows, 0, 1)
    decode(rows, -1, 1)
    decode(rows[:0], -1, 1)
    decode(rows[:0], -1, 2)
    decode(deep, 1, 2)
    decode(deep[1], 1, 1)
    decode(matrix, 0, 1)
    decode(encode([], unknown(1.0), False), 0, 0)
    decode(tf.stack([rows, rows]), 0, 2)
    decode(tf.stack([rows, rows]), -1, 2)
    for device in (s.ps, s.worker(1)):  # variants travel between tasks
        with tf.device(device):
            decode(deep, 1, 2)
    decode(unknown(rows), 1, 1, "output_ragged_rank must be equal to input_ragged_rank \\+ encoded_ragged.dims")
    decode(unknown(one), 0, 0, "has ragged_rank=1.  Expected ragged_rank=0")
    decode(rows, 0, 1, "Expected values Tensor dtype: int32, found: float", tf.int32)
    decode(unknown(tf.stack([rows])), -1, 1, "Inferred input_ragged_rank .* must be >= 0")
    decode(raw.EmptyTensorList(element_shape=-1, max_num_elements=-1, element_dtype=tf.float32), 0, 0,
           "doesn't hold a RaggedTensorVariant")
    decode(tf.stack([encode([], tf.ones([2, 3]), False), encode([], tf.ones([2, 4]), False)]), 0, 1,
           "All flat_values must have compatible shapes")
    scalar = encode([], unknown(1.0), False)
    decode(tf.stack([scalar, scalar]), 0, 1, "Ragged values must have rank >= 1")
    for wrong in ((0, 2, 4), (1, 2, 5), (0, 3, 2, 5), (0, 2, 6), (0,), ()):
        for batched in (True, False):
            bad = encode([unknown(splits(*wrong))], values, batched)
            s.run(raw.RaggedTensorFromVariant(encoded_ragged=bad, input_ragged_rank=-1, output_ragged_rank=1,
                                              Tvalues=tf.float32, Tsplits=tf.int64), text="[Ii]nvalid ragged splits")
    s.run(raw.RaggedTensorToVariantGradient(encoded_ragged_grad=rows, row_splits=splits(0, 2, 5), dense_values_shape=[5],
                                            Tvalues=tf.float32))
    s.run(raw.RaggedTensorToVariantGradient(encoded_ragged_grad=deep, row_splits=splits(0, 2, 3), dense_values_shape=[5],
                                            Tvalues=tf.float32))
    # Gradients of values that go through variants, and of zeros and sums of them.
    x = tf.range(5.0)
    ragged = tf.RaggedTensor.from_row_splits(x * x, splits(0, 2, 5))
    mapped = tf.map_fn(lambda r: r * 3.0, ragged, fn_output_signature=tf.RaggedTensorSpec([None], tf.float32))
    s.run([mapped.values, tf1.gradients(mapped.values, x)[0]])
