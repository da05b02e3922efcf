"""Savers, checkpoints, summaries and event files."""

import glob
import os
import tempfile
import unittest

import numpy as np
import tensorbraid as tf


class Folder(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self._folder = tempfile.TemporaryDirectory()
        self.folder = self._folder.name
        self.addCleanup(self._folder.cleanup)


class OldCheckpointTest(Folder):
    """Checkpoints in TensorFlow's first format, a single file, such as slim's published models."""

    def setUp(self):
        super().setUp()
        self.path = os.path.join(self.folder, "vgg_16.ckpt")
        with tf.Graph().as_default(), tf.Session() as session:
            session.run(tf.raw_ops.Save(filename=self.path, tensor_names=["a/v", "w"],
                                        data=[np.arange(6, dtype=np.float32), np.float32(3)]))
        tf.train.update_checkpoint_state(self.folder, self.path)

    def run_first(self, *operations, fetch):
        with tf.Session() as session:
            for operation in operations:
                operation(session) if callable(operation) else session.run(operation)
            return session.run(fetch).tolist()

    def test_it_is_found_and_read(self):
        self.assertTrue(tf.train.checkpoint_exists(self.path))
        self.assertEqual(tf.train.latest_checkpoint(self.folder + "/"), self.path)
        for place in (self.path, self.folder, self.folder + "/"):
            self.assertEqual(tf.train.list_variables(place), [("a/v", [6]), ("w", [])])
        self.assertEqual(tf.train.load_variable(self.path, "w"), 3.0)

    def test_variables_take_its_values(self):
        v, w = tf.get_variable("a/v", [6]), tf.get_variable("b/v", [6])
        saver = tf.train.Saver([v])
        self.assertEqual(self.run_first(lambda s: saver.restore(s, self.path), fetch=v)[5], 5.0)
        tf.train.init_from_checkpoint(self.folder + "/", {"a/": "b/"})
        self.assertEqual(self.run_first(tf.global_variables_initializer(), fetch=w)[5], 5.0)

    def test_a_saver_reshapes(self):
        v = tf.get_variable("a/v", [2, 3])
        saver = tf.train.Saver(reshape=True)
        self.assertEqual(self.run_first(lambda s: saver.restore(s, self.path), fetch=v), [[0, 1, 2], [3, 4, 5]])
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "a/v"):
            self.run_first(lambda s: tf.train.Saver().restore(s, self.path), fetch=v)


class SaverTest(Folder):
    def test_old_checkpoints_are_removed(self):
        v = tf.Variable(1.0, name="v")
        saver = tf.train.Saver(max_to_keep=2)
        prefix = os.path.join(self.folder, "model")
        with tf.Session() as session:
            session.run(v.initializer)
            paths = [saver.save(session, prefix, global_step=i) for i in range(4)]
            self.assertEqual(paths, [f"{prefix}-{i}" for i in range(4)])
            self.assertEqual(saver.last_checkpoints, paths[2:])
            self.assertEqual([tf.train.checkpoint_exists(path) for path in paths], [False, False, True, True])
            self.assertEqual(tf.train.get_checkpoint_state(self.folder).all_model_checkpoint_paths, paths[2:])
            later = tf.train.Saver(max_to_keep=1)
            later.recover_last_checkpoints(paths[2:])
            later.save(session, prefix, global_step=9)
        self.assertEqual(tf.train.latest_checkpoint(self.folder), prefix + "-9")
        self.assertFalse(tf.train.checkpoint_exists(paths[3]))

    def test_a_relative_path_stays_relative(self):
        v = tf.Variable(1.0, name="v")
        saver = tf.train.Saver()
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            with tf.Session() as session:
                session.run(v.initializer)
                self.assertEqual(saver.save(session, "./model", 3), "./model-3")
                self.assertEqual(saver.save(session, "model"), "model")
                saver.restore(session, "model")
        finally:
            os.chdir(before)

    def test_the_checkpoint_has_what_the_list_or_dict_names(self):
        a, b = tf.Variable(1.0, name="a"), tf.Variable([2.0, 3.0], name="b")
        prefix = os.path.join(self.folder, "model")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            tf.train.Saver({"renamed": a}).save(session, prefix)
            self.assertEqual(tf.train.list_variables(prefix), [("renamed", [])])
            tf.train.Saver([b]).save(session, prefix)
            self.assertEqual(tf.train.list_variables(prefix), [("b", [2])])
            reader = tf.train.NewCheckpointReader(prefix)
            self.assertEqual(reader.get_variable_to_dtype_map(), {"b": tf.float32})
            np.testing.assert_array_equal(reader.get_tensor("b"), [2, 3])
            with self.assertRaises(tf.errors.NotFoundError):
                tf.train.Saver([a]).restore(session, prefix)

    def test_wrong_arguments_are_refused(self):
        with self.assertRaisesRegex(ValueError, "No variables to save"):
            tf.train.Saver()
        v = tf.Variable(1.0)
        with self.assertRaisesRegex(TypeError, "not a Variable"):
            tf.train.Saver([tf.constant(1.0)])
        with self.assertRaises(NotImplementedError):
            tf.train.Saver(filename="other")
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(v.initializer)
            with self.assertRaisesRegex(ValueError, "not a valid checkpoint"):
                saver.restore(session, os.path.join(self.folder, "none"))
            with self.assertRaisesRegex(ValueError, "None"):
                saver.restore(session, None)
        self.assertIsNone(tf.train.latest_checkpoint(self.folder))
        self.assertIsNone(tf.train.get_checkpoint_state(self.folder))

    def test_the_state_of_a_directory_can_be_replaced(self):
        paths = [os.path.join(self.folder, name) for name in ("a", "b")]
        tf.train.update_checkpoint_state(self.folder, paths[1], paths)
        state = tf.train.get_checkpoint_state(self.folder)
        self.assertEqual((state.model_checkpoint_path, state.all_model_checkpoint_paths), (paths[1], paths))


class MetaGraphTest(Folder):
    def test_collections_have_nodes_variables_texts_and_numbers(self):
        v = tf.Variable(1.0, name="v")
        values = {"nodes": [v + 1, (v + 2).op], "variables": [v], "mine": [v], "texts": ["text", b"bytes"],
                  "numbers": [1, 2], "floats": [0.5], "mixed": [v + 2, "text"]}
        for key in set(values) - {"variables"}:
            for value in values[key]:
                tf.add_to_collection(key, value)
        path = os.path.join(self.folder, "graph.meta")
        content = tf.train.export_meta_graph(path)
        tf.train.export_meta_graph(path + ".txt", as_text=True)
        for source in (path, path + ".txt", content, content.SerializeToString()):
            with tf.Graph().as_default():
                tf.train.import_meta_graph(source)
                self.assertEqual([x.name for x in tf.get_collection("nodes")], ["add:0", "add_1"])
                self.assertEqual(tf.get_collection("texts"), [b"text", b"bytes"])
                self.assertEqual(tf.get_collection("numbers") + tf.get_collection("floats"), [1, 2, 0.5])
                self.assertEqual(tf.get_collection("mixed"), [])
                self.assertEqual([x.name for x in tf.trainable_variables()], ["v:0"])
                self.assertEqual(tf.get_collection("mine"), tf.trainable_variables())

    def test_a_meta_graph_can_be_imported_into_a_scope(self):
        x = tf.placeholder(tf.float32, [], name="x")
        v = tf.get_variable("v", initializer=2.0)
        with tf.device("/job:worker/task:3"):
            tf.add_to_collection("y", tf.multiply(v, x, name="y"))
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = saver.save(session, os.path.join(self.folder, "model"))
        with tf.Graph().as_default() as graph, tf.Session() as session:
            saver = tf.train.import_meta_graph(saver.export_meta_graph(), True, "scope",
                                               input_map={"x": tf.constant(4.0)})
            count = len(graph.get_operations())
            saver.restore(session, path)
            self.assertEqual(session.run(tf.get_collection("y")), [8.0])
            self.assertEqual([v.name for v in tf.global_variables()], ["scope/v:0"])
            self.assertEqual(len(graph.get_operations()), count)
            saver.save(session, path + "2")
            self.assertEqual(tf.train.load_variable(path + "2", "scope/v"), 2.0)
        with tf.Graph().as_default():
            tf.train.import_meta_graph(path + ".meta", restore_collections_predicate=lambda key: key == "variables")
            self.assertEqual((len(tf.global_variables()), len(tf.trainable_variables())), (1, 0))

    def test_a_save_may_leave_the_state_alone(self):
        tf.Variable(1.0)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(session, os.path.join(self.folder, "model"), 3, write_meta_graph=False,
                                         write_state=False)
            self.assertEqual(path, os.path.join(self.folder, "model-3"))
        self.assertEqual(sorted(os.listdir(self.folder)), ["model-3.data-00000-of-00001", "model-3.index"])

    def test_wrong_files_and_arguments_are_refused(self):
        with self.assertRaises(OSError):
            tf.train.import_meta_graph(os.path.join(self.folder, "none"))
        with self.assertRaises(tf.errors.InvalidArgumentError):
            tf.train.import_meta_graph(b"\xff\xff")


class SummaryTest(Folder):
    def test_summaries_have_tensorflows_tags_and_join_the_collection(self):
        x = tf.constant(2.0)
        with tf.name_scope("outer"):
            first = tf.summary.scalar("my loss", x)
            second = tf.summary.histogram("h", [1.0, 2.0])
            family = tf.summary.scalar("x", x, family="f")
        self.assertEqual(first.name, "outer/my_loss:0")
        self.assertEqual(tf.get_collection("summaries"), [first, second, family])
        own = tf.summary.image("image", tf.zeros([1, 2, 2, 3]), collections=["mine"])
        self.assertEqual(tf.get_collection("mine"), [own])
        merged = tf.summary.merge_all()
        self.assertEqual(merged.name, "Merge/MergeSummary:0")
        with tf.Session() as session:
            text = session.run(merged)
            for tag in (b"outer/my_loss", b"outer/h", b"f/outer/f/x"):
                self.assertIn(tag, text)
            self.assertIn(b"image/image/0", session.run(own))
        self.assertIsNone(tf.summary.merge_all(key="other"))

    def test_a_writer_writes_events(self):
        summary = tf.summary.scalar("loss", tf.constant(2.0))
        with tf.Session() as session, tf.summary.FileWriter(self.folder, session.graph) as writer:
            writer.add_summary(session.run(summary), 7)
            writer.flush()
            files = glob.glob(os.path.join(self.folder, "events.out.tfevents.*"))
            self.assertEqual(len(files), 1)
            with open(files[0], "rb") as file:
                content = file.read()
        self.assertIn(b"brain.Event:2", content)
        self.assertIn(b"ScalarSummary", content)
        self.assertIn(b"loss", content)
        with self.assertRaises(tf.errors.FailedPreconditionError):
            writer.add_summary(b"", 8)
        with self.assertRaises(TypeError):
            tf.summary.FileWriter(self.folder, graph="graph")

    def test_a_message_is_serialized(self):
        class Message:
            def SerializeToString(self):
                return b""

        with tf.summary.FileWriter(self.folder) as writer:
            writer.add_summary(Message())
        self.assertIs(tf.summary.FileWriterCache.get(self.folder), tf.summary.FileWriterCache.get(self.folder))
        tf.summary.FileWriterCache.clear()


if __name__ == "__main__":
    unittest.main()
