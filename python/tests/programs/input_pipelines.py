"""Input pipelines: prints the elements of datasets, through all kinds of iterators."""

import os
import struct
import tempfile

import numpy as np

MOST = 40  # elements of a dataset that does not end


def show(value):
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, (list, tuple)):
        for part in value:
            show(part)
        return
    array = np.asarray(value)
    print(array.ndim, *array.shape)
    for item in array.ravel():
        print(*(bytearray(item) if isinstance(item, bytes) else [repr(float(item))]))


def elements(tf, dataset, most=MOST, one_shot=True):
    iterators = [tf.data.make_initializable_iterator(dataset)]
    if one_shot:
        iterators.append(tf.data.make_one_shot_iterator(dataset))
    for iterator in iterators:
        following = iterator.get_next()
        with tf.Session() as session:
            if iterator is iterators[0]:
                session.run(iterator.initializer)
            for _ in range(most):
                try:
                    show(session.run(following))
                except tf.errors.OutOfRangeError:
                    print(-1)
                    break


def record(text):
    """A record of a TFRecord file: its length and content, each with a masked CRC-32C."""
    def checked(content):
        crc = 0xFFFFFFFF
        for byte in content:
            crc ^= byte
            for _ in range(8):
                crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
        crc ^= 0xFFFFFFFF
        return content + struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    return checked(struct.pack("<Q", len(text))) + checked(text)


def sources(tf):
    data = tf.data.Dataset
    elements(tf, data.from_tensors([1, 2]))
    elements(tf, data.from_tensor_slices(({"b": [1.5, 2.5], "a": np.arange(4).reshape(2, 2)}, ["x", "yz"])))
    elements(tf, data.range(2, 9, 3))
    elements(tf, data.range(3, output_type=tf.float32))


def functions(tf):
    data = tf.data.Dataset
    offset = tf.constant(100, tf.int64)
    numbers = data.range(6)
    elements(tf, numbers.map(lambda x: x * x + offset))
    elements(tf, numbers.map(lambda x: {"twice": 2 * x, "pair": (x, tf.cast(x, tf.float32) / 2)}, num_parallel_calls=3))
    elements(tf, data.zip((numbers, numbers.skip(1))).map(lambda x, y: [x - y, x + y]))
    elements(tf, data.zip({"a": numbers, "b": (numbers, numbers)}).map(lambda d: d["a"] + d["b"][1]))
    elements(tf, numbers.filter(lambda x: tf.equal(x % 2, 1)))
    elements(tf, numbers.flat_map(lambda x: data.range(x).map(lambda y: 10 * x + y)))
    elements(tf, numbers.flat_map(lambda x: numbers.take(2).map(lambda y: 10 * x + y)))
    repeated = lambda x: data.from_tensors(x).repeat(3)
    elements(tf, numbers.interleave(repeated, cycle_length=2, block_length=2))
    elements(tf, numbers.interleave(repeated, cycle_length=3, num_parallel_calls=2))
    w = tf.get_variable("w", [], initializer=tf.constant_initializer(3.0), use_resource=True)
    iterator = tf.data.make_initializable_iterator(numbers.map(lambda x: tf.cast(x, tf.float32) * w))
    following = iterator.get_next()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        session.run(iterator.initializer)
        for _ in range(3):
            show(session.run(following))


def order(tf):
    numbers = tf.data.Dataset.range(10)
    elements(tf, numbers.shuffle(4, seed=7))
    elements(tf, numbers.shuffle(20, seed=8).repeat(3))
    elements(tf, numbers.shuffle(4, seed=9, reshuffle_each_iteration=False).repeat(2))
    elements(tf, numbers.apply(tf.data.experimental.shuffle_and_repeat(5, 2, seed=3)))
    elements(tf, numbers.take(3).repeat().batch(2), most=5)
    elements(tf, numbers.shard(3, 1).concatenate(numbers.skip(8)))
    elements(tf, numbers.take(2).cache().repeat(2).prefetch(1))
    elements(tf, numbers.take(2).enumerate(5))
    tf.set_random_seed(11)
    elements(tf, numbers.shuffle(5, seed=2))


def batches(tf):
    numbers = tf.data.Dataset.range(7)
    elements(tf, numbers.batch(3))
    elements(tf, numbers.batch(3, drop_remainder=True))
    elements(tf, numbers.batch(3).apply(tf.data.experimental.unbatch()))
    rows = numbers.map(lambda x: (tf.fill([x], x), tf.as_string(x)))
    elements(tf, rows.padded_batch(3, ([None], [])))
    elements(tf, rows.padded_batch(3, ([8], []), padding_values=(tf.constant(-1, tf.int64), "?"), drop_remainder=True))
    elements(tf, numbers.apply(tf.data.experimental.map_and_batch(lambda x: x + 1, 4)))
    shapes = [numbers.batch(3).output_shapes, numbers.batch(3, drop_remainder=True).output_shapes,
              *rows.padded_batch(2, ([None], [])).output_shapes]
    for shape in shapes:
        print(*[-1 if size is None else int(size) for size in shape.as_list()])


def files(tf):
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for k in range(3):
            paths.append(os.path.join(folder, f"lines{k}.txt"))
            with open(paths[-1], "w") as file:
                file.write("".join(f"{k}{i}\n" for i in range(k + 1)))
        elements(tf, tf.data.TextLineDataset(paths))
        elements(tf, tf.data.TextLineDataset(paths, num_parallel_reads=2))
        listed = tf.data.Dataset.list_files(os.path.join(folder, "lines*.txt"), shuffle=False)
        elements(tf, tf.data.TextLineDataset(listed).map(lambda line: tf.string_to_number(line, tf.int32)))
        shuffled = tf.data.Dataset.list_files(os.path.join(folder, "lines*.txt"), seed=5)
        elements(tf, shuffled.map(lambda name: tf.strings.substr(name, -5, 1)))
        with open(os.path.join(folder, "fixed"), "wb") as file:
            file.write(b"HEaabbccF")
        elements(tf, tf.data.FixedLengthRecordDataset(os.path.join(folder, "fixed"), 2, header_bytes=2, footer_bytes=1))
        with open(os.path.join(folder, "records"), "wb") as file:
            for text in (b"one", b"", b"three"):
                file.write(record(text))
        elements(tf, tf.data.TFRecordDataset([os.path.join(folder, "records")]))


def iterators(tf):
    one, two = tf.data.Dataset.range(3), tf.data.Dataset.range(10, 12)
    shared = tf.data.Iterator.from_structure(one.output_types, one.output_shapes)
    begin = [shared.make_initializer(one), shared.make_initializer(two)]
    following = shared.get_next()
    handle = tf.placeholder(tf.string, [])
    fed = tf.data.Iterator.from_string_handle(handle, one.output_types, one.output_shapes).get_next()
    first = tf.data.make_one_shot_iterator(one)
    size = tf.placeholder(tf.int64, [])
    second = tf.data.make_initializable_iterator(two.batch(size))
    third = tf.data.make_initializable_iterator(two.repeat())
    batch = second.get_next()
    with tf.Session() as session:
        for initializer in begin + begin:
            session.run(initializer)
            show(session.run(following))
        handles = session.run([first.string_handle(), third.string_handle()])
        session.run(third.initializer)
        for i in (0, 1, 1, 0, 1):
            show(session.run(fed, {handle: handles[i]}))
        session.run(second.initializer, {size: 2})
        show(session.run(batch))


def training(tf):
    """Least squares, with batches from a dataset."""
    random = np.random.RandomState(0)
    x = random.rand(64, 3).astype(np.float32)
    y = x.dot(np.array([1, -2, 3], np.float32))[:, None]
    batch = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64, seed=1).repeat().batch(8).prefetch(1)
    features, labels = tf.data.make_one_shot_iterator(batch).get_next()
    w = tf.get_variable("weights", [3, 1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(features, w) - labels))
    train = tf.train.GradientDescentOptimizer(0.3).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(40):
            print(repr(float(session.run([loss, train])[0])))
        show(session.run(w))


def run(tf):
    for part in (sources, functions, order, batches, files, iterators, training):
        tf.reset_default_graph()
        part(tf)
