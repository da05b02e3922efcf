"""tensorflow.examples.tutorials.mnist.input_data: files, batches, the order of examples."""

import gzip
import os
import struct
import tempfile
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.examples.tutorials.mnist import input_data, mnist

TRAIN, TEST = 10, 4


def images(count):
    return np.arange(count * 6, dtype=np.uint8).reshape(count, 2, 3)


def labels(count):
    return np.arange(count, dtype=np.uint8) % 10


def write_files(folder, opener=gzip.open, suffix=".gz"):
    for name, count in (("train", TRAIN), ("t10k", TEST)):
        with opener(os.path.join(folder, f"{name}-images-idx3-ubyte{suffix}"), "wb") as file:
            file.write(struct.pack(">iiii", 2051, count, 2, 3) + images(count).tobytes())
        with opener(os.path.join(folder, f"{name}-labels-idx1-ubyte{suffix}"), "wb") as file:
            file.write(struct.pack(">ii", 2049, count) + labels(count).tobytes())


class MnistTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name
        write_files(self.dir)

    def test_files_become_three_data_sets(self):
        mnist = input_data.read_data_sets(self.dir, validation_size=3)
        self.assertEqual([data.num_examples for data in mnist], [7, 3, 4])
        self.assertEqual(mnist.train.images.shape, (7, 6))
        self.assertEqual(mnist.train.images.dtype, np.float32)
        np.testing.assert_array_equal(mnist.train.images[0], np.multiply(np.arange(18, 24).astype(np.float32), 1 / 255))
        np.testing.assert_array_equal(mnist.validation.labels, [0, 1, 2])
        one_hot = input_data.read_data_sets(self.dir, one_hot=True, dtype=tf.uint8, reshape=False, validation_size=0)
        self.assertEqual(one_hot.test.images.shape, (4, 2, 3, 1))
        np.testing.assert_array_equal(one_hot.test.labels, np.eye(10)[:4])
        with self.assertRaisesRegex(TypeError, "expected uint8 or float32"):
            input_data.read_data_sets(self.dir, dtype=tf.int32, validation_size=0)
        with self.assertRaisesRegex(ValueError, "between 0 and 10. Received: 5000"):
            input_data.read_data_sets(self.dir)

    def test_plain_files_are_read_as_well(self):
        with tempfile.TemporaryDirectory() as folder:
            write_files(folder, open, "")
            self.assertEqual(input_data.read_data_sets(folder, validation_size=2).train.num_examples, 8)

    def test_batches_go_through_epochs_in_the_order_of_numpys_seed(self):
        data = input_data.read_data_sets(self.dir, validation_size=0).train
        np.random.seed(3)
        seen = np.concatenate([data.next_batch(4)[1] for _ in range(5)])
        np.random.seed(3)
        first = np.arange(TRAIN)
        np.random.shuffle(first)
        second = np.arange(TRAIN)
        np.random.shuffle(second)
        np.testing.assert_array_equal(seen, np.concatenate([labels(TRAIN)[first], labels(TRAIN)[first][second]]))
        self.assertEqual(data.epochs_completed, 1)

    def test_without_shuffling_the_order_is_that_of_the_file(self):
        data = input_data.read_data_sets(self.dir, validation_size=0).train
        batches = [list(data.next_batch(6, shuffle=False)[1]) for _ in range(3)]
        self.assertEqual(batches, [[0, 1, 2, 3, 4, 5], [6, 7, 8, 9, 0, 1], [2, 3, 4, 5, 6, 7]])

    def test_the_seed_of_the_graph_or_of_the_call_seeds_the_order(self):
        def first(seed=None):
            return list(input_data.read_data_sets(self.dir, validation_size=0, seed=seed).train.next_batch(10)[1])

        self.assertEqual(first(seed=5), first(seed=5))
        tf.set_random_seed(7)
        self.assertEqual(first(), first())

    def test_fake_data(self):
        fake = input_data.read_data_sets("", fake_data=True, one_hot=True)
        x, y = fake.train.next_batch(2, fake_data=True)
        self.assertEqual((len(x), len(x[0]), y), (2, 784, [[1] + [0] * 9] * 2))
        self.assertEqual(fake.train.num_examples, 10000)

    def test_a_missing_file_is_an_error_that_says_how_to_get_it(self):
        name = "t10k-labels-idx1-ubyte.gz"
        os.remove(os.path.join(self.dir, name))
        with self.assertRaisesRegex(FileNotFoundError, f"{self.dir}/{name} does not exist.*https://.*{name}"):
            input_data.read_data_sets(self.dir)

    def test_a_wrong_file_is_named(self):
        path = os.path.join(self.dir, "train-labels-idx1-ubyte.gz")
        for data, text in ((struct.pack(">ii", 2051, 1), "2051, not 2049"), (struct.pack(">ii", 2049, 9), "0 values"),
                           (b"", "nothing")):
            with gzip.open(path, "wb") as file:
                file.write(data)
            with self.assertRaisesRegex(ValueError, f"train-labels.*{text}"):
                input_data.read_data_sets(self.dir)

    def test_the_network_of_the_tutorial_learns(self):
        with tf.Graph().as_default(), tf.Session() as session:
            tf.set_random_seed(1)
            generator = np.random.RandomState(0)
            images = tf.constant(generator.rand(20, mnist.IMAGE_PIXELS), tf.float32)
            labels = tf.constant(generator.randint(mnist.NUM_CLASSES, size=20), tf.int32)
            logits = mnist.inference(images, 32, 16)
            loss, correct = mnist.loss(logits, labels), mnist.evaluation(logits, labels)
            train = mnist.training(loss, 0.1)
            session.run(tf.global_variables_initializer())
            first = session.run(loss)
            for _ in range(300):
                session.run(train)
            self.assertLess(session.run(loss), first / 2)
            self.assertGreater(session.run(correct), 15)
            self.assertEqual(correct.dtype, tf.int32)
            layers = ("hidden1", "hidden2", "softmax_linear")
            self.assertEqual([v.op.name for v in tf.trainable_variables()], [
                f"{layer}/{name}" for layer in layers for name in ("weights", "biases")])


if __name__ == "__main__":
    unittest.main()
