"""Checkpoints and increments that DeepRec has saved, written here in its layout."""

import os
import tempfile
import unittest

import numpy as np
from test_table_starts import write

import tensorbraid as tf

KEYS = [0, 1, 1000, 1001, 7, 4711]


def table(name, rows, step, increment=False):
    """The tensors of a part of a table, or of a slot of one. `rows`: the values by key."""
    keys = sorted(rows, key=lambda key: (key % 1000, key))
    offsets = np.searchsorted([key % 1000 for key in keys], range(1001)).astype(np.int32)
    values = np.array([rows[key] for key in keys], np.float32).reshape(len(keys), 2)
    lists = {"keys": np.array(keys, np.int64), "values": values, "freqs": np.ones(len(keys), np.int64),
             "versions": np.full(len(keys), step, np.int64)}
    if increment:
        return {f"{name}-incr_partition_offset": offsets,
                **{f"{name}-sparse_incr_{what}": value for what, value in lists.items()}}
    none = np.zeros(0, np.int64)
    return {f"{name}-partition_offset": offsets, f"{name}-partition_filter_offset": np.zeros(1001, np.int32),
            **{f"{name}-{what}": value for what, value in lists.items()},
            **{f"{name}-{what}_filtered": none for what in ("keys", "freqs", "versions")}}


class DeepRecTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.full = os.path.join(self.folder, "model.ckpt-100")
        self.save(100, {key: 100 for key in KEYS[:4]})
        # Each increment has all changes since the full checkpoint. Part 1 has changed after the first one.
        self.increment(150, {0: 150, 7000: 150})
        self.increment(200, {0: 200, 7000: 150, 1001: 200, 4711: 200})

    def tensors(self, step, changed, increment):
        tensors = {"global_step": np.array(step, np.int64), "dense": np.full(3, step, np.float32)}
        for part in range(2):
            keys = {key: at for key, at in changed.items() if key % 1000 % 2 == part}
            if increment and not keys:
                continue
            rows = {key: [key + at, key - at] for key, at in keys.items()}
            slots = {key: [value + 0.5 for value in row] for key, row in rows.items()}
            for name, values in (("", rows), ("/Adagrad", slots)):
                tensors.update(table(f"ids/part_{part}{name}", values, step, increment))
        return tensors

    def save(self, step, changed):
        path = os.path.join(self.folder, f"model.ckpt-{step}")
        tensors = self.tensors(step, changed, increment=False)
        fixed = np.arange(10, dtype=np.float32).reshape(5, 2)
        tensors.update({"fixed": fixed, ("parted", "5 2 0,3:0,2"): fixed[:3], ("parted", "5 2 3,2:0,2"): fixed[3:]})
        write(path, tensors)
        tf.train.update_checkpoint_state(self.folder, path, [path])

    def increment(self, step, changed, by_rows=True):
        """With `by_rows` it has rows of static variables, as with incremental_include_normal_var=True."""
        folder = os.path.join(self.folder, ".incremental_checkpoint")
        path = os.path.join(folder, f"incremental_model.ckpt-{step}")
        tensors = self.tensors(step, changed, increment=True)
        if by_rows:
            rows = np.full([2, 2], step, np.float32)
            tensors.update({"fixed-sparse_incr_keys": np.array([1, 4], np.int32), "fixed-sparse_incr_values": rows,
                            "parted/part_1-sparse_incr_keys": np.array([0, 1], np.int64),
                            "parted/part_1-sparse_incr_values": rows})
        else:
            tensors.update({"fixed": np.full([5, 2], step, np.float32), "parted": np.full([5, 2], step, np.float32)})
        write(path, tensors)
        state = tf.train.get_checkpoint_state(folder)
        tf.train.update_checkpoint_state(folder, path, [*(state.all_model_checkpoint_paths if state else []), path])
        return path

    def model(self, parts, begin=None, incremental=True, growing=True):
        """A session, a saver, and a function that gives the rows of KEYS and of 7000, their slots, and the variables."""
        with tf.Graph().as_default():
            partitioner = tf.fixed_size_partitioner(parts) if parts else None
            keys = tf.constant([*KEYS, 7000], tf.int64)
            if growing:
                ids = tf.get_embedding_variable("ids", 2, initializer=tf.zeros_initializer(), partitioner=partitioner)
            else:
                ids = tf.get_variable("ids", [8000, 2], initializer=tf.zeros_initializer(), partitioner=partitioner)
            dense = tf.get_variable("dense", [3], initializer=tf.zeros_initializer())
            fixed = tf.get_variable("fixed", [5, 2], initializer=tf.zeros_initializer())
            parted = tf.get_variable("parted", [5, 2], initializer=tf.zeros_initializer(),
                                     partitioner=tf.fixed_size_partitioner(2))
            step = tf.train.get_or_create_global_step()
            rows = tf.nn.embedding_lookup(ids, keys, partition_strategy="div")
            optimizer = tf.train.AdagradOptimizer(0.1)
            train = optimizer.minimize(tf.reduce_sum(rows), global_step=step)
            values = [rows, dense, fixed, tf.convert_to_tensor(parted), step]
            if begin:
                begin()
            saver = tf.train.Saver(incremental_save_restore=incremental)
            session = tf.Session()
            session.run(tf.global_variables_initializer())
        return session, saver, lambda: session.run(values), train

    def check(self, values, step):
        """`values` are those of the model at this step: 100, 150 or 200."""
        changed = {100: {}, 150: {0: 150, 7000: 150}, 200: {0: 200, 7000: 150, 1001: 200, 4711: 200}}[step]
        at = {**{key: 100 for key in KEYS[:4]}, **changed}
        rows = [[key + at[key], key - at[key]] if key in at else [0, 0] for key in [*KEYS, 7000]]
        np.testing.assert_array_equal(values[0], rows)
        np.testing.assert_array_equal(values[1], [step] * 3)
        fixed = np.arange(10, dtype=np.float32).reshape(5, 2)
        parted = fixed.copy()
        if step > 100:
            fixed[[1, 4]] = step
            parted[[3, 4]] = step
        np.testing.assert_array_equal(values[2], fixed)
        np.testing.assert_array_equal(values[3], parted)
        self.assertEqual(values[4], step)

    def test_a_restore_takes_the_newest_increment(self):
        for parts in (0, 2, 3):
            self.setUp()
            session, saver, values, train = self.model(parts)
            saver.restore(session, self.full)
            self.check(values(), 200)
            saver.restore(session, os.path.join(self.folder, ".incremental_checkpoint", "incremental_model.ckpt-150"))
            self.check(values(), 150)
            session.run(train)
            # What follows is a full checkpoint of ours, and increments of ours.
            path = os.path.join(self.folder, "model.ckpt")
            self.assertEqual(saver.incremental_save(session, path, 151), f"{path}-151")
            after = values()
            session.run(train)
            self.assertIn(".incremental_checkpoint/model.ckpt-152", saver.incremental_save(session, path, 152))
            again = self.model(parts)
            again[1].restore(again[0], f"{path}-151")
            np.testing.assert_array_equal(again[2]()[4], after[4] + 1)

    def test_slots_are_those_of_the_increment(self):
        session, saver, _, train = self.model(3)
        saver.restore(session, self.full)
        with session.graph.as_default():
            slots = [variable for variable in tf.global_variables() if variable.op.name.endswith("/Adagrad")]
            found = session.run([tf.nn.embedding_lookup(slots, tf.constant(KEYS[:4], tf.int64))])[0]
        np.testing.assert_array_equal(found, [[key + at + 0.5, key - at + 0.5]
                                              for key, at in zip(KEYS, [200, 100, 100, 200])])

    def test_a_folder_that_was_copied(self):
        for folder, file in ((self.folder, "model.ckpt-100"),
                             (os.path.join(self.folder, ".incremental_checkpoint"), "incremental_model.ckpt-200")):
            with open(os.path.join(folder, "checkpoint"), "w", encoding="utf-8") as state:
                elsewhere = folder.replace(self.folder, "/elsewhere/logs")
                state.write(f'model_checkpoint_path: "{elsewhere}/{file}"\n'
                            f'all_model_checkpoint_paths: "{elsewhere}/{file}"\n')
        session, saver, values, _ = self.model(2)
        saver.restore(session, self.full)
        self.check(values(), 200)

    def test_an_increment_that_is_not_later_than_the_full_checkpoint_is_left_out(self):
        self.save(200, {key: 100 for key in KEYS[:4]})
        for full, step in ((200, 200), (100, 100)):
            session, saver, values, _ = self.model(2)
            saver.restore(session, os.path.join(self.folder, f"model.ckpt-{full}"))
            found = values()
            np.testing.assert_array_equal(found[0][0], [100, -100])
            self.assertEqual(found[4], step)
        named = os.path.join(self.folder, ".incremental_checkpoint", "incremental_model.ckpt-200")
        with self.assertRaisesRegex(tf.errors.FailedPreconditionError, "of DeepRec holds what has changed since"):
            saver.restore(session, named)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "is an increment"):
            session, saver, _, _ = self.model(2, incremental=False)
            saver.restore(session, named)

    def test_variables_as_a_whole(self):
        self.increment(200, {0: 200}, by_rows=False)
        session, saver, values, _ = self.model(2)
        saver.restore(session, self.full)
        found = values()
        np.testing.assert_array_equal(found[2], np.full([5, 2], 200))
        np.testing.assert_array_equal(found[3], np.full([5, 2], 200))
        np.testing.assert_array_equal(found[0][0], [200, -200])

    def test_warm_starts(self):
        for growing in (True, False):
            for parts in (0, 3):
                _, _, values, _ = self.model(parts, lambda: tf.train.init_from_checkpoint(
                    self.folder, {"/": "/"} if growing else {
                        "ids": "ids", "dense": "dense", "fixed": "fixed", "parted": "parted",
                        "global_step": "global_step"}), growing=growing)
                self.check(values(), 200)

    def test_a_session(self):
        with tf.Graph().as_default():
            ids = tf.get_embedding_variable("ids", 2, initializer=tf.zeros_initializer())
            step = tf.train.get_or_create_global_step()
            rows = tf.nn.embedding_lookup(ids, tf.constant(KEYS, tf.int64))
            train = tf.train.AdagradOptimizer(0.1).minimize(tf.reduce_sum(rows), global_step=step)
            with tf.train.MonitoredTrainingSession(checkpoint_dir=self.folder, save_checkpoint_steps=1000,
                                                   save_incremental_checkpoint_secs=3600) as session:
                np.testing.assert_array_equal(session.run(rows)[0], [200, -200])
                self.assertEqual(session.run([train, step])[1], 201)


if __name__ == "__main__":
    unittest.main()
