"""Small trainings on MNIST digits, where a plugin that computes on the CPU has the devices GPU:0 and GPU:1. Their losses
fall, and are the same as on the CPU."""

import os
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.examples.tutorials.mnist import input_data

MNIST = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "data", "mnist")
BATCH = 64


def dense(x, size, name, activation=lambda x: x):
    weights = tf.get_variable(name, [x.shape[1], size], initializer=tf.glorot_uniform_initializer(seed=size))
    bias = tf.get_variable(name + "_bias", [size], initializer=tf.zeros_initializer())
    return activation(tf.matmul(x, weights) + bias)


class TrainingsTest(unittest.TestCase):
    def setUp(self):
        self.digits = input_data.read_data_sets(MNIST, validation_size=0, seed=1).train

    def curves(self, model, steps, first, second=None):
        """The losses of a training, on the CPU and then with the devices `first` and `second`.

        `model` makes the losses and the steps of the training, which take turns, from the images and their labels.
        """
        batches = [self.digits.next_batch(BATCH) for _ in range(steps)]
        curves = []
        for devices in (("/cpu:0", "/cpu:0"), (first, second)):
            tf.reset_default_graph()
            with tf.device(devices[0]):
                images = tf.placeholder(tf.float32, [BATCH, 784])
                labels = tf.placeholder(tf.int32, [BATCH])
                losses, train = model(images, labels, *devices)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                curves.append(np.array([[session.run([*losses, step], {images: batch[0], labels: batch[1]})[:-1]
                                         for step in train] for batch in batches]))
                trace = tf.RunMetadata()
                session.run(train, {images: batches[0][0], labels: batches[0][1]},
                            options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=trace)
                streams = {stats.device for stats in trace.step_stats.dev_stats if stats.device.endswith("stream:all")}
        self.assertEqual(streams, {"/job:localhost/replica:0/task:0/device:%s/stream:all" % device[1:].upper()
                                   for device in (first, second) if device})
        return curves

    def test_an_autoencoder(self):
        def autoencoder(images, labels, *devices):
            x = images
            for i, size in enumerate((256, 64, 16, 64, 256)):
                x = dense(x, size, "layer%d" % i, tf.nn.relu)
            loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=images, logits=dense(x, 784, "out")))
            return [loss], [tf.train.AdamOptimizer(0.002).minimize(loss)]

        on_cpu, on_device = self.curves(autoencoder, 40, "/gpu:0")
        self.assertLess(on_cpu[-1, 0, 0], 0.5 * on_cpu[0, 0, 0])
        np.testing.assert_allclose(on_device, on_cpu, rtol=1e-4)

    def test_a_generative_adversarial_network(self):
        def gan(images, labels, *devices):
            with tf.variable_scope("generator"):
                x = dense(tf.random_normal([BATCH, 32], seed=7), 7 * 7 * 16, "in", tf.nn.relu)
                for i, filters in enumerate((8, 1)):
                    size = 14 << i
                    weights = tf.get_variable("filters%d" % i, [5, 5, filters, 16 >> i],
                                              initializer=tf.glorot_uniform_initializer(seed=i + 1))
                    x = tf.nn.conv2d_transpose(tf.reshape(x, [BATCH, size // 2, size // 2, -1]), weights,
                                               [BATCH, size, size, filters], [1, 2, 2, 1])
                    x = tf.nn.relu(x) if i == 0 else tf.sigmoid(x)
                made = tf.reshape(x, [BATCH, 784])

            def judge(x, label):
                with tf.variable_scope("judge", reuse=tf.AUTO_REUSE):
                    logits = dense(dense(x, 128, "in", tf.nn.leaky_relu), 1, "out")
                return tf.reduce_mean(
                    tf.nn.sigmoid_cross_entropy_with_logits(labels=tf.fill([BATCH, 1], label), logits=logits))

            losses = [judge(images, 1.0) + judge(made, 0.0), judge(made, 1.0)]
            return losses, [tf.train.AdamOptimizer(0.002, 0.5).minimize(loss, var_list=tf.trainable_variables(scope))
                            for loss, scope in zip(losses, ("judge", "generator"))]

        on_cpu, on_device = self.curves(gan, 15, "/gpu:0")
        self.assertLess(on_cpu[-1, 0, 0], 0.1 * on_cpu[0, 0, 0])  # the judge learns
        np.testing.assert_allclose(on_device, on_cpu, rtol=3e-3)

    def test_a_recurrent_network_with_its_layers_on_two_devices(self):
        def rnn(images, labels, *devices):
            cells = [tf.nn.rnn_cell.DeviceWrapper(tf.nn.rnn_cell.BasicLSTMCell(24), device) for device in devices]
            with tf.variable_scope("rnn", initializer=tf.glorot_uniform_initializer(seed=3)):
                outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.MultiRNNCell(cells), tf.reshape(images, [-1, 28, 28]),
                                               dtype=tf.float32)
            with tf.device(devices[1]):
                loss = tf.losses.sparse_softmax_cross_entropy(labels, dense(outputs[:, -1], 10, "out"))
                return [loss], [tf.train.AdamOptimizer(0.02).minimize(loss, colocate_gradients_with_ops=True)]

        on_cpu, on_device = self.curves(rnn, 8, "/gpu:0", "/gpu:1")
        self.assertLess(on_cpu[-1, 0, 0], 0.9 * on_cpu[0, 0, 0])
        np.testing.assert_allclose(on_device, on_cpu, rtol=1e-3)


if __name__ == "__main__":
    unittest.main()
