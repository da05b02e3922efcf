"""tf.python_io and tf.graph_util."""

import os
import tempfile
import unittest

import tensorbraid as tf


class RecordTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.path = os.path.join(scratch.name, "records")

    def test_records_can_be_read_again(self):
        kinds = tf.python_io.TFRecordCompressionType
        for options in (None, "", "GZIP", "ZLIB", kinds.GZIP, tf.io.TFRecordOptions(kinds.ZLIB),
                        tf.io.TFRecordOptions()):
            with tf.python_io.TFRecordWriter(self.path, options) as writer:
                writer.write(b"one")
                writer.flush()
                writer.write("")
                writer.write(bytearray(1000))
            self.assertEqual(list(tf.python_io.tf_record_iterator(self.path, options)), [b"one", b"", bytes(1000)])
            compression = tf.io.TFRecordOptions.get_compression_type_string(options)
            with tf.Graph().as_default(), tf.Session() as session:
                dataset = tf.data.TFRecordDataset([self.path], compression)
                self.assertEqual(session.run(dataset.make_one_shot_iterator().get_next()), b"one")

    def test_wrong_uses_are_refused(self):
        for wrong in ("X", 7):
            with self.assertRaises(ValueError):
                tf.python_io.TFRecordWriter(self.path, wrong)
            with self.assertRaises(ValueError):
                tf.python_io.TFRecordOptions(wrong)
        with self.assertRaises(NotImplementedError):
            tf.python_io.TFRecordOptions("GZIP", compression_level=3)
        with self.assertRaises(tf.errors.NotFoundError):
            list(tf.python_io.tf_record_iterator(self.path))
        with self.assertRaises(tf.errors.NotFoundError):
            tf.python_io.TFRecordWriter(os.path.join(self.path, "none"))
        writer = tf.python_io.TFRecordWriter(self.path)
        with self.assertRaises(TypeError):
            writer.write(3)
        writer.close()
        writer.close()
        for call in (lambda: writer.write(b""), writer.flush):
            self.assertRaises(tf.errors.FailedPreconditionError, call)
        with open(self.path, "wb") as file:
            file.write(b"not a record" * 10)
        with self.assertRaises(tf.errors.DataLossError):
            list(tf.python_io.tf_record_iterator(self.path))


class GraphUtilTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.x = tf.placeholder(tf.float32, [None, 2], name="x")

    def test_variables_become_constants(self):
        w = tf.get_variable("w", initializer=[[1.0], [2.0]])
        e = tf.get_variable("e", initializer=[10.0, 20.0])
        ids = tf.placeholder(tf.int32, [None], name="ids")
        y = tf.matmul(self.x, w) + tf.gather(e, ids) + tf.nn.embedding_lookup(e, ids)
        y = tf.cond(tf.reduce_sum(y) > 0, lambda: y * w, lambda: y)
        y = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y + e), [0, y])[1]
        tf.identity(y, name="y")
        feed = {"x:0": [[1.0, 1.0]], "ids:0": [1]}
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            wanted = session.run("y:0", feed)
            graph_def = tf.graph_util.convert_variables_to_constants(session, tf.get_default_graph().as_graph_def(),
                                                                     ["y"])
            partly = tf.graph_util.convert_variables_to_constants(
                session, tf.get_default_graph().as_graph_def(), ["y"], variable_names_blacklist=["e"])
        self.assertFalse({"VarHandleOp", "ReadVariableOp", "ResourceGather"} & {node.op for node in graph_def.node})
        self.assertEqual([node.name for node in partly.node if node.op == "VarHandleOp"], ["e"])
        with tf.Session(graph=tf.Graph()) as session:
            tf.import_graph_def(graph_def, name="")
            self.assertEqual(session.run("y:0", feed).tolist(), wanted.tolist())

    def test_a_part_of_a_graph(self):
        with tf.control_dependencies([tf.no_op("before")]):
            y = tf.split(self.x, 2, axis=1, name="y")
        tf.add(y[1], 1.0, name="z")
        tf.identity(self.x, name="other")
        graph_def = tf.get_default_graph().as_graph_def()
        names = [node.name for node in tf.graph_util.extract_sub_graph(graph_def, ["z"]).node]
        self.assertEqual(sorted(names), ["before", "x", "y", "y/split_dim", "z", "z/y"])
        with self.assertRaises(AssertionError):
            tf.graph_util.extract_sub_graph(graph_def, ["none"])
        with self.assertRaises(TypeError):
            tf.graph_util.extract_sub_graph(graph_def, "z")
        with self.assertRaises(TypeError):
            tf.graph_util.extract_sub_graph("z", ["z"])
        self.assertEqual(tf.graph_util.tensor_shape_from_node_def_name(tf.get_default_graph(), "x").as_list(),
                         [None, 2])

    def test_nodes_of_the_training_are_removed(self):
        y = tf.stop_gradient(tf.identity(tf.check_numerics(self.x, "bad"), name="kept"), name="stop")
        with tf.control_dependencies([tf.identity(self.x, name="control")]):
            tf.add(y, 1.0, name="z")
        made = tf.graph_util.remove_training_nodes(tf.get_default_graph().as_graph_def(), ["kept"])
        nodes = {node.name: list(node.input) for node in made.node}
        self.assertEqual(nodes, {"x": [], "kept": ["x"], "control": ["x"], "z/y": ["^control"],
                                 "z": ["kept", "z/y", "^control"]})

    def test_what_runs_on_a_cpu_only(self):
        must = tf.graph_util.must_run_on_cpu
        self.assertTrue(must(tf.constant("text").op))
        self.assertTrue(must(tf.constant(1).op.node_def))
        self.assertFalse(must(tf.constant(1.0).op))
        self.assertTrue(must(tf.cast(tf.constant(1), tf.float32).op))
        self.assertFalse(must(tf.NodeDef(op="Assign")))
        self.assertTrue(must(tf.NodeDef(op="Assign"), pin_variables_on_cpu=True))


if __name__ == "__main__":
    unittest.main()
