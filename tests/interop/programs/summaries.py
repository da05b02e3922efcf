"""Summaries, texts and checks in the middle of training."""
import glob
import os
import tempfile

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1


def _parsed(s, summary):
    """Records the parts of a summary; of an image, the pixels."""
    serialized = s.session.run(summary)
    for value in tf1.Summary.FromString(serialized).value:
        kind = value.WhichOneof("value")
        s.record([value.tag, kind])
        if kind == "image":
            with tf.Graph().as_default(), tf1.Session() as local:
                s.record(local.run(tf.io.decode_png(value.image.encoded_image_string)))
        else:
            s.record(value.SerializeToString().decode("latin1"))


def merged(s):
    x = tf1.placeholder(tf.float32, [None])
    with tf.device(s.worker(1)):
        tf1.summary.scalar("mean", tf.reduce_mean(x))
        tf1.summary.histogram("values", x)
    with tf.device(s.ps):
        tf1.summary.scalar("most", tf.reduce_max(x))
    tf1.summary.text("text", tf1.as_string(x))
    merged = tf1.summary.merge_all()
    for values in [[1.0, 2.5, -3.0], [0.0]]:
        for value in tf1.Summary.FromString(s.session.run(merged, {x: values})).value:
            s.record([value.tag, value.SerializeToString().decode("latin1")])
    s.run(merged, {x: [np.nan]})


def images_and_audio(s):
    random = np.random.RandomState(1)
    for channels in [1, 3, 4]:
        _parsed(s, tf1.summary.image("image", random.randn(2, 4, 5, channels).astype(np.float32)))
        _parsed(s, tf1.summary.image("bytes", random.randint(0, 255, [5, 4, 5, channels]).astype(np.uint8), max_outputs=1))
    _parsed(s, tf1.summary.audio("audio", random.uniform(-1, 1, [2, 50]).astype(np.float32), 8000))


def tensors(s):
    _parsed(s, tf1.summary.tensor_summary("numbers", tf.constant([[1.0, 2.0]])))
    _parsed(s, tf1.summary.tensor_summary("words", tf.constant(["a", "b"])))


def asserts(s):
    x = tf1.placeholder(tf.float32, [None])
    with tf.control_dependencies([tf1.assert_positive(x), tf1.Assert(tf.less(tf.size(x), 3), [x, "too many"])]):
        y = x * 2.0
    s.run(y, {x: [1.0, 2.0]})
    s.run(y, {x: [1.0, -2.0]})
    s.run(y, {x: [1.0, 2.0, 3.0]})


def the_text_of_a_failed_assertion(s):
    data = [np.arange(12).reshape(2, 3, 2), np.float32([0.1, 2]), "a\nb", [True], np.float64(1 / 3)]
    check = tf1.Assert(tf1.placeholder_with_default(False, []), data, summarize=5)
    try:
        s.session.run(check)
    except tf.errors.InvalidArgumentError as e:
        s.record([line for line in e.message.split("\n") if "assertion failed" in line][-1].split("assertion")[1])


def check_numerics(s):
    x = tf1.placeholder(tf.float32, [None])
    y = tf1.check_numerics(x, "x is not finite")
    gradient = tf1.gradients(tf.reduce_sum(tf.sqrt(y)), x)
    s.run([y, gradient], {x: [1.0, 4.0]})
    s.run(y, {x: [1.0, np.nan]})
    s.run(gradient, {x: [0.0]})


def printing(s):
    x = tf1.Print(tf.constant([1.0]), [tf.constant("shown")], "printed: ")
    s.run(x)
    s.run(tf1.gradients(tf.square(x), x))
    s.run(tf.print("printed", tf.constant([1, 2]), output_stream="file:///dev/null"))


def python_functions(s):
    y = tf1.py_func(lambda v: v + 1, [tf.constant(1.0)], tf.float32)
    if s.is_reference:
        s.records.append(("error", "FailedPreconditionError", ""))
        return
    s.run(y)


def writers_in_the_graph(s):
    with tempfile.TemporaryDirectory(prefix="interop_events_") as folder, tf.device(s.ps):
        directory = os.path.join(folder, "made")
        writer = tf.summary.create_file_writer(directory, filename_suffix=".suffix")
        step = tf1.get_variable("step", initializer=np.int64(3), use_resource=True)
        s.init()
        event = tf1.Event(step=9, summary=tf1.Summary(value=[tf1.Summary.Value(tag="imported", simple_value=2.0)]))
        raw_summary = tf1.Summary(value=[tf1.Summary.Value(tag="raw", simple_value=1.0)]).SerializeToString()
        with writer.as_default():
            metadata = tf1.SummaryMetadata(plugin_data=tf1.SummaryMetadata.PluginData(plugin_name="text"))
            writes = [tf.summary.write("loss", 0.5, step=step), tf.summary.write("words", "several", 7, metadata),
                      tf.summary.write("no numbers", np.zeros([0, 2]), step=8),
                      tf.summary.write("numbers", np.arange(3), step=step),
                      tf.summary.experimental.write_raw_pb(raw_summary, step=5)]
        resource = writer._resource  # pylint: disable=protected-access
        writes.append(tf.raw_ops.ImportEvent(writer=resource, event=event.SerializeToString()))
        writes.append(tf.raw_ops.WriteGraphSummary(writer=resource, step=step, tensor=tf1.GraphDef().SerializeToString()))
        s.run(writes[3], text="Resource .* does not exist")
        s.run(writer.init())
        s.run(writer.init())
        for write in writes:
            s.run(write)
        s.run(tf.raw_ops.ImportEvent(writer=resource, event=b"\xff"))
        s.run(tf.raw_ops.WriteRawProtoSummary(writer=resource, step=1, tensor=b"\xff"))
        s.run(tf.raw_ops.WriteRawProtoSummary(writer=resource, step=tf1.placeholder_with_default(np.int64([1, 2]), None),
                                              tensor=raw_summary))
        s.run(writer.flush())
        [path] = glob.glob(directory + "/*.suffix")
        for read in tf1.train.summary_iterator(path):
            s.record([read.step, read.WhichOneof("what"), read.file_version, read.graph_def])
            for value in read.summary.value:
                content = tf.make_ndarray(value.tensor) if value.HasField("tensor") else value.simple_value
                s.record([value.tag, value.metadata.plugin_data.plugin_name, content])
        s.run(writer.close())
        s.run(writer.flush())
