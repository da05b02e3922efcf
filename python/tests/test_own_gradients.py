"""Gradients that the program defines: RegisterGradient, gradient_override_map and custom_gradient."""

import unittest

import tensorbraid as tf


@tf.RegisterGradient("TestTimesSeven")
def _times_seven(op, grad):
    return grad * 7.0


@tf.RegisterGradient("TestTwoResults")
def _two_results(op, grad):
    return grad, grad


@tf.RegisterGradient("TestRaises")
def _raises(op, grad):
    raise KeyError("mine")


tf.NotDifferentiable("TestNone")


class OwnGradientTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.graph = tf.get_default_graph()
        self.x = tf.constant(3.0, name="x")

    def gradients(self, ys, xs):
        with tf.Session() as session:
            return session.run(tf.gradients(ys, xs))

    def test_an_override_map_may_name_ops(self):
        with self.graph.gradient_override_map({"Sign": "Identity", "Round": "Relu", "Floor": "TestTimesSeven"}):
            y = tf.sign(self.x) * 3.0 + tf.round(self.x) + tf.floor(self.x)
        self.assertEqual(self.gradients(y, self.x), [3.0 + 1.0 + 7.0])
        imported = tf.Graph()
        with imported.as_default():
            tf.import_graph_def(self.graph.as_graph_def(), name="")
            y, x = imported.get_tensor_by_name(y.name), imported.get_tensor_by_name("x:0")
            self.assertEqual(self.gradients(y, x), [11.0])

    def test_nodes_made_under_an_override_map_use_the_function(self):
        with self.graph.gradient_override_map({"Square": "TestTimesSeven", "Exp": "Nothing"}):
            square, exp = tf.square(self.x), tf.exp(self.x)
            with self.graph.gradient_override_map({"Square": "TestNone"}), tf.device(None):
                stopped = tf.square(self.x)
            self.assertEqual(self.gradients(square, [self.x]), [7.0])
        self.assertEqual(self.gradients([square, tf.square(self.x), stopped + self.x], [self.x]), [14.0])
        self.assertEqual(square.op.get_attr("_gradient_op_type"), b"TestTimesSeven")
        with self.assertRaises(LookupError):
            tf.gradients(exp, [self.x])

    def test_layers_and_branches_use_the_function(self):
        with self.graph.gradient_override_map({"Relu": "TestTimesSeven", "Square": "TestTimesSeven"}):
            x = tf.ones([1, 1])
            layer = tf.layers.dense(x, 1, tf.nn.relu, kernel_initializer=tf.ones_initializer())
            branch = tf.cond(self.x > 0, lambda: tf.square(self.x), lambda: self.x)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            self.assertEqual(session.run(tf.gradients([layer, branch], [x, self.x])), [[[7.0]], 7.0])

    def test_an_optimizer_uses_the_function(self):
        v = tf.Variable(1.0)
        with self.graph.gradient_override_map({"Square": "TestTimesSeven"}):
            loss = tf.square(v)
            train = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(train)
            self.assertEqual(session.run(v), -6.0)

    def test_an_imported_graph_keeps_its_functions(self):
        with self.graph.gradient_override_map({"Square": "TestTimesSeven"}):
            tf.square(self.x, name="y")
        with tf.Graph().as_default() as graph:
            x, y = tf.import_graph_def(self.graph.as_graph_def(), return_elements=["x:0", "y:0"], name="")
            self.assertEqual(tf.Session(graph=graph).run(tf.gradients(y, [x])), [7.0])

    def test_wrong_functions_and_names_are_refused(self):
        for name in ("TestTimesSeven", "Square"):
            with self.assertRaises(KeyError):
                tf.RegisterGradient(name)(_times_seven)
            with self.assertRaises(KeyError):
                tf.NotDifferentiable(name)
        with self.assertRaises(TypeError):
            tf.RegisterGradient(3)
        for wrong in (3, {3: "a"}, {"a": 3}):
            with self.assertRaises(TypeError), self.graph.gradient_override_map(wrong):
                pass
        with self.graph.gradient_override_map({"Square": "TestTwoResults", "Exp": "TestRaises"}):
            square, exp = tf.square(self.x), tf.exp(self.x)
        with self.assertRaisesRegex(ValueError, "Num gradients 2"):
            tf.gradients(square, [self.x])
        with self.assertRaisesRegex(KeyError, "mine"):
            tf.gradients(exp, [self.x])
        self.assertTrue(tf.gradients(tf.sin(self.x), [self.x])[0].name.startswith("gradients"))


class CustomGradientTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.x = tf.constant(3.0, name="x")

    def run_all(self, fetches):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return session.run(fetches)

    def test_a_function_has_its_own_gradient(self):
        @tf.custom_gradient
        def scaled(x, y):
            return [x * y, {"sum": x + y}], lambda d_product, d_sum: (d_product * 10, d_sum * 100)

        made = scaled(self.x, 2.0)
        self.assertEqual(made[0].op.type, "IdentityN")
        self.assertEqual(made[0].name, "IdentityN:0")
        grads = tf.gradients(made[0] + made[1]["sum"], [self.x])
        self.assertEqual(self.run_all([made, grads]), [[6.0, {"sum": 5.0}], [10.0]])
        with self.assertRaises(ValueError):
            scaled(self.x, y=2.0)

    def test_variables_that_the_function_uses(self):
        def product(x):
            w = tf.get_variable("w", initializer=2.0)
            return w * x, lambda dy, variables=None: (dy * 5, [dy * 11 for _ in variables])

        y = tf.custom_gradient(product)(self.x)
        grads = tf.gradients(y, [self.x] + tf.trainable_variables())
        self.assertEqual(self.run_all([y, grads]), [6.0, [5.0, 11.0]])
        with self.assertRaisesRegex(TypeError, "variables"), tf.variable_scope("", reuse=True):
            tf.custom_gradient(lambda x: (tf.get_variable("w") * x, lambda dy: dy))(self.x)

    def test_a_gradient_may_pass_through(self):
        y = tf.grad_pass_through(tf.exp)(self.x)
        self.assertEqual(self.run_all(tf.gradients(y, [self.x])), [1.0])

    def test_a_gradient_of_a_gradient(self):
        @tf.custom_gradient
        def cube(x):
            return x * x * x, lambda dy: dy * 2 * x * x

        first = tf.gradients(cube(self.x), [self.x])
        self.assertEqual(self.run_all([first, tf.gradients(first, [self.x])]), [[18.0], [12.0]])

    def test_a_graph_with_own_gradients_is_freed(self):
        import gc
        import weakref

        graph = tf.Graph()
        with graph.as_default():
            x = tf.constant(1.0)
            tf.gradients(tf.custom_gradient(lambda x: (tf.exp(x), lambda dy: dy * x))(x), [x])
        freed = weakref.ref(graph)
        del graph, x
        gc.collect()
        self.assertIsNone(freed())


if __name__ == "__main__":
    unittest.main()
