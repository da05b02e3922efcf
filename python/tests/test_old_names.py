"""Names of tf.contrib and of tensorflow.python that programs of 2016 to 2019 use."""

import contextlib
import io
import json
import os
import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid import proto
from tensorbraid.runner import api
from tensorbraid.tensorflow_python import control_flow_ops, device_lib, file_io, moving_averages, timeline

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
                "python.ops.control_flow_ops.switch": control_flow_ops.switch,
                "python.saved_model.signature_constants.PREDICT_METHOD_NAME":
                    tf.saved_model.signature_constants.PREDICT_METHOD_NAME,
                "python.saved_model.utils.build_tensor_info": tf.saved_model.utils.build_tensor_info,
                "python.ops.losses.losses_impl.compute_weighted_loss": tf.losses.compute_weighted_loss,
                "python.data.ops.dataset_ops.Dataset": tf.data.Dataset,
                "python.ops.distributions.normal.Normal": tf.distributions.Normal,
                "python.estimator.inputs.numpy_io.numpy_input_fn": tf.estimator.inputs.numpy_input_fn,
                "python.summary.writer.writer.FileWriter": tf.summary.FileWriter,
                "python.profiler.model_analyzer.profile": tf.profiler.profile,
                "python.profiler.profiler.Profiler": tf.profiler.Profiler,
                "python.profiler.tfprof_logger.write_op_log": tf.profiler.write_op_log,
                "core.profiler.tfprof_log_pb2.OpLogProto": tf.profiler.OpLogProto,
                "contrib.slim.python.slim.data.parallel_reader.parallel_read": slim.parallel_reader.parallel_read,
        }.items():
            self.assertIs(api.find(path), wanted, path)
        with self.assertRaises(api.Missing):
            api.find("contrib.layers.python.layers.layers.no_such_layer")
        with self.assertRaises(api.Missing):
            api.find("contrib.layers.python.layers.no_such_file")

    def test_modules_are_found_at_any_depth(self):
        with self.assertRaises(api.Missing):
            api.find("python.a.b.c.d")
        api.declare_module("python.a.b.c.d")  # a program imports it
        self.assertIs(api.find("python.a.b.c.d.placeholder"), tf.placeholder)
        with self.assertRaises(api.Missing):
            api.find("python.a.b.c.d.no_such_name")

    def test_private_functions_of_generated_modules_are_those_of_the_ops(self):
        for path in ("gen_math_ops._max", "gen_math_ops._range", "gen_nn_ops._relu_grad", "gen_nn_ops.max_pool_grad",
                     "data_flow_ops.parallel_dynamic_stitch", "math_ops._bucketize"):
            self.assertTrue(callable(api.find("python.ops." + path)), path)
        largest = api.find("python.ops.gen_math_ops._max")([[1.0, 3.0], [2.0, 0.0]], [1], True)
        indices = api.find("python.ops.math_ops._bucketize")([0.5, 3.0], [1.0, 2.0])
        grads = api.find("python.ops.gen_nn_ops.relu_grad")([1.0, 2.0], [0.0, 1.0])
        found = self.evaluate([largest, indices, grads])
        self.assertEqual([value.tolist() for value in found], [[[3.0], [2.0]], [0, 2], [0.0, 2.0]])

    def test_there_is_no_eager_execution(self):
        context = api.find("python.eager.context")
        self.assertFalse(context.executing_eagerly())
        self.assertFalse(context.context().executing_eagerly())
        self.assertTrue(context.in_graph_mode())
        with context.graph_mode():
            self.assertEqual(tf.constant(1).graph, tf.get_default_graph())
        self.assertIn("eager", api.refusal("python.eager.context.eager_mode"))

    def test_deprecated_functions_log_once(self):
        deprecation = api.find("python.util.deprecation")

        @deprecation.deprecated("2030-01-01", "Use g.")
        def f(x):
            return x + 1

        @deprecation.deprecated_args(None, "Use y.", "x", ("z", None))
        def h(x=None, y=None, z=None):
            return y

        with self.assertLogs("tensorflow", "WARNING") as logged:
            self.assertEqual([f(1), f(2), h(y=1, z=None), h(2, 3)], [2, 3, 1, 3])
        self.assertEqual(len(logged.output), 2)
        self.assertIn("will be removed after 2030-01-01", logged.output[0])
        self.assertIn("The argument x of h", logged.output[1])
        with self.assertRaises(ValueError):
            deprecation.deprecated_args(None, "", "no_argument")(f)
        export = api.find("python.util.tf_export.tf_export")
        self.assertIs(export("a", v1=["b"])(f), f)
        fn_args = api.find("python.estimator.util.fn_args")
        self.assertEqual(fn_args(lambda features, labels, mode: None), ("features", "labels", "mode"))
        self.assertEqual(fn_args(h), ("x", "y", "z"))

    def test_weights_get_the_shape_of_the_values(self):
        broadcast = api.find("python.ops.weights_broadcast_ops.broadcast_weights")
        unknown = tf.placeholder(tf.float32)
        with tf.Session() as session:
            self.assertEqual(session.run(broadcast([[1.0], [2.0]], np.zeros([2, 3]))).tolist(), [[1.0] * 3, [2.0] * 3])
            spread = broadcast(unknown, np.zeros([2, 2], np.float32))
            self.assertEqual(session.run(spread, {unknown: [[1, 2]]}).tolist(), [[1, 2], [1, 2]])
            with self.assertRaises(tf.errors.InvalidArgumentError):
                session.run(spread, {unknown: [1, 2, 3]})
        with self.assertRaises(ValueError):
            broadcast([1.0, 2.0], np.zeros([2, 3]))

    def test_small_functions_of_the_framework(self):
        shape, ops = api.find("python.framework.tensor_shape"), api.find("python.framework.ops")
        self.assertEqual(shape.unknown_shape(2).as_list(), [None, None])
        self.assertIsNone(shape.unknown_shape().ndims)
        self.assertEqual(shape.vector(3).as_list(), [3])
        self.assertEqual([shape.dimension_value(d) for d in (tf.Dimension(2), 3, None)], [2, 3, None])
        self.assertLess(ops.uid(), ops.uid())
        self.assertEqual([ops.prepend_name_scope(name, "s") for name in ("a", "^a", "loc:@a")],
                         ["s/a", "^s/a", "loc:@s/a"])
        self.assertEqual([ops.strip_name_scope(name, "s") for name in ("s/a", "^s/a", "b")], ["a", "^a", "b"])
        cell = api.find("python.ops.rnn_cell_impl")
        with tf.variable_scope("cell"):
            made = cell._linear([tf.ones([2, 1]), tf.ones([2, 2])], 4, True, kernel_initializer=tf.ones_initializer())
        self.assertEqual(self.evaluate(made).tolist(), [[3.0] * 4] * 2)
        self.assertEqual([v.name for v in tf.global_variables()], ["cell/kernel:0", "cell/bias:0"])
        depends = api.find("python.ops.control_flow_ops.with_dependencies")
        self.assertEqual(self.evaluate(depends([tf.no_op()], tf.constant(4))), 4)

    def test_exports_are_kept_by_their_numbers(self):
        gc = api.find("python.estimator.gc")
        paths = [gc.Path(f"/{n}", n) for n in range(5)]
        self.assertEqual(gc._largest_export_versions(2)(paths), paths[3:])
        self.assertEqual(gc._negation(gc._largest_export_versions(2))(paths), paths[:3])
        self.assertEqual(gc._union(gc._mod_export_version(4), gc._largest_export_versions(1))(paths),
                         [paths[0], paths[4]])
        for name in ("1", "2", "x"):
            os.mkdir(os.path.join(self.folder, name))

        def parser(path):
            name = os.path.basename(path.path)
            return path._replace(export_version=int(name)) if name.isdigit() else None

        self.assertEqual([path.export_version for path in gc._get_paths(self.folder, parser)], [1, 2])

    def test_a_checkpoint_is_printed(self):
        path = os.path.join(self.folder, "model")
        tf.get_variable("w", initializer=[[1.0, 2.0]])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.train.Saver().save(session, path)
        inspect = api.find("python.tools.inspect_checkpoint")
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            inspect.print_tensors_in_checkpoint_file(path, "", all_tensors=True)
        self.assertEqual(printed.getvalue(), "tensor: w (float32) [1, 2]\n[[1. 2.]]\n# Total number of params: 2\n")

    def test_elements_are_prepared_for_a_device(self):
        data = tf.data.Dataset.range(3).apply(tf.data.experimental.prefetch_to_device("/cpu:0", 2))
        element = tf.data.make_one_shot_iterator(data).get_next()
        self.assertEqual(self.evaluate(element), 0)
        self.assertIs(api.find("python.ops.data_flow_ops.StagingArea"), tf.contrib.staging.StagingArea)

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

    def test_each_moving_average_of_a_variable_has_its_own_sums(self):
        variable = tf.get_variable("a", [], initializer=tf.constant_initializer(8.0))
        for _ in range(2):
            moving_averages.assign_moving_average(variable, 4.0, 0.75)
        self.assertEqual([v.op.name for v in tf.global_variables()],
                         ["a", "a/biased", "a/local_step", "a/biased_1", "a/local_step_1"])

    def test_switch_and_merge(self):
        value = tf.placeholder(tf.float32)
        taken = [control_flow_ops.switch(value, tf.equal(i, 1))[1] * (i + 2.0) for i in range(2)]
        merged = control_flow_ops.merge(taken)
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
        self.assertEqual((device.memory_limit, device.physical_device_desc), (256 << 20, ""))
        self.assertNotEqual(device.incarnation, 0)
        two = device_lib.list_local_devices(tf.ConfigProto(device_count={"CPU": 2}))
        self.assertEqual([device.name for device in two], ["/device:CPU:0", "/device:CPU:1"])

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
