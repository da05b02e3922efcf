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
                 partitioner=None):
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
            self.saver = tf.train.Saver()

    def steps(self, first, last):
        for step in range(first, last):
            self.session.run(self.train, {self.keys: [step % 6, 5 * step % 40, 1], self.factors: 0.5 + step % 3})

    def rows(self):
        return self.session.run(self.special)

    def save(self, folder):
        with self.graph.as_default():
            return self.saver.save(self.session, os.path.join(folder, "model"))


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


if __name__ == "__main__":
    unittest.main()
