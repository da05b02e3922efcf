"""Defun: functions whose calls are single nodes, with gradients of their bodies or of the program."""

import gc
import unittest
import weakref

import numpy as np
import tensorbraid as tf
from tensorbraid.tensorflow_python.function import Defun, get_extra_vars


class DefunTest(tf.test.TestCase):
    def test_a_call_is_a_node_with_the_gradient_of_the_body(self):
        @Defun(tf.float32, tf.float32)
        def square_plus(x, b):
            return x * x + b

        x = tf.constant([1.0, 2.0])
        y = square_plus(x, 3.0)
        z = square_plus(square_plus(x, x, name="inner"), x)
        self.assertEqual([y.op.name, square_plus.name], ["square_plus", "square_plus"])
        self.assertEqual(len([op for op in tf.get_default_graph().get_operations() if "Call" in op.type]), 3)
        with self.session() as session:
            self.assertAllEqual(session.run(y), [4.0, 7.0])
            self.assertAllEqual(session.run(tf.gradients(y, x)[0]), [2.0, 4.0])
            self.assertAllEqual(session.run([z] + tf.gradients(z, x)), [[5.0, 38.0], [13.0, 61.0]])

    def test_the_program_gives_the_gradient_as_a_function_of_python(self):
        @Defun(python_grad_func=lambda op, dy: 10.0 * dy, shape_func=lambda op: [op.inputs[0].get_shape()])
        def identity(x):
            return x

        x = tf.placeholder(tf.float32, [2, None])
        y = identity(x)
        self.assertEqual(y.shape.as_list(), [2, None])
        ints = identity(tf.constant([1, 2]))
        self.assertEqual([ints.dtype, ints.shape.as_list()], [tf.int32, [2]])
        with self.session() as session:
            self.assertAllEqual(session.run(tf.gradients(y * y, x)[0], {x: [[1.0], [2.0]]}), [[20.0], [40.0]])
            self.assertAllEqual(session.run(ints), [1, 2])

    def test_the_gradient_of_an_embedding_can_be_made_dense(self):
        @Defun(python_grad_func=lambda op, dy: tf.convert_to_tensor(dy), shape_func=lambda op: [op.inputs[0].get_shape()])
        def dense_gradient(x):
            return x

        table = tf.Variable(np.ones([3, 2], np.float32))
        rows = tf.gather(dense_gradient(table), [0, 2, 2])
        (gradient,) = tf.gradients(rows, [table])
        self.assertIsInstance(gradient, tf.Tensor)
        with self.session() as session:
            session.run(table.initializer)
            self.assertAllEqual(session.run(gradient), [[1.0, 1.0], [0.0, 0.0], [2.0, 2.0]])

    def test_another_function_gives_the_gradient(self):
        @Defun(tf.float32, tf.float32, tf.float32)
        def gradient(x, dy, dz):
            return 7.0 * dy + dz

        @Defun(tf.float32, grad_func=gradient, func_name="Both")
        def both(x):
            return x * x, x + 1.0

        x = tf.constant([1.0, 2.0])
        y, z = both(x)
        self.assertEqual(y.op.name, "Both")
        with self.session() as session:
            self.assertAllEqual(session.run(tf.gradients(y, x)[0]), [7.0, 7.0])
            self.assertAllEqual(session.run(tf.gradients([y, z], x)[0]), [8.0, 8.0])

    def test_tensors_and_variables_around_it_become_inputs(self):
        v, c = tf.Variable(2.0), tf.constant(5.0)

        @Defun(tf.float32)
        def affine(x):
            return x * v + c

        x = tf.constant([1.0, 2.0])
        y = affine(x)
        self.assertEqual(len(affine.captured_inputs), 2)
        self.assertEqual(affine.captured_inputs[1].name, c.name)
        with self.session() as session:
            session.run(v.initializer)
            self.assertAllEqual(session.run(y), [7.0, 9.0])
            self.assertAllEqual(session.run(tf.gradients(y, [x, v, c])[1:]), [3.0, 2.0])

    def test_variables_of_a_body_are_made_around_it(self):
        made = []

        @Defun(tf.float32, tf.float32)
        def loss_of(x, y):
            w = tf.get_variable("w", [2, 2], initializer=tf.ones_initializer())
            b = tf.get_variable("b", [2], initializer=tf.zeros_initializer(), trainable=False)
            made.extend(get_extra_vars())
            self.assertEqual(tf.trainable_variables(), [w])
            return tf.reduce_sum((tf.matmul(x, w) + b) * y)

        x, y = tf.constant([[1.0, 2.0]]), tf.constant([[3.0, 5.0]])
        with tf.variable_scope("Foo"):
            first = loss_of(x, y)
        with tf.variable_scope("Bar"):
            second = loss_of(x, 2 * y)
        self.assertEqual([v.op.name for v in made], ["Foo/w", "Foo/b"])
        self.assertEqual(tf.global_variables(), made)
        self.assertEqual(tf.trainable_variables(), made[:1])
        self.assertTrue(all(v.graph is tf.get_default_graph() for v in made))
        self.assertEqual(get_extra_vars(), [])
        train = tf.train.GradientDescentOptimizer(0.5).minimize(first)
        with self.session() as session:
            session.run(tf.global_variables_initializer())
            self.assertAllEqual(session.run([first, second]), [24.0, 48.0])
            session.run(train)
            self.assertAllEqual(session.run(made[0]), [[-0.5, -1.5], [-2.0, -4.0]])

    def test_a_body_shares_variables_as_its_scopes_say(self):
        def linear(x, reuse=None):
            with tf.variable_scope("linear", reuse=reuse):
                return tf.matmul(x, tf.get_variable("w", [2, 2]))

        @Defun(tf.float32)
        def twice(x):
            return linear(linear(tf.reshape(x, [1, 2])), reuse=True)

        template = tf.make_template("f", lambda x: x * tf.get_variable("v", []))

        @Defun(tf.float32)
        def of_template(x):
            return template(x)

        @Defun(tf.float32)
        def around(x):
            return of_template(x) + linear(tf.reshape(x, [1, 2]), reuse=tf.AUTO_REUSE)

        results = [twice([[1.0, 2.0]]), of_template(2.0), template(tf.constant(2.0)), around([1.0, 2.0])]
        self.assertEqual([v.op.name for v in tf.global_variables()], ["linear/w", "f/v"])
        with tf.variable_scope("", reuse=True):
            @Defun(tf.float32)
            def missing(x):
                return x * tf.get_variable("missing", [])

            with self.assertRaisesRegex(ValueError, "missing.*does not exist"):
                missing(1.0)
        with self.session() as session:
            session.run(tf.global_variables_initializer())
            found = session.run(results)
        self.assertEqual(found[1], found[2])

    def test_bodies_have_layers_and_own_variables(self):
        @Defun(tf.float32)
        def model(x):
            with tf.name_scope("scope"):
                step = tf.Variable(lambda: tf.ones([]) * 2.0, name="step")
            with tf.control_dependencies([tf.identity(x)]):
                dense = tf.layers.dense(tf.reshape(x, [1, 2]), 1, kernel_initializer=tf.ones_initializer(),
                                        kernel_regularizer=tf.contrib.layers.l2_regularizer(2.0))
            return dense * step

        y = model([1.0, 2.0])
        self.assertEqual([v.op.name for v in tf.trainable_variables()], ["scope/step", "dense/kernel", "dense/bias"])
        with self.session() as session:
            session.run(tf.global_variables_initializer())
            self.assertAllEqual(session.run(y), [[6.0]])
            self.assertAllEqual(session.run(tf.losses.get_regularization_loss()), 2.0)
        with self.assertRaisesRegex(ValueError, "inside of a function's body"):
            Defun(tf.float32)(lambda x: tf.Variable(x + 1.0))(1.0)

    def test_results_keep_their_structure(self):
        @Defun(tf.float32)
        def several(x):
            return [x, {"double": x * 2.0}]

        @Defun()
        def constant():
            return tf.constant(3.0)

        @Defun(tf.float32)
        def nothing(x):
            tf.Print(x, [x])

        made = nothing(1.0)
        self.assertIsInstance(made, tf.Operation)
        with self.session() as session:
            self.assertEqual(session.run(several(tf.constant(1.0))), [1.0, {"double": 2.0}])
            self.assertEqual(session.run(constant()), 3.0)

    def test_the_body_is_built_once_for_each_graph_and_for_each_list_of_dtypes(self):
        bodies = []

        @Defun()
        def doubled(x):
            bodies.append(tf.get_default_graph())
            return x + x

        for _ in range(2):
            doubled(tf.constant(1.0))
            doubled(tf.constant(1))
        self.assertEqual(len(bodies), 2)
        with tf.Graph().as_default() as graph:
            made = doubled(tf.constant(1.0))
        self.assertEqual(len(bodies), 3)
        bodies.clear()
        dead = weakref.ref(graph)
        del graph, made
        gc.collect()
        self.assertIsNone(dead())

    def test_functions_are_called_in_loops_and_datasets(self):
        @Defun(tf.float32, shape_func=lambda op: [op.inputs[0].get_shape()])
        def square(x):
            return x * x

        x = tf.constant(2.0)
        looped = tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, square(y)), [0, x])[1]
        element = tf.data.Dataset.range(1, 3).map(
            lambda i: square(tf.cast(i, tf.float32))).make_one_shot_iterator().get_next()
        with self.session() as session:
            self.assertEqual(session.run([looped] + tf.gradients(looped, x)), [16.0, 32.0])
            self.assertEqual([session.run(element) for _ in range(2)], [1.0, 4.0])

    def test_random_ops_of_a_body_run_in_each_step(self):
        @Defun(tf.int32)
        def numbers(n):
            return tf.random_uniform([n], seed=1)

        drawn = numbers(4)
        with self.session() as session:
            self.assertNotAllEqual(session.run(drawn), session.run(drawn))

    def test_mistakes_are_named(self):
        @Defun(tf.float32, tf.float32)
        def add(x, y):
            return x + y

        for call, message in (
                (lambda: add(1.0), "Expected number of arguments: 2, received: 1"),
                (lambda: add(1.0, tf.constant(1)), "float32.*int32"),
                (lambda: Defun(tf.float32)(lambda x, y: x), "The function has 2 arguments"),
                (lambda: Defun(tf.float32)(lambda x=1: x), "argument defaults or keywords"),
                (lambda: Defun(tf.float32)(lambda x: (x, None))(1.0), "can not return None"),
                (lambda: Defun(tf.float32, grad_func=add, python_grad_func=add), "Gradient defined twice"),
                (lambda: Defun()(add.__call__), "keywords"),
                (lambda: Defun()(lambda x: x).add_to_graph(tf.get_default_graph()), "declare them in Defun")):
            with self.assertRaisesRegex(ValueError, message):
                call()


if __name__ == "__main__":
    unittest.main()
