"""What graphs, operations and tensors say about themselves, and GraphDefs."""

import copy
import os
import pickle
import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid import proto


class ElementsTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.graph = tf.get_default_graph()
        self.x = tf.placeholder(tf.float32, [None, 2], name="x")
        self.y = tf.add(self.x, 1.0, name="y")
        with tf.control_dependencies([self.x.op]):
            self.c = tf.constant([1, 2], name="c")

    def test_types_are_copied_and_pickled_as_themselves(self):
        self.assertIs(copy.deepcopy({"type": tf.float32})["type"], tf.float32)
        self.assertIs(pickle.loads(pickle.dumps(tf.string)), tf.string)

    def test_elements_are_found_by_name(self):
        self.assertEqual(self.graph.as_graph_element("x"), self.x.op)
        self.assertEqual(self.graph.as_graph_element("x:0"), self.x)
        self.assertEqual(self.graph.get_operation_by_name("y"), self.y.op)
        v = tf.Variable(1.0, name="v")
        self.assertEqual(self.graph.as_graph_element(v).dtype, tf.float32)
        for call, error, text in (
                (lambda: self.graph.get_operation_by_name("nope"), KeyError, "nope"),
                (lambda: self.graph.get_operation_by_name("x:0"), ValueError, "appears to refer to a Tensor"),
                (lambda: self.graph.get_operation_by_name(5), TypeError, "not int"),
                (lambda: self.graph.get_tensor_by_name("nope:0"), KeyError, "nope"),
                (lambda: self.graph.get_tensor_by_name("x:1"), KeyError, "x:1"),
                (lambda: self.graph.get_tensor_by_name("x"), ValueError, "<op_name>:<output_index>"),
                (lambda: self.graph.get_tensor_by_name("a:b:c"), ValueError, "<op_name>:<output_index>"),
                (lambda: self.graph.get_tensor_by_name(self.x), TypeError, "strings"),
                (lambda: self.graph.as_graph_element(5), TypeError, "a int into a Tensor or an Operation"),
                (lambda: self.graph.as_graph_element(self.x, allow_tensor=False), TypeError, "into an Operation"),
                (lambda: tf.Graph().as_graph_element(self.x), ValueError, "not an element of this graph")):
            with self.assertRaisesRegex(error, text):
                call()

    def test_operations_know_their_inputs_attributes_and_definition(self):
        self.assertEqual(self.y.op.inputs[0], self.x)
        self.assertEqual(self.y.op.inputs[1].op.name, "y/y")
        self.assertEqual(self.c.op.control_inputs, [self.x.op])
        self.assertEqual(self.x.consumers(), [self.y.op])
        self.assertEqual(self.y.op.get_attr("T"), tf.float32)
        self.assertEqual([dim.size for dim in self.x.op.get_attr("shape").dim], [-1, 2])
        self.assertEqual(self.c.op.get_attr("value").tensor_content, np.array([1, 2], np.int32).tobytes())
        with self.assertRaisesRegex(ValueError, "Operation 'c' has no attr named 'nope'"):
            self.c.op.get_attr("nope")
        self.assertEqual(tf.matmul([[1.0]], [[1.0]]).op.get_attr("transpose_a"), False)
        node = self.y.op.node_def
        self.assertEqual((node.name, node.op, list(node.input)), ("y", self.y.op.type, ["x", "y/y"]))
        self.assertEqual(node.attr["T"].type, proto.DT_FLOAT)
        self.assertEqual(list(self.c.op.node_def.input), ["^x"])
        op_def = self.graph.op_def_for_type("MatMul")
        self.assertEqual([arg.name for arg in op_def.input_arg], ["a", "b"])
        self.assertFalse(next(attr for attr in op_def.attr if attr.name == "transpose_a").default_value.b)
        self.assertEqual(self.y.op.op_def.name, self.y.op.type)
        self.assertEqual(self.y.op.colocation_groups(), [b"loc:@y"])
        self.assertEqual(self.y.op.values(), (self.y,))

    def test_shapes_are_refined(self):
        self.x.set_shape([3, None])
        self.assertEqual(self.x.shape.as_list(), [3, 2])
        self.x.set_shape(None)
        for shape in ([3, 3], [3]):
            with self.assertRaises(ValueError):
                self.x.set_shape(shape)
        self.assertEqual(self.x.get_shape().as_list(), [3, 2])

    def test_names_are_made_unique(self):
        self.assertEqual([self.graph.unique_name("x") for _ in range(2)], ["x_1", "x_2"])
        with tf.name_scope("scope"):
            self.assertEqual(self.graph.unique_name("x"), "scope/x")
            self.assertEqual(self.graph.get_name_scope(), "scope")

    def test_collections(self):
        tf.add_to_collection("a", self.x)
        tf.add_to_collections(["a", "b", "a"], self.y)
        tf.get_collection_ref("b").append(5)
        self.assertEqual(tf.get_collection("a", scope="."), [self.x, self.y])
        self.assertEqual(tf.get_collection("a", scope="y|z"), [self.y])
        self.assertEqual(tf.get_collection("b"), [self.y, 5])
        self.assertEqual(self.graph.get_all_collection_keys(), ["a", "b"])
        self.graph.clear_collection("a")
        self.assertEqual(tf.get_collection("a"), [])
        self.graph.finalize()
        self.assertTrue(self.graph.finalized)
        with self.assertRaisesRegex(RuntimeError, "finalized"):
            tf.add_to_collection("a", 1)

    def test_nothing_is_added_to_a_finalized_graph(self):
        v = tf.get_variable("v", [1])
        self.graph.finalize()
        for add in (lambda: tf.constant(1), lambda: tf.gradients(v, v), lambda: tf.get_variable("w", [1]),
                    lambda: tf.Variable(1.0), lambda: tf.train.Saver(), lambda: v + 1.0,
                    lambda: tf.data.Dataset.range(3), lambda: tf.global_variables_initializer()):
            with self.assertRaisesRegex(RuntimeError, "finalized"):
                add()

    def test_what_must_not_be_fed_or_fetched_is_refused(self):
        self.graph.prevent_feeding(self.x)
        self.graph.prevent_fetching(self.y.op)
        with tf.Session() as session:
            with self.assertRaisesRegex(ValueError, "may not be fed"):
                session.run(self.c, {self.x: [[1, 2]]})
            with self.assertRaisesRegex(ValueError, "not fetchable"):
                session.run(self.y)
            with self.assertRaisesRegex(ValueError, "cannot be interpreted as a Tensor"):
                session.run("nope")
            for key in ("nope:0", 5):
                with self.assertRaisesRegex(TypeError, "Cannot interpret feed_dict key as Tensor"):
                    session.run(self.c, {key: 1})


class GraphDefTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [2], name="x")
            with tf.control_dependencies([x.op]):
                tf.identity(x * 2.0, name="y")
            self.version = graph.version
            tf.constant(1, name="after")
            self.def_ = graph.as_graph_def()
            self.graph = graph

    def test_a_graph_def_has_all_nodes_and_their_shapes(self):
        self.assertEqual([node.name for node in self.def_.node], ["x", "mul/y", "mul", "y", "after"])
        self.assertEqual([node.name for node in self.graph.as_graph_def(from_version=self.version).node], ["after"])
        shaped = self.graph.as_graph_def(add_shapes=True)
        self.assertEqual(shaped.node[0].attr["_output_shapes"].list.shape[0].dim[0].size, 2)
        self.assertGreater(self.graph.graph_def_versions.producer, 0)

    def test_an_imported_graph_runs_under_its_prefix(self):
        x, y = tf.import_graph_def(self.def_, return_elements=["x:0", "y"])
        self.assertEqual((x.name, y.name), ("import/x:0", "import/y"))
        again, = tf.import_graph_def(self.def_.SerializeToString(), return_elements=["y:0"])
        self.assertEqual(again.name, "import_1/y:0")
        with tf.name_scope("outer"):
            self.assertEqual(tf.import_graph_def(self.def_, return_elements=["y"], name="n")[0].name, "outer/n/y")
        self.assertIsNone(tf.import_graph_def(self.def_, name=""))
        with tf.Session() as session:
            self.assertEqual(list(session.run("y:0", {"x:0": [1, 2]})), [2, 4])
            self.assertEqual(list(session.run(y.outputs[0], {x: [3, 4]})), [6, 8])
        # As in TensorFlow, nodes whose names are taken get a number.
        self.assertEqual(tf.import_graph_def(self.def_, name="", return_elements=["y:0"])[0].name, "y_1:0")

    def test_inputs_are_replaced(self):
        z = tf.constant([5.0, 6.0], name="z")
        y, x = tf.import_graph_def(self.def_, input_map={"x": z, "^x": z}, return_elements=["y:0", "x:0"], name="")
        self.assertEqual(x, z)
        self.assertEqual(y.op.control_inputs, [z.op])
        w, = tf.import_graph_def(self.def_, {"mul/y:0": 10.0}, ["y:0"])
        with tf.Session() as session:
            self.assertEqual(list(session.run(y)), [10, 12])
            self.assertEqual(list(session.run(w, {"import/x:0": [1, 2]})), [10, 20])
        with self.assertRaisesRegex(ValueError, r"not found in graph_def: \['nope:0'\]"):
            tf.import_graph_def(self.def_, input_map={"nope:0": z})
        with self.assertRaisesRegex(ValueError, "non-empty `name`"):
            tf.import_graph_def(self.def_, input_map={"x": 1.0}, name="")

    def test_errors_name_what_is_missing(self):
        for elements in (["nope"], ["y:1"], ["nope:0"]):
            with self.assertRaisesRegex(ValueError, "not found in graph_def"):
                tf.import_graph_def(self.def_, return_elements=elements)
        wrong = tf.GraphDef()
        wrong.node.add(name="a", op="NoSuchOp")
        with self.assertRaisesRegex(tf.errors.NotFoundError, "NoSuchOp"):
            tf.import_graph_def(wrong)
        with self.assertRaisesRegex(TypeError, "graph_def must be a GraphDef"):
            tf.import_graph_def(tf.ConfigProto())

    def test_open_device_scopes_and_colocation_apply(self):
        self.def_.node[0].device = "/job:ps"
        self.def_.node[2].attr["_class"].list.s.append(b"loc:@x")
        with tf.device("/job:worker/task:1"), tf.device(lambda op: "/cpu:0" if op.type == "Identity" else None):
            x, mul, y = tf.import_graph_def(self.def_, return_elements=["x", "mul", "y"])
        self.assertEqual(x.device, "/job:ps/task:1")
        self.assertEqual(y.device, "/job:worker/task:1/device:CPU:0")
        self.assertEqual(mul.colocation_groups(), [b"loc:@import/x"])

    def test_attributes_that_are_unknown_here_but_have_their_default_are_dropped(self):
        self.def_.node[0].attr["later"].i = 3
        with self.assertRaisesRegex(ValueError, "later"):
            tf.import_graph_def(self.def_)
        producer = proto.OpList()
        producer.op.add(name="Placeholder").attr.add(name="later", type="int").default_value.i = 3
        tf.import_graph_def(self.def_, producer_op_list=producer)

    def test_stated_shapes_are_kept(self):
        self.def_.node[4].attr["_output_shapes"].list.shape.add()
        self.def_.node[0].attr["shape"].shape.unknown_rank = True
        self.def_.node[0].attr["_output_shapes"].list.shape.add().dim.add(size=7)
        x, = tf.import_graph_def(self.def_, return_elements=["x:0"])
        self.assertEqual(x.shape.as_list(), [7])

    def test_graphs_are_written_as_text_and_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            path = tf.train.write_graph(self.graph, os.path.join(folder, "new"), "graph.pbtxt")
            with open(path) as file:
                self.assertIn('name: "after"', file.read())
            path = tf.io.write_graph(self.def_, folder, "graph.pb", as_text=False)
            with open(path, "rb") as file:
                self.assertEqual(tf.GraphDef.FromString(file.read()), self.def_)


if __name__ == "__main__":
    unittest.main()
