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

    def test_values_are_converted_as_numpy_converts_them(self):
        whole, real = tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None])
        with tf.Session() as session:
            for fed, values in ((whole, [1.0, 2.5]), (whole, ["1", "2"]), (whole, np.array([1, 2], object)),
                                (real, ["1", "2"]), (real, np.array([1, 2], object)), (real, np.array(["1", "2"]))):
                self.assertEqual(session.run(fed + fed, {fed: values})[0], 2)
            for values in (["one"], None, [None], np.array([{}], object)):
                with self.assertRaisesRegex((TypeError, ValueError), "Cannot feed"):
                    session.run(whole + whole, {whole: values})

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


class FedVariablesTest(unittest.TestCase):
    """Feeding variables. programs/fed_variables.py compares the values with TensorFlow's."""

    def setUp(self):
        tf.reset_default_graph()
        self.v = tf.get_variable("v", initializer=2.0)

    def run_fed(self, fetch, feeds):
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            return session.run(fetch, feeds)

    def test_a_read_of_its_own_in_a_branch_or_a_loop_is_fed(self):
        p = tf.placeholder_with_default(True, [])
        chosen = tf.cond(p, lambda: self.v.read_value() * 1.0, lambda: self.v * -1.0)
        looped = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, a + self.v.read_value()), [0, 0.0])[1]
        self.assertEqual(self.run_fed([chosen, looped], {self.v: 10.0}), [10, 20])

    def test_a_variable_is_fed_within_a_scope_too(self):
        y = self.v * 2.0
        with tf.control_dependencies([tf.no_op()]):
            self.assertEqual(self.run_fed([y, self.v], {self.v: 10.0}), [20, 10])

    def test_functions_and_gradients_of_ones_own_are_fed(self):
        @tf.custom_gradient
        def scaled(x):
            with tf.variable_scope("", reuse=tf.AUTO_REUSE, use_resource=True):
                w = tf.get_variable("w", initializer=3.0)
            return x * w, lambda dy, variables=None: (dy * w, [dy * x])

        y = scaled(self.v)
        w = [variable for variable in tf.global_variables() if variable.op.name == "w"][0]
        self.assertEqual(self.run_fed([y, *tf.gradients(y, [self.v, w])], {w: 10.0}), [20, 10, 2])

    def test_an_update_of_a_fed_variable_names_it_and_the_line(self):
        update = self.v.assign_add(1.0)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError,
                                    "the step feeds the variable 'v', but AssignAddVariableOp .*test_feeds.py.* updates"):
            self.run_fed(update, {self.v: 10.0})

    def test_a_value_that_numpy_converts_is_fed(self):
        for value in (np.array(10.0, object), "10"):
            self.assertEqual(self.run_fed(self.v * 1.0, {self.v: value}), 10)

    def test_a_wrong_value_names_the_variable(self):
        with self.assertRaisesRegex(ValueError, r"Cannot feed value of shape \(3,\) for Tensor 'v:0'"):
            self.run_fed(self.v * 1.0, {self.v: np.zeros(3, np.float32)})

    def test_the_handle_stays_reachable(self):
        self.assertEqual(self.v.op.outputs[0].dtype, tf.resource)
        self.assertEqual(self.v.handle.name, "v:0")
        self.assertEqual(self.run_fed(self.v * 1.0, {self.v.handle: 10.0}), 10)

    def test_the_name_of_a_variable_gives_its_value(self):
        graph = tf.get_default_graph()
        t = graph.get_tensor_by_name("v:0")
        self.assertEqual((t.dtype, t.shape), (tf.float32, ()))
        for wrong in (t + 1.0, tf.constant(1.0)):
            with self.assertRaisesRegex(TypeError, "a mutable tensor"):
                tf.assign(wrong, 1.0)
        graph_def = graph.as_graph_def()
        meta_graph = tf.train.export_meta_graph()
        with tf.Graph().as_default() as imported:
            tf.import_graph_def(graph_def, name="")
            handle = imported.get_tensor_by_name("v:0")
            self.assertEqual(handle.dtype, tf.resource)
            read = imported.get_tensor_by_name("v/Read/ReadVariableOp:0")
            with tf.Session() as session:
                self.assertEqual(session.run(read, {handle: 10.0}), 10)
        with tf.Graph().as_default() as imported:
            tf.train.import_meta_graph(meta_graph)
            self.assertEqual(imported.get_tensor_by_name("v:0").dtype, tf.float32)
        meta_graph.meta_info_def.tensorflow_git_version = "v2.16"  # of resource variables of TensorFlow
        with tf.Graph().as_default() as imported:
            tf.train.import_meta_graph(meta_graph)
            self.assertEqual(imported.get_tensor_by_name("v:0").dtype, tf.resource)


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
