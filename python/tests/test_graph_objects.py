"""The Python objects of tensors, operations and variables: one object each, which keeps attributes set on it."""

import copy
import gc
import pickle
import threading
import unittest
import weakref

import tensorbraid as tf


class IdentityTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.graph = tf.get_default_graph()
        self.x = tf.placeholder(tf.float32, [None, 2], name="x")
        self.y = tf.add(self.x, 1.0, name="y")

    def test_a_tensor_is_one_object_however_it_is_reached(self):
        x, y = self.x, self.y
        for same in (x.op.outputs[0], y.op.inputs[0], self.graph.get_tensor_by_name("x:0"),
                     self.graph.as_graph_element("x:0"), self.graph.as_graph_element(x), tf.convert_to_tensor(x),
                     self.graph.get_operation_by_name("x").outputs[0], copy.copy(x), x.op.values()[0]):
            self.assertIs(same, x)
        tf.add_to_collection("mine", y)
        self.assertIs(tf.get_collection("mine")[0], y)
        tf.train.import_meta_graph(tf.train.export_meta_graph(), import_scope="again")
        self.assertIs(tf.get_collection("mine")[1], self.graph.get_tensor_by_name("again/y:0"))

    def test_an_operation_is_one_object_however_it_is_reached(self):
        x, y = self.x, self.y
        with tf.control_dependencies([x.op]):
            z = tf.identity(y)
        for same in (self.graph.get_operation_by_name("x"), self.graph.get_operations()[0], z.op.control_inputs[0],
                     self.graph.as_graph_element("x"), x.op.outputs[0].op):
            self.assertIs(same, x.op)
        self.assertIs(x.consumers()[0], y.op)
        self.assertIs(y.consumers()[0], z.op)
        self.assertIs(tf.group(x, name="group"), self.graph.get_operation_by_name("group"))

    def test_no_further_dependencies_leave_those_of_the_enclosing_scopes(self):
        with tf.control_dependencies([self.x]):
            for none in ([], (), iter(())):
                with tf.control_dependencies(none):
                    self.assertEqual(tf.no_op().control_inputs, [self.x.op])
            with tf.control_dependencies(None):
                self.assertEqual(tf.no_op().control_inputs, [])

    def test_all_outputs_of_an_operation(self):
        parts = tf.split(self.x, 2, axis=1)
        op = parts[0].op
        self.assertEqual([part is output for part, output in zip(parts, op.outputs)], [True, True])
        self.assertIs(self.graph.get_tensor_by_name(op.name + ":1"), parts[1])

    def test_a_variable_is_one_object_however_it_is_reached(self):
        for use_resource in (False, True):
            with tf.variable_scope(f"scope_{use_resource}", use_resource=use_resource) as scope:
                v = tf.get_variable("v", [2])
            with tf.variable_scope(scope, reuse=True):
                self.assertIs(tf.get_variable("v", [2]), v)
            for same in (tf.global_variables(scope.name)[0], tf.trainable_variables(scope.name)[0], copy.copy(v)):
                self.assertIs(same, v)
            self.assertIs(v.handle, v.op.outputs[0])
            self.assertIs(v.op, self.graph.get_operation_by_name(v.op.name))
            self.assertIs(v.initializer, self.graph.get_operation_by_name(v.initializer.name))
            self.assertIs(v.initial_value, v.initial_value)
            self.assertIs(v.value(), v.value())
            self.assertIs(self.graph.get_tensor_by_name(v.name), v.value())
        loss = tf.reduce_sum(v * v)
        optimizer = tf.train.MomentumOptimizer(0.1, 0.9)
        (_, trained), = optimizer.compute_gradients(loss, [v])
        self.assertIs(trained, v)
        optimizer.apply_gradients([(tf.ones([2]), v)])
        self.assertIs(optimizer.get_slot(v, "momentum"), tf.global_variables()[-1])

    def test_a_variable_in_parts_is_one_object(self):
        with tf.variable_scope("scope", partitioner=tf.fixed_size_partitioner(2)) as scope:
            whole = tf.get_variable("v", [4, 2])
            scope.reuse_variables()
            whole._mark = 1
            self.assertIs(tf.get_variable("v", [4, 2]), whole)
        self.assertEqual(len(list(whole)), 2)
        self.assertEqual([part is other for part, other in zip(whole, tf.global_variables())], [True, True])
        self.assertIs(whole.as_tensor(), whole.as_tensor())

    def test_functions_of_the_program_get_the_objects(self):
        seen = []

        def device(op):
            op._seen = True
            seen.append(op)

        with tf.device(device):
            c = tf.constant(1.0)
        self.assertIs(seen[0], c.op)
        self.assertTrue(c.op._seen)

        @tf.RegisterGradient("OfTheObject")
        def gradient(op, grad):
            seen.append(op)
            return grad * op.factor

        with self.graph.gradient_override_map({"Identity": "OfTheObject"}):
            i = tf.identity(c)
        i.op.factor = 3.0
        grad, = tf.gradients(i * 2.0, [c])
        self.assertIs(seen[-1], i.op)
        self.assertIs(grad, self.graph.get_tensor_by_name(grad.name))
        with tf.Session() as session:
            self.assertEqual(session.run(grad), 6)

    def test_bodies_of_loops_branches_and_functions(self):
        seen = []

        def body(i, total):
            for tensor in (i, total):
                self.assertIs(tensor.op.outputs[tensor.value_index], tensor)
            i.mark = "i"
            tripled = total + tf.cast(tf.identity(i), tf.float32)
            seen.append((i, tripled))
            return i + 1, tripled

        tf.while_loop(lambda i, _: i < 3, body, [0, 1.0])
        (i, tripled), = seen
        self.assertEqual(self.graph.get_tensor_by_name(i.name).mark, "i")
        self.assertIs(tripled, self.graph.get_tensor_by_name(tripled.name))

        def branch():
            seen.append(tf.negative(self.y))
            return seen[-1]

        tf.cond(tf.constant(True), branch, lambda: self.y)
        self.assertIs(seen[-1], self.graph.get_tensor_by_name(seen[-1].name))

        def function(n):
            n.mark = "n"
            double = n * 2
            self.assertEqual(double.op.inputs[0].mark, "n")
            self.assertIs(double.op.inputs[0], n)
            return double

        tf.data.Dataset.range(3).map(function)

    def test_layers(self):
        layer = tf.layers.Dense(3)
        y = layer(self.x)
        self.assertIs(y, self.graph.get_tensor_by_name(y.name))
        self.assertIs(layer.kernel, tf.trainable_variables()[0])
        y._keras_history = (layer, 0)
        self.assertIs(self.graph.get_tensor_by_name(y.name)._keras_history[0], layer)

    def test_steps_are_told_apart_by_the_objects(self):
        with tf.Session() as session:
            for _ in range(2):
                self.assertEqual(session.run({"y": self.y}, {self.x: [[1, 2]]})["y"].tolist(), [[2, 3]])
                self.assertEqual(session.run(self.y.op.outputs, {"x:0": [[1, 2]]})[0].tolist(), [[2, 3]])
                self.assertEqual(session.run(self.y, {self.y.op.inputs[0]: [[1, 2]]}).tolist(), [[2, 3]])

    def test_comparisons_are_those_of_objects(self):
        x, y, v = self.x, self.y, tf.get_variable("v", [1])
        for one, other in ((x, y), (x, x.op), (v, v.value()), (x.op, y.op), (x, 5), (v, None), (v, "v:0")):
            self.assertIs(one == other, False)
            self.assertIs(one != other, True)
            self.assertIs(one == one, True)  # noqa: PLR0124
            self.assertIs(one != one, False)  # noqa: PLR0124
        self.assertIn(y, [x, v, y])
        self.assertNotIn(y, [x, v, x.op])
        self.assertEqual([x, y].index(y), 1)
        keys = {x: 1, x.op: 2, v: 3, v.op: 4, y: 5}
        self.assertEqual([keys[key] for key in (x, x.op, v, v.op, y)], [1, 2, 3, 4, 5])
        self.assertEqual(len({x, x.op.outputs[0], x.op, v.value(), v.value(), v, v.op, v.handle}), 6)
        with self.assertRaises(TypeError):
            x.op < y.op  # noqa: B015
        with self.assertRaises(TypeError):
            hash(tf.Tensor.__new__(tf.Tensor))

    def test_the_order_of_sets_does_not_depend_on_the_process(self):
        with tf.Graph().as_default():
            self.assertEqual(hash(tf.placeholder(tf.float32, name="x")), hash(self.x))


class AttributesTest(unittest.TestCase):
    def test_all_kinds_of_elements_take_attributes(self):
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [2], name="x")
            v = tf.get_variable("v", [2])
            r = tf.get_variable("r", [2], use_resource=True)
            parts = tf.get_variable("p", [2, 2], partitioner=tf.fixed_size_partitioner(2))
            sparse = tf.SparseTensor([[0, 0]], [1.0], [2, 2])
            slices = tf.IndexedSlices(x, tf.constant([0, 1]))
            for element in (graph, x, x.op, v, r, parts, sparse, slices):
                element._keras_shape = (None, 2)
                element.mark = element
                self.assertEqual(element._keras_shape, (None, 2))
                self.assertIs(vars(element)["mark"], element)
                del element.mark
                self.assertFalse(hasattr(element, "mark"))
            del x, v, r
            gc.collect()
            self.assertEqual(graph.get_tensor_by_name("x:0")._keras_shape, (None, 2))
            self.assertEqual(graph.get_operation_by_name("x")._keras_shape, (None, 2))
            self.assertEqual([v._keras_shape for v in tf.global_variables()[:2]], [(None, 2), (None, 2)])

    def test_what_an_element_has_of_the_graph_is_not_set(self):
        with tf.Graph().as_default():
            x = tf.constant(1.0)
            for element, name in ((x, "name"), (x, "dtype"), (x, "op"), (x.op, "type"), (x.op, "outputs"),
                                  (tf.get_variable("v", [2]), "name")):
                with self.assertRaises(AttributeError):
                    setattr(element, name, 1)

    def test_copies_and_pickles(self):
        with tf.Graph().as_default():
            x, v = tf.constant(1.0), tf.get_variable("v", [2])
            for element in (x, x.op, v):
                element.mark = [1]
                self.assertIs(copy.copy(element).mark, element.mark)
                with self.assertRaises(TypeError):
                    pickle.dumps(element)
            with self.assertRaises(TypeError):
                copy.deepcopy(v)


class LifeTest(unittest.TestCase):
    def graph_with_cycles(self):
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [2], name="x")
            v = tf.get_variable("v", [2])
            y = tf.identity(x * v, name="y")
            x.op.graph_of_mine, x.layer, v.self, y.op.both = graph, [lambda: (graph, v)], v, (x, v)
            tf.gradients(y, [v])
            v[0].assign(1.0)
        return graph

    def test_elements_live_as_long_as_their_graph(self):
        graph = self.graph_with_cycles()
        x = weakref.ref(graph.get_tensor_by_name("x:0"))
        kept = weakref.WeakKeyDictionary({graph.get_operation_by_name("y"): 1, graph.get_tensor_by_name("y:0"): 2,
                                          graph.get_collection("variables")[0]: 3})
        number = id(graph.get_tensor_by_name("y:0"))
        gc.collect()
        self.assertIs(x(), graph.get_tensor_by_name("x:0"))
        self.assertEqual(sorted(kept.values()), [1, 2, 3])
        self.assertEqual(id(graph.get_tensor_by_name("y:0")), number)

    def test_graphs_are_collected_with_their_elements(self):
        graph = self.graph_with_cycles()
        with tf.Session(graph=graph) as session:
            session.run(graph.get_collection("variables")[0].initializer)
        dead = [weakref.ref(graph)] + [weakref.ref(op) for op in graph.get_operations()]
        dead += [weakref.ref(graph.get_tensor_by_name("y:0")), weakref.ref(graph.get_collection("variables")[0])]
        del graph, session
        gc.collect()
        self.assertEqual([element() for element in dead], [None] * len(dead))

    def test_one_element_keeps_its_graph(self):
        y = self.graph_with_cycles().get_tensor_by_name("y:0")
        gc.collect()
        self.assertEqual(y.op.both[0].name, "x:0")
        self.assertEqual(y.graph.get_operation_by_name("x").outputs[0].layer[0]()[0], y.graph)

    def test_the_collector_may_run_code_that_asks_for_the_same_objects(self):
        graph, asked = self.graph_with_cycles(), []

        class Asks:
            def __init__(self):
                self.self = self

            def __del__(self):
                asked.append([(op, *op.outputs) for op in graph.get_operations()])

        before = gc.get_threshold()
        gc.collect()
        try:
            gc.set_threshold(1)
            for _ in range(20):
                Asks()
                found = [(op, *op.outputs) for op in graph.get_operations()]
        finally:
            gc.set_threshold(*before)
        self.assertTrue(asked)
        for other in asked:
            self.assertEqual([[id(element) for element in elements] for elements in other],
                             [[id(element) for element in elements] for elements in found])

    def test_threads_get_the_same_objects(self):
        with tf.Graph().as_default() as graph:
            tf.import_graph_def(self.graph_with_cycles().as_graph_def())  # no node has a Python object yet
        found, start = [], threading.Barrier(8)

        def look():
            start.wait()
            found.append([(op, *op.outputs) for op in graph.get_operations()])

        threads = [threading.Thread(target=look) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for other in found:
            self.assertEqual([[id(element) for element in elements] for elements in other],
                             [[id(element) for element in elements] for elements in found[0]])


if __name__ == "__main__":
    unittest.main()
