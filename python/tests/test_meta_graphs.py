"""tf.train.import_meta_graph restores more than nodes: branches, loops, variables, queue runners and collections."""

import os
import tempfile
import unittest

import tensorbraid as tf


def imported(*args, **kwargs):
    """Imports the default graph's MetaGraph into a new graph, which becomes the default. Returns it and its saver."""
    meta_graph = tf.train.export_meta_graph()
    tf.reset_default_graph()
    return tf.train.import_meta_graph(meta_graph, *args, **kwargs)


def reference_model():
    """A MetaGraph with two reference variables, as TensorFlow 1 writes them: y = w * x + b, and w is trainable."""
    meta_graph = tf.MetaGraphDef()
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        reads = []
        for name, value in (("w", 2.0), ("b", 1.0)):
            with tf.name_scope(name + "/"):
                initial = tf.constant(value, name="initial_value")
            variable = tf.raw_ops.VariableV2(shape=[], dtype=tf.float32, name=name)
            with tf.name_scope(name + "/"):
                tf.raw_ops.Assign(ref=variable, value=initial, name="Assign")
                reads.append(tf.identity(variable, name="read"))
        tf.add(tf.multiply(reads[0], x), reads[1], name="y")
        meta_graph.graph_def.CopyFrom(graph.as_graph_def())
    from tensorbraid import proto

    for name in ("w", "b"):
        data = proto.VariableDef(variable_name=f"{name}:0", initializer_name=f"{name}/Assign",
                                 snapshot_name=f"{name}/read:0", initial_value_name=f"{name}/initial_value:0",
                                 trainable=True).SerializeToString()
        for key in ["variables", "model_variables"] + ["trainable_variables"] * (name == "w"):
            meta_graph.collection_def[key].bytes_list.value.append(data)
    return meta_graph


class MetaGraphsTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def gradients(self, build, *values):
        """The gradients of build(x, v) with respect to x and v, in the original graph and in an imported copy."""
        tf.reset_default_graph()
        x = tf.placeholder(tf.float32, [], "x")
        v = tf.get_variable("v", initializer=2.0)
        tf.identity(build(x, v), "y")
        meta_graph = tf.train.export_meta_graph()
        found = []
        for again in (False, True):
            if again:
                tf.reset_default_graph()
                tf.train.import_meta_graph(meta_graph)
            graph = tf.get_default_graph()
            xs = [graph.get_tensor_by_name("x:0"), *tf.trainable_variables()]
            made = tf.gradients(graph.get_tensor_by_name("y:0"), xs)
            self.assertTrue(all(gradient is not None for gradient in made))
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                found.append([session.run(made, {"x:0": value}) for value in values])
        return found

    def test_gradients_go_through_imported_branches_and_loops(self):
        def loop(x, v):
            return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x + v), [0, v + 0.0])[1]

        def branch_in_loop(x, v):
            def body(i, a):
                return i + 1, tf.cond(tf.equal(i % 2, 0), lambda: a * v, lambda: a + x * x)

            return tf.while_loop(lambda i, a: i < 5, body, [0, x])[1]

        for build in (loop, branch_in_loop, lambda x, v: tf.cond(x > 1.0, lambda: x * x * v, lambda: x * v),
                      lambda x, v: tf.cond(x > 1.0, lambda: loop(x, v), lambda: v * x),
                      lambda x, v: tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, loop(a * 0.5, v)), [0, x])[1],
                      lambda x, v: tf.reduce_sum(tf.map_fn(lambda e: e * e * v, tf.stack([x, v])))):
            of_graph, of_import = self.gradients(build, 0.5, 3.0)
            self.assertEqual(of_graph, of_import)

    def test_a_second_gradient_goes_through_the_imported_first(self):
        x = tf.placeholder(tf.float32, [], "x")
        y = tf.cond(x > 1.0, lambda: x * x * x, lambda: x * x)
        tf.identity(tf.gradients(y, x)[0], "g")
        imported()
        graph = tf.get_default_graph()
        second = tf.gradients(graph.get_tensor_by_name("g:0"), graph.get_tensor_by_name("x:0"))[0]
        with tf.Session() as session:
            self.assertEqual([session.run(second, {"x:0": value}) for value in (0.5, 3.0)], [2.0, 18.0])

    def test_no_gradient_goes_through_a_loop_that_was_built_without_one(self):
        x = tf.placeholder(tf.float32, [], "x")
        # The collection has this loop's description directly, and that of the other one within the conditional's.
        loop = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * 2.0), [0, x], back_prop=False)[1]
        inner = tf.cond(x > 0.0, lambda: tf.while_loop(lambda a: a < 8.0, lambda a: a * 2.0, [x], back_prop=False),
                        lambda: -x)
        tf.identity(loop, "fixed")
        tf.identity(loop * x + inner * x, "y")
        meta_graph = tf.train.export_meta_graph()

        def check(name_of):
            x, fixed, y = (tf.get_default_graph().get_tensor_by_name(name_of(name) + ":0") for name in ("x", "fixed", "y"))
            self.assertEqual(tf.gradients(fixed, x), [None])
            with tf.Session() as session:
                self.assertEqual(session.run(tf.gradients(y, x), {x: 3.0}), [4 * 3.0 + 12.0])

        check(str)
        tf.reset_default_graph()
        for scope in (None, None, "scope"):  # the nodes of the second copy have other names
            tf.train.import_meta_graph(meta_graph, import_scope=scope)
        for name_of in (str, "{}_1".format, "scope/{}".format):
            check(name_of)

    def test_queue_runners_are_written_and_read(self):
        tf.add_to_collection("item", tf.train.range_input_producer(5, shuffle=False).dequeue())
        names = [runner.name for runner in tf.get_collection("queue_runners")]
        for scope, prefix in ((None, ""), ("scope", "scope/")):
            imported(import_scope=scope)
            runners = tf.get_collection("queue_runners")
            self.assertEqual([runner.name for runner in runners], [prefix + name for name in names])
            self.assertEqual(runners[0].close_op.type, "QueueCloseV2")
            with tf.Session() as session:
                session.run(tf.local_variables_initializer())
                coordinator = tf.train.Coordinator()
                threads = tf.train.start_queue_runners(session, coordinator)
                item = tf.get_collection("item")[0]
                self.assertEqual([session.run(item) for _ in range(7)], [0, 1, 2, 3, 4, 0, 1])
                coordinator.request_stop()
                coordinator.join(threads)
            names = [prefix + name for name in names]

    def test_the_file_of_a_saver_has_all_collections(self):
        v = tf.Variable(1.0, name="v")
        tf.train.range_input_producer(5)
        for key, item in (("model_variables", v), ("texts", "text"), ("numbers", 3), ("floats", 0.5), ("nodes", v + 1)):
            tf.add_to_collection(key, item)
        tf.cond(v > 0.0, lambda: v * 2, lambda: v)
        tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(session, os.path.join(self.folder, "model")) + ".meta"
        with open(path, "rb") as file:
            keys = set(tf.MetaGraphDef.FromString(file.read()).collection_def)
        self.assertLessEqual({"variables", "trainable_variables", "model_variables", "texts",
                              "numbers", "floats", "nodes", "queue_runners", "cond_context"}, keys)
        tf.reset_default_graph()
        tf.train.import_meta_graph(path.encode())  # a path may be bytes
        self.assertEqual(tf.get_collection("texts") + tf.get_collection("numbers"), [b"text", 3])
        self.assertEqual([v.name for v in tf.model_variables()], ["v:0"])
        self.assertEqual(len(tf.get_collection("queue_runners")), 1)

    def test_a_graph_can_be_imported_twice(self):
        v = tf.get_variable("v", initializer=2.0)
        tf.identity(tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a * v), [0, v])[1], "y")
        meta_graph = tf.train.export_meta_graph()
        tf.train.import_meta_graph(meta_graph)
        self.assertEqual([v.name for v in tf.trainable_variables()], ["v:0"])
        tf.train.import_meta_graph(meta_graph, import_scope="copy")
        graph = tf.get_default_graph()
        ys = [graph.get_tensor_by_name(name) for name in ("y:0", "y_1:0", "copy/y:0")]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            self.assertEqual(session.run(ys), [8.0, 8.0, 8.0])

    def test_reference_variables_are_trained_saved_and_restored(self):
        optimizers = (tf.train.GradientDescentOptimizer(0.5), tf.train.MomentumOptimizer(0.5, 0.9),
                      tf.train.AdamOptimizer(0.5), tf.train.AdagradOptimizer(0.5), tf.train.RMSPropOptimizer(0.5))
        for optimizer in optimizers:
            tf.reset_default_graph()
            tf.train.import_meta_graph(reference_model())
            self.assertEqual([v.name for v in tf.trainable_variables()], ["w:0"])
            self.assertEqual([v.name for v in tf.model_variables()], ["w:0", "b:0"])
            w, b = tf.global_variables()
            new = tf.get_variable("new", initializer=1.0)
            graph = tf.get_default_graph()
            train = optimizer.minimize(graph.get_tensor_by_name("y:0") * new)
            saver = tf.train.Saver()
            with tf.Session() as session:
                self.assertEqual(len(session.run(tf.report_uninitialized_variables([w, b]))), 2)
                session.run(tf.global_variables_initializer())
                session.run(train, {"x:0": 1.0})
                trained = session.run([w, b, new])
                self.assertLess(trained[0], 2.0)
                self.assertLess(trained[2], 1.0)
                self.assertEqual(trained[1], 1.0)
                path = saver.save(session, os.path.join(self.folder, "model"))
                session.run([w.assign(7.0), tf.assign_add(b, 5.0)])
                self.assertEqual(session.run([w, b.read_value()]), [7.0, 6.0])
                saver.restore(session, path)
                self.assertEqual(session.run([w, b, new]), trained)
            tf.reset_default_graph()
            saver = tf.train.import_meta_graph(path + ".meta")
            with tf.Session() as session:
                saver.restore(session, path)
                self.assertEqual(session.run(tf.trainable_variables()), [trained[0], trained[2]])

    def test_a_scope_is_exported_and_imported_alone(self):
        outside = tf.placeholder(tf.float32, [], "outside")
        with tf.variable_scope("tower"):
            x = tf.identity(outside, "x")
            v = tf.get_variable("v", initializer=1.5)
            loop = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x + v), [0, v + 0.0])[1]
            y = tf.identity(tf.cond(x > 1.0, lambda: loop * v, lambda: loop), "y")
            tf.train.batch([y], 2, name="batch")
        tf.get_variable("other", initializer=1.0)
        for value in (y, outside):
            tf.add_to_collection("values", value)
        tf.add_to_collection("texts", "tower/x")
        tf.add_to_collection(tf.GraphKeys.SAVERS, tf.train.Saver())
        meta_graph = tf.train.export_meta_graph(export_scope="tower")
        self.assertEqual({node.name.partition("/")[0] for node in meta_graph.graph_def.node} & {"tower", "other"}, set())
        self.assertEqual(list(meta_graph.collection_def["unbound_inputs"].bytes_list.value), [b"$unbound_inputs_outside"])
        self.assertNotIn("savers", meta_graph.collection_def)
        tf.reset_default_graph()
        value = tf.constant(2.5)
        with self.assertRaisesRegex(ValueError, "Graph contains unbound inputs: \\$unbound_inputs_outside"):
            tf.train.import_meta_graph(meta_graph)
        tf.train.import_meta_graph(meta_graph, import_scope="copy", input_map={"$unbound_inputs_outside": value})
        self.assertEqual([v.name for v in tf.trainable_variables()], ["copy/v:0"])
        self.assertEqual([runner.name for runner in tf.get_collection("queue_runners")], ["copy/batch/fifo_queue"])
        self.assertEqual(tf.get_collection("texts"), ["copy/tower/x"])
        y, = tf.get_collection("values")
        self.assertEqual(y.name, "copy/y:0")
        made = tf.gradients(y, [*tf.trainable_variables(), tf.get_default_graph().get_tensor_by_name("copy/x:0")])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            a, v = 2.5, 1.5
            loop = v * (a ** 3 + a ** 2 + a + 1)
            self.assertEqual(session.run(y), loop * v)
            self.assertEqual(session.run(made), [2 * loop, v * v * (3 * a ** 2 + 2 * a + 1)])

    def test_parts_of_a_variable_are_saved_as_a_variable_of_the_scope(self):
        tf.get_variable("whole", [4, 2], partitioner=tf.fixed_size_partitioner(2))
        imported(import_scope="copy")
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(session, os.path.join(self.folder, "model"))
        self.assertEqual(tf.train.list_variables(path), [("copy/whole", [4, 2])])

    def test_savers_of_a_graph_are_imported(self):
        v = tf.get_variable("v", initializer=2.0)
        saver = tf.train.Saver(name="first", max_to_keep=3)
        tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            path = saver.save(session, os.path.join(self.folder, "model"))
        for scope in (None, "copy"):
            tf.reset_default_graph()
            tf.train.import_meta_graph(path + ".meta", import_scope=scope)
            collected, = tf.get_collection(tf.GraphKeys.SAVERS)
            with tf.Session() as session:
                collected.restore(session, path)
                self.assertEqual(session.run(tf.trainable_variables()), [2.0])
            self.assertEqual(collected.as_saver_def().restore_op_name, (scope + "/" if scope else "") +
                             saver.as_saver_def().restore_op_name)
        self.assertEqual(v.to_proto().variable_name, "v:0")

    def test_other_savers_can_be_left_out(self):
        tf.get_variable("v", initializer=2.0)
        first, second = tf.train.Saver(name="first"), tf.train.Saver(name="second")
        for saver in (first, second):
            tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
        scopes = [{node.name.partition("/")[0] for node in first.export_meta_graph(
            clear_extraneous_savers=clear).graph_def.node} & {"first", "second"} for clear in (False, True)]
        self.assertEqual(scopes, [{"first", "second"}, {"first"}])

    def test_a_graph_def_takes_the_place_of_the_nodes(self):
        tf.constant(1.0, name="one")
        graph_def = tf.get_default_graph().as_graph_def()
        tf.constant(2.0, name="two")
        self.assertEqual([node.name for node in tf.train.export_meta_graph(graph_def=graph_def).graph_def.node], ["one"])

    def test_a_program_says_how_its_items_are_written(self):
        from tensorbraid.tensorflow_python import ops

        with self.assertRaises(TypeError):
            ops.register_proto_function("names", tf.NodeDef, to_proto=1)
        scopes = []

        def to_proto(item, export_scope=None):
            scopes.append(export_scope)
            return tf.NodeDef(name=item["name"]) if item["name"] != "left out" else None

        ops.register_proto_function("names", tf.NodeDef, to_proto,
                                    lambda message, import_scope=None: {"name": message.name, "scope": import_scope})
        for name in ("a", "left out", "b"):
            tf.add_to_collection("names", {"name": name})
        meta_graph = tf.train.export_meta_graph(export_scope="scope")
        self.assertEqual(scopes, ["scope"] * 3)
        tf.reset_default_graph()
        tf.train.import_meta_graph(meta_graph, import_scope="new")
        self.assertEqual(tf.get_collection("names"), [{"name": "a", "scope": "new"}, {"name": "b", "scope": "new"}])

    def test_handles_of_tensor_arrays_have_tensorflows_shape(self):
        self.assertEqual(tf.raw_ops.TensorArrayV3(size=3, dtype=tf.float32).handle.shape.as_list(), [2])
        self.assertEqual(tf.raw_ops.StackV2(max_size=3, elem_type=tf.float32).shape.as_list(), [2])


if __name__ == "__main__":
    unittest.main()
