"""tensorflow.python.tools: freeze_graph, strip_unused_lib, optimize_for_inference_lib, saved_model_utils."""

import os
import subprocess
import sys
import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.runner import api

freeze_graph = api.find("python.tools.freeze_graph")
optimize_for_inference_lib = api.find("python.tools.optimize_for_inference_lib")
saved_model_utils = api.find("python.tools.saved_model_utils")
strip_unused_lib = api.find("python.tools.strip_unused_lib")


def ops(graph_def):
    return {node.name: node.op for node in graph_def.node}


class GraphToolsTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.folder = tempfile.mkdtemp()

    def path(self, name):
        return os.path.join(self.folder, name)

    def model(self):
        """Saves a model in all formats, and returns its output for [[1, 2]]."""
        x = tf.placeholder(tf.float32, [None, 2], "x")
        with tf.device("/cpu:0"):
            w = tf.get_variable("w", initializer=np.array([[1.0], [3.0]], np.float32))
        y = tf.add(tf.matmul(x, w), tf.get_variable("b", [1]), name="y")
        saver = tf.train.Saver()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            saver.save(session, self.path("model"))
            tf.train.write_graph(session.graph_def, self.folder, "graph.pbtxt")
            tf.train.write_graph(session.graph_def, self.folder, "graph.pb", as_text=False)
            tf.saved_model.simple_save(session, self.path("saved"), {"x": x}, {"y": y})
            return session.run(y, {x: [[1, 2]]})

    def output(self, graph_def):
        with tf.Graph().as_default(), tf.Session() as session:
            y, = tf.import_graph_def(graph_def, return_elements=["y:0"], name="")
            return session.run(y, {"x:0": [[1, 2]]})

    def test_freeze_graph_takes_each_form_of_a_model(self):
        expected = self.model()
        saver = self.path("saver.pb")
        with open(saver, "wb") as file:
            file.write(tf.train.Saver().as_saver_def().SerializeToString())
        rest = ("save/restore_all", "save/Const:0", self.path("frozen.pb"), True, "")
        forms = [freeze_graph.freeze_graph(self.path("graph.pbtxt"), "", False, self.path("model"), "y", *rest),
                 freeze_graph.freeze_graph(self.path("graph.pb"), "", True, self.path("model"), "y", *rest),
                 freeze_graph.freeze_graph("", "", True, self.path("model"), "y", *rest,
                                           input_meta_graph=self.path("model.meta")),
                 freeze_graph.freeze_graph("", "", True, "", "y", *rest, input_saved_model_dir=self.path("saved"))]
        for graph_def in forms:
            np.testing.assert_array_equal(self.output(graph_def), expected)
            self.assertEqual(ops(graph_def)["w"], "Const")
            self.assertEqual({node.device for node in graph_def.node}, {""})
        with open(self.path("frozen.pb"), "rb") as file:
            self.assertEqual(tf.GraphDef.FromString(file.read()), forms[-1])

    def test_freeze_graph_leaves_some_variables_and_runs_nodes_before(self):
        self.model()
        arguments = (self.path("graph.pb"), "", True, self.path("model"), "y", "save/restore_all", "save/Const:0", "",
                     True)
        kept = freeze_graph.freeze_graph(*arguments, "", variable_names_blacklist="b")
        self.assertEqual((ops(kept)["w"], ops(kept)["b"]), ("Const", "VarHandleOp"))
        only = freeze_graph.freeze_graph(*arguments, "", "b")
        self.assertEqual((ops(only)["w"], ops(only)["b"]), ("VarHandleOp", "Const"))
        initialized = freeze_graph.freeze_graph(*arguments, "b/Assign")
        self.assertEqual(ops(initialized)["b"], "Const")

    def test_freeze_graph_says_what_is_missing(self):
        self.model()
        rest = ("save/restore_all", "save/Const:0", "", True, "")
        graph = self.path("graph.pb")
        for error, words, arguments in (
                (ValueError, "Input checkpoint '/no/where' doesn't exist!", (graph, "", True, "/no/where", "y")),
                (ValueError, "You need to supply the name of a node", (graph, "", True, self.path("model"), "")),
                (OSError, "Input graph file '/no/file' does not exist!", ("/no/file", "", True, "model", "y")),
                (AssertionError, "z is not in graph", (graph, "", True, self.path("model"), "z"))):
            with self.assertRaisesRegex(error, words):
                freeze_graph.freeze_graph(*arguments, *rest)
        tf.get_variable("c", [2])
        with self.assertRaisesRegex(ValueError, "no value of the variables c"):
            freeze_graph.freeze_graph_with_def_protos(
                tf.get_default_graph().as_graph_def(), None, self.path("model"), "c", *rest[:3], True, "")

    def test_freeze_graph_is_a_command(self):
        expected = self.model()
        subprocess.run([sys.executable, "-m", "tensorbraid", "-m", "tensorflow.python.tools.freeze_graph",
                        f"--input_graph={self.path('graph.pbtxt')}", f"--input_checkpoint={self.path('model')}",
                        f"--output_graph={self.path('frozen.pb')}", "--output_node_names=y"], check=True)
        with open(self.path("frozen.pb"), "rb") as file:
            np.testing.assert_array_equal(self.output(tf.GraphDef.FromString(file.read())), expected)

    def test_a_saved_model_is_read(self):
        self.model()
        meta_graph = saved_model_utils.get_meta_graph_def(self.path("saved"), "serve")
        self.assertEqual(saved_model_utils.get_saved_model_tag_sets(self.path("saved")), [["serve"]])
        self.assertEqual(list(saved_model_utils.get_signature_def_by_key(meta_graph, "serving_default").inputs), ["x"])
        with self.assertRaisesRegex(RuntimeError, "tag-set train could not be found"):
            saved_model_utils.get_meta_graph_def(self.path("saved"), "train")

    def test_strip_unused_puts_placeholders_for_inputs(self):
        a = tf.constant(1.0, name="a")
        b = tf.sqrt(a, name="b")
        tf.add(b, 2.0, name="c")
        tf.negative(b, name="d")
        graph_def = tf.get_default_graph().as_graph_def()
        stripped = strip_unused_lib.strip_unused(graph_def, ["b"], ["c"], tf.float32.as_datatype_enum)
        self.assertEqual(ops(stripped), {"b": "Placeholder", "c/y": "Const", "c": "AddV2"})
        with self.assertRaisesRegex(KeyError, "not found"):
            strip_unused_lib.strip_unused(graph_def, ["e"], ["c"], tf.float32.as_datatype_enum)
        tf.train.write_graph(graph_def, self.folder, "graph.pb", as_text=False)
        self.assertEqual(strip_unused_lib.strip_unused_from_files(
            self.path("graph.pb"), True, self.path("out.pb"), True, "b", "c", tf.float32.as_datatype_enum), 0)
        with open(self.path("out.pb"), "rb") as file:
            self.assertEqual(tf.GraphDef.FromString(file.read()), stripped)

    def test_batch_norms_are_folded(self):
        rng = np.random.RandomState(0)
        image = rng.randn(1, 4, 4, 2).astype(np.float32)
        x = tf.placeholder(tf.float32, [1, 4, 4, 2], "x")

        def norm(value, channels):
            scale, offset, mean = (rng.randn(channels).astype(np.float32) for _ in range(3))
            return tf.nn.fused_batch_norm(value, scale, offset, mean, np.abs(mean) + 1, is_training=False)[0]

        y = norm(tf.nn.conv2d(x, tf.identity(rng.randn(2, 2, 2, 3).astype(np.float32)), [1, 1, 1, 1], "SAME"), 3)
        y = norm(tf.nn.depthwise_conv2d_native(y, rng.randn(2, 2, 3, 2).astype(np.float32), [1, 1, 1, 1], "SAME"), 6)
        y = tf.identity(y, name="y")
        with tf.Session() as session:
            expected = session.run(y, {x: image})
        optimized = optimize_for_inference_lib.optimize_for_inference(
            tf.get_default_graph().as_graph_def(), ["x"], ["y"], tf.float32.as_datatype_enum)
        self.assertFalse([op for op in ops(optimized).values() if op.startswith("FusedBatchNorm")])
        self.assertEqual(list(ops(optimized).values()).count("Identity"), 1)  # the output stays
        with tf.Graph().as_default(), tf.Session() as session:
            found, = tf.import_graph_def(optimized, return_elements=["y:0"], name="")
            np.testing.assert_allclose(session.run(found, {"x:0": image}), expected, rtol=1e-4, atol=1e-5)
        optimized.node[0].input.append("missing")
        with self.assertRaisesRegex(ValueError, "Input for .* not found: missing"):
            optimize_for_inference_lib.ensure_graph_is_valid(optimized)


if __name__ == "__main__":
    unittest.main()
