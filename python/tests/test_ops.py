"""Ops by their names in Python: operators, slices, sparse tensors in sessions, errors."""

import subprocess
import sys
import unittest

import numpy as np
import tensorbraid as tf


class OpsTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def run_all(self, *tensors):
        with tf.Session() as session:
            return session.run(list(tensors))

    def test_a_wrong_dtype_is_a_type_error_and_a_wrong_shape_a_value_error(self):
        x = tf.constant([1.0, 2.0])
        for wrong in (lambda: tf.add(x, tf.constant(1)), lambda: tf.sin(tf.constant(1)),
                      lambda: tf.constant([1]) + 1.5):
            with self.assertRaises(TypeError):
                wrong()
        with self.assertRaises(ValueError):
            tf.add(x, [1.0, 2.0, 3.0])
        with self.assertRaises(LookupError):
            z = tf.constant([3.0])
            tf.gradients(tf.truncatemod(z, [2.0]), z)

    def test_lists_of_tensors_are_packed(self):
        x = tf.placeholder(tf.float32, [None, 2])
        y = tf.reshape(x, [tf.shape(x)[0] * 2, 1])
        with tf.Session() as session:
            np.testing.assert_array_equal(session.run(y, {x: [[1, 2]]}), [[1], [2]])

    def test_lists_of_tensors_get_the_wanted_dtype(self):
        size = tf.shape(tf.placeholder(tf.float32, [None]))[0]
        for value in ((size, size), [size, 3], [[size, 3], [1, tf.constant(2, tf.int64)]]):
            self.assertEqual(tf.convert_to_tensor(value, tf.int64).dtype, tf.int64)
        self.assertEqual((tf.constant([1, 2], tf.int64) + [size, 1]).dtype, tf.int64)
        self.assertEqual(tf.SparseTensor(tf.zeros([1, 2], tf.int64), [1.0], (size, 3)).dense_shape.dtype, tf.int64)
        with self.assertRaises(TypeError):
            tf.convert_to_tensor([size, 1.5], tf.int64)

    def test_what_an_update_returns_can_be_updated(self):
        v = tf.Variable([1.0, 2.0, 3.0])
        rows = tf.scatter_update(tf.assign(v, [4.0, 5.0, 6.0]), [0], [9.0])
        sums = tf.assign_add(tf.assign_sub(tf.assign(v, [0.0, 0.0, 0.0]), [1.0, 1.0, 1.0]), [5.0, 6.0, 7.0])
        with tf.Session() as session:
            session.run(v.initializer)
            np.testing.assert_array_equal(session.run([rows, v])[0], [9, 5, 6])
            np.testing.assert_array_equal(session.run(sums), [4, 5, 6])
            np.testing.assert_array_equal(session.run(v), [4, 5, 6])
        for value in (v.read_value(), tf.identity(v)):
            with self.assertRaisesRegex(TypeError, "mutable tensor"):
                tf.assign(value, [1.0, 2.0, 3.0])

    def test_other_values_of_a_sparse_tensor_keep_its_static_shape(self):
        sparse = tf.sparse.reshape(tf.SparseTensor([[0, 0], [3, 1]], [1.0, 2.0], [6, 2]), [3, 2, 2])
        for other in (tf.cast(sparse, tf.float64), tf.identity(sparse)):
            self.assertEqual(other.shape.as_list(), [3, 2, 2])
        turned = tf.sparse.reshape(tf.sparse.transpose(tf.cast(sparse, tf.int32), (1, 2, 0)), (2, -1))
        self.assertEqual(turned.shape.as_list(), [2, 6])

    def test_slices_are_those_of_numpy(self):
        array = np.arange(24).reshape(2, 3, 4)
        x = tf.constant(array)
        keys = (0, -1, slice(1, None), (slice(None), slice(None, None, -1)), (Ellipsis, 2), (0, None, slice(0, 2)))
        for key, value in zip(keys, self.run_all(*[x[key] for key in keys])):
            np.testing.assert_array_equal(value, array[key])

    def test_values_of_numpy_stand_on_either_side_of_an_operator(self):
        x = tf.constant([1.0, 2.0])
        left, right = self.run_all(np.float64(3) * x, x * np.array([3.0, 4.0]))
        np.testing.assert_array_equal(left, [3, 6])
        np.testing.assert_array_equal(right, [3, 8])
        self.assertEqual(left.dtype, np.float32)

    def test_arrays_of_floats_are_integers_where_only_integers_are_allowed(self):
        counts = np.ones(2)
        counts[0] = 3
        self.assertEqual(self.run_all(tf.tile([[1, 2]], counts))[0].tolist(), [[1, 2]] * 3)
        with self.assertRaisesRegex(TypeError, "cannot be float32"):
            tf.tile([[1, 2]], [3.0, 1.0])

    def test_a_shape_of_parts_of_other_shapes_is_known_as_far_as_they_are(self):
        x = tf.placeholder(tf.float32, [None, 3, 4, 5])
        sizes = tf.shape(x)
        for shape, known in ((tf.stack([sizes[0], sizes[1], 20]), [None, 3, 20]),
                             (tf.concat([sizes[:1], sizes[-1:], sizes[1:-1]], 0), [None, 5, 3, 4]),
                             (sizes[::-1], [5, 4, 3, None]), (sizes[3:0:-2], [5, 3]), (sizes[5:], []),
                             (tf.stack([sizes[0], tf.shape(x)[-1] * 2]), [None, None])):
            self.assertEqual(tf.zeros(shape).shape.as_list(), known)
        count = tf.stack([sizes[3]])  # from outside of the loop
        loop = tf.while_loop(lambda i, _: i < 3, lambda i, row: (i + 1, tf.fill(count, i)), [0, tf.fill(count, 9)])
        self.assertEqual(loop[1].shape.as_list(), [5])
        for _ in range(60):  # 2^60 ways lead to the first sizes
            sizes = tf.stack([sizes[0], sizes[1]])
        self.assertEqual(len(tf.zeros(sizes).shape.as_list()), 2)

    def test_a_loop_may_end_after_a_number_of_iterations_that_is_a_tensor(self):
        most = tf.placeholder(tf.int32, [])
        count, total = tf.while_loop(lambda i, _: i < 10, lambda i, total: (i + 1, total + i), [0, 0],
                                     maximum_iterations=most)
        with tf.Session() as session:
            found = [session.run([count, total], {most: n}) for n in (0, 4, 20)]
        self.assertEqual(found, [[0, 0], [4, 6], [10, 45]])

    def test_the_elements_of_an_array_that_a_loop_writes_have_a_shape(self):
        array = tf.TensorArray(tf.float32, 3)
        _, written = tf.while_loop(lambda i, _: i < 3, lambda i, array: (i + 1, array.write(i, tf.zeros([2, 5]))),
                                   [0, array])
        self.assertEqual(written.stack().shape.as_list(), [None, 2, 5])
        self.assertEqual(written.read(0).shape.as_list(), [2, 5])

    def test_large_integers_are_int64(self):
        self.assertEqual(tf.constant(2**40).dtype, tf.int64)
        self.assertEqual(tf.constant([1, -5]).dtype, tf.int32)

    def test_sparse_tensors_are_fed_and_fetched(self):
        sp = tf.sparse_placeholder(tf.float32, [None, 3])
        value = tf.SparseTensorValue(np.array([[0, 1]]), np.array([7.0], np.float32), np.array([2, 3]))
        with tf.Session() as session:
            dense, fetched = session.run([tf.sparse_tensor_to_dense(sp), sp], {sp: value})
        np.testing.assert_array_equal(dense, [[0, 7, 0], [0, 0, 0]])
        self.assertIsInstance(fetched, tf.SparseTensorValue)
        np.testing.assert_array_equal(fetched.indices, [[0, 1]])

    def test_the_shape_of_a_sparse_placeholder_may_be_a_tensor(self):
        value = tf.SparseTensorValue([[0, 1], [1, 2]], [5.0, 6.0], [2, 3])
        known = tf.sparse_placeholder(tf.float32, tf.constant([2, 3], tf.int64), "known")
        self.assertEqual(known.get_shape().as_list(), [2, 3])
        self.assertEqual(known.dense_shape.name, "known/shape:0")
        fed = tf.placeholder(tf.int64, [2])
        unknown = tf.sparse_placeholder(tf.float32, fed)
        with tf.Session() as session:
            dense = session.run(tf.sparse_tensor_to_dense(known), {known: value})
            again = session.run(tf.sparse_tensor_to_dense(unknown), {unknown: value, fed: [7, 7]})
        np.testing.assert_array_equal(dense, [[0, 5, 0], [0, 0, 6]])
        np.testing.assert_array_equal(again, dense)

    def test_equal_seeds_give_equal_numbers(self):
        def numbers():
            with tf.Graph().as_default():
                tf.set_random_seed(3)
                with tf.Session() as session:
                    return session.run([tf.random_normal([3]), tf.random_normal([3])])

        first, second = numbers(), numbers()
        np.testing.assert_array_equal(first, second)
        self.assertFalse(np.array_equal(first[0], first[1]))

    def test_all_random_ops_count_for_the_seeds_of_a_graph(self):
        def seeds_of(operation):
            return operation.get_attr("seed"), operation.get_attr("seed2")

        tf.set_random_seed(7)
        queue = tf.RandomShuffleQueue(10, 0, tf.int32, shapes=[[]])
        classes = tf.nn.uniform_candidate_sampler(tf.constant([[1]], tf.int64), 1, 2, True, 6)[0]
        shuffled = tf.random_shuffle([1, 2])
        self.assertEqual([seeds_of(op) for op in (queue.queue_ref.op, classes.op, shuffled.op)],
                         [(7, 0), (7, 1), (7, 2)])
        # TensorFlow 2.21 derives the seed of a queue that tasks share from its name.
        shared = tf.RandomShuffleQueue(10, 0, tf.int32, shapes=[[]], shared_name="shared")
        self.assertEqual(seeds_of(shared.queue_ref.op)[1], 544943275)

    def test_the_noise_of_a_learning_rate_follows_from_the_seed_of_the_graph(self):
        rates = []
        for _ in range(2):
            with tf.Graph().as_default(), tf.Session() as session:
                tf.set_random_seed(3)
                rates.append(session.run(tf.train.noisy_linear_cosine_decay(1.0, 5, 10)))
        self.assertEqual(*rates)

    def test_sparse_tensors_go_through_conditionals_and_loops(self):
        x = tf.SparseTensor([[0, 1]], [3], [2, 2])
        chosen = tf.cond(tf.placeholder_with_default(True, []), lambda: x, lambda: x.with_values([5]))
        _, doubled = tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, tf.sparse.concat(0, [s, s])), [0, x],
                                   shape_invariants=[tf.TensorShape([]), tf.TensorShape([2])])
        found, more = self.run_all(chosen, doubled)
        self.assertEqual((found.indices.tolist(), found.values.tolist()), ([[0, 1]], [3]))
        self.assertEqual((more.values.tolist(), more.dense_shape.tolist()), ([3, 3, 3, 3], [8, 2]))
        with self.assertRaises(ValueError):
            tf.while_loop(lambda i, s: i < 2, lambda i, s: (i + 1, s), [0, x],
                          shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 2])])

    def test_complex_numbers_are_normalized(self):
        self.assertIs(tf.nn.l2_normalize, tf.math.l2_normalize)
        np.testing.assert_allclose(self.run_all(tf.nn.l2_normalize(tf.constant([3 + 4j, 0]), 0))[0], [0.6 + 0.8j, 0])

    def test_print_shows_tensors_in_structures(self):
        program = ("import sys, tensorbraid as tf\n"
                   "structure = {'k': tf.constant(1), 'l': [tf.constant(2.5), 'x']}\n"
                   "tf.Session().run(tf.print('{}', structure, [tf.constant([1, 2])], {}, output_stream=sys.stdout))\n")
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
        self.assertEqual(ran.stdout, "{} {'k': 1, 'l': [2.5, 'x']} [[1 2]] {}\n", ran.stderr)

    def test_a_failed_assertion_names_its_message(self):
        x = tf.placeholder(tf.int32, [None])
        with tf.control_dependencies([tf.assert_positive(x, message="x must be positive")]):
            y = tf.identity(x)
        with tf.Session() as session, self.assertRaisesRegex(tf.errors.InvalidArgumentError, "x must be positive"):
            session.run(y, {x: [-1]})

    def test_tables_are_filled_by_their_initializer(self):
        table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2]), -1)
        value = table.lookup(tf.constant(["b", "x"]))
        with tf.Session() as session:
            session.run(tf.tables_initializer())
            np.testing.assert_array_equal(session.run(value), [2, -1])


if __name__ == "__main__":
    unittest.main()
