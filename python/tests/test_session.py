"""Sessions: structures of fetches, feeds, values that belong to the caller, threads."""

import threading
import unittest

import numpy as np
import tensorbraid as tf


class SessionTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_results_have_the_structure_of_the_fetches(self):
        x = tf.constant([1.0, 2.0])
        y = tf.constant(3)
        with tf.Session() as session:
            self.assertEqual(session.run({"a": [y, (y, "Const_1:0")], "b": y.op}), {"a": [3, (3, 3)], "b": None})
            np.testing.assert_array_equal(x.eval(), [1, 2])
            with self.assertRaisesRegex(TypeError, "Fetch argument None"):
                session.run(None)
            with tf.Graph().as_default(), self.assertRaisesRegex(ValueError, "not an element of this graph"):
                session.run(tf.constant(1))

    def test_every_plain_dtype_comes_back_as_it_was_fed(self):
        with tf.Session() as session:
            for name in ("float16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "uint16",
                         "uint32", "uint64", "bool", "complex64", "complex128"):
                x = tf.placeholder(name, [2, 1])
                value = np.array([[0], [1]], name)
                result = session.run(tf.identity(x), {x: value})
                self.assertEqual(result.dtype, value.dtype)
                np.testing.assert_array_equal(result, value)

    def test_strings_are_bytes(self):
        x = tf.placeholder(tf.string, [None])
        with tf.Session() as session:
            result = session.run(tf.identity(x), {x: ["a", b"\xff\x00", "ü"]})
            self.assertEqual(list(result), [b"a", b"\xff\x00", "ü".encode()])
            self.assertEqual(session.run(tf.constant("one")), b"one")

    def test_a_fetched_value_belongs_to_the_caller(self):
        v = tf.Variable(np.ones([1000], np.float32))
        update = v.assign_add(np.ones([1000], np.float32))
        with tf.Session() as session:
            session.run(v.initializer)
            first = session.run(v)
            first[:] = 7
            np.testing.assert_array_equal(session.run(v), np.ones(1000))
            second = session.run(v)
            session.run(update)
            np.testing.assert_array_equal(second, np.ones(1000))

    def test_a_fed_array_may_be_changed_after_the_step(self):
        x = tf.placeholder(tf.float32, [3])
        v = tf.Variable(tf.zeros([3]))
        keep = v.assign(x)
        array = np.array([1, 2, 3], np.float32)
        with tf.Session() as session:
            session.run(keep, {x: array})
            array[:] = 0
            np.testing.assert_array_equal(session.run(v), [1, 2, 3])

    def test_a_wrong_shape_is_named(self):
        x = tf.placeholder(tf.float32, [None, 2], name="x")
        with tf.Session() as session, self.assertRaisesRegex(ValueError, r"Cannot feed value of shape \(3,\).*'x:0'"):
            session.run(x, {x: [1, 2, 3]})

    def test_errors_of_steps_are_errors_of_their_code(self):
        v = tf.Variable(1.0, name="v")
        with tf.Session() as session:
            with self.assertRaises(tf.errors.FailedPreconditionError) as raised:
                session.run(v)
            self.assertEqual(raised.exception.error_code, tf.errors.FAILED_PRECONDITION)
            self.assertIn("v", raised.exception.message)
        with self.assertRaisesRegex(RuntimeError, "closed Session"):
            session.run(v)

    def test_a_fetched_variable_has_the_value_that_the_step_leaves(self):
        v = tf.Variable(5.0)
        update = tf.assign_sub(v, 1.0)
        before = v.value() + 0.0
        with tf.Session() as session:
            session.run(v.initializer)
            self.assertEqual(session.run([update.op, v])[1], 4.0)
            self.assertEqual(session.run((v, update, v.name))[::2], (3.0, 3.0))
            self.assertEqual(session.run([v, before]), [3.0, 3.0])
            self.assertEqual(session.run([v, before], {v: 7.0}), [7.0, 7.0])

    def test_an_error_of_a_step_knows_its_operation(self):
        bad = tf.check_numerics(tf.constant(1.0) / 0.0, "not finite", name="check")
        v = tf.Variable(1.0, name="v")
        with tf.Session() as session:
            with self.assertRaises(tf.errors.InvalidArgumentError) as caught:
                session.run(bad + 1)
            self.assertIs(type(caught.exception.op), tf.Operation)
            self.assertEqual((caught.exception.op.name, caught.exception.node_def.op), ("check", "CheckNumerics"))
            with self.assertRaises(tf.errors.FailedPreconditionError) as caught:
                session.run(v)
            self.assertEqual(caught.exception.op.name, "v")
            with self.assertRaises(tf.errors.InvalidArgumentError) as caught:
                session.run(tf.placeholder(tf.float32, name="p") + 1.0)
            self.assertEqual(caught.exception.op.name, "p")
            session.close()
            with self.assertRaises(RuntimeError):
                session.run(bad)

    def test_threads_run_steps_at_the_same_time(self):
        v = tf.Variable(0)
        add = v.assign_add(1, read_value=False)
        with tf.Session() as session:
            session.run(v.initializer)
            threads = [threading.Thread(target=lambda: [session.run(add) for _ in range(100)]) for _ in range(10)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            self.assertEqual(session.run(v), 1000)


if __name__ == "__main__":
    unittest.main()
