"""What counts as a tensor: names of tensorflow.python.framework.ops that Keras and other libraries use."""

import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.tensorflow_python import ops


class _Scaled:
    """An object that stands for a tensor of a graph."""

    def __init__(self, tensor, calls=None):
        self._tensor, self.calls = tensor, calls

    name = property(lambda self: self._tensor.name)
    dtype = property(lambda self: self._tensor.dtype)

    def _as_graph_element(self):
        return self._tensor


class TensorLikeTest(unittest.TestCase):
    def setUp(self):
        graph = tf.Graph().as_default()
        graph.__enter__()
        self.addCleanup(graph.__exit__, None, None, None)
        self.x = tf.placeholder(tf.float32, [2], name="x")
        self.w = tf.get_variable("w", [4, 2])
        self.sparse = tf.SparseTensor([[0, 0]], [1.0], [2, 2])
        self.slices = tf.IndexedSlices(tf.zeros([1, 2]), tf.constant([0]), tf.constant([4, 2]))

    def test_tensors_sparse_tensors_and_slices_are_like_tensors(self):
        for value in (self.x, self.sparse, self.slices):
            self.assertIsInstance(value, ops._TensorLike)
        for value in (self.w, self.x.op, 3.0, np.zeros(2), [self.x], None, tf.Graph()):
            self.assertNotIsInstance(value, ops._TensorLike)

    def test_tensors_and_variables_are_dense(self):
        resource = tf.Variable(1.0, use_resource=True)
        for value in (self.x, self.w, resource, self.w.value()):
            self.assertTrue(ops.is_dense_tensor_like(value), value)
        parts = tf.get_variable("parts", [4, 2], partitioner=tf.fixed_size_partitioner(2))
        for value in (self.sparse, self.slices, parts, self.x.op, 3.0, np.zeros(2), [self.x], None):
            self.assertFalse(ops.is_dense_tensor_like(value), value)

    def test_a_type_can_be_registered_as_dense(self):
        class Dense(_Scaled):
            pass

        value = Dense(self.x)
        self.assertFalse(ops.is_dense_tensor_like(value))
        ops.register_dense_tensor_like_type(Dense)
        self.addCleanup(ops._dense_types.remove, Dense)
        self.assertTrue(ops.is_dense_tensor_like(value))
        self.assertFalse(ops.is_dense_tensor_like(_Scaled(self.x)))

    def test_a_registered_type_has_a_name_and_a_dtype(self):
        class WithoutName:
            dtype = property(lambda self: tf.float32)

        class WithoutDtype:
            name = property(lambda self: "n")

        class NoProperty:
            name, dtype = "n", property(lambda self: tf.float32)

        for kind, lacking in ((WithoutName, "name"), (WithoutDtype, "dtype"), (NoProperty, "name")):
            with self.assertRaisesRegex(TypeError, f"Type {kind.__name__} does not define a `{lacking}` property"):
                ops.register_dense_tensor_like_type(kind)

    def test_a_variable_stands_for_its_value(self):
        element = self.w._as_graph_element()
        self.assertIsInstance(element, tf.Tensor)
        self.assertEqual(element.dtype, tf.float32)
        self.assertEqual(element.shape.as_list(), [4, 2])
        self.assertIs(self.w._as_graph_element(), element)
        self.assertIs(self.w.graph.as_graph_element(self.w), element)
        nodes = len(self.w.graph.get_operations())
        self.w._as_graph_element()
        self.assertEqual(len(self.w.graph.get_operations()), nodes)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            np.testing.assert_array_equal(session.run(element), session.run(self.w))

    def test_an_object_that_stands_for_an_element_is_one(self):
        value = _Scaled(tf.identity(self.x, name="y"))
        graph = tf.get_default_graph()
        self.assertIs(graph.as_graph_element(value), value._tensor)
        with self.assertRaisesRegex(TypeError, "into an Operation"):
            graph.as_graph_element(value, allow_tensor=False)
        with self.assertRaisesRegex(ValueError, "not an element of this graph"):
            tf.Graph().as_graph_element(value)
        self.assertIs(graph.as_graph_element(_Scaled(self.x.op)), self.x.op)

    def test_setting_shapes_again_changes_nothing(self):
        total = self.x + 1.0
        ops.set_shapes_for_outputs(total.op)
        ops.set_shape_and_handle_data_for_outputs(total.op)
        self.assertEqual(total.shape.as_list(), [2])


if __name__ == "__main__":
    unittest.main()
