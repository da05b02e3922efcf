"""Recurrent cells and layers: names, what is refused, and with which error."""

import copy
import unittest

import numpy as np
import tensorbraid as tf

cells = tf.nn.rnn_cell


class RnnTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.x = tf.placeholder(tf.float32, [None, 5, 3])

    def test_the_state_of_raw_rnns_loop_may_have_arrays(self):
        cell = cells.BasicRNNCell(2)
        for nested in (False, True):
            def loop(time, output, state, found):
                if output is None:
                    array = tf.TensorArray(tf.float32, 0, True)
                    return (time >= [2], tf.ones([1, 2]), cell.zero_state(1, tf.float32), None,
                            (tf.constant(0.0), array) if nested else array)
                array = (found[1] if nested else found).write(time - 1, output[0, 0])
                return time >= [2], output, state, output, (found[0] + 1.0, array) if nested else array

            with tf.variable_scope(f"rnn{nested}", initializer=tf.constant_initializer(0.5)):
                outputs, _, found = tf.nn.raw_rnn(cell, loop)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                array, wanted = session.run([(found[1] if nested else found).stack(), outputs.stack()])
            np.testing.assert_array_equal(array, wanted[:, 0, 0])

    def test_lengths_of_dynamic_rnn_may_be_floating_point_numbers(self):
        outputs, _ = tf.nn.dynamic_rnn(cells.BasicRNNCell(2), tf.ones([2, 3, 2]), tf.constant([1.0, 2.0]),
                                       dtype=tf.float32)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            self.assertEqual((session.run(outputs) != 0).any(-1).tolist(), [[True, False, False], [True, True, False]])

    def test_dynamic_rnn_makes_variables_with_the_defaults_of_the_scope(self):
        cell = cells.MultiRNNCell([cells.BasicLSTMCell(4), cells.GRUCell(2)])
        with tf.variable_scope("model", initializer=tf.ones_initializer(), regularizer=tf.reduce_sum):
            outputs, (lstm, gru) = tf.nn.dynamic_rnn(cell, self.x, dtype=tf.float32)
        self.assertEqual(outputs.shape.as_list(), [None, 5, 2])
        self.assertIsInstance(lstm, cells.LSTMStateTuple)
        self.assertEqual(gru.shape.as_list(), [None, 2])
        names = [v.name for v in tf.trainable_variables()]
        self.assertEqual(names[0], "model/rnn/multi_rnn_cell/cell_0/basic_lstm_cell/kernel:0")
        self.assertEqual(len(names), 6)
        self.assertEqual(len(tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)), 6)
        self.assertEqual([len(inner.weights) for inner in cell._cells], [2, 4])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            kernel = session.run(tf.trainable_variables()[0])
            self.assertEqual(set(kernel.ravel().tolist()), {1.0})
            session.run(outputs, {self.x: np.zeros([2, 5, 3])})

    def test_each_cell_has_its_variables_also_if_they_are_shared(self):
        def deep():
            return cells.MultiRNNCell([cells.BasicLSTMCell(4), cells.MultiRNNCell([cells.GRUCell(2)])])

        first, second, again = deep(), deep(), deep()
        with tf.variable_scope("of/cell_1/model"):  # names like those of the cells
            tf.nn.dynamic_rnn(first, self.x, dtype=tf.float32)
            tf.nn.dynamic_rnn(second, self.x, dtype=tf.float32, scope="other")
        with tf.variable_scope("of/cell_1/model", reuse=True):
            tf.nn.dynamic_rnn(again, self.x, dtype=tf.float32)
        for cell, scope in ((first, "rnn"), (second, "other"), (again, "rnn")):
            lstm, gru = cell._cells
            path = f"of/cell_1/model/{scope}/multi_rnn_cell/"
            self.assertEqual([v.name for v in lstm.weights], [f"{path}cell_0/basic_lstm_cell/{name}:0"
                                                              for name in ("kernel", "bias")])
            self.assertEqual([v.name for v in gru.weights], [f"{path}cell_1/multi_rnn_cell/cell_0/gru_cell/{name}:0"
                                                             for name in ("gates/kernel", "gates/bias",
                                                                          "candidate/kernel", "candidate/bias")])
            self.assertEqual(cell.weights, lstm.weights + gru.weights)
            self.assertTrue(cell.built and lstm.built and gru._cells[0].built)
        self.assertEqual(again.weights, first.weights)

    def test_variables_are_shared_as_the_scope_says(self):
        for _ in range(2):
            with tf.variable_scope("model", reuse=tf.AUTO_REUSE):
                tf.nn.dynamic_rnn(cells.GRUCell(4), self.x, dtype=tf.float32)
        self.assertEqual(len(tf.trainable_variables()), 4)
        with self.assertRaisesRegex(ValueError, "exists already"), tf.variable_scope("model"):
            tf.nn.dynamic_rnn(cells.GRUCell(4), self.x, dtype=tf.float32)

    def test_what_is_not_supported_is_refused(self):
        with self.assertRaisesRegex(ValueError, "dtype"):
            tf.nn.dynamic_rnn(cells.GRUCell(4), self.x)
        with self.assertRaisesRegex(TypeError, "RNNCell"):
            tf.nn.static_rnn(4, [tf.zeros([2, 3])], dtype=tf.float32)
        with self.assertRaisesRegex(NotImplementedError, "variational"):
            cells.DropoutWrapper(cells.GRUCell(4), variational_recurrent=True)
        with self.assertRaisesRegex(ValueError, "at least one cell"):
            cells.MultiRNNCell([])

    def test_a_nas_cell(self):
        cell = tf.contrib.rnn.NASCell(2, num_proj=3, use_bias=True)
        x = np.array([[0.5, -1.0]], np.float32)
        with tf.variable_scope("net", initializer=tf.constant_initializer(0.1)):
            output, state = cell(tf.constant(x), cell.zero_state(1, tf.float32))
        self.assertEqual([(v.name, v.shape.as_list()) for v in tf.trainable_variables()], [
            ("net/nas_cell/recurrent_kernel:0", [3, 16]), ("net/nas_cell/kernel:0", [2, 16]),
            ("net/nas_cell/bias:0", [16]), ("net/nas_cell/projection_weights:0", [2, 3])])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            found = session.run([output, state.c])
        z = x.sum() * 0.1
        sigmoid, relu = (lambda v: 1 / (1 + np.exp(-v))), (lambda v: max(v, 0))
        c = np.tanh(np.tanh(sigmoid(z) * relu(z))) * np.tanh(sigmoid(z) + relu(0 * z))
        m = np.tanh(c * np.tanh(np.tanh(np.tanh(z) * sigmoid(z)) + sigmoid(np.tanh(z) + sigmoid(z))))
        np.testing.assert_allclose(found[1], [[c, c]], rtol=1e-5)
        np.testing.assert_allclose(found[0], [[0.2 * m] * 3], rtol=1e-5)

    def test_cells_that_cpp_does_not_have_run_in_a_loop(self):
        class Sum(cells.RNNCell):
            """Adds up what it gets, times a weight."""

            state_size = output_size = 3

            def call(self, inputs, state):
                weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
                state = state + weight * tf.reduce_sum(inputs, 1, keepdims=True) * tf.ones([1, 3])
                return state * 2.0, state

        inputs = tf.constant(np.arange(12, dtype=np.float32).reshape(2, 3, 2))
        outputs, state = tf.nn.dynamic_rnn(Sum(), inputs, sequence_length=[3, 2], dtype=tf.float32)
        gradient, = tf.gradients(tf.reduce_sum(outputs), tf.trainable_variables())
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values, last, slope = session.run([outputs, state, gradient])
        np.testing.assert_allclose(values[:, :, 0], [[2, 12, 30], [26, 60, 0]])
        np.testing.assert_allclose(last, [[15] * 3, [30] * 3])
        self.assertAlmostEqual(slope, 3 * (2 + 12 + 30 + 26 + 60), 3)

    def test_a_cell_that_failed_in_dynamic_rnn_leaves_the_graph_usable(self):
        def fails(shape, dtype=None):
            raise KeyError("initializer")

        with self.assertRaises(KeyError):
            tf.nn.dynamic_rnn(cells.LSTMCell(4, initializer=fails), self.x, dtype=tf.float32)
        tf.get_variable("w", [2])

    def test_a_cell_in_two_layers_shares_its_weights(self):
        """The values are TensorFlow 2.21's."""
        with tf.Graph().as_default(), tf.Session() as session:
            x = tf.constant(np.linspace(-1, 1, 24).reshape(2, 4, 3), tf.float32)
            with self.assertLogs("tensorflow", "WARNING") as logs:
                cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(3)] * 2)
            self.assertIn("same object and will share weights", logs.output[0])
            outputs, state = tf.nn.dynamic_rnn(cell, x, dtype=tf.float32)
            variables = tf.trainable_variables()
            self.assertEqual([variable.name for variable in variables],
                             ["rnn/multi_rnn_cell/cell_0/basic_lstm_cell/kernel:0",
                              "rnn/multi_rnn_cell/cell_0/basic_lstm_cell/bias:0"])
            gradient = tf.gradients(tf.reduce_sum(outputs), variables)[0]
            for variable in variables:
                shape = variable.shape.as_list()
                variable.load(np.linspace(-0.5, 0.7, int(np.prod(shape))).reshape(shape), session)
            np.testing.assert_allclose(session.run(outputs)[1, 3], [-0.04754516, 0.03304838, 0.1321899], 1e-5)
            np.testing.assert_allclose(session.run(state[0].c)[0], [1.0416175, 1.2425845, 1.439877], 1e-5)
            np.testing.assert_allclose(np.ravel(session.run(gradient))[:3],
                                       [0.02465308, -0.05026635, -0.12003183], 1e-4)

    def test_a_copy_of_a_cell_has_weights_of_its_own(self):
        with tf.Graph().as_default():
            keep = tf.placeholder(tf.float32)
            cell = tf.nn.rnn_cell.DropoutWrapper(tf.nn.rnn_cell.GRUCell(3), output_keep_prob=keep)
            x, state = tf.zeros([2, 3]), tf.zeros([2, 3])
            with tf.variable_scope("a"):
                cell(x, state)
            with tf.variable_scope("b"):
                copy.deepcopy(cell)(x, state)
            self.assertEqual(sorted({variable.name.split("/")[0] for variable in tf.trainable_variables()}), ["a", "b"])
            self.assertEqual(len(tf.trainable_variables()), 8)


if __name__ == "__main__":
    unittest.main()
