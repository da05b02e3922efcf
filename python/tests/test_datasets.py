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


class CsvTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = folder.name

    def write(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path, "w") as file:
            file.write(text)
        return path

    def error_of(self, *texts):
        names = [self.write(f"{i}.csv", text) for i, text in enumerate(texts)]
        rows = tf.data.experimental.CsvDataset(names, [[0], tf.string], header=True)
        element = rows.make_one_shot_iterator().get_next()
        with tf.Session() as session, self.assertRaises(tf.errors.InvalidArgumentError) as raised:
            while True:
                session.run(element)
        return raised.exception.message

    def test_a_mistake_is_named_by_file_and_line(self):
        good = "n,text\n1,a\n2,b\n"
        for text, where, what in (("n,text\n1,a\nx,b\n", 3, "Field 0 in record is not a valid int32: x"),
                                  ("n,text\n1,a\n2\n", 3, "Expect 2 fields but have 1 in record"),
                                  ("n,text\n1,\n", 2, "Field 1 is required but missing in record!"),
                                  ('n,text\n1,"two\nlines"\n2,"x" y\n', 4, "a quote inside a quoted field"),
                                  ('n,text\n1,"a\n2,b\n', 2, "the record ends inside a quoted field")):
            self.assertIn(f"{self.dir}/1.csv:{where}: {what}", self.error_of(good, text))

    def test_a_mistake_in_named_columns_is_named_by_file_and_line(self):
        name = self.write("named.csv", "n,text\n1,a\n2,b,3\n")
        with self.assertRaisesRegex(ValueError, r"named\.csv:3: .*has 3 number of fields. Expected: 2"):
            tf.data.experimental.make_csv_dataset(name, 1)
        self.write("other.csv", "n,words\n1,a\n")
        with self.assertRaisesRegex(ValueError, r"the same column names.*named\.csv.*'text'.*other\.csv.*'words'"):
            tf.data.experimental.make_csv_dataset([name, self.dir + "/other.csv"], 1)

    def test_a_mistake_in_a_record_shows_the_record(self):
        with tf.Session() as session:
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError,
                                        'Field 1 in record 1 is not a valid .*: x; the record is "4,x"'):
                session.run(tf.decode_csv(["1,2", "4,x"], [[0], [0]]))


class TransformationTest(unittest.TestCase):
    """The values are TensorFlow's; the differential tests compare more."""

    def setUp(self):
        tf.reset_default_graph()
        self.numbers = tf.data.Dataset.range(7)

    def value(self, tensors):
        with tf.Session() as session:
            return session.run(tensors)

    def test_windows_are_datasets(self):
        batches = self.numbers.window(3, shift=2, drop_remainder=True).flat_map(lambda window: window.batch(3))
        self.assertEqual([list(batch) for batch in elements(batches)], [[0, 1, 2], [2, 3, 4], [4, 5, 6]])
        pairs = tf.data.Dataset.from_tensor_slices(([1, 2, 3, 4], [10, 20, 30, 40])).window(2)
        zipped = pairs.flat_map(lambda x, y: tf.data.Dataset.zip((x.batch(2), y.batch(2))))
        self.assertEqual([[list(part) for part in element] for element in elements(zipped)],
                         [[[1, 2], [10, 20]], [[3, 4], [30, 40]]])
        sums = self.numbers.window(3).map(lambda window: window.reduce(np.int64(0), lambda total, x: total + x))
        self.assertEqual(elements(sums), [3, 12, 6])
        with self.assertRaises(NotImplementedError):
            self.numbers.window(2).batch(2)

    def test_a_state_goes_through_the_elements(self):
        count, total = self.numbers.reduce((0, np.int64(0)), lambda state, x: (state[0] + 1, state[1] + x))
        self.assertEqual(self.value([count, total]), [7, 21])
        growing = self.numbers.reduce(tf.zeros([0], tf.int64), lambda state, x: tf.concat([state, [x]], 0))
        self.assertEqual(growing.shape.as_list(), [None])
        self.assertEqual(list(self.value(growing)), list(range(7)))
        self.assertEqual(elements(self.numbers.scan(np.int64(0), lambda total, x: (total + x, total))),
                         [0, 0, 1, 3, 6, 10, 15])
        for function in (lambda state, x: (state, x), lambda state, x: tf.cast(state, tf.float32)):
            with self.assertRaises(TypeError):
                self.numbers.reduce(np.int64(0), function)

    def test_elements_are_grouped_by_a_key(self):
        groups = self.numbers.group_by_window(lambda x: x % 2, lambda key, window: window.batch(3), 3)
        self.assertEqual([list(group) for group in elements(groups)], [[0, 2, 4], [1, 3, 5], [6]])
        words = self.numbers.skip(1).map(lambda x: tf.fill([x], x))
        buckets = words.bucket_by_sequence_length(tf.size, [3, 5], [2, 2, 2])
        self.assertEqual([batch.shape for batch in elements(buckets)], [(2, 2), (2, 4), (2, 6)])
        to_boundary = words.take(4).bucket_by_sequence_length(tf.size, [3, 5], [2, 2, 2], pad_to_bucket_boundary=True)
        self.assertEqual([batch.shape for batch in elements(to_boundary)], [(2, 2), (2, 4)])

    def test_elements_are_left_out(self):
        limit = tf.constant(3, tf.int64)
        self.assertEqual(elements(self.numbers.take_while(lambda x: x < limit)), [0, 1, 2])
        self.assertEqual(elements(tf.data.Dataset.from_tensor_slices([1, 2, 1, 3]).unique()), [1, 2, 3])
        checked = self.numbers.map(lambda x: tf.check_numerics(1 / (x - 2), "zero"))
        self.assertEqual(len(elements(checked.apply(tf.data.experimental.ignore_errors()))), 6)

    def test_elements_come_from_several_datasets(self):
        others = [self.numbers, tf.data.Dataset.range(10, 13)]
        choice = tf.data.Dataset.from_tensor_slices(np.array([0, 1, 1, 0]))
        self.assertEqual(elements(tf.data.Dataset.choose_from_datasets(others, choice)), [0, 10, 11, 1])
        drawn = elements(tf.data.experimental.sample_from_datasets(others, [0.5, 0.5], seed=7))
        self.assertEqual(sorted(drawn), [0, 1, 2, 3, 4, 5, 6, 10, 11, 12])
        with self.assertRaises(TypeError):
            tf.data.Dataset.choose_from_datasets(others, tf.data.Dataset.from_tensor_slices([0, 1]))

    def test_a_dataset_is_counted(self):
        self.assertEqual(self.value(self.numbers.cardinality()), 7)
        self.assertEqual(self.value(self.numbers.repeat().cardinality()), tf.data.experimental.INFINITE_CARDINALITY)
        self.assertEqual(self.value(self.numbers.take(1).get_single_element()), 0)


class SparseElementTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.tensor = tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3])

    def test_slices_batches_and_functions(self):
        rows = tf.data.Dataset.from_tensor_slices({"row": self.tensor})
        self.assertEqual(rows.output_classes, {"row": tf.SparseTensor})
        self.assertEqual(rows.output_types, {"row": tf.int32})
        self.assertEqual(rows.output_shapes["row"].as_list(), [3])
        self.assertEqual([part.indices.tolist() for part in (e["row"] for e in elements(rows))], [[[0]], [[2]]])
        batch = rows.batch(2)
        self.assertEqual(batch.output_shapes["row"].as_list(), [None, 3])
        dense = elements(batch.map(lambda element: tf.sparse.to_dense(element["row"])))
        np.testing.assert_array_equal(dense, [[[1, 0, 0], [0, 0, 2]]])
        again = elements(tf.data.Dataset.from_tensors(self.tensor).unbatch())
        self.assertEqual([part.values.tolist() for part in again], [[1], [2]])
        with self.assertRaises(TypeError):
            rows.padded_batch(2, {"row": [None]})

    def test_dense_elements_make_sparse_batches(self):
        rows = tf.data.Dataset.from_tensor_slices([1, 2]).map(lambda x: tf.fill([x], x))
        (batch,) = elements(rows.sparse_batch(2, [4]))
        self.assertEqual((batch.values.tolist(), batch.dense_shape.tolist()), ([1, 2, 2], [2, 4]))

    def test_examples_with_variable_length_are_parsed(self):
        def example(count):
            feature = tf.train.Feature(int64_list=tf.train.Int64List(value=range(count)))
            return tf.train.Example(features=tf.train.Features(feature={"a": feature})).SerializeToString()

        features = {"a": tf.VarLenFeature(tf.int64)}
        parsed = tf.data.Dataset.from_tensor_slices([example(i) for i in range(3)]).map(
            lambda text: tf.parse_single_example(text, features)).batch(3)
        (batch,) = elements(parsed)
        self.assertEqual(batch["a"].values.tolist(), [0, 0, 1])
        self.assertEqual(batch["a"].dense_shape.tolist(), [3, 2])
        with tempfile.TemporaryDirectory() as folder:
            with tf.python_io.TFRecordWriter(os.path.join(folder, "r")) as writer:
                for i in range(3):
                    writer.write(example(i))
            batches = tf.data.experimental.make_batched_features_dataset(
                os.path.join(folder, "r*"), 3, features, num_epochs=1, shuffle=False)
            self.assertEqual([batch["a"].values.tolist() for batch in elements(batches)], [[0, 0, 1]])

    def test_numbers_of_csv_are_the_nearest_ones(self):
        texts = ["0", "-0", "7", "-12", "0012", "1234567", "16777217", "123456789012345678", "0.1", "-2.25", ".5", "5.",
                 "0.0000001", "3.4028235", "1234.5678", "0.30000000000000004", "1e3", " 4 ", "+6", "1e-45", "inf"]
        whole = [text for text in texts if text.strip(" +-").isdigit()]
        for kind, wanted, values in ((tf.float32, np.float32, texts), (tf.float64, np.float64, texts),
                                     (tf.int64, np.int64, whole)):
            (found,) = tf.decode_csv(values, [tf.zeros([0], kind)])
            with tf.Session() as session:
                numbers = session.run(found)
            np.testing.assert_array_equal(numbers, [wanted(text) for text in values])
            np.testing.assert_array_equal(np.signbit(numbers), [np.signbit(wanted(text)) for text in values])
        for text in ("-", ".", "1.2.3", "1,", "x"):
            with self.assertRaises(tf.errors.InvalidArgumentError), tf.Session() as session:
                session.run(tf.decode_csv([text], [tf.zeros([0], tf.float32)]))


if __name__ == "__main__":
    unittest.main()
