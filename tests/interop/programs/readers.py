"""Input pipelines of TensorFlow 1: readers, queues of file names, queue runners, examples."""
import os
import tempfile

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1

# Both runs of a program read the same files.
_DIRECTORY = tempfile.TemporaryDirectory()


def _path(name):
    return os.path.join(_DIRECTORY.name, name)


def _write(name, data):
    with open(_path(name), "wb") as f:
        f.write(data)
    return _path(name)


def _records(name, records, compression=""):
    with tf.io.TFRecordWriter(_path(name), compression) as writer:
        for r in records:
            writer.write(r)
    return _path(name)


def _queue_of(s, files):
    queue = tf1.FIFOQueue(99, [tf.string], shapes=[()])
    s.run(queue.enqueue_many([files]))
    s.run(queue.close())
    return queue


def _read_all(s, reader, files, count=3):
    queue = _queue_of(s, files)
    one, many = reader.read(queue), reader.read_up_to(queue, count)
    produced, completed = reader.num_records_produced(), reader.num_work_units_completed()
    for _ in range(4):
        s.run(one)
        s.run([produced, completed])
        s.run(many)
    s.run(reader.reset())
    s.run([produced, completed])


def text_lines(s):
    a, b, empty = _write("a.txt", b"head\n1\r\n\n3"), _write("b.txt", b"head\n4\n"), _write("empty.txt", b"")
    _read_all(s, tf1.TextLineReader(skip_header_lines=1), [a, empty, b])
    _read_all(s, tf1.TextLineReader(), [b, a])


def fixed_length_records(s):
    a, b = _write("a.bin", b"HHaabbccF"), _write("b.bin", b"HH")
    _read_all(s, tf1.FixedLengthRecordReader(2, 2, 1), [a, b])
    _read_all(s, tf1.FixedLengthRecordReader(2, 2, 1, 1), [a])


def tf_records(s):
    plain = _records("plain.tfr", [b"one", b"", b"three"])
    gzipped = _records("zipped.tfr", [b"x" * 1000, b"y"], "GZIP")
    _read_all(s, tf1.TFRecordReader(), [plain, plain])
    options = tf1.python_io.TFRecordOptions(tf1.python_io.TFRecordCompressionType.GZIP)
    _read_all(s, tf1.TFRecordReader(options=options), [gzipped])
    data = open(plain, "rb").read()
    _read_all(s, tf1.TFRecordReader(), [_write("cut.tfr", data[:25]), plain])
    _read_all(s, tf1.TFRecordReader(), [_write("damaged.tfr", data[:13] + b"!" + data[14:])])


def whole_files_and_identity(s):
    a = _write("whole", b"all\nof it")
    _read_all(s, tf1.WholeFileReader(), [a, a, a])
    reader = tf1.IdentityReader()
    _read_all(s, reader, ["A", "B", "C", "D", "E"])
    queue = _queue_of(s, ["F", "G"])
    read = reader.read(queue)
    s.run(read)
    state = s.run(reader.serialize_state())
    s.run(read)
    s.run(reader.restore_state(state))
    s.run([reader.num_records_produced(), reader.num_work_units_completed()])
    s.run(tf1.TextLineReader().serialize_state())
    s.run(reader.restore_state(b"nonsense"))


def missing_files(s):
    a = _write("there.txt", b"1\n")
    queue = _queue_of(s, [_path("none"), a])
    read = tf1.TextLineReader().read(queue)
    s.run(read)
    s.run(read)
    s.run(tf.io.read_file(_path("none")))
    s.run(tf.io.read_file(a))
    s.run(tf.io.write_file(_path("made/new"), b"\x00text"))
    s.run(tf.io.read_file(_path("made/new")))
    s.run(tf.shape(tf.io.matching_files(_path("none*"))))


def a_reader_on_another_task(s):
    lines = _write("lines.txt", b"1\n2\n3\n")
    with tf.device(s.worker(1)):
        queue = _queue_of(s, [lines])
        key, value = tf1.TextLineReader().read(queue)
    with tf.device(s.worker(0)):
        number = tf1.string_to_number(value, tf.int32) * 10
    for _ in range(4):
        s.run([key, number])


def shared_readers(s):
    lines = _write("shared.txt", b"1\n2\n3\n")
    queue = _queue_of(s, [lines])
    for _ in range(3):
        s.run(tf1.TextLineReader(name="shared").read(queue))
    a = tf.raw_ops.TextLineReaderV2(shared_name="same")
    b = tf.raw_ops.TextLineReaderV2(shared_name="same")
    queue = _queue_of(s, [lines])
    s.run(tf.raw_ops.ReaderReadV2(reader_handle=a, queue_handle=queue.queue_ref))
    s.run(tf.raw_ops.ReaderNumRecordsProducedV2(reader_handle=b))


def _run_queues(s, fetches, count):
    coordinator = tf1.train.Coordinator()
    threads = tf1.train.start_queue_runners(s.session, coordinator)
    results = []
    try:
        while len(results) < count and not coordinator.should_stop():
            results.append(s.session.run(fetches))
    except tf.errors.OutOfRangeError:
        results.append("end")
    coordinator.request_stop()
    coordinator.join(threads)
    return results


def string_input_producer(s):
    files = [_write(f"part{i}.txt", f"{i}0\n{i}1\n".encode()) for i in range(3)]
    names = tf1.train.string_input_producer(files, num_epochs=2, shuffle=False)
    _, value = tf1.TextLineReader().read(names)
    s.init()
    s.record([r if isinstance(r, str) else r.decode() for r in _run_queues(s, value, 100)])


def batches_of_examples(s):
    examples = [tf.train.Example(features=tf.train.Features(feature={
        "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
        "x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i / 2])),
        "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"w"] * (i % 3)))})).SerializeToString()
        for i in range(10)]
    names = tf1.train.string_input_producer([_records("examples.tfr", examples)], num_epochs=1)
    _, serialized = tf1.TFRecordReader().read(names)
    batch = tf1.train.batch([serialized], 4, allow_smaller_final_batch=True)
    parsed = tf1.io.parse_example(batch, {"label": tf1.FixedLenFeature([], tf.int64), "x": tf1.FixedLenFeature([2], tf.float32),
                                          "words": tf1.VarLenFeature(tf.string)})
    s.init()
    s.record([list(np.ravel(r["label"])) if not isinstance(r, str) else r for r in _run_queues(s, parsed, 100)])


def shuffled_batches(s):
    names = tf1.train.string_input_producer([_write("numbers.txt", b"".join(b"%d\n" % i for i in range(20)))], num_epochs=1)
    _, line = tf1.TextLineReader().read(names)
    number = tf1.string_to_number(line, tf.int32)
    batch = tf1.train.shuffle_batch([number], 5, capacity=30, min_after_dequeue=10, num_threads=2)
    s.init()
    seen = [r for r in _run_queues(s, batch, 100) if not isinstance(r, str)]
    s.record(np.sort(np.concatenate(seen)))


def csv_lines(s):
    names = tf1.train.string_input_producer([_write("table.csv", b"1,0.5,a\n2,,\"b,c\"\n")], num_epochs=1, shuffle=False)
    _, line = tf1.TextLineReader().read(names)
    columns = tf1.decode_csv(line, [[0], [9.0], [""]])
    s.init()
    s.record([r for r in _run_queues(s, columns, 10)])


def record_input(s):
    """Records come in random order, but each epoch has each of them once."""
    for compression in ("", "GZIP"):
        for i in range(3):
            _records(f"input{compression}{i}", [b"%d:%d" % (i, j) for j in range(4)], compression)
        for batch_size, buffer_size, ratio in ((6, 10000, 0.0), (4, 10000, 0.5), (12, 100, 0.0)):
            batch = tf.raw_ops.RecordInput(file_pattern=_path(f"input{compression}[0-9]"), batch_size=batch_size,
                                           file_buffer_size=buffer_size, file_shuffle_shift_ratio=ratio,
                                           compression_type=compression)
            for _ in range(2):
                epoch = [s.session.run(batch) for _ in range(12 // batch_size)]
                s.record([[len(records) for records in epoch], sorted(np.concatenate(epoch).tolist())])
    s.run(tf.raw_ops.RecordInput(file_pattern=_path("no_input*")), text="Found no files at")
