"""Transformations of datasets: windows, states, groups, choices, and elements that are sparse tensors."""

import os

import numpy as np
from cases_files import in_folder
from registry import case

QUIET = {"names": False}


def plain(value):
    """A fetched element without arrays."""
    if type(value).__name__ == "SparseTensorValue":
        return ["sparse"] + [np.asarray(part).tolist() for part in value]
    if isinstance(value, dict):
        return {key: plain(part) for key, part in sorted(value.items())}
    return tuple(plain(part) for part in value) if isinstance(value, tuple) else np.asarray(value).tolist()


def rows(tf, dataset, count=20):
    """The elements of a dataset, and their shapes and types."""
    iterator = tf.data.make_initializable_iterator(dataset)
    following, found = iterator.get_next(), []
    with tf.Session() as session:
        session.run(iterator.initializer)
        try:
            for _ in range(count):
                found.append(plain(session.run(following)))
        except tf.errors.OutOfRangeError:
            found.append("end")
    return [found, str(tf.data.get_output_shapes(dataset)), str(tf.data.get_output_types(dataset))]


def filled(tf, sizes=(1, 5, 2, 6, 3, 9, 1)):
    return tf.data.Dataset.from_tensor_slices(list(sizes)).map(lambda x: tf.fill([x], x))


def sparse(tf):
    return tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3])


def total(state, x):
    return state + x


THREE = np.array([0, 1, 1, 0, 1])
for make in (
    lambda d, x, tf: d.range(7).window(3).flat_map(lambda w: w.batch(3)),
    lambda d, x, tf: d.from_tensor_slices((np.arange(6), np.arange(6) * 10)).window(3, 1, 2, True).flat_map(
        lambda a, b: d.zip((a.batch(3), b.batch(3)))),
    lambda d, x, tf: d.range(7).window(3, shift=4).map(lambda w: w.reduce(np.int64(0), total)),
    lambda d, x, tf: d.range(5).scan(np.int64(0), lambda a, b: (a + b, (a, b))),
    lambda d, x, tf: d.range(5).apply(x.scan(tf.constant(2, tf.int64), lambda a, b: (a + b, a * b))),
    lambda d, x, tf: d.range(9).take_while(lambda a: a < 4), lambda d, x, tf: d.range(9).take_while(lambda a: a),
    lambda d, x, tf: d.range(9).apply(x.take_while(lambda a: a * a < 10)),
    lambda d, x, tf: d.range(10).group_by_window(lambda a: a % 2, lambda key, w: w.batch(3), 3),
    lambda d, x, tf: d.range(10).apply(x.group_by_window(
        lambda a: a % 3, lambda key, w: w.map(lambda y: (key, y)).batch(4), window_size_func=lambda key: key + 1)),
    lambda d, x, tf: d.range(10).group_by_window(lambda a: a % 2, lambda key, w: key, 3),
    lambda d, x, tf: d.range(10).group_by_window(lambda a: a % 2, lambda key, w: w),
    lambda d, x, tf: filled(tf).bucket_by_sequence_length(lambda a: tf.shape(a)[0], [3, 7], [2, 2, 2]),
    lambda d, x, tf: filled(tf).take(5).apply(x.bucket_by_sequence_length(
        tf.size, [3, 7], [2, 2, 2], pad_to_bucket_boundary=True)),
    lambda d, x, tf: filled(tf).map(lambda a: (a, tf.size(a))).apply(x.bucket_by_sequence_length(
        lambda a, size: size, [3, 7], [2, 2, 2], padded_shapes=([None], []), padding_values=(-1, 0),
        drop_remainder=True)),
    lambda d, x, tf: d.from_tensor_slices([1, 2, 1, 3]).unique(),
    lambda d, x, tf: d.from_tensor_slices([1.0, 0.0, 4.0]).map(lambda a: tf.check_numerics(1 / a, "")).apply(
        x.ignore_errors()),
    lambda d, x, tf: d.random(seed=3).take(3), lambda d, x, tf: x.Counter(3, 2).take(3),
    lambda d, x, tf: d.counter(3, -2, tf.int32).take(3),
    lambda d, x, tf: d.choose_from_datasets([d.range(3), d.range(10, 13)], d.from_tensor_slices(THREE)),
    lambda d, x, tf: x.choose_from_datasets([d.range(1), d.range(10, 13)], d.from_tensor_slices(THREE)),
    lambda d, x, tf: d.choose_from_datasets([d.range(1), d.range(10, 13)], d.from_tensor_slices(THREE)),
    lambda d, x, tf: d.choose_from_datasets([d.range(1), d.range(10, 13)], d.from_tensor_slices([0, 1])),
    lambda d, x, tf: d.sample_from_datasets([d.range(3), d.range(10, 13)], [0.5, 0.5], seed=7),
    lambda d, x, tf: x.sample_from_datasets([d.range(9), d.range(10, 13), d.range(20, 25)], [0.5, 0.3, 0.0], seed=7),
    lambda d, x, tf: x.sample_from_datasets([d.range(9), d.range(10, 13), d.range(20, 25)], seed=9),
    lambda d, x, tf: d.from_tensor_slices({"a": sparse(tf)}),
    lambda d, x, tf: d.from_tensors(sparse(tf)).map(lambda a: (a, tf.sparse.to_dense(a))),
    lambda d, x, tf: d.from_tensor_slices(sparse(tf)).batch(2), lambda d, x, tf: d.from_tensors(sparse(tf)).unbatch(),
    lambda d, x, tf: d.range(3).map(lambda a: tf.SparseTensor([[a]], [a], [a + 1])).batch(2),
    lambda d, x, tf: d.from_tensor_slices(sparse(tf)).padded_batch(2, [None]),
    lambda d, x, tf: filled(tf, [1, 2]).sparse_batch(2, [4]),
    lambda d, x, tf: filled(tf, [1, 2]).apply(x.dense_to_sparse_batch(2, [4])),
    lambda d, x, tf: d.from_sparse_tensor_slices(sparse(tf)),
    lambda d, x, tf: filled(tf, [1, 2]).padded_batch(2, [tf.constant(4)]),
    lambda d, x, tf: d.range(3).apply(x.parallel_interleave(lambda a: d.range(a, a + 3), 2)),
    lambda d, x, tf: d.range(3).apply(x.assert_cardinality(3)),
):
    case("data.Dataset data.make_initializable_iterator", lambda tf, make=make: rows(
        tf, make(tf.data.Dataset, tf.data.experimental, tf)), **QUIET)
for make in (
    lambda d, x, tf: d.range(5).reduce(np.int64(1), lambda a, b: a * 2 + b),
    lambda d, x, tf: d.from_tensor_slices(([1, 2], [3.0, 4.0])).reduce(
        (0, {"a": 0.0}), lambda a, b: (a[0] + b[0], {"a": a[1]["a"] + b[1]}))[1]["a"],
    lambda d, x, tf: d.range(4).reduce(tf.zeros([0], tf.int64), lambda a, b: tf.concat([a, [b]], 0)),
    lambda d, x, tf: d.range(5).reduce(1.0, lambda a, b: b),
    lambda d, x, tf: d.range(7).cardinality(), lambda d, x, tf: x.cardinality(d.range(3).filter(lambda a: True)),
    lambda d, x, tf: d.range(3).repeat().cardinality(), lambda d, x, tf: d.from_tensors((1, 2)).get_single_element(),
    lambda d, x, tf: x.get_single_element(d.range(2)),
):
    case("data.Dataset", lambda tf, make=make: make(tf.data.Dataset, tf.data.experimental, tf), **QUIET)


def examples(tf, folder):
    """Batches of examples with a feature of variable length, from files and from strings."""
    def example(count):
        feature = {"a": tf.train.Feature(int64_list=tf.train.Int64List(value=range(count))),
                   "b": tf.train.Feature(float_list=tf.train.FloatList(value=[count]))}
        return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()

    for name in "xy":
        with tf.io.TFRecordWriter(os.path.join(folder, name)) as writer:
            for count in range(3):
                writer.write(example(count))
    features = {"a": tf.VarLenFeature(tf.int64), "b": tf.FixedLenFeature([], tf.float32)}
    texts = tf.data.Dataset.from_tensor_slices([example(count) for count in range(4)])
    make = tf.data.experimental.make_batched_features_dataset
    return [rows(tf, texts.batch(2).apply(tf.data.experimental.parse_example_dataset(features))),
            rows(tf, texts.map(lambda text: tf.parse_single_example(text, features)).batch(3)),
            rows(tf, make(os.path.join(folder, "?"), 2, features, label_key="b", num_epochs=1, shuffle=False))]


in_folder("data.Dataset", examples, **QUIET)


def csv(tf, folder):
    """Rows of a CSV file with a header, missing values and a column that is left out."""
    path = os.path.join(folder, "a.csv")
    with open(path, "w") as file:
        file.write('a,b,c\n1,2.5,"x,y"\n,NA,z\n3,4,w\n')
    make = tf.data.experimental.CsvDataset
    return [rows(tf, make(path, [[7], [0.5], ["none"]], header=True, na_value="NA")),
            rows(tf, make([path], [tf.constant([7], tf.int64), tf.string], header=True, select_cols=[0, 2]))]


in_folder("data.Dataset", csv, **QUIET)
case("data.Dataset", lambda tf: rows(tf, tf.data.experimental.CsvDataset([__file__], [tf.float32])), **QUIET)


def switched(tf):
    made = sparse(tf)
    iterator = tf.data.Iterator.from_structure(tf.int32, tf.TensorShape([3]), output_classes=type(made))
    following = iterator.get_next()
    begin = iterator.make_initializer(tf.data.Dataset.from_tensor_slices(made))
    with tf.Session() as session:
        session.run(begin)
        return [plain(session.run(following)), str(following.shape)]


case("data.Iterator", switched, **QUIET)
