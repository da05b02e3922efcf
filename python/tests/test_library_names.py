"""Names that libraries on TensorFlow 1 use: private ones of tensorflow.python, tf.config and parts of estimators."""

import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.runner import api


class LibraryNamesTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def evaluate(self, values):
        with tf.Session() as session:
            session.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
            return session.run(values)

    def test_devices(self):
        cpu, = tf.config.experimental.list_physical_devices()
        self.assertEqual((cpu.name, cpu.device_type), ("/physical_device:CPU:0", "CPU"))
        self.assertEqual(tf.config.list_physical_devices("GPU"), [])
        self.assertEqual(tf.config.experimental.list_logical_devices("CPU")[0].name, "/device:CPU:0")
        tf.config.experimental.set_visible_devices([], "GPU")
        tf.config.experimental.set_visible_devices(cpu, "CPU")
        self.assertEqual(tf.config.get_visible_devices(), [cpu])
        for wrong in (lambda: tf.config.set_visible_devices([], "CPU"),
                      lambda: tf.config.set_visible_devices("GPU:0", "GPU"),
                      lambda: tf.config.experimental.set_memory_growth(cpu, True)):
            with self.assertRaises(ValueError):
                wrong()

    def test_a_cpu_is_divided_and_has_no_details(self):
        cpu, = tf.config.list_physical_devices("CPU")
        self.assertEqual(tf.config.experimental.get_device_details(cpu), {})
        self.assertIsNone(tf.config.get_logical_device_configuration(cpu))
        two = [tf.config.LogicalDeviceConfiguration(), tf.config.experimental.VirtualDeviceConfiguration()]
        tf.config.experimental.set_virtual_device_configuration(cpu, two)
        try:
            self.assertEqual(tf.config.experimental.get_virtual_device_configuration(cpu), two)
            self.assertEqual([device.name for device in tf.config.list_logical_devices()],
                             ["/device:CPU:0", "/device:CPU:1"])
            with tf.device("/cpu:1"):
                x = tf.constant(2.0) * 3.0
            with tf.Session() as session:
                self.assertEqual(session.run(x), 6.0)
        finally:
            tf.config.set_logical_device_configuration(cpu, None)
        self.assertEqual(len(tf.config.list_logical_devices()), 1)
        limited = [tf.config.LogicalDeviceConfiguration(memory_limit=100)]
        for wrong in (lambda: tf.config.set_logical_device_configuration(cpu, limited),
                      lambda: tf.config.set_logical_device_configuration("GPU:0", two),
                      lambda: tf.config.experimental.get_memory_info("CPU:0"),
                      lambda: tf.config.experimental.get_device_details("GPU:0")):
            with self.assertRaises(ValueError):
                wrong()

    def test_classes_of_feature_columns_and_heads(self):
        number = tf.feature_column.numeric_column("x")
        table = tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_identity("i", 3), 2)
        for file in ("feature_column", "feature_column_v2"):
            for start in ("", "_"):
                for name, column in (("EmbeddingColumn", table), ("NumericColumn", number), ("DenseColumn", number)):
                    kind = api.find(f"python.feature_column.{file}.{start}{name}")
                    self.assertIsInstance(column, kind)
                    self.assertEqual(isinstance(number, kind), name != "EmbeddingColumn")
            self.assertIs(api.find(f"python.feature_column.{file}.input_layer"), tf.feature_column.input_layer)
        head = tf.contrib.estimator.binary_classification_head()
        self.assertIsInstance(head, api.find("python.estimator.canned.head._Head"))
        builder = api.find("python.feature_column.feature_column._LazyBuilder")({"x": [[1.0], [2.0]]})
        self.assertEqual(builder.get(number).shape.as_list(), [2, 1])

    def test_a_function_with_its_own_gradient(self):
        x = tf.constant(2.0)
        y = api.find("python.ops.custom_gradient._graph_mode_decorator")(lambda x: (x * x, lambda dy: 5.0 * dy), x)
        self.assertEqual(self.evaluate([y, tf.gradients(y, x)[0]]), [4.0, 5.0])
        self.assertIs(api.find("python.ops.custom_gradient.custom_gradient"), tf.custom_gradient)

    def test_utilities_of_layers(self):
        utils = api.find("python.layers.utils")
        self.assertEqual([utils.conv_output_length(7, 3, padding, 2) for padding in ("same", "valid", "full")], [4, 3, 5])
        self.assertEqual(utils.conv_output_length(7, 3, "valid", 1, dilation=2), 3)
        self.assertIsNone(utils.conv_output_length(None, 3, "valid", 1))
        self.assertEqual([utils.conv_input_length(4, 3, padding, 2) for padding in ("same", "valid", "full")], [7, 9, 5])
        self.assertEqual([utils.deconv_output_length(4, 3, padding, 2) for padding in ("same", "valid", "full")],
                         [8, 9, 5])
        self.assertEqual(utils.normalize_tuple(2, 3, "strides"), (2, 2, 2))
        self.assertEqual(utils.convert_data_format("channels_first", 4), "NCHW")
        self.assertEqual((utils.normalize_padding("SAME"), utils.normalize_data_format("Channels_Last")),
                         ("same", "channels_last"))
        for wrong in (lambda: utils.normalize_tuple((1, 2), 3, "strides"), lambda: utils.normalize_padding("full"),
                      lambda: utils.convert_data_format("NHWC", 4), lambda: utils.conv_output_length(7, 3, "half", 1)):
            with self.assertRaises(ValueError):
                wrong()

    def test_handles_have_messages_about_their_shapes(self):
        module = api.find("python.ops.resource_variable_ops")
        result = module.cpp_shape_inference_pb2.CppShapeInferenceResult
        data = result.HandleData(is_set=True, shape_and_type=[
            result.HandleShapeAndType(shape=tf.TensorShape([2, None]).as_proto(), dtype=tf.float32.as_datatype_enum)])
        handle = tf.get_variable("v", [2, 3]).handle
        module._set_handle_shapes_and_types(handle, data, graph_mode=True)
        self.assertEqual(handle._handle_data.shape_and_type[0].shape.dim[0].size, 2)
        self.assertIs(api.find("python.framework.cpp_shape_inference_pb2.CppShapeInferenceResult"), result)

    def test_names_of_other_systems_are_refused(self):
        for name in ("data.TableRecordDataset", "TableRecordReader", "python_io.OutOfRangeException"):
            self.assertIn("MaxCompute", api.refusal(name), name)
        with self.assertRaisesRegex(AttributeError, "MaxCompute"):
            tf.python_io.OutOfRangeException

    def test_shapes_of_reductions(self):
        reduced_shape = api.find("python.ops.math_ops.reduced_shape")
        self.assertEqual(reduced_shape([2, 3, 5], [0, -1]), [1, 3, 1])
        shape = tf.placeholder_with_default(tf.constant([2, 3, 5]), [3])
        self.assertEqual(self.evaluate(reduced_shape(shape, [0, -1])).tolist(), [1, 3, 1])

    def test_a_variable_scope_alone(self):
        with tf.name_scope("outer"), api.find("python.ops.variable_scope._pure_variable_scope")("inner"):
            self.assertEqual(tf.get_variable("v", [1]).op.name, "inner/v")
            self.assertEqual(tf.constant(1.0, name="c").op.name, "outer/c")

    def test_a_model_is_ready_or_says_why_not(self):
        ready = api.find("python.training.session_manager._ready")
        tf.get_variable("v", [1])
        op = tf.report_uninitialized_variables()
        with tf.Session() as session:
            self.assertEqual(ready(None, session, "no"), (True, None))
            self.assertEqual(ready(op, session, "no"), (False, "no: Variables not initialized: v"))
            session.run(tf.global_variables_initializer())
            self.assertEqual(ready(op, session, "no"), (True, None))

    def test_the_default_of_local_initialization(self):
        v = tf.get_local_variable("v", initializer=3.0)
        table = tf.contrib.lookup.index_table_from_tensor(["a", "b"])
        with tf.Session() as session:
            session.run(tf.train.Scaffold.default_local_init_op())
            self.assertEqual(session.run([v, table.lookup(tf.constant("b"))]), [3.0, 1])

    def test_saveables_by_name(self):
        builder = api.find("python.training.saver.BaseSaverBuilder")
        v = tf.get_variable("scope/v", [1])
        self.assertEqual(list(builder.OpListToDict([v])), ["scope/v"])
        saveable, = builder.SaveableObjectsForOp(v, "name")
        self.assertEqual(list(builder.OpListToDict([saveable])), ["name"])
        with self.assertRaisesRegex(ValueError, "two variables have the same name: scope/v"):
            builder.OpListToDict([v, v])
        with self.assertRaisesRegex(TypeError, "is not a Variable"):
            builder.OpListToDict([v + 1.0])

    def test_variables_of_protos(self):
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        definition, graph_def = v.to_proto(), tf.get_default_graph().as_graph_def()
        self.assertEqual(tf.Variable.from_proto(definition), v)
        with tf.Graph().as_default(), tf.Session() as session:
            tf.import_graph_def(graph_def, name="scope")
            made = tf.Variable(variable_def=definition, import_scope="scope")
            self.assertEqual((made.name, made.shape.as_list(), tf.global_variables()), ("scope/v:0", [2], []))
            session.run(made.initializer)
            session.run(made.assign_add([1.0, 1.0]))
            self.assertEqual(session.run(made).tolist(), [2.0, 3.0])
        with self.assertRaisesRegex(ValueError, "mutually exclusive"):
            tf.Variable(1.0, variable_def=definition)

    def test_moving_averages_of_an_optimizer(self):
        v = tf.get_variable("v", initializer=8.0)
        optimizer = tf.contrib.opt.MovingAverageOptimizer(tf.train.GradientDescentOptimizer(1.0), 0.5)
        with self.assertRaisesRegex(RuntimeError, "before creating the swapping_saver"):
            optimizer.swapping_saver()
        step = optimizer.minimize(v * 2.0, tf.train.create_global_step())
        saver = optimizer.swapping_saver()
        path = tempfile.mkdtemp() + "/model"
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(step)
            self.assertEqual(session.run(v), 6.0)
            saver.save(session, path)
        reader = tf.train.NewCheckpointReader(path)
        self.assertEqual(reader.get_tensor("v"), 7.0)  # the average of 8 and 6
        self.assertEqual(reader.get_tensor(optimizer._average.average(v).op.name), 6.0)
        with self.assertRaisesRegex(ValueError, "is not among the variables"):
            optimizer.swapping_saver([tf.train.get_global_step()])

    def test_messages_of_graphs_in_files(self):
        meta_graph = api.find("python.framework.meta_graph")
        v = tf.get_variable("scope/v", [2])
        path = tempfile.mkdtemp() + "/graph.meta"
        made, variables = meta_graph.export_scoped_meta_graph(path, export_scope="scope")
        self.assertEqual((list(variables), variables["v"].name), (["v"], v.name))
        self.assertEqual(meta_graph.read_meta_graph_file(path).graph_def, made.graph_def)
        with tf.Graph().as_default():
            imported = meta_graph.import_scoped_meta_graph(path, import_scope="new")
            self.assertEqual({name: variable.name for name, variable in imported.items()}, {"v": "new/v:0"})
        with self.assertRaisesRegex(OSError, "File does not exist: /no/file"):
            meta_graph.read_meta_graph_file("/no/file")
        self.assertEqual(api.find("python.saved_model.utils_impl.get_variables_path")("/a/"), "/a/variables/variables")
        self.assertIs(api.find("contrib.saved_model.python.saved_model.reader.read_saved_model"),
                      tf.contrib.saved_model.read_saved_model)

    def test_functions_with_the_logits_first(self):
        logits, labels = tf.constant([[1.0, 2.0]]), tf.constant([[0.0, 1.0]])
        nn = tf.contrib.nn
        self.assertAlmostEqual(*self.evaluate([
            nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels)[0],
            nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [1])[0]]))
        self.assertEqual(self.evaluate(nn.nth_element([3.0, 1.0, 2.0], 1)), 2.0)
        self.assertEqual(self.evaluate(nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(
            logits, labels)).tolist(), self.evaluate(tf.nn.sigmoid_cross_entropy_with_logits(
                labels=labels, logits=logits)).tolist())

    def test_operators_of_tensors_are_listed(self):
        self.assertIn("__radd__", tf.Tensor.OVERLOADABLE_OPERATORS)
        for name in tf.Tensor.OVERLOADABLE_OPERATORS:
            self.assertTrue(callable(getattr(tf.Tensor, name)))

    def test_types_and_collections(self):
        dtypes = api.find("python.framework.dtypes")
        self.assertEqual(dtypes._TYPE_TO_STRING[tf.float32], "float32")
        self.assertIs(dtypes.float64, tf.float64)
        self.assertIn(tf.GraphKeys.TRAINABLE_VARIABLES, tf.GraphKeys._VARIABLE_COLLECTIONS)

    def test_cells_that_compute_as_cudnn(self):
        rng = np.random.RandomState(0)
        x, h, c = (rng.randn(2, size).astype(np.float32) for size in (3, 4, 4))
        gru = tf.contrib.cudnn_rnn.CudnnCompatibleGRUCell(4)
        lstm = tf.contrib.cudnn_rnn.CudnnCompatibleLSTMCell(4)
        with tf.variable_scope("s"):
            made = gru(tf.constant(x), tf.constant(h))[0]
            output, state = lstm(tf.constant(x), (tf.constant(c), tf.constant(h)))
        self.assertEqual([v.op.name for v in lstm.variables], ["s/cudnn_compatible_lstm_cell/kernel",
                                                              "s/cudnn_compatible_lstm_cell/bias"])
        values = self.evaluate([made, output, state, gru.weights, lstm.weights])

        def sigmoid(z):
            return 1 / (1 + np.exp(-z))

        gates, gates_bias, of_input, input_bias, of_state, state_bias = values[3]
        self.assertEqual(gates_bias.tolist(), [1.0] * 8)
        r, u = np.split(sigmoid(np.concatenate([x, h], 1) @ gates + gates_bias), 2, 1)
        candidate = np.tanh(x @ of_input + input_bias + r * (h @ of_state + state_bias))
        np.testing.assert_allclose(values[0], u * h + (1 - u) * candidate, rtol=1e-5, atol=1e-6)
        i, j, f, o = np.split(np.concatenate([x, h], 1) @ values[4][0], 4, 1)
        new = sigmoid(f) * c + sigmoid(i) * np.tanh(j)
        np.testing.assert_allclose(values[1], sigmoid(o) * np.tanh(new), rtol=1e-5, atol=1e-6)
        self.assertIn("GPUs only", api.refusal("contrib.cudnn_rnn.CudnnLSTM"))
        self.assertIsNone(api.refusal("contrib.cudnn_rnn.CudnnCompatibleLSTMCell"))
        self.assertIn("tf.add_n", api.refusal("contrib.nccl.all_sum"))

    def test_names_of_operators_and_signals_in_contrib(self):
        self.assertIs(tf.contrib.linalg.LinearOperatorTriL, tf.linalg.LinearOperatorLowerTriangular)
        self.assertIs(tf.contrib.signal.stft, tf.signal.stft)
        self.assertIs(api.find("python.ops.linalg.linear_operator_diag.LinearOperatorDiag"),
                      tf.linalg.LinearOperatorDiag)
        with tf.contrib.compiler.jit.experimental_jit_scope():
            self.assertEqual(self.evaluate(tf.constant(1) + 1), 2)


class ExecutorTest(unittest.TestCase):
    def make(self, listener=None):
        def model(features, labels, mode):
            w = tf.get_variable("w", [], initializer=tf.zeros_initializer())
            return tf.estimator.EstimatorSpec(mode, loss=tf.reduce_sum(tf.square(w - features)),
                                              train_op=tf.assign_add(tf.train.get_global_step(), 1))

        training = api.find("python.estimator.training")
        folder = tempfile.mkdtemp()
        estimator = tf.estimator.Estimator(model, folder)

        def inputs():
            return tf.data.Dataset.from_tensors([1.0]).repeat()

        spec = tf.estimator.EvalSpec(inputs, steps=1, start_delay_secs=0, throttle_secs=0)
        training._assert_eval_spec(spec)
        return training._TrainingExecutor(estimator, tf.estimator.TrainSpec(inputs, max_steps=2), spec,
                                          continuous_eval_listener=listener)

    def test_it_trains_and_evaluates(self):
        metrics, exports = self.make().run()
        self.assertEqual((metrics["global_step"], metrics["loss"], exports), (2, 1.0, []))

    def test_columns_by_hand(self):
        columns = tf.feature_column
        builder = api.find("python.feature_column.feature_column._LazyBuilder")({
            "words": tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "a"], [2, 2]),
            "x": tf.constant([[1.0], [2.0]])})
        column = columns.sequence_categorical_column_with_hash_bucket("words", 7)
        self.assertEqual(column._num_buckets, 7)
        found = column._get_sparse_tensors(builder)
        self.assertIsNone(found.weight_tensor)
        self.assertEqual(found.id_tensor.shape.ndims, 3)
        lengths = api.find("python.feature_column.utils.sequence_length_from_sparse_tensor")(found.id_tensor)
        number = columns.numeric_column("x")
        self.assertEqual(tuple(number._variable_shape), (1,))
        with tf.Session() as session:
            self.assertEqual(list(session.run(lengths)), [2, 1])
            self.assertEqual(session.run(number._get_dense_tensor(builder)).tolist(), [[1.0], [2.0]])

    def test_a_listener_ends_the_evaluator(self):
        training = api.find("python.estimator.training")
        seen = []

        class Listener(training._ContinuousEvalListener):
            def after_eval(self, eval_result):
                seen.append((eval_result.status, eval_result.checkpoint_path))
                return len(seen) < 1

        executor = self.make(Listener())
        executor.run_evaluator()
        self.assertEqual(seen, [(training._EvalStatus.MISSING_CHECKPOINT, None)])
        executor.run_chief()
        seen.clear()
        executor.run_evaluator()
        self.assertEqual(seen, [(training._EvalStatus.EVALUATED, executor.estimator.latest_checkpoint())])
        with self.assertRaisesRegex(TypeError, "must have type `tf.estimator.EvalSpec`"):
            training._assert_eval_spec(None)
        self.assertFalse(api.find("python.distribute.estimator_training.should_run_distribute_coordinator")(None))


if __name__ == "__main__":
    unittest.main()
