"""tf.contrib.slim: data sets of Examples, queues, and names of outputs."""

import os
import tempfile
import unittest

import numpy as np
import tensorbraid as tf

slim = tf.contrib.slim


def example(label, boxes):
    image = np.full((2, 3, 1), label, np.uint8)
    with tf.Graph().as_default(), tf.Session() as session:
        png = session.run(tf.image.encode_png(image))
    feature = {"image/encoded": tf.train.Feature(bytes_list=tf.train.BytesList(value=[png])),
               "image/format": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"png"])),
               "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))}
    for key in ("ymin", "xmin", "ymax", "xmax"):
        feature[f"box/{key}"] = tf.train.Feature(float_list=tf.train.FloatList(value=boxes))
    return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()


class SlimDataTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def dataset(self):
        for i in range(2):
            with tf.python_io.TFRecordWriter(os.path.join(self.folder, f"part-{i}")) as writer:
                writer.write(example(i, [0.5] * (i + 1)))
        box_keys = [f"box/{key}" for key in ("ymin", "xmin", "ymax", "xmax")]
        features = {"image/encoded": tf.FixedLenFeature((), tf.string, default_value=""),
                    "image/format": tf.FixedLenFeature((), tf.string, default_value="png"),
                    "label": tf.FixedLenFeature([], tf.int64),
                    **{key: tf.VarLenFeature(tf.float32) for key in box_keys}}
        decoder = slim.tfexample_decoder.TFExampleDecoder(features, {
            "image": slim.tfexample_decoder.Image(channels=1, shape=[2, 3, 1]),
            "label": slim.tfexample_decoder.Tensor("label"),
            "boxes": slim.tfexample_decoder.BoundingBox(prefix="box/")})
        pattern = os.path.join(self.folder, "part-*")
        return slim.dataset.Dataset(pattern, tf.TFRecordReader, decoder, 2, {}, num_classes=2)

    def test_a_provider_gives_the_items_of_all_files(self):
        dataset = self.dataset()
        self.assertEqual(dataset.num_classes, 2)
        provider = slim.dataset_data_provider.DatasetDataProvider(
            dataset, num_readers=2, shuffle=True, num_epochs=1, common_queue_capacity=4, common_queue_min=1)
        self.assertEqual(provider.num_samples(), 2)
        items = provider.get(["image", "label", "boxes"])
        found = {}
        with tf.Session() as session:
            session.run(tf.local_variables_initializer())
            with slim.queues.QueueRunners(session):
                for _ in range(2):
                    image, label, boxes = session.run(items)
                    found[int(label)] = (image.shape, int(image.max()), boxes.shape)
        self.assertEqual(found, {0: ((2, 3, 1), 0, (1, 4)), 1: ((2, 3, 1), 1, (2, 4))})
        with self.assertRaisesRegex(ValueError, "invalid"):
            provider.get(["no such item"])

    def test_a_prefetch_queue_keeps_the_structure(self):
        queue = slim.prefetch_queue.prefetch_queue({"a": tf.constant(1), "b": tf.constant([2.0])}, capacity=2)
        element = queue.dequeue()
        with tf.Session() as session, slim.queues.QueueRunners(session):
            self.assertEqual({key: value.tolist() for key, value in session.run(element).items()}, {"a": 1, "b": [2.0]})

    def test_outputs_have_the_names_of_their_scopes(self):
        with tf.variable_scope("net"), slim.arg_scope([slim.conv2d, slim.max_pool2d], outputs_collections="points"):
            net = slim.conv2d(tf.ones([1, 4, 4, 1]), 2, 3, scope="conv1")
            net = slim.max_pool2d(net, 2, scope="pool1")
        points = slim.utils.convert_collection_to_dict("points")
        self.assertEqual(list(points), ["net/conv1", "net/pool1"])
        self.assertIs(points["net/pool1"], net)
        total, size = slim.model_analyzer.analyze_vars(tf.trainable_variables())
        self.assertEqual((total, size), (20, 80))


if __name__ == "__main__":
    unittest.main()
