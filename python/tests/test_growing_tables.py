"""Growing tables (tf.get_embedding_variable): values, names, checkpoints, columns, and what is refused."""

import os
import tempfile
import unittest

import numpy as np

import tensorbraid as tf
from tensorbraid.runner import api

VOCABULARY, DIM = 40, 3
OPTIMIZERS = {
    "GradientDescent": lambda: tf.train.GradientDescentOptimizer(0.1),
    "Adagrad": lambda: tf.train.AdagradOptimizer(0.1),
    "AdamAsync": lambda: tf.train.AdamAsyncOptimizer(0.05),
    "AdamAsync by RMSProp": lambda: tf.train.AdamAsyncOptimizer(0.05, apply_sparse_rmsprop=True),
    "RowwiseAdagrad": lambda: tf.train.RowwiseAdagradOptimizer(0.1),
    "Momentum": lambda: tf.train.MomentumOptimizer(0.1, 0.9),
    "Nesterov": lambda: tf.train.MomentumOptimizer(0.1, 0.9, use_nesterov=True),
    "Adadelta": lambda: tf.train.AdadeltaOptimizer(0.5),
    "AdagradDecay": lambda: tf.train.AdagradDecayOptimizer(
        0.1, tf.train.get_or_create_global_step(), accumulator_decay_step=3, accumulator_decay_rate=0.5),
    "RMSProp": lambda: tf.train.RMSPropOptimizer(0.05, momentum=0.5),
    "centered RMSProp": lambda: tf.train.RMSPropOptimizer(0.05, centered=True),
    "Ftrl": lambda: tf.train.FtrlOptimizer(0.1, l1_regularization_strength=0.01),
    "Ftrl with shrinkage": lambda: tf.train.FtrlOptimizer(0.1, l2_shrinkage_regularization_strength=0.01),
}


def batch(step):
    """Keys, some of them twice, and factors for their rows."""
    keys = np.array([(step * 7 + i * i * 3) % VOCABULARY for i in range(6)], np.int64)
    factors = np.array([[0.1 * ((step * 5 + i * DIM + j) % 11) - 0.3 for j in range(DIM)] for i in range(6)])
    return keys, factors.astype(np.float32)


class Training:
    """Trains rows of a growing table in `parts`, or of a static variable if it is None."""

    def __init__(self, parts, optimizer, device=None, incremental=False):
        self.graph = tf.Graph()
        with self.graph.as_default(), tf.device(device):
            initializer = tf.constant_initializer(0.25)
            if parts is None:
                self.table = tf.get_variable("ids", [VOCABULARY, DIM], initializer=initializer)
            else:
                partitioner = tf.fixed_size_partitioner(parts) if parts else None
                self.table = tf.get_embedding_variable("ids", DIM, initializer=initializer, partitioner=partitioner)
                self.count = self.table.total_count()
            self.keys = tf.placeholder(tf.int64, [None])
            self.factors = tf.placeholder(tf.float32, [None, DIM])
            self.rows = tf.nn.embedding_lookup(self.table, self.keys)
            loss = tf.reduce_sum(tf.square(self.rows * self.factors - 1.0))
            self.train = optimizer().minimize(loss, global_step=tf.train.get_or_create_global_step())
            self.init = tf.global_variables_initializer()
            self.saver = tf.train.Saver(incremental_save_restore=incremental)

    def start(self, target=""):
        self.session = tf.Session(target, graph=self.graph)
        self.session.run(self.init)
        return self

    def run(self, steps):
        for step in steps:
            self.session.run(self.train, dict(zip((self.keys, self.factors), batch(step))))
        return self

    def all(self):
        return self.session.run(self.rows, {self.keys: np.arange(VOCABULARY)})


class ValuesTest(unittest.TestCase):
    def test_a_table_over_a_vocabulary_equals_a_variable(self):
        for name, optimizer in OPTIMIZERS.items():
            expected = Training(None, optimizer).start().run(range(20)).all()
            for parts in (0, 1, 3):
                with self.subTest(optimizer=name, parts=parts):
                    np.testing.assert_array_equal(Training(parts, optimizer).start().run(range(20)).all(), expected)

    def test_a_table_on_servers_equals_a_variable(self):
        for name, optimizer in OPTIMIZERS.items():
            expected = Training(None, optimizer).start().run(range(10)).all()
            for servers in (1, 2):
                workers, ps = tf.test.create_local_cluster(num_workers=1, num_ps=servers)
                device = tf.train.replica_device_setter(ps_tasks=servers, worker_device="/job:worker/task:0")
                with self.subTest(optimizer=name, servers=servers):
                    growing = Training(2, optimizer, device)
                    self.assertEqual(growing.table._get_variable_list()[-1].device, f"/job:ps/task:{servers - 1}")
                    np.testing.assert_array_equal(growing.start(workers[0].target).run(range(10)).all(), expected)
                self.assertEqual(len(ps), servers)

    def test_rowwise_adagrad_by_its_formula(self):
        rows, sums = np.full([VOCABULARY, DIM], 0.25), np.full([VOCABULARY, 1], 0.1)
        for step in range(10):
            keys, factors = batch(step)
            grad = np.zeros_like(rows)
            np.add.at(grad, keys, 2 * (rows[keys] * factors - 1) * factors)
            sums += np.mean(grad ** 2, axis=1, keepdims=True)
            rows -= 0.1 * grad / np.sqrt(sums)
        training = Training(2, OPTIMIZERS["RowwiseAdagrad"]).start().run(range(10))
        np.testing.assert_allclose(training.all(), rows, rtol=1e-5)
        with tempfile.TemporaryDirectory() as folder, training.graph.as_default():
            path = training.saver.save(training.session, folder + "/model")
            reader = tf.train.load_checkpoint(path)
            for part in range(2):
                keys = reader.get_tensor(f"ids/part_{part}/RowwiseAdagrad-keys")
                saved = reader.get_tensor(f"ids/part_{part}/RowwiseAdagrad-values")
                self.assertEqual(saved.shape, (len(keys), 1))
                np.testing.assert_allclose(saved, sums[keys], rtol=1e-5)
            # Under an optimizer with wide slots, the table begins with the rows.
            other = Training(3, OPTIMIZERS["Adagrad"])
            with other.graph.as_default():
                tf.train.init_from_checkpoint(path, {"ids": other.table})
                other.init = tf.global_variables_initializer()
            np.testing.assert_array_equal(other.start().all(), training.all())

    def test_rowwise_adagrad_of_whole_variables(self):
        starts = [np.array([[1.0, -2.0], [0.5, 0.0], [3.0, 4.0]]), np.array([1.0, -2.0]), np.array(0.5), np.zeros([0, 2])]
        for use_resource in (False, True):
            with tf.Graph().as_default(), tf.Session() as session:
                variables = [tf.get_variable(f"v{i}", initializer=start.astype(np.float32), use_resource=use_resource)
                             for i, start in enumerate(starts)]
                loss = tf.add_n([tf.reduce_sum(tf.square(v) * 0.5) for v in variables])
                optimizer = tf.train.RowwiseAdagradOptimizer(0.3, initial_accumulator_value=0.2)
                train = optimizer.minimize(loss)
                slots = [optimizer.get_slot(v, "accumulator") for v in variables]
                self.assertEqual([slot.shape.as_list() for slot in slots], [[3, 1], [2, 1], [1, 1], [0, 1]])
                session.run(tf.global_variables_initializer())
                expected = [start.reshape([max(slot.shape.as_list()[0], 0), -1 if start.size else 2])
                            for start, slot in zip(starts, slots)]
                sums = [np.full(slot.shape.as_list(), 0.2) for slot in slots]
                for _ in range(3):
                    session.run(train)
                    for value, total in zip(expected, sums):
                        total += np.mean(value ** 2, axis=1, keepdims=True)
                        value -= 0.3 * value / np.sqrt(total)
                for found, value in zip(session.run(variables), expected):
                    np.testing.assert_allclose(found.reshape(value.shape), value, rtol=1e-5)
                for found, total in zip(session.run(slots), sums):
                    np.testing.assert_allclose(found, total, rtol=1e-5)

    def test_adam_moves_the_rows_with_a_gradient(self):
        def optimizers(decay):
            if decay:
                return [lambda: tf.train.AdamWOptimizer(decay, 0.1, 0.8, 0.9)]
            return [lambda: tf.train.AdamOptimizer(0.1, 0.8, 0.9), lambda: tf.contrib.opt.LazyAdamOptimizer(0.1, 0.8, 0.9)]

        for decay in (0.0, 0.3):
            rows, m, v = np.full([VOCABULARY, DIM], 0.25), np.zeros([VOCABULARY, DIM]), np.zeros([VOCABULARY, DIM])
            for step in range(10):
                keys, factors = batch(step)
                grad = np.zeros_like(rows)
                np.add.at(grad, keys, 2 * (rows[keys] * factors - 1) * factors)
                at = np.unique(keys)
                m[at] += (grad[at] - m[at]) * 0.2
                v[at] += (grad[at] ** 2 - v[at]) * 0.1
                rate = 0.1 * np.sqrt(1 - 0.9 ** (step + 1)) / (1 - 0.8 ** (step + 1))
                rows[at] -= rate * (m[at] / (np.sqrt(v[at]) + 1e-8) + decay * rows[at])
            for optimizer in optimizers(decay):
                found = Training(2, optimizer).start().run(range(10)).all()
                np.testing.assert_allclose(found, rows, rtol=1e-4, atol=1e-4)

    def test_rows_appear_at_updates_only(self):
        training = Training(2, OPTIMIZERS["Adagrad"]).start()
        keys = np.array([-1, -2**63, 2**63 - 1, 0], np.int64)
        np.testing.assert_array_equal(training.session.run(training.rows, {training.keys: keys}), np.full([4, 3], 0.25))
        self.assertEqual(training.session.run(training.count), 0)
        training.session.run(training.train, {training.keys: keys, training.factors: np.ones([4, DIM])})
        self.assertEqual(training.session.run(training.count), 4)

    def test_initial_rows_are_a_function_of_seed_name_and_key(self):
        def rows(parts, seed=3, name="ids", initializer=tf.truncated_normal_initializer):
            with tf.Graph().as_default():
                table = tf.get_embedding_variable(name, 4, initializer=initializer(seed=seed),
                                                  partitioner=tf.fixed_size_partitioner(parts) if parts else None)
                found = tf.nn.embedding_lookup(table, tf.constant([5, -9, 5], tf.int64))
                with tf.Session() as session:
                    session.run(tf.global_variables_initializer())
                    return session.run(found)

        first = rows(0)
        np.testing.assert_array_equal(first[0], first[2])
        np.testing.assert_array_equal(rows(3), first)
        self.assertTrue((rows(0, seed=4) != first).any())
        self.assertTrue((rows(0, name="others") != first).any())
        for initializer in (tf.random_uniform_initializer, tf.random_normal_initializer, tf.glorot_uniform_initializer):
            self.assertTrue((rows(2, initializer=initializer) == rows(0, initializer=initializer)).all())

    def test_regularizers_see_the_rows_of_the_batch(self):
        ones = tf.ones_initializer()
        with tf.Graph().as_default():
            keys = tf.constant([7, 4, 7], tf.int64)
            ids = tf.SparseTensor([[0, 0], [0, 1]], np.array([7, 7], np.int64), [1, 2])
            table = tf.get_embedding_variable("ids", 2, initializer=ones, partitioner=tf.fixed_size_partitioner(2),
                                              regularizer=lambda rows: 3 * tf.nn.l2_loss(rows))
            with tf.variable_scope("scope", regularizer=tf.contrib.layers.l2_regularizer(0.5)):
                other = tf.get_embedding_variable("others", 1, initializer=ones)
            with tf.variable_scope("none", regularizer=tf.no_regularizer):
                tf.nn.embedding_lookup(tf.get_embedding_variable("free", 1), keys)
            rows = tf.nn.embedding_lookup(table, keys)
            tf.nn.safe_embedding_lookup_sparse(other, ids)
            losses = tf.losses.get_regularization_losses()
            train = tf.train.GradientDescentOptimizer(0.25).minimize(tf.losses.get_regularization_loss())
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                self.assertEqual(session.run(losses), [6.0, 0.25])
                session.run(train)
                self.assertEqual(session.run(rows).tolist(), [[0.25, 0.25]] * 3)

    def test_sparse_lookups(self):
        with tf.Graph().as_default():
            table = tf.get_embedding_variable("ids", 1, initializer=tf.constant_initializer(2.0))
            ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [2, 0]], np.array([-2, -1, -1, 5], np.int64), [3, 2])
            safe = [tf.nn.safe_embedding_lookup_sparse(table, ids, combiner="sum"),
                    tf.nn.fused_safe_embedding_lookup_sparse(table, ids, combiner="sum"),
                    tf.nn.fused_embedding_lookup_sparse(table, ids, combiner="sum", prune_invalid_ids=True)]
            plain = [tf.nn.embedding_lookup_sparse(table, ids, None, combiner="sum"),
                     tf.nn.fused_embedding_lookup_sparse(table, ids, combiner="sum")]
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                for found in session.run(safe):
                    self.assertEqual(found.tolist(), [[2], [0], [2]])
                for found in session.run(plain):
                    self.assertEqual(found.tolist(), [[4], [2], [2]])


class CheckpointTest(unittest.TestCase):
    def test_a_checkpoint_is_restored_into_other_numbers_of_parts(self):
        for name, optimizer in OPTIMIZERS.items():
            with self.subTest(optimizer=name), tempfile.TemporaryDirectory() as folder:
                expected = Training(0, optimizer).start().run(range(20)).all()
                saved, done = None, 0
                for parts in (1, 2, 3, 0):
                    training = Training(parts, optimizer).start()
                    if saved:
                        training.saver.restore(training.session, saved)
                    training.run(range(done, done + 5))
                    done += 5
                    saved = training.saver.save(training.session, os.path.join(folder, "model"), done)
                np.testing.assert_array_equal(training.all(), expected)

    def test_a_training_session_saves_and_restores(self):
        with tempfile.TemporaryDirectory() as folder:
            for begin in (0, 4):
                training = Training(2, OPTIMIZERS["Adagrad"])
                with training.graph.as_default(), tf.train.MonitoredTrainingSession(checkpoint_dir=folder) as session:
                    for step in range(begin, begin + 4):
                        session.run(training.train, dict(zip((training.keys, training.factors), batch(step))))
                    last = session.run(training.rows, {training.keys: np.arange(VOCABULARY)})
            np.testing.assert_array_equal(last, Training(None, OPTIMIZERS["Adagrad"]).start().run(range(8)).all())
            names = [name for name, _ in tf.train.list_variables(folder)]
            self.assertIn("ids/part_1-keys", names)
            self.assertIn("ids/part_1/Adagrad-partition_filter_offset", names)

    def test_a_chain_of_increments_is_restored_into_other_numbers_of_parts(self):
        for name, optimizer in OPTIMIZERS.items():
            with self.subTest(optimizer=name), tempfile.TemporaryDirectory() as folder:
                expected = Training(0, optimizer).start().run(range(12)).all()
                for begin, parts in ((0, 1), (3, 2), (6, 3), (9, 0)):
                    training = Training(parts, optimizer, incremental=True).start()
                    if begin:
                        training.saver.restore(training.session, tf.train.latest_checkpoint(folder))
                    for step in range(begin, begin + 3):
                        training.run([step])
                        training.saver.incremental_save(training.session, os.path.join(folder, "model"), step + 1)
                np.testing.assert_array_equal(training.all(), expected)
                increments = os.path.join(folder, ".incremental_checkpoint")
                names = [name for name, _ in tf.train.list_variables(increments)]
                self.assertIn("ids/Adagrad-values" if name == "Adagrad" else "ids-values", names)
                self.assertIn("ids-keys_deleted", names)

    def test_increments_hold_the_changed_rows_of_static_variables(self):
        for name, optimizer in OPTIMIZERS.items():
            with self.subTest(optimizer=name), tempfile.TemporaryDirectory() as folder:
                expected = Training(None, optimizer).start().run(range(9)).all()
                for begin in (0, 3, 6):
                    training = Training(None, optimizer, incremental=True).start()
                    if begin:
                        training.saver.restore(training.session, tf.train.latest_checkpoint(folder))
                    for step in range(begin, begin + 3):
                        training.run([step])
                        training.saver.incremental_save(training.session, os.path.join(folder, "model"), step + 1)
                np.testing.assert_array_equal(training.all(), expected)
                shapes = dict(tf.train.list_variables(os.path.join(folder, ".incremental_checkpoint")))
                rows = len(set(batch(8)[0]))
                self.assertEqual(shapes["ids-changed_rows-0"], [rows])
                self.assertEqual(shapes["ids-changed_values-0"], [rows, DIM])
                self.assertNotIn("ids", shapes)
                if name == "Adagrad":
                    self.assertEqual(shapes["ids/Adagrad-changed_rows-0"], [rows])

    def test_a_supervisor_saves_increments(self):
        with tempfile.TemporaryDirectory() as folder:
            increments = os.path.join(folder, ".incremental_checkpoint")
            training = Training(2, OPTIMIZERS["Adagrad"])
            with training.graph.as_default():
                supervisor = tf.train.Supervisor(logdir=folder, save_incremental_checkpoint_secs=0.001)
                with self.assertRaises(KeyError), supervisor.managed_session() as session:
                    for step in range(4):
                        session.run(training.train, dict(zip((training.keys, training.factors), batch(step))))
                    while not (tf.train.latest_checkpoint(increments) or "").endswith("model.ckpt-4"):
                        self.assertFalse(supervisor.should_stop())
                    raise KeyError("the end, without a last checkpoint")
            again = Training(2, OPTIMIZERS["Adagrad"])
            with again.graph.as_default():
                supervisor = tf.train.Supervisor(logdir=folder, save_incremental_checkpoint_secs=3600)
                with supervisor.managed_session() as session:
                    found = session.run(again.rows, {again.keys: np.arange(VOCABULARY)})
            np.testing.assert_array_equal(found, Training(None, OPTIMIZERS["Adagrad"]).start().run(range(4)).all())

    def test_a_killed_session_continues_from_its_last_increment(self):
        def scaffold(graph):
            with graph.as_default():
                return tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=3))

        for make in (lambda graph: None, scaffold):
            with self.subTest(scaffold=make is scaffold), tempfile.TemporaryDirectory() as folder:
                for begin in (0, 4):
                    training = Training(2, OPTIMIZERS["Adagrad"])
                    with self.assertRaises(KeyError), training.graph.as_default(), tf.train.MonitoredTrainingSession(
                            checkpoint_dir=folder, save_incremental_checkpoint_secs=0, save_summaries_steps=None,
                            scaffold=make(training.graph)) as session:
                        for step in range(begin, begin + 4):
                            session.run(training.train, dict(zip((training.keys, training.factors), batch(step))))
                        last = session.run(training.rows, {training.keys: np.arange(VOCABULARY)})
                        raise KeyError("the end, without a last checkpoint")
                np.testing.assert_array_equal(last, Training(None, OPTIMIZERS["Adagrad"]).start().run(range(8)).all())
                self.assertTrue(tf.train.latest_checkpoint(folder).endswith("model.ckpt-0"))

    def test_mistakes_with_increments_are_explained(self):
        training = Training(0, OPTIMIZERS["Adagrad"]).start()
        with tempfile.TemporaryDirectory() as folder, training.graph.as_default():
            with self.assertRaisesRegex(tf.errors.FailedPreconditionError, "incremental_save_restore=True"):
                training.saver.incremental_save(training.session, os.path.join(folder, "model"))
            with self.assertRaisesRegex(ValueError, "incremental_save_secs must not be negative"):
                tf.train.CheckpointSaverHook(folder, save_steps=1, incremental_save_secs=-1)
            with self.assertRaisesRegex(ValueError, "increments follow a full checkpoint"):
                tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_secs=None,
                                                  save_incremental_checkpoint_secs=5)
            hook = tf.train.CheckpointSaverHook(folder, save_steps=1, saver=training.saver, incremental_save_secs=1)
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "incremental_save_restore=True"):
                tf.train.MonitoredSession(hooks=[hook])

    def test_an_imported_meta_graph_has_its_table(self):
        with tempfile.TemporaryDirectory() as folder:
            training = Training(2, OPTIMIZERS["Adagrad"], incremental=True).start().run(range(3))
            saved = training.saver.save(training.session, os.path.join(folder, "model"))
            expected = training.all()
            increment = training.run(range(3, 4)).saver.incremental_save(training.session, os.path.join(folder, "model"))
            with tf.Graph().as_default():
                saver = tf.train.import_meta_graph(saved + ".meta")
                with tf.Session() as session:
                    saver.restore(session, saved)
                    rows = session.run(training.rows.name, {training.keys.name: np.arange(VOCABULARY)})
                    np.testing.assert_array_equal(rows, expected)
                    with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "is an increment, and holds only"):
                        saver.restore(session, increment)


class GraphTest(unittest.TestCase):
    def setUp(self):
        graph = tf.Graph().as_default()
        graph.__enter__()
        self.addCleanup(graph.__exit__, None, None, None)

    def test_names_and_collections(self):
        with tf.variable_scope("model", partitioner=tf.fixed_size_partitioner(2)):
            table = tf.get_embedding_variable("ids", 4, collections=["mine"])
        parts = list(table)
        self.assertEqual([part.op.name for part in parts], ["model/ids/part_0", "model/ids/part_1"])
        self.assertEqual([part.op.type for part in parts], ["KvVarHandleOp"] * 2)
        for key in ("mine", tf.GraphKeys.GLOBAL_VARIABLES, tf.GraphKeys.TRAINABLE_VARIABLES,
                    tf.GraphKeys.EMBEDDING_VARIABLES):
            self.assertEqual(tf.get_collection(key), parts, key)
        with tf.variable_scope("model", reuse=True):
            self.assertIs(tf.get_embedding_variable("ids", 4), table)
            with self.assertRaisesRegex(ValueError, "'model/ids' has rows of 4 numbers, not of 5"):
                tf.get_embedding_variable("ids", 5)
            with self.assertRaisesRegex(ValueError, "'model/others' does not exist"):
                tf.get_embedding_variable("others", 4)
        with tf.variable_scope("model"), self.assertRaisesRegex(ValueError, "'model/ids' exists already"):
            tf.get_embedding_variable("ids", 4)

    def test_a_table_has_no_value_as_a_whole(self):
        table = tf.get_embedding_variable("ids", 4)
        for use in (table.value, table.read_value, lambda: table * 2.0, lambda: table.assign([[1.0] * 4])):
            with self.assertRaisesRegex((ValueError, tf.errors.InvalidArgumentError),
                                        "growing table 'ids'.*as a whole.*tf.nn.embedding_lookup"):
                use()
        parts = tf.get_embedding_variable("others", 4, partitioner=tf.fixed_size_partitioner(2))
        with self.assertRaisesRegex(ValueError, "'others' cannot be read as a whole"):
            tf.reduce_sum(parts)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            self.assertEqual(len(session.run(tf.report_uninitialized_variables())), 0)
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "'ids' cannot be fetched as a whole"):
                session.run(table)

    def test_what_is_not_supported_is_refused(self):
        def made(**arguments):
            return lambda: tf.get_embedding_variable("ids", 4, **arguments)

        def with_option(**arguments):
            return made(ev_option=tf.EmbeddingVariableOption(**arguments))

        for words, call in (
                ("values of float64", made(value_dtype=tf.float64)),
                ("the argument constraint", made(constraint=tf.nn.relu)),
                ("CheckpointOption", with_option(ckpt=tf.CheckpointOption(init_data_source="folder"))),
                ("storage_type", with_option(storage_option=tf.StorageOption(4, "folder")))):
            with self.assertRaisesRegex(NotImplementedError, words):
                call()
        with self.assertRaisesRegex(ValueError, "embedding_dim of the growing table 'ids' must be positive, got 0"):
            tf.get_embedding_variable("ids", 0)
        table = tf.get_embedding_variable("ids", 4)
        loss = tf.reduce_sum(tf.nn.embedding_lookup(table, tf.constant([1], tf.int64)))
        for optimizer in (tf.train.ProximalAdagradOptimizer(0.1), tf.train.ProximalGradientDescentOptimizer(0.1)):
            with self.assertRaisesRegex(tf.errors.UnimplementedError, "growing table 'ids'.*use AdagradOptimizer"):
                optimizer.minimize(loss)
        for wrong in (dict(accumulator_decay_step=0), dict(initial_accumulator_value=0.0)):
            with self.assertRaisesRegex(ValueError, "must be positive"):
                tf.train.AdagradDecayOptimizer(0.1, tf.train.get_or_create_global_step(), **wrong)

    def test_a_table_does_not_become_a_constant(self):
        table = tf.get_embedding_variable("ids", 4)
        rows = tf.nn.embedding_lookup(table, tf.constant([1], tf.int64))
        with tf.Session() as session, self.assertRaisesRegex(NotImplementedError, "'ids' as a constant"):
            tf.graph_util.convert_variables_to_constants(session, tf.get_default_graph().as_graph_def(), [rows.op.name])

    def test_a_table_counts_as_a_million_rows(self):
        table = tf.get_embedding_variable("ids", 4)
        self.assertEqual(tf.contrib.training.byte_size_load_fn(table.op), 16_000_000)

    def test_options_without_effect_are_accepted(self):
        pb2 = api.stand_in("core.framework.embedding.config_pb2")
        option = tf.EmbeddingVariableOption(
            ht_partition_num=100, evict_option=tf.GlobalStepEvict(), filter_option=tf.CounterFilter(),
            ckpt=tf.CheckpointOption(), storage_option=tf.StorageOption(pb2.StorageType.DRAM),
            init_option=tf.InitializerOption(tf.ones_initializer(), default_value_dim=10))
        table = tf.get_embedding_variable("ids", 2, key_dtype=tf.int32, initializer=tf.zeros_initializer(),
                                          ev_option=option)
        rows = tf.nn.embedding_lookup(table, tf.constant([7], tf.int32))
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            self.assertEqual(session.run(rows).tolist(), [[1, 1]])


class ColumnTest(unittest.TestCase):
    def trained(self, columns, features, steps=3):
        """The outputs before and after training, and the number of rows of each table."""
        with tf.Graph().as_default():
            tf.set_random_seed(1)
            deep = tf.feature_column.input_layer(features(), columns)
            loss = tf.reduce_sum(tf.square(deep - 1.0))
            train = tf.train.AdagradOptimizer(0.5).minimize(loss)
            tables = tf.get_collection(tf.GraphKeys.EMBEDDING_VARIABLES)
            counts = [table.total_count() for table in tables]
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                before = session.run(loss)
                for _ in range(steps):
                    session.run(train)
                return before, session.run(loss), session.run(counts), [table.op.name for table in tables]

    def test_columns_of_strings_and_integers(self):
        words = tf.feature_column.categorical_column_with_embedding("word", partition_num=2)
        ids = tf.feature_column.categorical_column_with_embedding("id", dtype=tf.int64)
        columns = [tf.feature_column.embedding_column(words, 4), tf.feature_column.embedding_column(ids, 4)]
        before, after, counts, names = self.trained(columns, lambda: {
            "word": tf.constant([["a"], ["b"], ["c"], [""]]), "id": tf.constant([[5], [-7], [-1], [5]], tf.int64)})
        self.assertLess(after, before)
        self.assertEqual(names, ["input_layer/id_embedding/embedding_weights",
                                 "input_layer/word_embedding/embedding_weights/part_0",
                                 "input_layer/word_embedding/embedding_weights/part_1"])
        self.assertEqual(counts[0], 2)  # missing values make no row
        self.assertEqual(counts[1] + counts[2], 3)

    def test_shared_weighted_and_linear_columns(self):
        fc = tf.feature_column
        a, b = (fc.categorical_column_with_embedding(key, dtype=tf.int64) for key in "ab")
        shared = fc.shared_embedding_columns([a, b], 3)
        _, _, counts, names = self.trained(shared, lambda: {
            "a": tf.constant([[1], [2]], tf.int64), "b": tf.constant([[2], [3]], tf.int64)})
        self.assertEqual((len(names), counts), (1, [3]))
        with tf.Graph().as_default():
            weighted = fc.weighted_categorical_column(a, "w")
            out = fc.linear_model({"a": tf.constant([[4], [5]], tf.int64), "w": tf.constant([[2.0], [3.0]])}, [weighted])
            train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(out))
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                session.run(train)
                np.testing.assert_allclose(session.run(out), [[-0.2 - 0.4], [-0.2 - 0.9]], rtol=1e-6)

    def test_older_names_of_columns(self):
        from tensorbraid.contrib.feature_column import sequence_categorical_column_with_embedding

        below_python = api.stand_in("python.feature_column.sequence_feature_column")
        self.assertIs(below_python.sequence_categorical_column_with_embedding,
                      sequence_categorical_column_with_embedding)
        layers = tf.contrib.layers
        column = layers.embedding_column(layers.sparse_column_with_embedding("id", dtype=tf.int64), dimension=4)
        with tf.Graph().as_default(), tf.Session() as session:
            made = layers.input_from_feature_columns({"id": tf.constant([[3], [3]], tf.int64)}, [column])
            session.run(tf.global_variables_initializer())
            first, second = session.run(made).tolist()
            self.assertEqual(first, second)
        with tf.Graph().as_default(), tf.Session() as session:
            steps = tf.feature_column.embedding_column(sequence_categorical_column_with_embedding("ids", tf.int64), 2)
            made, lengths = tf.contrib.feature_column.sequence_input_layer(
                {"ids": tf.constant([[3, 4, -1], [5, -1, -1]], tf.int64)}, [steps])
            session.run(tf.global_variables_initializer())
            self.assertEqual(session.run([tf.shape(made), lengths])[1].tolist(), [2, 1])

    def test_a_string_is_its_fingerprint(self):
        column = tf.feature_column.categorical_column_with_embedding("word")
        from tensorbraid.feature_column.base import Features

        with tf.Graph().as_default(), tf.Session() as session:
            ids = column.ids_and_weights(Features({"word": tf.constant([["a"], [""], ["b"]])})).id_tensor
            found = session.run(ids.values)
            expected = session.run(tf.strings.to_hash_bucket_fast(["a", "b"], 2**63 - 1))
        np.testing.assert_array_equal(found, expected)

    def test_strings_are_looked_up(self):
        with tf.Graph().as_default(), tf.Session() as session:
            table = tf.get_embedding_variable("words", 2, key_dtype=tf.string, partitioner=tf.fixed_size_partitioner(2))
            words = tf.constant(["a", "", "b", "a"])
            keys = tf.strings.to_hash_bucket_fast(words, 2**63 - 1)
            sparse = tf.SparseTensor([[0, 0], [1, 0], [2, 0], [2, 1]], words, [3, 2])
            pairs = [(tf.nn.embedding_lookup(table, words), tf.nn.embedding_lookup(table, keys)),
                     (tf.nn.embedding_lookup_sparse(table, sparse, None),
                      tf.nn.embedding_lookup_sparse(table, tf.SparseTensor(sparse.indices, keys, [3, 2]), None))]
            safe = tf.nn.safe_embedding_lookup_sparse(table, sparse)
            session.run(tf.global_variables_initializer())
            for by_words, by_keys in pairs:
                np.testing.assert_array_equal(*session.run([by_words, by_keys]))
            rows, safe = session.run([pairs[1][0], safe])
            np.testing.assert_array_equal(safe, [rows[0], [0, 0], rows[2]])  # "" is no key


if __name__ == "__main__":
    unittest.main()
