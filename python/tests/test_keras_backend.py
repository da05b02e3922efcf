"""tensorflow.python.keras.backend, from which the library Keras takes functions, and the callables of its sessions."""

import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid import proto
from tensorbraid.runner import api
from tensorbraid.tensorflow_python import ops
from tensorbraid.tensorflow_python.keras import backend as K, sessions
from tensorbraid.tensorflow_python.keras.utils import tf_utils


class KerasTestCase(unittest.TestCase):
    def setUp(self):
        K.clear_session()
        np.random.seed(1)

    def value(self, tensor):
        return K.get_session().run(tensor)


class CallableTest(KerasTestCase):
    def test_a_callable_runs_the_step_of_its_options(self):
        x, y = tf.placeholder(tf.float32, [2], name="x"), tf.placeholder(tf.float32, [2], name="y")
        v = tf.Variable([1.0, 1.0], name="v")
        z = tf.add(x, y, name="z")
        update = tf.assign_add(v, x).op
        source = tf.constant([10.0, 20.0], name="source")
        options = proto.CallableOptions(feed=[x.name], fetch=[z.name, v.name], target=[update.name])
        options.tensor_connection.add(from_tensor=source.name, to_tensor=y.name)
        session = K.get_session()
        step = session._make_callable_from_options(options)
        z_value, _ = step(np.array([1, 2], np.float32))
        np.testing.assert_array_equal(z_value, [11, 22])
        np.testing.assert_array_equal(session.run(v), [2, 3])
        traced = proto.CallableOptions.FromString(options.SerializeToString())
        traced.run_options.trace_level = proto.RunOptions.FULL_TRACE
        metadata = proto.RunMetadata()
        session._make_callable_from_options(traced)(np.zeros(2, np.float32), run_metadata=metadata)
        self.assertTrue(metadata.step_stats.dev_stats)

    def test_a_connected_tensor_is_computed_in_the_same_step(self):
        x = tf.placeholder(tf.float32, [], name="x")
        count = tf.Variable(0.0)
        options = proto.CallableOptions(fetch=[tf.multiply(x, 2, name="y").name, count.name])
        options.tensor_connection.add(from_tensor=tf.assign_add(count, 1).name, to_tensor=x.name)
        session = K.get_session()
        step = session._make_callable_from_options(options)
        self.assertEqual([step()[0] for _ in range(3)], [2, 4, 6])
        options.tensor_connection[0].from_tensor = x.name
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "'x:0' is connected to itself"):
            session._make_callable_from_options(options)()

    def test_mistakes_are_errors_at_once(self):
        session, x = tf.Session(), tf.placeholder(tf.float32, [], name="x")
        with self.assertRaisesRegex(KeyError, "no_such"):
            session._make_callable_from_options(proto.CallableOptions(fetch=["no_such:0"]))
        with self.assertRaisesRegex(NotImplementedError, "CallableOptions.feed_devices"):
            session._make_callable_from_options(proto.CallableOptions(feed_devices={"x:0": "/cpu:0"}))
        with self.assertRaisesRegex(TypeError, "must be a CallableOptions"):
            session._make_callable_from_options(proto.RunOptions())
        step = session._make_callable_from_options(proto.CallableOptions(fetch=[x.name], feed=[x.name]))
        self.assertEqual(step(3.0), [3.0])
        with self.assertRaisesRegex(ValueError, "takes 1 arguments"):
            step()

    def test_elements_of_variables(self):
        v, x = tf.Variable(1.0), tf.constant(1.0)
        self.assertEqual(ops._as_graph_element(v).graph, v.graph)
        self.assertIsNone(ops._as_graph_element(x))


class StateTest(KerasTestCase):
    def test_numbers_of_names_belong_to_a_graph(self):
        self.assertEqual([K.get_uid("dense"), K.get_uid("dense"), K.get_uid("lstm")], [1, 2, 1])
        with tf.Graph().as_default():
            self.assertEqual(K.get_uid("dense"), 1)
        self.assertEqual(K.get_uid("dense"), 3)
        K.reset_uids()
        self.assertEqual(K.get_uid("dense"), 1)

    def test_a_step_trains_if_the_learning_phase_is_fed(self):
        phase = K.learning_phase()
        self.assertIs(phase, K.learning_phase())
        self.assertEqual(phase.name, "keras_learning_phase:0")
        self.assertFalse(self.value(phase))
        self.assertTrue(K.get_session().run(phase, {phase: True}))
        K.set_learning_phase(1)
        self.assertEqual(K.learning_phase(), 1)
        with tf.Graph().as_default():
            self.assertIsInstance(K.learning_phase(), tf.Tensor)
        with self.assertRaisesRegex(ValueError, "0 or 1"):
            K.set_learning_phase(2)

    def test_the_session_initialises_variables_once(self):
        v = K.variable([1.0, 2.0], name="v")
        session = K.get_session()
        self.assertIs(session, K.get_session())
        np.testing.assert_array_equal(session.run(v), [1, 2])
        K.set_value(v, [3, 4])
        w = K.variable(np.ones(3))
        values = K.batch_get_value([v, w])
        np.testing.assert_array_equal(values[0], [3, 4])
        np.testing.assert_array_equal(values[1], [1, 1, 1])
        self.assertEqual(K.batch_get_value([]), [])
        K.batch_set_value([(v, np.zeros(2)), (w, np.zeros(3))])
        self.assertEqual([value.sum() for value in K.batch_get_value([v, w])], [0, 0])
        late = tf.Variable(5.0, name="late", collections=[])  # the graph has no new node when it is tracked
        K.get_session()
        sessions.track(late)
        self.assertEqual(K.get_session().run(late), 5)
        with tf.Session() as own:
            self.assertIs(K.get_session(), own)
        own = tf.Session()
        K.set_session(own)
        self.assertIs(K.get_session(), own)
        with tf.Graph().as_default() as graph:
            self.assertIs(K.get_session().graph, graph)

    def test_a_program_may_initialise_variables_itself(self):
        K.manual_variable_initialization(True)
        self.addCleanup(K.manual_variable_initialization, False)
        v = K.variable(1.0)
        with self.assertRaises(tf.errors.FailedPreconditionError):
            K.get_session().run(v)

    def test_settings(self):
        self.addCleanup(K.set_floatx, "float32")
        self.assertEqual((K.floatx(), K.epsilon(), K.image_data_format()), ("float32", 1e-7, "channels_last"))
        K.set_floatx("float64")
        self.assertEqual(K.cast_to_floatx([1]).dtype, np.float64)
        self.assertEqual(K.variable(1.0).dtype, tf.float64)
        with self.assertRaisesRegex(ValueError, "Unknown floatx: int32"):
            K.set_floatx("int32")
        with self.assertRaisesRegex(ValueError, "Unknown image_data_format"):
            K.set_image_data_format("channels")


class FunctionTest(KerasTestCase):
    def test_inputs_and_outputs_may_be_lists_in_lists(self):
        x, y = K.placeholder(ndim=1), K.placeholder(ndim=1)
        self.assertEqual([value.tolist() for value in K.function([x, y], [x + y, x * y])([[2], [3]])], [[5], [6]])
        total, (product,) = K.function([x, [y]], [x + y, [x * y]])([[2], [[3]]])
        self.assertEqual((total.tolist(), product.tolist()), ([5], [6]))
        with self.assertRaises(ValueError):
            K.function([x, y], [x + y])([[2]])

    def test_updates_follow_the_first_output(self):
        x, v = K.placeholder(ndim=1), K.variable([1.0, 2.0])
        f = K.function([x], [v + x, v * 2], updates=[(v, v + 1)])
        first, second = f([[10, 20]])
        np.testing.assert_array_equal(first, [11, 22])
        np.testing.assert_array_equal(second, [2, 4])
        np.testing.assert_array_equal(K.batch_get_value([v])[0], [2, 3])

    def test_structures_of_outputs_and_further_values(self):
        x, y = K.placeholder([]), K.placeholder([])
        f = K.function(x, {"sum": x + y, "difference": x - y}, feed_dict={y: 2.0}, fetches=[y])
        seen = []
        f.fetch_callbacks[f.fetches[0]] = seen.append
        self.assertEqual(f(5), {"sum": 7, "difference": 3})
        self.assertEqual(seen, [2])
        f.feed_dict[y] = 1.0
        self.assertEqual(f(tf.constant(3.0)), {"sum": 4, "difference": 2})
        for call, message in ((lambda: K.function([x], [x], no_such=1), 'Invalid argument "no_such"'),
                              (lambda: K.function([x], [x])([1, 2]), "has 1 inputs, .*was called with 2 values")):
            with self.assertRaisesRegex(ValueError, message):
                call()
        with self.assertRaisesRegex(TypeError, "`updates`"):
            K.function([x], [x], updates=tf.no_op())

    def test_sparse_matrices_are_fed(self):
        class Matrix:
            row, col, data, shape = np.array([0, 1]), np.array([2, 0]), np.array([5.0, 7.0]), (2, 3)

            def tocoo(self):
                return self

        x = K.placeholder([None, 3], sparse=True)
        f = K.function([x], [tf.sparse_tensor_to_dense(x)])
        np.testing.assert_array_equal(f([Matrix()])[0], [[0, 0, 5], [7, 0, 0]])
        np.testing.assert_array_equal(self.value(K.variable(Matrix())).values, [5, 7])


class LoopTest(KerasTestCase):
    """A step function that adds what it gets, over two samples of three times with one number each."""

    def sums(self, mask=None, **options):
        x = K.constant([[[1], [2], [3]], [[10], [20], [30]]])
        mask = None if mask is None else tf.constant(mask)
        last, outputs, states = K.rnn(lambda x, states: (states[0] + x, [states[0] + x]), x, [tf.zeros([2, 1])],
                                      mask=mask, **options)
        self.assertEqual((last.shape.as_list(), outputs.shape.as_list()), ([2, 1], [2, 3, 1]))
        last, outputs, state = self.value([last, outputs, states[0]])
        np.testing.assert_array_equal(last, outputs[:, -1])
        return outputs[..., 0].tolist(), state[:, 0].tolist()

    def test_both_kinds_of_loops(self):
        for unroll in (False, True):
            self.assertEqual(self.sums(unroll=unroll), ([[1, 3, 6], [10, 30, 60]], [6, 60]))
            self.assertEqual(self.sums(unroll=unroll, go_backwards=True), ([[3, 5, 6], [30, 50, 60]], [6, 60]))
            mask = [[False, True, False], [True, True, False]]
            self.assertEqual(self.sums(mask, unroll=unroll), ([[0, 2, 2], [10, 30, 30]], [2, 30]))
            self.assertEqual(self.sums(mask, unroll=unroll, zero_output_for_mask=True),
                             ([[0, 2, 0], [10, 30, 0]], [2, 30]))

    def test_constants_unknown_times_and_gradients(self):
        x, scale = K.placeholder([None, None, 1]), K.variable([2.0])
        _, outputs, states = K.rnn(lambda x, states: (x * states[1], [states[0] + x * states[1]]), x,
                                   [tf.zeros_like(x[:, 0])], constants=[scale])
        gradient, = tf.gradients(states[0], [scale])
        f = K.function([x], [outputs, states[0], gradient])
        outputs, state, gradient = f([[[[1], [2], [3]]]])
        self.assertEqual((outputs.ravel().tolist(), state.tolist(), gradient.tolist()), ([2, 4, 6], [[12]], [6]))

    def test_mistakes(self):
        for call, message in (
                (lambda: K.rnn(None, tf.zeros([2, 3]), []), "at least 3D"),
                (lambda: K.rnn(None, tf.zeros([2, 3, 1]), [], mask=tf.ones([2, 3])), "No initial states"),
                (lambda: K.rnn(None, K.placeholder([2, None, 1]), [], unroll=True), "fixed number of timesteps")):
            with self.assertRaisesRegex(ValueError, message):
                call()

    def test_what_depends_on_the_learning_phase(self):
        phase, x = K.learning_phase(), tf.constant(1.0)
        y = tf.cond(phase, lambda: x, lambda: 2 * x)
        reached = tf_utils.get_reachable_from_inputs([phase], [y])
        self.assertIn(y, reached)
        self.assertNotIn(x, reached)
        v = K.variable(1.0)
        z = v + x
        self.assertIn(z, tf_utils.get_reachable_from_inputs([v]))
        with self.assertRaisesRegex(TypeError, "Expected Operation"):
            tf_utils.get_reachable_from_inputs(["x"])
        self.assertEqual(tf_utils.get_reachable_from_inputs([1], [y]), {1})  # a learning phase that was set


class EntropyTest(KerasTestCase):
    logits = np.array([[1.0, 2.0, 3.0], [0.5, 0.0, -2.0]], np.float32)
    labels = np.array([2, 0])

    def test_cross_entropies_of_probabilities_and_of_logits_are_equal(self):
        logits = tf.constant(self.logits)
        soft = np.exp(self.logits) / np.exp(self.logits).sum(1, keepdims=True)
        target = np.eye(3, dtype=np.float32)[self.labels]
        want = -np.log(soft[[0, 1], self.labels])
        for probabilities in (tf.nn.softmax(logits), tf.constant(soft)):
            self.assertClose(K.categorical_crossentropy(target, probabilities), want)
            self.assertClose(K.sparse_categorical_crossentropy(self.labels, probabilities), want)
        self.assertClose(K.categorical_crossentropy(target.T, tf.transpose(tf.constant(soft)), axis=0), want)
        self.assertClose(K.sparse_categorical_crossentropy(self.labels, tf.constant(soft.T), axis=0), want)
        self.assertClose(K.categorical_crossentropy(target, logits, True), want)
        self.assertClose(K.sparse_categorical_crossentropy([self.labels], logits[None], True), [want])
        with self.assertRaisesRegex(ValueError, "Unexpected channels axis"):
            K.categorical_crossentropy(target, logits, axis=2)

    def test_binary_cross_entropies(self):
        logits = tf.constant([0.5, -1.0])
        p = 1 / (1 + np.exp([-0.5, 1.0]))
        want = -np.log([p[0], 1 - p[1]])
        for result in (K.binary_crossentropy([1.0, 0.0], tf.sigmoid(logits)), K.binary_crossentropy([1.0, 0.0], p),
                       K.binary_crossentropy([1.0, 0.0], logits, True)):
            self.assertClose(result, want)
        self.assertClose(K.hard_sigmoid([-3.0, 0.5, 3.0]), [0, 0.6, 1])

    def assertClose(self, tensor, want):
        np.testing.assert_allclose(self.value(tensor), want, rtol=1e-5)

    def test_random_numbers(self):
        for numbers, mean, deviation in (
                (K.random_normal([1000], 2.0), 2, 1), (K.truncated_normal([1000]), 0, 0.88),
                (K.random_uniform([1000]), 0.5, 0.29), (K.random_binomial([1000], 0.2), 0.2, 0.4)):
            value = self.value(numbers)
            self.assertLess(abs(value.mean() - mean), 0.2)
            self.assertLess(abs(value.std() - deviation), 0.2)
        self.assertEqual(self.value(K.random_uniform([3], seed=1)).tolist(),
                         self.value(K.random_uniform([3], seed=1)).tolist())


class NamesTest(unittest.TestCase):
    def test_the_runner_finds_the_modules(self):
        self.assertIs(api.find("python.keras.backend.rnn"), K.rnn)
        self.assertIs(api.find("python.keras.utils.tf_utils"), tf_utils)
        self.assertIsNone(api.refusal("python.keras.backend"))
        self.assertIn("Keras", api.refusal("python.keras.layers.Dense"))
        self.assertIn("Keras", api.refusal("python.keras.backend.ctc_batch_cost"))


if __name__ == "__main__":
    unittest.main()
