"""Names and arguments of DeepRec's programs besides those of tables: --bf16, the strategy, and what is refused."""

import os
import tempfile
import unittest

import numpy as np

import tensorbraid as tf
from tensorbraid.runner import api, finder


class KeepWeightsTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_variables_of_bfloat16_are_float32_and_train(self):
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, 3])
        scope = tf.variable_scope("deep", partitioner=tf.fixed_size_partitioner(2))
        with scope.keep_weights(dtype=tf.float32) as opened:
            self.assertEqual(opened.name, "deep")
            net = tf.cast(x, tf.bfloat16)
            layer = tf.layers.Dense(4, activation=tf.nn.relu, name="dense")
            net = layer(net)
            with tf.variable_scope("inner") as inner:  # the outer scope's getter is used here, too
                net = tf.layers.dense(net, 4, name=inner)
            net = tf.layers.batch_normalization(net, training=True)
            direct = tf.get_variable("direct", [2])
        self.assertEqual(net.dtype, tf.bfloat16)
        self.assertEqual(direct.dtype.base_dtype, tf.float32)
        self.assertEqual([weight.dtype for weight in layer.weights], [tf.bfloat16] * 2)
        self.assertEqual({variable.dtype.base_dtype for variable in tf.global_variables()}, {tf.float32})
        self.assertIn("deep/dense/kernel/part_1:0", [variable.name for variable in tf.global_variables()])
        loss = tf.reduce_mean(tf.square(tf.cast(net, tf.float32) - [[1.0, 2.0, 3.0, 4.0]]))
        train = tf.train.AdagradOptimizer(0.5).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = {x: np.arange(12, dtype=np.float32).reshape(4, 3) / 10}
            first = session.run(loss, values)
            for _ in range(20):
                session.run(train, values)
            self.assertLess(session.run(loss, values), 0.7 * first)

    def test_a_scope_that_keeps_weights_keeps_its_other_getter(self):
        asked = []

        def getter(make, name, **arguments):
            asked.append((name, arguments["dtype"]))
            return make(name, **arguments)

        with tf.variable_scope("outer", custom_getter=getter), tf.variable_scope("inner").keep_weights():
            weights = tf.get_variable("w", [2], tf.bfloat16)
        self.assertEqual(asked, [("outer/inner/w", tf.float32)])
        self.assertEqual((weights.dtype, weights.op.type), (tf.bfloat16, "Cast"))

    def test_growing_tables_are_not_cast(self):
        with tf.variable_scope("input").keep_weights():
            table = tf.get_embedding_variable("ids", 2)
        self.assertEqual(table.dtype.base_dtype, tf.float32)


class OtherNamesTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_a_name_that_programs_misspell(self):
        self.assertEqual(tf.L2WeightEvict(l2_weigt_threshold=1.0).l2_weight_threshold, 1.0)
        self.assertEqual(tf.L2WeightEvict(2.0).l2_weight_threshold, 2.0)

    def test_arguments_without_effect(self):
        tf.config.experimental.enable_distributed_strategy(strategy="localized")
        value = tf.constant(1.0)
        tf.train.create_global_step()
        config = tf.ConfigProto()
        config.executor_policy = tf.ExecutorPolicy.USE_COST_MODEL_EXECUTOR
        config.graph_options.optimizer_options.stage_subgraph_on_cpu = True
        with tf.train.MonitoredTrainingSession(target_nodes_or_tensors=[value], config=config) as session:
            self.assertEqual(session.run(value), 1.0)

    def test_steps_to_live_stands_for_an_eviction(self):
        def steps(table):
            return table.op.node_def.attr["_steps_to_live"].i

        self.assertEqual(steps(tf.get_embedding_variable("a", 2, steps_to_live=30)), 30)
        self.assertEqual(steps(tf.get_embedding_variable("b", 2, steps_to_live=0)), 0)
        columns = tf.contrib.layers
        for name, option in (("c", None), ("d", tf.EmbeddingVariableOption(filter_option=tf.CounterFilter(2)))):
            column = columns.embedding_column(
                columns.sparse_column_with_embedding(name, tf.int64, steps_to_live=40, ev_option=option), 2, do_fusion=True)
            tf.feature_column.input_layer({name: tf.constant([[1]], tf.int64)}, [column])
            self.assertEqual(steps(tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)[-1]), 40)
            self.assertIsNone(option and option.evict)  # the caller's option is as it was
        for evict in (tf.L2WeightEvict(0.1), tf.GlobalStepEvict(10)):
            option = tf.EmbeddingVariableOption(evict_option=evict)
            with self.assertRaisesRegex(ValueError, "steps_to_live and an evict_option"):
                tf.get_embedding_variable("e", 2, steps_to_live=30, ev_option=option)
            with self.assertRaisesRegex(ValueError, "steps_to_live and an evict_option"):
                columns.sparse_column_with_embedding("e", steps_to_live=30, evconfig=option)

    def test_modules_below_contrib_layers(self):
        lookups = api.find("contrib.layers.python.layers.embedding_ops")
        self.assertIs(lookups.fused_safe_embedding_lookup_sparse, tf.nn.fused_safe_embedding_lookup_sparse)
        columns = api.find("contrib.layers.python.layers.feature_column_ops")
        self.assertIs(columns.input_from_feature_columns, tf.contrib.layers.input_from_feature_columns)

    def test_a_linear_model_takes_do_fusion(self):
        column = tf.feature_column.categorical_column_with_identity("a", 3)
        outputs = [tf.feature_column.linear_model({"a": [[1], [2]]}, [column], do_fusion=fused) for fused in (False, True)]
        weights = tf.global_variables()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for variable in weights:
                variable.load(np.arange(np.prod(variable.shape.as_list())).reshape(variable.shape.as_list()), session)
            plain, fused = session.run(outputs)
        self.assertEqual(plain.tolist(), fused.tolist())
        self.assertEqual(plain.tolist(), [[1], [2]])

    def test_values_that_are_not_missing(self):
        columns = api.find("python.feature_column.feature_column")
        found = columns._to_sparse_input_and_drop_ignore_values(tf.constant([[7, -1], [-1, 3]], tf.int64))
        with tf.Session() as session:
            found = session.run(found)
        self.assertEqual((found.indices.tolist(), found.values.tolist()), ([[0, 0], [1, 1]], [7, 3]))

    def test_an_incremental_saver_of_its_own(self):
        make = finder.Finder._found("tensorflow.python.training.incremental_saver")._get_incremental_saver
        table = tf.get_embedding_variable("ids", 2)
        rows = tf.nn.embedding_lookup(table, tf.constant([7], tf.int64))
        train = tf.train.GradientDescentOptimizer(1.0).minimize(tf.reduce_sum(rows))
        saver = tf.train.Saver(incremental_save_restore=True)
        self.assertIsNone(make(False, saver))
        folder = tempfile.mkdtemp()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            full = saver.save(session, os.path.join(folder, "model"), global_step=1)
            session.run(train)
            path = os.path.join(folder, ".incremental_checkpoint", "incr-model")
            written = make(True, saver).incremental_save(session, path, global_step=2)
            self.assertEqual(os.path.realpath(written), os.path.realpath(path) + "-2")
            expected = session.run(rows)
            session.run(train)
            saver.restore(session, full)
            self.assertEqual(session.run(rows).tolist(), expected.tolist())

    def test_what_is_refused(self):
        with self.assertRaisesRegex(NotImplementedError, "the strategy 'collective'.*leave the call out"):
            tf.config.experimental.enable_distributed_strategy("collective")
        with self.assertRaisesRegex(NotImplementedError, "adaptive_mask_tensors.*categorical_column_with_embedding"):
            tf.feature_column.input_layer({"a": [[1.0]]}, [tf.feature_column.numeric_column("a")],
                                          adaptive_mask_tensors={"a": tf.ones([1], tf.int32)})
        for name in ("get_multihash_variable", "get_dynamic_dimension_embedding_variable",
                     "feature_column.categorical_column_with_adaptive_embedding", "data.TableRecordDataset"):
            self.assertTrue(api.refusal(name), name)
        with self.assertRaisesRegex(AttributeError, "use tf.get_embedding_variable"):
            tf.get_multihash_variable
        for module in ("ops.work_queue", "data.experimental.ops.parquet_dataset_ops",
                       "distribute.group_embedding_collective_strategy"):
            with self.assertRaisesRegex(ModuleNotFoundError, "not part of this package|cannot be read yet"):
                finder.Finder._found(f"tensorflow.python.{module}")

    def test_arguments_of_lookups_that_are_refused_name_a_way_out(self):
        table = tf.get_embedding_variable("ids", 2)
        ids = tf.SparseTensor([[0, 0]], tf.constant([1], tf.int64), [1, 1])
        for words, lookup in (
                ("call embedding_lookup_sparse", lambda: tf.nn.fused_safe_embedding_lookup_sparse(table, ids, prune=False)),
                ("sparse_fill_empty_rows", lambda: tf.nn.fused_embedding_lookup_sparse(table, ids, default_id=3)),
                ("leave it out", lambda: tf.nn.fused_embedding_lookup_sparse(table, ids, blocknums=1)),
                ("leave them out", lambda: tf.nn.embedding_lookup(table, [1], ev_init_value=1.0)),
                ("call it in place of", lambda: tf.get_embedding_variable("o", 2, custom_getter=lambda getter: None))):
            with self.assertRaisesRegex(NotImplementedError, words):
                lookup()
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "the keys of growing table 'ids' are float32, .*tf.cast"):
            tf.nn.embedding_lookup(table, tf.constant([1.0]))

    def test_files_of_hdfs_are_refused(self):
        path = "hdfs://host/clicks.csv"
        with self.assertRaisesRegex(tf.errors.UnimplementedError, "hdfs"):
            tf.gfile.Exists(path)
        with self.assertRaisesRegex(tf.errors.UnimplementedError, "hdfs"):
            tf.gfile.Open(path).read()
        line = tf.data.make_one_shot_iterator(tf.data.TextLineDataset(path)).get_next()
        with tf.Session() as session, self.assertRaisesRegex(tf.errors.UnimplementedError, "scheme 'hdfs'"):
            session.run(line)
        with self.assertRaises(tf.errors.OpError):
            tf.train.Saver([tf.Variable(1.0)]).save(tf.Session(), "hdfs://host/" + tempfile.gettempdir())


if __name__ == "__main__":
    unittest.main()
