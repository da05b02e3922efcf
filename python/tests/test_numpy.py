"""NumPy's functions and Python's conversions raise an error for a tensor of a graph, whose value is not known."""

import unittest

import numpy as np
import tensorbraid as tf


class NumPyTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.tensor = tf.constant([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]], name="t")
        self.variable = tf.get_variable("v", initializer=self.tensor)

    def test_functions_of_numpy_refuse_tensors_and_variables(self):
        functions = [np.sum, np.max, np.mean, np.prod, np.std, np.exp, np.abs, np.isnan, np.array, np.asarray, np.ravel,
                     np.transpose, np.size, np.ndim, np.float32, np.argmax, np.sort, np.round, np.cumsum,
                     lambda t: np.dot(np.ones((2, 3)), t), lambda t: np.matmul(np.ones((2, 3)), t),
                     lambda t: np.reshape(t, [-1]), lambda t: np.stack([t, t]), lambda t: np.concatenate([t, t]),
                     lambda t: np.array([t]), lambda t: np.where(t, 1, 0), lambda t: np.ones((3, 3)).dot(t),
                     lambda t: np.allclose(t, t)]
        for function in functions:
            for value in (self.tensor, self.variable, tf.constant(1.0)):
                with self.assertRaisesRegex(NotImplementedError, r"Cannot convert a symbolic tf.Tensor \(\w+:0\) to a "
                                            "numpy array"):
                    function(value)

    def test_operators_between_arrays_and_tensors_are_operators_of_tensors(self):
        array = np.full((3, 3), 2.0, np.float32)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for value in (self.tensor, self.variable):
                numbers = session.run(value)
                for result, want in ((array + value, array + numbers), (array * value, array * numbers),
                                     (array - value, array - numbers), (array / value, array / numbers),
                                     (array @ value, array @ numbers), (array < value, array < numbers),
                                     (np.float32(2) * value, 2 * numbers), (value ** array, numbers ** array)):
                    self.assertIsInstance(result, tf.Tensor)
                    np.testing.assert_allclose(session.run(result), want, rtol=1e-6)

    def test_a_tensor_is_no_number_and_no_sequence_of_python(self):
        for value in (self.tensor, tf.constant(1), self.variable, tf.placeholder(tf.int32)):
            for function in (len, iter, list, tuple, float, int, complex, range, bytes, memoryview, reversed,
                             lambda t: 1 in t, lambda t: [10, 20][t]):
                with self.assertRaises(TypeError):
                    function(value)
            for name in ("__float__", "__int__", "__index__", "__complex__", "__array_interface__",
                         "__array_struct__", "__dlpack__"):
                self.assertFalse(hasattr(value, name), name)
        with self.assertRaisesRegex(TypeError, r"len is not well defined for a symbolic Tensor \(t:0\)"):
            len(self.tensor)

    def test_only_variables_have_a_truth_value(self):
        for condition in (bool, lambda t: not t, lambda t: t and 1, lambda t: all([t])):
            with self.assertRaisesRegex(TypeError, "as a Python `bool` is not allowed"):
                condition(self.tensor)
        self.assertTrue(self.variable)  # as in TensorFlow 1, whose programs write `average or variable`
        self.assertIs(self.variable or self.tensor, self.variable)

    def test_tensors_in_lists_are_still_packed(self):
        packed = tf.convert_to_tensor([self.tensor[0], np.ones(3, np.float32)])
        with tf.Session() as session:
            self.assertEqual(session.run(packed).tolist(), [[1, 2, 3], [1, 1, 1]])


if __name__ == "__main__":
    unittest.main()
