"""Growing tables that begin with the rows of a checkpoint: of a table, in other parts or under another name, or of a variable."""

import os
import tempfile
import unittest

import numpy as np

import tensorbraid as tf

SPECIAL = [0, 1, 5, 7, 39]  # keys of which some have no row


class Training:
    """Moves rows of `name`: a growing table in `parts`, or, for None, a variable of 40 rows; `rows` are those of SPECIAL.

    `begin` is called with the table before the optimizer is made, and `begin_all` after it.
    """

    def __init__(self, name, parts, optimizer, begin=None, begin_all=None, device=None, target="", option=None,
                 partitioner=None, incremental=False):
        self.graph = tf.Graph()
        with self.graph.as_default(), tf.device(device):
            initializer = tf.constant_initializer(0.25)
            if parts is None:
                self.table = tf.get_variable(name, [40, 2], initializer=initializer, partitioner=partitioner)
            else:
                self.table = tf.get_embedding_variable(name, 2, initializer=initializer, ev_option=option,
                                                       partitioner=tf.fixed_size_partitioner(parts) if parts else None)
            if begin:
                begin(self.table)
            self.keys = tf.placeholder(tf.int64, [None])
            rows = tf.nn.embedding_lookup(self.table, self.keys, partition_strategy="div")
            self.factors = tf.placeholder(tf.float32, [])
            self.train = optimizer.minimize(tf.reduce_sum(tf.square(rows * self.factors - 1.0)))
            if begin_all:
                begin_all(self.table)
            self.special = tf.nn.embedding_lookup(self.table, tf.constant(SPECIAL, tf.int64), partition_strategy="div")
            self.session = tf.Session(target)
            self.session.run(tf.global_variables_initializer())
            self.saver = tf.train.Saver(incremental_save_restore=incremental)

    def steps(self, first, last):
        for step in range(first, last):
            self.session.run(self.train, {self.keys: [step % 6, 5 * step % 40, 1], self.factors: 0.5 + step % 3})

    def rows(self):
        return self.session.run(self.special)

    def save(self, folder):
        with self.graph.as_default():
            return self.saver.save(self.session, os.path.join(folder, "model"))

    def save_increment(self, folder, step):
        with self.graph.as_default():
            return self.saver.incremental_save(self.session, os.path.join(folder, "model"), step)


def adagrad():
    return tf.train.AdagradOptimizer(0.1)


class TableStartsTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.first = Training("ids", 2, adagrad())
        self.first.steps(0, 10)
        self.path = self.first.save(self.folder)
        self.saved = self.first.rows()
        self.assertFalse(np.allclose(self.saved, 0.25))

    def begin(self, name="ids"):
        return lambda table: tf.train.init_from_checkpoint(self.folder, {name: table})

    def test_slots_of_parts_begin_with_those_of_other_parts(self):
        def training(static, parts, begin_all=None):
            adam, partitioner = tf.train.AdamAsyncOptimizer(0.1), tf.fixed_size_partitioner(parts) if parts else None
            return Training("all/ids", None if static else parts, adam, begin_all=begin_all, partitioner=partitioner)

        for static in (False, True):
            for saved in (0, 2):
                first = training(static, saved)
                first.steps(0, 5)
                path = first.save(tempfile.mkdtemp(dir=self.folder))
                first.steps(5, 10)
                for parts in (0, 1, 3):
                    with self.subTest(static=static, saved=saved, parts=parts):
                        begun = training(static, parts, lambda table: tf.train.init_from_checkpoint(path, {"/": "/"}))
                        begun.steps(5, 10)
                        np.testing.assert_array_equal(begun.rows(), first.rows())

    def test_a_table_begins_with_rows_in_other_parts_and_under_another_name(self):
        for parts in (0, 2, 3):
            for given in (lambda table: table, lambda table: "people", lambda table: list(table) if parts else table):
                begun = Training("people", parts, tf.train.AdamOptimizer(0.1),
                                 lambda table, given=given: tf.train.init_from_checkpoint(self.path, {"ids": given(table)}))
                np.testing.assert_array_equal(begun.rows(), self.saved)
                begun.steps(0, 2)  # the slots of the other optimizer are there

    def test_with_its_slots_a_training_goes_on_as_if_it_had_not_ended(self):
        self.first.steps(10, 20)
        for parts in (0, 3):
            begun = Training("ids", parts, adagrad(), begin_all=lambda _: tf.train.init_from_checkpoint(
                self.path, {"/": "/"}))
            begun.steps(10, 20)
            np.testing.assert_array_equal(begun.rows(), self.first.rows())
            without = Training("ids", parts, adagrad(), begin_all=lambda _: tf.train.warm_start(self.path))
            np.testing.assert_array_equal(without.rows(), self.saved)  # trainable variables only
            without.steps(10, 20)
            self.assertFalse(np.allclose(without.rows(), self.first.rows()))

    def test_on_a_server(self):
        server = tf.train.Server.create_local_server()
        begun = Training("ids", 3, adagrad(), self.begin(), target=server.target)
        np.testing.assert_array_equal(begun.rows(), self.saved)

    def test_an_option_of_the_table(self):
        ckpt = tf.CheckpointOption(ckpt_to_load_from=self.folder, tensor_name_in_ckpt="ids")
        begun = Training("people", 3, adagrad(), option=tf.EmbeddingVariableOption(ckpt=ckpt))
        np.testing.assert_array_equal(begun.rows(), self.saved)
        begun = Training("ids", 0, adagrad(), option=tf.EmbeddingVariableOption(ckpt=tf.CheckpointOption(self.path)))
        np.testing.assert_array_equal(begun.rows(), self.saved)
        with self.assertRaisesRegex(NotImplementedError, "give it ckpt_to_load_from"):
            option = tf.EmbeddingVariableOption(ckpt=tf.CheckpointOption(init_data_source="f"))
            Training("ids", 0, adagrad(), option=option)

    def test_a_table_that_always_begins_with_the_same_rows(self):
        ckpt = tf.CheckpointOption(self.folder, "ids", always_load_from_specific_ckpt=True)
        option = tf.EmbeddingVariableOption(ckpt=ckpt)
        for parts in (0, 3):
            begun = Training("people", parts, adagrad(), option=option)
            np.testing.assert_array_equal(begun.rows(), self.saved)
            begun.steps(0, 5)
            moved = begun.rows()
            self.assertFalse(np.allclose(moved, self.saved))
            with tempfile.TemporaryDirectory() as folder:
                path = begun.save(folder)
                again = Training("people", parts, adagrad(), option=option)
                again.saver.restore(again.session, path)
                np.testing.assert_array_equal(again.rows(), self.saved)
                again.steps(0, 5)  # with slots that begin anew
                np.testing.assert_array_equal(again.rows(), moved)
                without = Training("people", parts, adagrad())
                without.saver.restore(without.session, path)
                np.testing.assert_array_equal(without.rows(), moved)
        with self.assertRaisesRegex(ValueError, "of the growing table 'ids' needs ckpt_to_load_from"):
            ckpt = tf.CheckpointOption(always_load_from_specific_ckpt=True)
            Training("ids", 0, adagrad(), option=tf.EmbeddingVariableOption(ckpt=ckpt))

    def test_a_session_with_increments_restores_such_a_table(self):
        ckpt = tf.CheckpointOption(self.path, always_load_from_specific_ckpt=True)
        with tempfile.TemporaryDirectory() as folder:
            for steps in (2, 4):
                with tf.Graph().as_default():
                    table = tf.get_embedding_variable("ids", 2, initializer=tf.constant_initializer(0.25),
                                                      ev_option=tf.EmbeddingVariableOption(ckpt=ckpt))
                    rows = tf.nn.embedding_lookup(table, tf.constant(SPECIAL, tf.int64))
                    step = tf.train.get_or_create_global_step()
                    train = adagrad().minimize(tf.reduce_sum(rows), global_step=step)
                    with tf.train.MonitoredTrainingSession(checkpoint_dir=folder, save_checkpoint_steps=1,
                                                           save_incremental_checkpoint_secs=1) as session:
                        first = session.run(rows)
                        for _ in range(2):
                            session.run(train)
                        self.assertEqual(session.run(step), steps)
                np.testing.assert_array_equal(first, self.saved)

    def test_a_variable_begins_with_rows_of_a_table_and_the_reverse(self):
        for partitioner in (None, tf.fixed_size_partitioner(3)):
            fixed = Training("ids", None, adagrad(), begin_all=lambda _: tf.train.init_from_checkpoint(
                self.path, {"/": "/"}), partitioner=partitioner)
            np.testing.assert_array_equal(fixed.rows(), self.saved)
            if partitioner is None:  # with its slots
                fixed.steps(10, 20)
                self.first.steps(10, 20)
                np.testing.assert_array_equal(fixed.rows(), self.first.rows())
            with tempfile.TemporaryDirectory() as folder:
                path = fixed.save(folder)
                for parts in (0, 2):
                    grown = Training("ids", parts, adagrad())
                    grown.saver.restore(grown.session, path)
                    np.testing.assert_array_equal(grown.rows(), fixed.rows())
                    begun = Training("people", parts, adagrad(),
                                     lambda table: tf.train.init_from_checkpoint(path, {"ids": table}))
                    np.testing.assert_array_equal(begun.rows(), fixed.rows())

    def test_mistakes_are_explained(self):
        with self.assertRaisesRegex(ValueError, "has no growing table 'other', and no variable of this name"):
            Training("ids", 0, adagrad(), self.begin("other"))
        self.first.session.run(self.first.train, {self.first.keys: [40], self.first.factors: 1.0})
        self.path = self.first.save(self.folder)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "has a key that is no row of the variable ids,"):
            Training("ids", None, adagrad(), self.begin())
        with tf.Graph().as_default():
            wide = tf.get_embedding_variable("ids", 3)
            with self.assertRaisesRegex(ValueError, "have 3 numbers, but 'ids' in the checkpoint .* has the shape"):
                tf.train.init_from_checkpoint(self.path, {"ids": wide})
        with self.assertRaisesRegex(ValueError, "its table 'ids' does not begin with rows of the checkpoint"):
            Training("ids", 0, adagrad(), begin_all=lambda _: tf.train.init_from_checkpoint(
                self.path, {"ids/Adagrad": "ids/Adagrad"}))


    def test_a_saver_does_not_restore_a_static_variable_from_a_table(self):
        fixed = Training("ids", None, adagrad())
        with self.assertRaisesRegex(tf.errors.NotFoundError, "these are growing tables: ids.*In Python, "
                                    "tf.train.init_from_checkpoint"):
            fixed.saver.restore(fixed.session, self.path)


class IncrementStartsTest(unittest.TestCase):
    """What begins with a checkpoint has what the increments that follow it have."""

    def saved(self, parts, partitioner=None):
        """A training with two increments in self.folder: its rows in the first, and the training itself."""
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        training = Training("ids", parts, adagrad(), incremental=True, partitioner=partitioner)
        training.steps(0, 4)
        self.path = training.save(self.folder)
        training.steps(4, 5)
        self.first = training.save_increment(self.folder, 5)
        rows = training.rows()
        training.steps(5, 10)
        self.assertIn(".incremental_checkpoint", training.save_increment(self.folder, 10))
        self.assertFalse(np.array_equal(training.rows(), rows))
        return rows, training

    def test_tables_and_static_variables(self):
        for saved_parts, partitioner in ((2, None), (None, None), (None, tf.fixed_size_partitioner(3))):
            first, training = self.saved(saved_parts, partitioner)
            for parts in (0, 3, None):
                for checkpoint, rows in ((self.folder, training.rows()), (self.path, training.rows()),
                                         (self.first, first)):
                    with self.subTest(saved_parts=saved_parts, parts=parts, checkpoint=checkpoint):
                        begun = Training("people", parts, adagrad(), lambda table: tf.train.init_from_checkpoint(
                            checkpoint, {"ids": table}))
                        np.testing.assert_array_equal(begun.rows(), rows)
                        begun = Training("ids", parts, adagrad(), begin_all=lambda _: tf.train.warm_start(checkpoint))
                        np.testing.assert_array_equal(begun.rows(), rows)

    def test_slots(self):
        for saved_parts in (2, None):
            _, training = self.saved(saved_parts)
            begun = [Training("ids", parts, adagrad(), begin_all=lambda _: tf.train.init_from_checkpoint(
                self.folder, {"/": "/"})) for parts in (0, 3, None)]
            training.steps(10, 20)
            for other in begun:
                other.steps(10, 20)
                np.testing.assert_array_equal(other.rows(), training.rows())

    def test_options_of_a_table(self):
        first, training = self.saved(2)
        for checkpoint, rows in ((self.folder, training.rows()), (self.first, first)):
            for always in (False, True):
                ckpt = tf.CheckpointOption(checkpoint, "ids", always_load_from_specific_ckpt=always)
                begun = Training("people", 3, adagrad(), option=tf.EmbeddingVariableOption(ckpt=ckpt))
                np.testing.assert_array_equal(begun.rows(), rows)
                begun.steps(0, 3)
                moved = begun.rows()
                with tempfile.TemporaryDirectory() as folder:
                    begun.saver.restore(begun.session, begun.save(folder))
                np.testing.assert_array_equal(begun.rows(), rows if always else moved)

    def test_keys_that_are_deleted_are_not_rows(self):
        _, training = self.saved(2)
        last = tf.train.latest_checkpoint(os.path.join(self.folder, ".incremental_checkpoint"))
        saved = tf.train.load_checkpoint(last)
        tensors = {name: saved.get_tensor(name) for name in saved.get_variable_to_shape_map()}
        rows = training.rows()
        tensors["ids/part_0-keys_deleted"] = np.array([0, 4, 10], np.int64)
        self.assertIn(0, tensors["ids/part_0-keys"])  # it has a row again
        write(last, tensors)
        for parts in (0, None):
            begun = Training("ids", parts, adagrad(), begin_all=lambda _: tf.train.init_from_checkpoint(
                self.folder, {"/": "/"}))
            np.testing.assert_array_equal(begun.rows(), rows)
            with begun.graph.as_default():
                deleted = tf.nn.embedding_lookup(begun.table, tf.constant([4, 10], tf.int64))
            np.testing.assert_array_equal(begun.session.run(deleted), [[0.25, 0.25], [0.25, 0.25]])

    def test_words_of_a_vocabulary(self):
        _, training = self.saved(None)
        old, new = (os.path.join(self.folder, name) for name in ("old", "new"))
        for file, words in ((old, range(40)), (new, [39, 41, 0, 1])):
            with open(file, "w", encoding="utf-8") as out:
                out.writelines(f"{word}\n" for word in words)
        with tf.Graph().as_default():
            rows = tf.get_variable("ids", [5, 2], initializer=tf.constant_initializer(7.0))
            tf.train.warm_start(self.folder, var_name_to_vocab_info={"ids": tf.train.VocabInfo(
                new, 4, 1, old, backup_initializer=tf.constant_initializer(3.0))})
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                expected = training.rows()
                np.testing.assert_array_equal(session.run(rows), [expected[4], [3, 3], expected[0], expected[1], [3, 3]])

    def test_columns(self):
        column = tf.feature_column
        for saved_parts, keys in ((2, lambda parts: column.categorical_column_with_embedding(
                "k", tf.int64, partition_num=parts)), (None, lambda _: column.categorical_column_with_identity("k", 40))):
            _, training = self.saved(saved_parts)
            start = {"ckpt_to_load_from": self.folder, "tensor_name_in_ckpt": "ids",
                     "initializer": tf.constant_initializer(0.25)}
            for made in (lambda: column.embedding_column(keys(None), 2, **start),
                         lambda: column.embedding_column(keys(3), 2, **start),
                         lambda: column.shared_embedding_columns([keys(3)], 2, **start)[0],
                         lambda: tf.contrib.layers.embedding_column(keys(3), 2, **start)):
                with tf.Graph().as_default(), tf.Session() as session:
                    layer = column.input_layer({"k": tf.constant(SPECIAL, tf.int64)}, [made()])
                    session.run(tf.global_variables_initializer())
                    np.testing.assert_array_equal(session.run(layer), training.rows())
        option = tf.EmbeddingVariableOption(ckpt=tf.CheckpointOption(self.folder))
        twice = column.embedding_column(column.categorical_column_with_embedding("k", tf.int64, ev_option=option), 2, **start)
        with tf.Graph().as_default(), self.assertRaisesRegex(ValueError, "the column 'k' has a checkpoint in the ckpt of"):
            column.input_layer({"k": tf.constant(SPECIAL, tf.int64)}, [twice])

    def test_sessions_that_save_no_increments(self):
        _, training = self.saved(2)

        def monitored(**arguments):
            return tf.train.MonitoredTrainingSession(checkpoint_dir=self.folder, save_checkpoint_secs=None,
                                                     save_summaries_steps=None, log_step_count_steps=None, **arguments)

        for make in (lambda _: monitored(), lambda begun: monitored(scaffold=tf.train.Scaffold(saver=begun.saver)),
                     lambda _: tf.train.Supervisor(logdir=self.folder, save_model_secs=0).managed_session()):
            begun = Training("ids", 3, adagrad())
            with begun.graph.as_default(), make(begun) as session:
                np.testing.assert_array_equal(session.run(begun.special), training.rows())

    def test_a_hole_is_explained(self):
        self.saved(2)
        tf.train.remove_checkpoint(self.first)
        with self.assertRaisesRegex(tf.errors.FailedPreconditionError, "is gone: put"):
            Training("ids", 0, adagrad(), lambda table: tf.train.init_from_checkpoint(self.folder, {"ids": table}))


def write(path, tensors):
    """Writes a checkpoint. A tensor is given by its name, or one of its slices by the name and the slice."""
    keys = sorted(tensors, key=str)
    pairs = [key if isinstance(key, tuple) else (key, "") for key in keys]
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with tf.Graph().as_default(), tf.Session() as session:
        session.run(tf.raw_ops.SaveV2(prefix=path, tensor_names=[name for name, _ in pairs],
                                      shape_and_slices=[part for _, part in pairs],
                                      tensors=[tf.constant(tensors[key]) for key in keys]))


if __name__ == "__main__":
    unittest.main()
