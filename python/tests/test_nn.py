"""tf.nn: arguments that are refused, and with which error."""

import unittest

import numpy as np
import tensorbraid as tf


class NnTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.x = tf.placeholder(tf.float32, [2, 3])

    def test_labels_of_another_dtype_are_converted(self):
        logits = tf.constant([[1.0, 2.0], [0.5, 0.1]])
        wanted = tf.nn.softmax_cross_entropy_with_logits(labels=tf.constant([[0.0, 1.0], [1.0, 0.0]]), logits=logits)
        for labels in (np.array([[0.0, 1.0], [1.0, 0.0]]), tf.constant([[0, 1], [1, 0]]), [[0, 1], [1, 0]],
                       tf.placeholder_with_default(np.eye(2)[::-1], [None, 2])):
            for loss in (tf.nn.softmax_cross_entropy_with_logits, tf.nn.softmax_cross_entropy_with_logits_v2):
                with tf.Session() as session:
                    np.testing.assert_array_equal(*session.run([loss(labels=labels, logits=logits), wanted]))

    def test_labels_may_have_more_axes_than_logits(self):
        logits = tf.placeholder_with_default(np.array([[1.0, 2.0], [0.5, 0.1]], np.float32), [None, 2])
        labels = np.array([[0.0, 1.0], [1.0, 0.0]], np.float32)
        losses = [tf.nn.softmax_cross_entropy_with_logits(labels=value, logits=logits)
                  for value in (labels, labels[np.newaxis])]
        self.assertEqual(losses[1].shape.as_list(), [2])
        with tf.Session() as session:
            np.testing.assert_array_equal(*session.run(losses))

    def test_losses_need_both_arguments_of_fitting_shapes(self):
        for loss in (tf.nn.softmax_cross_entropy_with_logits, tf.nn.sparse_softmax_cross_entropy_with_logits,
                     tf.nn.sigmoid_cross_entropy_with_logits):
            with self.assertRaisesRegex(ValueError, "[Bb]oth labels and logits"):
                loss(labels=self.x)
        with self.assertRaisesRegex(ValueError, "same shape"):
            tf.nn.sigmoid_cross_entropy_with_logits(labels=[1.0], logits=self.x)
        with self.assertRaisesRegex(ValueError, "rank"):
            tf.nn.sparse_softmax_cross_entropy_with_logits(labels=[[1, 2]], logits=self.x)

    def test_fused_batch_normalization_has_the_name_of_its_op(self):
        images = tf.ones([1, 2, 2, 3])
        result = tf.nn.fused_batch_norm(images, [1.0] * 3, [0.0] * 3)[0]
        self.assertEqual((result.name, tf.layers.batch_normalization(images).name),
                         ("FusedBatchNormV3:0", "batch_normalization/FusedBatchNormV3:0"))

    def test_fused_batch_normalization_uses_a_small_epsilon_as_it_is(self):
        for epsilon in (1e-5, 1e-7):
            images = tf.constant([0.0, 0.002], shape=[2, 1, 1, 1])  # the variance is 1e-6
            result = tf.nn.fused_batch_norm(images, [1.0], [0.0], epsilon=epsilon)[0]
            with tf.Session() as session:
                wanted = 1e-3 / np.sqrt(1e-6 + epsilon)
                np.testing.assert_allclose(session.run(result).ravel(), [-wanted, wanted], rtol=1e-5)

    def test_dropout_takes_a_rate_or_the_probability_to_keep(self):
        self.assertIs(tf.nn.dropout(self.x, keep_prob=1.0), self.x)
        with self.assertRaisesRegex(ValueError, "only one"):
            tf.nn.dropout(self.x, 0.5, rate=0.5)
        with self.assertRaisesRegex(ValueError, "rate"):
            tf.nn.dropout(self.x)
        with self.assertRaisesRegex(ValueError, "range"):
            tf.nn.dropout(self.x, rate=1.0)
        rate = tf.placeholder(tf.float32, [])
        with tf.Session() as session:
            dropped = session.run(tf.nn.dropout(tf.ones([1000]), rate=rate), {rate: 0.25})
        self.assertAlmostEqual(float((dropped == 0).mean()), 0.25, delta=0.1)

    def test_dropout_keeps_the_shape(self):
        x = tf.placeholder(tf.float32, [None, 7])
        rate, noise = tf.placeholder(tf.float32), tf.placeholder(tf.int32)  # of unknown shapes
        self.assertEqual(tf.nn.dropout(x, keep_prob=rate).shape.as_list(), [None, 7])
        self.assertEqual(tf.nn.dropout(x, 0.5, noise).shape.as_list(), [None, 7])

    def test_the_noise_of_dropout_may_have_sizes_that_are_tensors(self):
        x = tf.ones([4, 100, 2])
        noise = [tf.shape(x)[0], 1, None]
        with tf.Session() as session:
            dropped = session.run(tf.nn.dropout(x, 0.5, noise, seed=1))
        np.testing.assert_array_equal(dropped, np.repeat(dropped[:, :1], 100, 1))
        self.assertEqual(len(np.unique(dropped)), 2)

    def test_the_slope_of_a_leaky_relu_may_be_an_array(self):
        with tf.Session() as session:
            value = session.run(tf.nn.leaky_relu([-2.0, 3.0], np.array(0.5, np.float32)))
        np.testing.assert_array_equal(value, [-1, 3])

    def test_strides_have_one_element_for_each_axis_or_each_spatial_axis(self):
        image = tf.placeholder(tf.float32, [1, 4, 4, 2])
        kernel = tf.zeros([2, 2, 2, 5])
        for strides in (2, [2], [2, 2], [1, 2, 2, 1]):
            self.assertEqual(tf.nn.conv2d(image, kernel, strides, "SAME").shape.as_list(), [1, 2, 2, 5])
        with self.assertRaisesRegex(ValueError, "strides should be of length"):
            tf.nn.conv2d(image, kernel, [1, 2, 1], "SAME")

    def test_padding_is_in_capitals_as_in_tensorflow(self):
        images, kernel, strides = tf.ones([1, 8, 8, 3]), tf.ones([3, 3, 3, 2]), [1, 1, 1, 1]
        for padding in ("same", "Valid"):
            for call in (lambda: tf.nn.conv2d(images, kernel, strides, padding),
                         lambda: tf.nn.convolution(images, kernel, padding),
                         lambda: tf.nn.conv1d(images[0], kernel[0], 1, padding),
                         lambda: tf.nn.depthwise_conv2d(images, kernel, strides, padding),
                         lambda: tf.nn.separable_conv2d(images, kernel, tf.ones([1, 1, 6, 4]), strides, padding),
                         lambda: tf.nn.atrous_conv2d(images, kernel, 2, padding),
                         lambda: tf.nn.conv2d_transpose(images, tf.ones([3, 3, 2, 3]), [1, 8, 8, 2], strides, padding),
                         lambda: tf.nn.max_pool(images, [1, 2, 2, 1], strides, padding)):
                with self.assertRaisesRegex(ValueError, "(?i)padding.*" + padding):
                    call()
            self.assertEqual(tf.layers.conv2d(images, 2, 3, padding=padding).shape.ndims, 4)

    def test_unknown_strategies_and_combiners_are_refused(self):
        table = tf.Variable(tf.zeros([4, 2]))
        with self.assertRaisesRegex(ValueError, "strategy"):
            tf.nn.embedding_lookup(table, [1], "modulo")
        with self.assertRaisesRegex(ValueError, "combiner"):
            tf.nn.embedding_lookup_sparse(table, None, None, combiner="max")
        with self.assertRaisesRegex(NotImplementedError, "not variables"):
            tf.nn.embedding_lookup_sparse([tf.zeros([2, 2]), tf.zeros([2, 2])], None, None)


if __name__ == "__main__":
    unittest.main()
