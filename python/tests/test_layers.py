"""Layers: names, sharing, what is refused, and with which error."""

import unittest

import numpy as np
import tensorbraid as tf


class LayersTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.x = tf.placeholder(tf.float32, [None, 3], name="x")

    def test_names_are_those_of_tensorflow(self):
        first = tf.layers.dense(self.x, 2, tf.nn.relu)
        layer = tf.layers.Dense(2)
        self.assertEqual(layer(self.x).name, "dense_1/BiasAdd:0")
        self.assertEqual(layer(self.x).name, "dense_1/BiasAdd_1:0")
        self.assertEqual(first.name, "dense/Relu:0")
        self.assertEqual([v.name for v in tf.trainable_variables()],
                         ["dense/kernel:0", "dense/bias:0", "dense_1/kernel:0", "dense_1/bias:0"])
        self.assertEqual(layer.name, "dense_2")  # layers are numbered from 1, their scopes from 0
        self.assertEqual(layer.kernel.name, "dense_1/kernel:0")

    def test_activations_have_names(self):
        for name, kind in (("softmax", "Softmax"), ("relu", "Relu"), ("tanh", "Tanh"), ("linear", "BiasAdd")):
            self.assertEqual(tf.layers.dense(self.x, 2, name).op.type, kind)
        images = tf.placeholder(tf.float32, [1, 4, 4, 1])
        self.assertEqual(tf.layers.conv2d(images, 1, 2, activation="sigmoid").op.type, "Sigmoid")
        with self.assertRaisesRegex(ValueError, "Unknown activation function: relus; give a function, or one of elu"):
            tf.layers.dense(self.x, 2, "relus")

    def test_a_named_layer_is_made_once_unless_it_reuses(self):
        tf.layers.dense(self.x, 2, name="fc")
        with self.assertRaisesRegex(ValueError, "'fc/kernel'.*exists already"):
            tf.layers.dense(self.x, 2, name="fc")
        tf.layers.dense(self.x, 2, name="fc", reuse=True)
        with tf.variable_scope("", reuse=tf.AUTO_REUSE):
            tf.layers.dense(self.x, 2, name="fc")
        self.assertEqual(len(tf.trainable_variables()), 2)

    def test_layers_refuse_inputs_that_do_not_fit(self):
        with self.assertRaisesRegex(ValueError, "min_ndim=2"):
            tf.layers.dense(tf.zeros([3]), 2)
        with self.assertRaisesRegex(ValueError, "ndim=4"):
            tf.layers.conv2d(self.x, 2, 3)
        with self.assertRaisesRegex(ValueError, "last dimension"):
            tf.layers.dense(tf.placeholder(tf.float32, [None, None]), 2)
        with self.assertRaisesRegex(ValueError, "padding"):
            tf.layers.conv2d(tf.zeros([1, 4, 4, 1]), 2, 3, padding="causal")
        layer = tf.layers.Dense(2)
        layer(self.x)
        with self.assertRaisesRegex(ValueError, "expected axis -1"):
            layer(tf.zeros([2, 4]))

    def test_what_is_not_supported_is_refused(self):
        with self.assertRaisesRegex(NotImplementedError, "renorm"):
            tf.layers.batch_normalization(self.x, renorm=True)
        with self.assertRaisesRegex(TypeError, "not understood"):
            tf.layers.Dense(2, units_of=3)

    def test_a_layer_that_is_not_trainable_has_no_trainable_variables(self):
        layer = tf.layers.Dense(2, trainable=False)
        layer(self.x)
        self.assertEqual(tf.trainable_variables(), [])
        self.assertEqual(len(layer.non_trainable_variables), 2)

    def test_a_step_drops_out_as_its_training_flag_says(self):
        training = tf.placeholder(tf.bool, [])
        dropped = tf.layers.dropout(tf.ones([100, 3]), 0.5, training=training)
        with tf.Session() as session:
            self.assertEqual(set(session.run(dropped, {training: False}).ravel().tolist()), {1.0})
            self.assertEqual(set(session.run(dropped, {training: True}).ravel().tolist()), {0.0, 2.0})

    def test_layers_use_the_partitioner_of_the_scope(self):
        with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
            y = tf.layers.dense(self.x, 2, kernel_initializer=tf.ones_initializer())
        self.assertEqual([v.name for v in tf.trainable_variables()][:2],
                         ["parts/dense/kernel/part_0:0", "parts/dense/kernel/part_1:0"])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            self.assertEqual(session.run(y, {self.x: np.ones([1, 3])}).tolist(), [[3, 3]])


if __name__ == "__main__":
    unittest.main()
