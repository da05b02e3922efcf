"""Graphs: names, scopes, conversion of values, errors with the user's line."""

import gc
import os
import unittest
import weakref

import numpy as np
import tensorbraid as tf


class GraphTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_none_is_no_value_of_a_tensor(self):
        for function in (tf.constant, tf.convert_to_tensor, tf.identity, lambda value: tf.add(1.0, value)):
            with self.assertRaisesRegex(ValueError, "None values not supported"):
                function(None)

    def test_values_take_the_dtype_of_the_tensor_beside_them(self):
        x = tf.placeholder(tf.float64, [])
        for y in (x + 1, 1 + x, x * 2.5, tf.add(x, [1, 2])):
            self.assertEqual(y.dtype, tf.float64)
        with self.assertRaises(TypeError):
            tf.placeholder(tf.int32, []) + 1.5

    def test_a_device_spec_can_be_changed(self):
        spec = tf.DeviceSpec(job="ps", replica=1)
        self.assertIs(spec.parse_from_string("/job:worker/task:1"), spec)
        self.assertEqual(spec.to_string(), "/job:worker/task:1")
        spec.task = "2"
        spec.merge_from(tf.DeviceSpec(device_type="cpu", device_index=0))
        self.assertEqual(spec.to_string(), "/job:worker/task:2/device:CPU:0")
        with self.assertRaises(ValueError):
            spec.device_index = "x"

    def test_items_without_a_name_are_in_no_scope_of_a_collection(self):
        tf.add_to_collection("things", 3)
        named = tf.constant(1, name="named")
        tf.add_to_collection("things", named)
        self.assertEqual(tf.get_collection("things", ".*"), [named])

    def test_a_name_scope_of_values_needs_a_name(self):
        with self.assertRaisesRegex(ValueError, "name .* and default_name .* must be provided"):
            with tf.name_scope(None, values=[tf.constant(1)]):
                pass

    def test_python_numbers_are_float32_and_int32_but_numpy_keeps_its_dtypes(self):
        self.assertEqual(tf.constant(1.5).dtype, tf.float32)
        self.assertEqual(tf.constant([1, 2]).dtype, tf.int32)
        self.assertEqual(tf.constant(np.float64(1.5)).dtype, tf.float64)
        self.assertEqual(tf.constant("text").dtype, tf.string)
        self.assertEqual(tf.constant(True).dtype, tf.bool)

    def test_names_are_those_of_tensorflow(self):
        x = tf.placeholder(tf.float32, [2], name="x")
        with tf.name_scope("outer") as scope:
            self.assertEqual(scope, "outer/")
            y = x + 1.0
            z = tf.matmul([[1.0]], [[2.0]], name="product")
        self.assertEqual(y.name, "outer/add:0")
        self.assertEqual(z.name, "outer/product:0")
        names = [op.name for op in tf.get_default_graph().get_operations()]
        self.assertIn("outer/add/y", names)
        self.assertEqual(tf.get_default_graph().get_tensor_by_name("x:0"), x)

    def test_an_error_is_raised_at_the_line_that_makes_it_and_leaves_the_graph_usable(self):
        x = tf.placeholder(tf.float32, [None, 2])
        with self.assertRaises(ValueError) as raised:
            tf.matmul(x, tf.zeros([3, 3]))
        self.assertIn(os.path.basename(__file__) + ":", str(raised.exception))
        self.assertIn("inner sizes are 2 and 3", str(raised.exception))
        y = tf.reduce_sum(x)
        with tf.Session() as session:
            self.assertEqual(session.run(y, {x: [[1, 2]]}), 3)

    def test_devices_may_be_functions_of_the_operation(self):
        seen = []

        def choose(op):
            seen.append(op.type)
            return "/job:ps/task:1" if op.type == "VarHandleOp" else None

        with tf.device(choose):
            v = tf.Variable(1.0)
        self.assertEqual(v.device, "/job:ps/task:1")
        self.assertIn("VarHandleOp", seen)

    def test_an_object_of_the_program_gets_the_device_of_the_open_scopes(self):
        class Captures:
            device = None

            def _set_device(self, device):
                self.device = device

        class CapturesNames(Captures):
            def _set_device_from_string(self, name):
                self.device = name

        spec, name, none = Captures(), CapturesNames(), Captures()
        graph = tf.get_default_graph()
        graph._apply_device_functions(none)
        with tf.device("/job:worker/cpu:0"), tf.device(lambda op: "/task:1"):
            graph._apply_device_functions(spec)
            graph._apply_device_functions(name)
        self.assertIsNone(none.device)
        self.assertEqual((spec.device.job, spec.device.task, spec.device.device_type), ("worker", 1, "CPU"))
        self.assertEqual(name.device, "/job:worker/task:1/device:CPU:0")

    def test_a_failing_device_function_raises_its_error(self):
        def fails(op):
            raise KeyError(op.type)

        with self.assertRaises(KeyError), tf.device(fails):
            tf.constant(1.0)

    def test_what_is_not_supported_is_refused(self):
        x = tf.placeholder(tf.float32, [2, 3])
        with self.assertRaisesRegex(TypeError, "config must be a ConfigProto"):
            tf.train.Server({"worker": ["localhost:0"]}, "worker", 0, config=object())
        with self.assertRaisesRegex(NotImplementedError, "protocol"):
            tf.train.Server({"worker": ["localhost:0"]}, "worker", 0, protocol="carrier pigeon")

    def test_a_tensor_keeps_its_graph(self):
        with tf.Graph().as_default():
            x = tf.constant(2.0)
        gc.collect()
        self.assertEqual((x * x).graph, x.graph)

    def test_the_default_graph_is_that_of_the_innermost_open_context(self):
        first, second = tf.Graph(), tf.Graph()
        with first.as_default(), second.as_default():
            with first.as_default():
                self.assertIs(tf.get_default_graph(), first)
            self.assertIs(tf.get_default_graph(), second)

    def test_graphs_are_collected_with_what_their_collections_hold(self):
        graph = tf.Graph()
        with graph.as_default():
            v = tf.Variable(1.0)
            tf.add_to_collection("mine", v + 1)
        seen = weakref.ref(graph)
        del graph, v
        gc.collect()
        self.assertIsNone(seen())

    def test_gradients_are_tensors_or_none(self):
        x = tf.placeholder(tf.float32, [])
        y = tf.placeholder(tf.float32, [])
        dx, dy = tf.gradients(x * x, [x, y])
        self.assertIsNone(dy)
        with tf.Session() as session:
            self.assertEqual(session.run(dx, {x: 3}), 6)


class LoopTest(unittest.TestCase):
    def test_the_variables_of_a_gradient_loop_keep_their_shapes(self):
        # The gradient of the concatenation is a slice whose sizes are known only in a step.
        with tf.Graph().as_default():
            unknown = tf.placeholder(tf.float32)
            w = tf.constant(np.ones((5, 4), np.float32))

            def body(i, v):
                return i + 1, tf.reshape(tf.matmul(tf.concat([unknown, v], 1), w), [2, 4])

            _, y = tf.while_loop(lambda i, v: i < 2, body, [0, tf.zeros([2, 4])])
            grad, = tf.gradients(y, [w])
            with tf.Session() as session:
                got = session.run(grad, {unknown: np.ones((2, 1))})
            self.assertEqual(grad.shape.as_list(), [5, 4])
            np.testing.assert_allclose(got, [[10.0] * 4] + [[2.0] * 4] * 4)

    def test_variables_are_in_the_container_that_is_open(self):
        server = tf.train.Server.create_local_server()
        with tf.Graph().as_default() as graph, tf.container("outer") as name:
            with graph.container("inner"):
                x = tf.Variable(3.0)
            y = tf.Variable(4.0)
            z = tf.get_variable("z", initializer=5.0)
            self.assertEqual(name, "outer")
            self.assertEqual([v.handle.op.get_attr("container") for v in (x, y, z)], [b"inner", b"outer", b"outer"])
            with tf.Session(server.target) as session:
                session.run(tf.global_variables_initializer())
            tf.Session.reset(server.target, ["outer"])
            with tf.Session(server.target) as session:
                self.assertEqual(session.run(x), 3.0)
                self.assertEqual(session.run(tf.report_uninitialized_variables([x, y, z])).tolist(),
                                 [b"Variable_1", b"z"])

    def test_a_size_may_be_a_float_without_fraction(self):
        with tf.Graph().as_default():
            self.assertEqual(tf.get_variable("w", [6 / 2, 2]).shape.as_list(), [3, 2])
            with self.assertRaisesRegex(TypeError, "Dimension value must be integer"):
                tf.get_variable("v", [3.5])


if __name__ == "__main__":
    unittest.main()
