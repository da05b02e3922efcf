"""Values of feeds and fetches: NumPy arrays are fed without copies, and nothing that outlives a step uses them."""

import unittest

import numpy as np

import tensorbraid as tf

LARGE = 100_000  # elements: an array of this size is not copied


class OnlyDlpack:
    """An array of another library."""

    def __init__(self, array):
        self._array = array

    def __dlpack__(self, **kwargs):
        return self._array.__dlpack__(**kwargs)

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()


class FeedTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.x = tf.placeholder(tf.float32, [None], name="x")

    def test_a_tuple_of_tensors_is_fed_with_a_tuple(self):
        cell = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.BasicLSTMCell(2), tf.nn.rnn_cell.GRUCell(2)])
        state = cell.zero_state(1, tf.float32)
        total = tf.add_n([state[0].c, state[0].h, state[1]])
        one = np.ones([1, 2], np.float32)
        fed = (tf.nn.rnn_cell.LSTMStateTuple(one, 2 * one), 4 * one)
        with tf.Session() as session:
            for _ in range(2):
                self.assertEqual(session.run(total, {state: fed}).tolist(), [[7.0, 7.0]])
            self.assertEqual(session.run(total, {state[0]: fed[0]}).tolist(), [[3.0, 3.0]])
            self.assertEqual(total.eval({state: [one, one, one]}).tolist(), [[3.0, 3.0]])
            with self.assertRaisesRegex(ValueError, "Key had 3 elements, but value had 2 elements"):
                session.run(total, {state: (one, one)})

    def test_no_copy_outlives_a_change_of_the_array(self):
        for use_resource in (False, True):
            with self.subTest(use_resource=use_resource), tf.Graph().as_default(), tf.Session() as session:
                x = tf.placeholder(tf.float32, [LARGE])
                variable = tf.Variable(tf.zeros([LARGE]), use_resource=use_resource)
                queue = tf.FIFOQueue(2, [tf.float32], [[LARGE]])
                session.run(tf.global_variables_initializer())
                array = np.ones(LARGE, np.float32)
                fetched = session.run([variable.assign(x).op, queue.enqueue(x), x, tf.identity(x)], {x: array})
                array[:] = 7
                for value in (*fetched[2:], *session.run([variable, queue.dequeue()])):
                    np.testing.assert_array_equal(value, np.ones(LARGE))

    def test_a_fetched_array_belongs_to_the_caller(self):
        variable = tf.Variable(tf.zeros([LARGE]))
        with tf.Session() as session:
            session.run(variable.initializer)
            first = session.run(variable)
            first[:] = 5
            self.assertEqual(session.run(variable)[0], 0)
            session.run(variable.assign_add(tf.ones([LARGE])))
            self.assertEqual(first[0], 5)

    def test_arrays_of_every_kind(self):
        doubled = self.x * 2.0
        column = np.arange(2 * LARGE, dtype=np.float32).reshape(LARGE, 2)[:, 1]
        read_only = np.ones(LARGE, np.float32)
        read_only.flags.writeable = False
        unaligned = np.frombuffer(b"x" + np.ones(LARGE, np.float32).tobytes(), np.uint8)[1:].view(np.float32)
        with tf.Session() as session:
            for array in (column, read_only, unaligned, column.astype(">f4"), column.astype(np.float64),
                          np.ma.masked_array(column), OnlyDlpack(np.ascontiguousarray(column)), [1.0, 2.0], (3,),
                          np.zeros(0, np.float32), range(3)):
                values = array._array if isinstance(array, OnlyDlpack) else np.asarray(array, np.float32)
                np.testing.assert_array_equal(session.run(doubled, {self.x: array}), values * 2)

    def test_every_dtype(self):
        with tf.Session() as session:
            for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
                         "uint32", "uint64", "bool", "complex64", "complex128"):
                for shape in ((), (3,), (0,), (300, 300)):
                    y = tf.placeholder(tf.as_dtype(name))
                    array = (np.arange(np.prod(shape, dtype=int)) % 5).astype(name).reshape(shape)
                    result = session.run(tf.identity(y), {y: array})
                    self.assertEqual((result.dtype, result.shape), (array.dtype, shape))
                    np.testing.assert_array_equal(result, array)

    def test_numbers_of_python(self):
        with tf.Session() as session:
            for dtype, value in ((tf.float32, 0.5), (tf.float64, 0.5), (tf.float32, 2), (tf.int32, -3),
                                 (tf.int64, 2**40), (tf.bool, True), (tf.uint8, 3)):
                y = tf.placeholder(dtype, [])
                self.assertEqual(session.run(tf.identity(y), {y: value}), value)
            y = tf.placeholder(tf.int32, [])
            with self.assertRaisesRegex(TypeError, "larger type"):
                session.run(tf.identity(y), {y: 2**40})

    def test_wrong_values(self):
        y = tf.placeholder(tf.float32, [2, 2])
        with tf.Session() as session:
            with self.assertRaisesRegex(ValueError, r"Cannot feed value of shape \(3,\) for Tensor"):
                session.run(y, {y: np.zeros(3, np.float32)})
            with self.assertRaises(TypeError):
                session.run(self.x, {self.x: self.x})
            with self.assertRaises(TypeError):
                session.run(self.x, {tf.Graph(): 1})

    def test_fetched_arrays_are_dlpack_arrays(self):
        with tf.Session() as session:
            array = np.from_dlpack(session.run(tf.ones([2, 3])))
        self.assertEqual(array.shape, (2, 3))


class StepsTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.x = tf.placeholder(tf.float32, [])
        self.y = self.x * 2.0

    def test_structures_of_repeated_steps(self):
        with tf.Session() as session:
            for _ in range(2):
                for feeds in ({self.x: 3.0}, {self.x.name: 3.0}):
                    self.assertEqual(session.run(self.y, feeds), 6)
                    self.assertEqual(session.run([self.y, self.x], feeds), [6, 3])
                    self.assertEqual(session.run((self.y, self.y), feeds), (6, 6))
                    self.assertEqual(session.run({"a": self.y, "b": [self.x]}, feeds), {"a": 6, "b": [3]})
                    self.assertEqual(session.run([[self.y], {"c": self.y.op}], feeds), [[6], {"c": None}])
                    self.assertEqual(session.run(self.y.name, feeds), 6)

    def test_what_may_not_be_fed_or_fetched_any_more(self):
        with tf.Session() as session:
            self.assertEqual(session.run(self.y, {self.x: 1.0}), 2)
            self.x.graph.prevent_feeding(self.x)
            with self.assertRaises(ValueError):
                session.run(self.y, {self.x: 1.0})
        tf.reset_default_graph()
        z = tf.constant(1.0)
        with tf.Session() as session:
            session.run(z)
            z.graph.prevent_fetching(z.op)
            with self.assertRaises(ValueError):
                session.run(z)

    def test_many_different_steps(self):
        with tf.Session() as session:
            for i in range(500):
                self.assertEqual(session.run(tf.constant(i)), i)

    def test_a_closed_session(self):
        session = tf.Session()
        z = tf.constant(1.0)
        session.run(z)
        session.close()
        with self.assertRaisesRegex(RuntimeError, "closed"):
            session.run(z)


if __name__ == "__main__":
    unittest.main()
