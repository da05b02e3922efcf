"""Names of tf.contrib and of tensorflow.python that programs of 2016 to 2019 use."""

import json
import os
import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid import proto
from tensorbraid.runner import api
from tensorbraid.tensorflow_python import control_nodes, device_lib, file_io, moving_averages, timeline

slim = tf.contrib.slim


class OldNamesTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def evaluate(self, values, local=False):
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            return session.run(values)

    def test_modules_of_contrib_are_found_below_python(self):
        for path, wanted in {
                "contrib.layers.python.layers.layers.batch_norm": tf.contrib.layers.batch_norm,
                "contrib.layers.python.layers.initializers.xavier_initializer": tf.contrib.layers.xavier_initializer,
                "contrib.training.python.training.hparam.HParams": tf.contrib.training.HParams,
                "contrib.learn.python.learn.learn_runner.run": tf.contrib.learn.learn_runner.run,
                "contrib.learn.python.learn.datasets.mnist.read_data_sets":
                    tf.contrib.learn.datasets.mnist.read_data_sets,
                "contrib.learn.python.learn.estimators.model_fn.ModeKeys": tf.contrib.learn.ModeKeys,
                "contrib.rnn.core_rnn_cell.BasicLSTMCell": tf.nn.rnn_cell.BasicLSTMCell,
                "python.client.timeline.Timeline": timeline.Timeline,
                "python.client.device_lib.list_local_devices": device_lib.list_local_devices,
                "python.lib.io.file_io.FileIO": tf.gfile.GFile,
                "python.ops.lookup_ops.index_table_from_file": tf.contrib.lookup.index_table_from_file,
                "python.ops.control_flow_ops.switch": control_nodes.switch,
                "python.saved_model.signature_constants.PREDICT_METHOD_NAME":
                    tf.saved_model.signature_constants.PREDICT_METHOD_NAME,
                "python.saved_model.utils.build_tensor_info": tf.saved_model.utils.build_tensor_info,
        }.items():
            self.assertIs(api.find(path), wanted, path)
        with self.assertRaises(api.Missing):
            api.find("contrib.layers.python.layers.layers.no_such_layer")
        with self.assertRaises(api.Missing):
            api.find("contrib.layers.python.layers.no_such_file")

    def test_metrics_take_predictions_first(self):
        predictions, labels = tf.constant([1, 0, 1, 1]), tf.constant([1, 1, 1, 0])
        metrics = tf.contrib.metrics
        values, updates = metrics.aggregate_metric_map({
            "precision": metrics.streaming_precision(predictions, labels),
            "iou": metrics.streaming_mean_iou(predictions, labels, num_classes=2),
            "top": slim.metrics.streaming_recall_at_k(tf.constant([[0.1, 0.9], [0.8, 0.2]]), [1, 1], 1)})
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            session.run(updates)
            found = session.run(values)
        self.assertAlmostEqual(found["precision"], 2 / 3, places=6)
        self.assertAlmostEqual(found["iou"], 0.25, places=6)
        self.assertEqual(found["top"], 0.5)
        self.assertEqual(self.evaluate(metrics.accuracy(predictions, labels)), 0.5)

    def test_tables_have_their_first_arguments(self):
        lookup = tf.contrib.lookup
        table = lookup.index_table_from_tensor(mapping=tf.constant(["a", "b"]), default_value=-1)
        words = lookup.index_to_string_table_from_tensor(mapping=["x", "y"])
        path = os.path.join(self.folder, "words")
        file_io.write_string_to_file(path, "p\nq\n")
        lines = lookup.index_to_string_table_from_file(path, default_value="?")
        self.assertEqual(file_io.read_file_to_string(path), "p\nq\n")
        found = [table.lookup(tf.constant(["b", "c"])), words.lookup(tf.constant([1, 5], tf.int64)),
                 lines.lookup(tf.constant([0, 2], tf.int64))]
        with tf.Session() as session:
            session.run(tf.tables_initializer())
            ids, found, lines = session.run(found)
        self.assertEqual((ids.tolist(), found.tolist(), lines.tolist()), ([1, -1], [b"y", b"UNK"], [b"p", b"?"]))

    def test_a_moving_average_may_forget_its_first_value(self):
        plain, unbiased = (tf.get_variable(name, [], initializer=tf.constant_initializer(8.0)) for name in "ab")
        moved = [moving_averages.assign_moving_average(plain, 4.0, 0.75, zero_debias=False),
                 moving_averages.assign_moving_average(unbiased, 4.0, 0.75)]
        self.assertEqual(self.evaluate(moved), [7.0, 4.0])
        self.assertEqual([v.name for v in tf.global_variables()], ["a:0", "b:0", "b/biased:0", "b/local_step:0"])

    def test_switch_and_merge(self):
        value = tf.placeholder(tf.float32)
        taken = [control_nodes.switch(value, tf.equal(i, 1))[1] * (i + 2.0) for i in range(2)]
        merged = control_nodes.merge(taken)
        with tf.Session() as session:
            self.assertEqual(session.run(merged.output, {value: 5.0}), 15.0)
            self.assertEqual(session.run(merged.value_index, {value: 5.0}), 1)

    def test_a_trace_is_shown_by_a_timeline(self):
        value = tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]), name="product")
        metadata = tf.RunMetadata()
        with tf.Session() as session:
            session.run(value, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
        trace = json.loads(timeline.Timeline(metadata.step_stats).generate_chrome_trace_format(show_memory=True))
        self.assertIn("product", json.dumps(trace["traceEvents"]))

    def test_the_devices_of_this_machine(self):
        device = device_lib.list_local_devices()[0]
        self.assertEqual((device.name, device.device_type), ("/device:CPU:0", "CPU"))

    def test_the_projector_reads_its_file(self):
        projector = tf.contrib.tensorboard.plugins.projector
        config = projector.ProjectorConfig()
        config.embeddings.add(tensor_name="words", metadata_path="words.tsv")
        with tf.summary.FileWriter(self.folder) as writer:
            projector.visualize_embeddings(writer, config)
        with open(os.path.join(self.folder, "projector_config.pbtxt")) as file:
            self.assertIn('tensor_name: "words"', file.read())

    def test_a_graph_def_is_written_for_tensorboard(self):
        tf.constant(1.0, name="one")
        with tf.summary.FileWriter(self.folder, graph_def=tf.get_default_graph().as_graph_def()) as writer:
            writer.add_graph(tf.get_default_graph(), global_step=7)
            with self.assertRaises(ValueError):
                writer.add_graph(tf.get_default_graph(), graph_def=proto.GraphDef())
        path = os.path.join(self.folder, os.listdir(self.folder)[0])
        events = [event for event in tf.train.summary_iterator(path) if event.WhichOneof("what") == "graph_def"]
        self.assertEqual([event.step for event in events], [0, 7])
        self.assertEqual(proto.GraphDef.FromString(events[1].graph_def).node[0].name, "one")

    def test_files_and_classes_of_keras(self):
        utils = tf.keras.utils
        source = os.path.join(self.folder, "source.txt")
        file_io.write_string_to_file(source, "text")
        path = utils.get_file("copy.txt", "file://" + source, cache_dir=self.folder,
                              md5_hash="1cb251ec0d568de6a929b520c4aed8d1")
        os.remove(source)
        self.assertEqual(utils.get_file("copy.txt", "file://" + source, cache_dir=self.folder), path)
        self.assertEqual(path, os.path.join(self.folder, "datasets", "copy.txt"))
        with self.assertRaises(OSError):
            utils.get_file("missing.txt", "file://" + source, cache_dir=self.folder)
        self.assertEqual(os.listdir(os.path.dirname(path)), ["copy.txt"])  # no part of a file
        self.assertEqual(utils.to_categorical([1, 0]).tolist(), [[0.0, 1.0], [1.0, 0.0]])
        self.assertEqual(utils.to_categorical([[2]], 4).tolist(), [[0.0, 0.0, 1.0, 0.0]])
        self.assertIsNone(api.refusal("keras.utils.get_file"))
        self.assertIn("Keras", api.refusal("keras.utils.plot_model"))

    def test_swapping_memory_changes_nothing(self):
        outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.GRUCell(2), tf.ones([1, 3, 2]), dtype=tf.float32,
                                       swap_memory=True)
        total = tf.while_loop(lambda i: i < 3, lambda i: i + 1, [tf.constant(0)], swap_memory=True)
        self.assertEqual(self.evaluate([total, tf.shape(outputs)])[0], 3)

    def test_fused_cells_run_over_all_steps(self):
        x = np.random.RandomState(2).randn(4, 2, 3).astype(np.float32)  # [time, batch, features]
        lengths = [4, 2]
        ones = tf.constant_initializer(0.1)
        with tf.variable_scope("rnn", initializer=ones):
            fused = tf.contrib.rnn.LSTMBlockFusedCell(5)
            outputs, state = fused(tf.constant(x), dtype=tf.float32, sequence_length=lengths)
        with tf.variable_scope("plain", initializer=ones):
            wanted, wanted_state = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicLSTMCell(5), tf.constant(x), lengths,
                                                     dtype=tf.float32, time_major=True)
        backward = tf.contrib.rnn.TimeReversedFusedRNN(fused)(tf.constant(x), dtype=tf.float32, sequence_length=lengths)
        gradient = tf.gradients(tf.reduce_sum(outputs), tf.trainable_variables("rnn"))
        names = [variable.name for variable in tf.trainable_variables("rnn")]
        self.assertEqual(names, ["rnn/lstm_fused_cell/kernel:0", "rnn/lstm_fused_cell/bias:0"])
        got = self.evaluate([outputs, state, wanted, wanted_state, backward[0], gradient])
        np.testing.assert_allclose(got[0], got[2], rtol=1e-5)
        np.testing.assert_allclose(got[1], got[3], rtol=1e-5)
        self.assertEqual(got[4].shape, (4, 2, 5))
        self.assertEqual(got[5][0].shape, (8, 20))

    def test_buckets_have_sequences_of_like_lengths(self):
        lengths = tf.train.input_producer(tf.constant([2, 7, 3, 8]), shuffle=False, num_epochs=1).dequeue()
        row = tf.ones([lengths])
        length, (batch,) = tf.contrib.training.bucket_by_sequence_length(
            lengths, [row], batch_size=2, bucket_boundaries=[5], dynamic_pad=True)
        found = []
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            try:
                while True:
                    found.append([value.tolist() if i == 0 else value.shape
                                  for i, value in enumerate(session.run([length, batch]))])
            except tf.errors.OutOfRangeError:
                pass
            coordinator.request_stop()
            coordinator.join(threads)
        self.assertEqual(sorted(found), [[[2, 3], (2, 3)], [[7, 8], (2, 8)]])


if __name__ == "__main__":
    unittest.main()
