"""Input pipelines of queues, readers and batches: prints what the steps take."""

import os
import tempfile

import numpy as np


def show(value):
    for number in np.ravel(value):
        print(repr(float(number)))


def take(tf, fetch, limit=1000):
    """Prints every value until the input ends. Returns how many there were."""
    count = 0
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess=session, coord=coordinator)
        try:
            while not coordinator.should_stop() and count < limit:
                for value in session.run(fetch):
                    show(value)
                count += 1
        except tf.errors.OutOfRangeError:
            pass
        finally:
            coordinator.request_stop()
        coordinator.join(threads)
    print(count)


def queues(tf):
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(10, [tf.float32, tf.int32], shapes=[[2], []])
        one = queue.enqueue([[1.0, 2.0], 3])
        many = queue.enqueue_many([[[4.0, 5.0], [6.0, 7.0], [8.0, 9.0]], [10, 11, 12]])
        single, pair, rest = queue.dequeue(), queue.dequeue_many(2), queue.dequeue_up_to(5)
        size = queue.size()
        closing = queue.close()
        priorities = tf.PriorityQueue(10, [tf.float32], [[]]) if hasattr(tf, "PriorityQueue") else (
            tf.queue.PriorityQueue(10, [tf.float32], [[]]))
        fill = priorities.enqueue_many([np.array([5, 1, 3], np.int64), [50.0, 10.0, 30.0]])
        smallest = priorities.dequeue_many(3)
        padding = tf.PaddingFIFOQueue(10, [tf.int32], [[None]])
        add = [padding.enqueue([[1]]), padding.enqueue([[2, 3, 4]])]
        padded = padding.dequeue_many(2)
        named = tf.FIFOQueue(10, [tf.float32, tf.float32], shapes=[[], []], names=["a", "b"])
        put, got = named.enqueue({"b": 2.0, "a": 1.0}), named.dequeue()
        with tf.Session() as session:
            session.run(one)
            session.run(many)
            print(int(session.run(size)))
            for fetch in (single, pair):
                for value in session.run(fetch):
                    show(value)
            session.run(closing)
            for value in session.run(rest):
                show(value)
            session.run(fill)
            for value in session.run(smallest):
                show(value)
            for operation in add:
                session.run(operation)
            show(session.run(padded))
            session.run(put)
            values = session.run(got)
            show([values["a"], values["b"]])


def files(tf, folder):
    paths = []
    for name, lines in (("a.csv", ["1,2", "3,4", "5,6"]), ("b.csv", ["7,8", "9,10"])):
        paths.append(os.path.join(folder, name))
        with open(paths[-1], "w") as file:
            file.write("\n".join(["header"] + lines) + "\n")
    with tf.Graph().as_default():
        names = tf.train.string_input_producer(paths, num_epochs=2, shuffle=False)
        reader = tf.TextLineReader(skip_header_lines=1)
        _, line = reader.read(names)
        a, b = tf.decode_csv(line, [[0.0], [0.0]]) if hasattr(tf, "decode_csv") else _csv(tf, line)
        take(tf, tf.train.batch([a, b], batch_size=4, allow_smaller_final_batch=True))
    with tf.Graph().as_default():
        names = tf.train.string_input_producer(paths, num_epochs=1, shuffle=False)
        _, content = tf.WholeFileReader().read(names)
        take(tf, [_length(tf, content)])
    binary = os.path.join(folder, "c.bin")
    np.arange(20, dtype=np.uint8).tofile(binary)
    with tf.Graph().as_default():
        names = tf.train.string_input_producer([binary], num_epochs=1)
        _, record = tf.FixedLengthRecordReader(4, header_bytes=2, footer_bytes=2).read(names)
        take(tf, [_bytes(tf, record)])


def _raw(tf, op_type, inputs, **attrs):
    from tensorbraid.internal.graphs import make_op

    return make_op(op_type, inputs, **attrs).outputs


def _csv(tf, line):
    return _raw(tf, "DecodeCSV", [line, [[0.0], [0.0]]])


def _length(tf, text):
    if hasattr(tf, "strings"):
        return tf.strings.length(text)
    return _raw(tf, "StringLength", [text])[0]


def _bytes(tf, text):
    if hasattr(tf, "decode_raw"):
        return tf.decode_raw(text, tf.uint8)
    return _raw(tf, "DecodeRaw", [text], out_type=tf.uint8)[0]


def numbers(tf):
    with tf.Graph().as_default():
        queue = tf.train.range_input_producer(5, num_epochs=2, shuffle=False)
        take(tf, [queue.dequeue()])
    with tf.Graph().as_default():
        images = np.arange(12, dtype=np.float32).reshape(6, 2)
        labels = np.arange(6)
        image, label = tf.train.slice_input_producer([images, labels], num_epochs=1, shuffle=False)
        take(tf, tf.train.batch([image, label], batch_size=4))
    with tf.Graph().as_default():
        image, label = tf.train.slice_input_producer([images, labels], shuffle=False)
        batch = tf.train.batch({"image": image, "label": label}, batch_size=3, num_threads=1)
        take(tf, [batch["label"], batch["image"]], limit=5)
    with tf.Graph().as_default():
        rows = tf.train.input_producer(images, num_epochs=1, shuffle=False).dequeue()
        take(tf, [tf.train.batch([rows], 3)])
    with tf.Graph().as_default():
        numbers_of_rows = tf.train.limit_epochs(tf.constant([1.0, 2.0]), num_epochs=3)
        take(tf, [numbers_of_rows])
    # The order of a shuffled queue differs, but not what is in it.
    with tf.Graph().as_default():
        number = tf.train.range_input_producer(20, num_epochs=1, shuffle=True, seed=3).dequeue()
        shuffled = tf.train.shuffle_batch([number], batch_size=5, capacity=30, min_after_dequeue=10, seed=1)
        seen = []
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            for _ in range(4):
                seen.extend(session.run(shuffled))
            coordinator.request_stop()
            coordinator.join(threads)
        show(sorted(seen))


def run(tf):
    queues(tf)
    with tempfile.TemporaryDirectory() as folder:
        files(tf, folder)
    numbers(tf)
