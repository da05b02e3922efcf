"""Datasets and iterators: structures, shapes, names and errors. programs/input_pipelines.py compares the elements."""

import collections
import os
import tempfile
import unittest

import numpy as np
import tensorbraid as tf

Point = collections.namedtuple("Point", ["x", "y"])


def elements(dataset):
    following = tf.data.make_one_shot_iterator(dataset).get_next()
    found = []
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(following))
            except tf.errors.OutOfRangeError:
                return found


class StructureTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_types_and_shapes_have_the_structure_of_the_elements(self):
        dataset = tf.data.Dataset.from_tensor_slices(({"a": [1, 2], "b": np.zeros((2, 3))}, ["x", "y"]))
        self.assertEqual(dataset.output_types, ({"a": tf.int32, "b": tf.float64}, tf.string))
        self.assertEqual(str(dataset.output_shapes[0]["b"]), "(3,)")
        self.assertEqual(dataset.output_classes, ({"a": tf.Tensor, "b": tf.Tensor}, tf.Tensor))
        batch = dataset.batch(4)
        self.assertEqual(batch.output_shapes[0]["b"].as_list(), [None, 3])
        self.assertEqual(dataset.batch(2, drop_remainder=True).output_shapes[1].as_list(), [2])
        self.assertEqual(tf.data.get_output_types(dataset.make_one_shot_iterator()), dataset.output_types)

    def test_a_list_is_one_tensor(self):
        self.assertEqual(tf.data.Dataset.from_tensors(([1, 2], 3)).output_shapes[0].as_list(), [2])

    def test_functions_get_tuples_as_arguments(self):
        pairs = tf.data.Dataset.from_tensor_slices(([1, 2], [10, 20]))
        self.assertEqual(elements(pairs.map(lambda a, b: a + b)), [11, 22])
        dicts = tf.data.Dataset.from_tensor_slices({"a": [1, 2]})
        self.assertEqual(elements(dicts.map(lambda d: d["a"] + 1)), [2, 3])
        points = pairs.map(Point).map(lambda p: Point(p.y, p.x))
        self.assertEqual(elements(points), [Point(10, 1), Point(20, 2)])
        self.assertEqual(elements(pairs.map(lambda a, b: [a, b])), [(1, 10), (2, 20)])

    def test_functions_nest_and_capture(self):
        offset = tf.constant(100, tf.int64)
        numbers = tf.data.Dataset.range(3)
        nested = numbers.flat_map(lambda x: numbers.take(2).map(lambda y: offset + 10 * x + y))
        self.assertEqual(elements(nested), [100, 101, 110, 111, 120, 121])

    def test_a_finished_function_lends_no_tensor(self):
        kept = []
        tf.data.Dataset.range(3).map(lambda x: kept.append(x) or x)
        with self.assertRaisesRegex(RuntimeError, "its function is finished"):
            tf.identity(kept[0])


class IteratorTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_names_are_tensorflows(self):
        dataset = tf.data.Dataset.range(3)
        self.assertEqual(dataset._variant_tensor.name, "RangeDataset:0")
        self.assertEqual(dataset.make_one_shot_iterator().get_next().name, "IteratorGetNext:0")
        iterator = dataset.batch(2).make_initializable_iterator()
        self.assertEqual(iterator.initializer.name, "MakeIterator")
        self.assertEqual(iterator.get_next("following").name, "following:0")
        self.assertEqual(iterator.string_handle().name, "IteratorToStringHandle:0")
        shared = tf.data.Iterator.from_structure(tf.int64, [])
        self.assertEqual(shared.make_initializer(dataset).name, "make_initializer")

    def test_errors(self):
        dataset = tf.data.Dataset.range(3)
        with self.assertRaisesRegex(ValueError, "initializer"):
            dataset.make_one_shot_iterator().initializer
        with self.assertRaises(TypeError):
            tf.data.Iterator.from_structure(tf.float32).make_initializer(dataset)
        with self.assertRaises(TypeError):
            tf.data.Iterator.from_structure(tf.int64, [2]).make_initializer(dataset)
        with self.assertRaisesRegex(ValueError, "make_initializable_iterator"):
            tf.data.Dataset.from_tensors(tf.placeholder(tf.float32, [])).make_one_shot_iterator()
        with self.assertRaises(TypeError):
            dataset.flat_map(lambda x: x)
        with self.assertRaises(ValueError):
            dataset.filter(lambda x: x)
        with self.assertRaises(TypeError):
            dataset.concatenate(tf.data.Dataset.from_tensors(1.0))
        with self.assertRaises(TypeError):
            tf.data.Dataset.zip([dataset, dataset])
        with self.assertRaises(ValueError):
            tf.data.Dataset.from_tensor_slices(1)
        with self.assertRaises(TypeError):
            dataset.apply(lambda d: 1)
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            dataset.map(lambda x: self.fail_with(ZeroDivisionError("mine")))
        # The graph can be used after all of this.
        self.assertEqual(elements(dataset), [0, 1, 2])

    def fail_with(self, error):
        raise error

    def test_no_file_matches(self):
        with tempfile.TemporaryDirectory() as folder:
            iterator = tf.data.Dataset.list_files(os.path.join(folder, "*")).make_initializable_iterator()
            with tf.Session() as session, self.assertRaisesRegex(tf.errors.InvalidArgumentError, "No files matched"):
                session.run(iterator.initializer)

    def test_contrib_has_the_names(self):
        self.assertIs(tf.contrib.data.Dataset, tf.data.Dataset)
        self.assertIs(tf.compat.v1.data.TextLineDataset, tf.contrib.data.TextLineDataset)
        batches = tf.data.Dataset.range(3).apply(tf.contrib.data.batch_and_drop_remainder(2))
        self.assertEqual([list(batch) for batch in elements(batches)], [[0, 1]])


if __name__ == "__main__":
    unittest.main()
