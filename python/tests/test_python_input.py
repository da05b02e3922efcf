"""tf.contrib.training: input from generators of Python, and errors that are tolerated."""

import unittest
from unittest import mock

import numpy as np
import tensorbraid as tf

training = tf.contrib.training


class PythonInputTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_each_step_gets_the_next_dictionary(self):
        def generator():
            for i in range(2):
                yield {"value": i, "sequence": np.ones([i, 1]), "ignored": 3}

        tensors = training.python_input(generator, {
            "value": tf.FixedLenFeature([], tf.int32),
            "sequence": tf.FixedLenSequenceFeature([1], tf.float32, allow_missing=True),
            "absent": tf.FixedLenSequenceFeature([1], tf.float32, allow_missing=True),
            "default": tf.FixedLenFeature([2], tf.int64, default_value=[-1, -2])})
        self.assertEqual({key: (tensor.dtype, tensor.shape.as_list()) for key, tensor in tensors.items()}, {
            "value": (tf.int32, []), "sequence": (tf.float32, [None, 1]), "absent": (tf.float32, [None, 1]),
            "default": (tf.int64, [2])})
        with tf.Session() as session:
            for i in range(2):
                found = session.run(tensors)
                self.assertEqual([found["value"], found["default"].tolist()], [i, [-1, -2]])
                self.assertEqual([found["sequence"].shape, found["absent"].shape], [(i, 1), (0, 1)])
            with self.assertRaisesRegex(tf.errors.OutOfRangeError, "Iteration finished.  Processed 2 entries"):
                session.run(tensors)

    def test_batches_of_queues(self):
        tensors = training.python_input(lambda: ({"value": i} for i in range(5)),
                                        {"value": tf.FixedLenFeature([], tf.int32)})
        batch = tf.train.batch(tensors, 4, allow_smaller_final_batch=True)["value"]
        with tf.Session() as session:
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            self.assertEqual([session.run(batch).tolist() for _ in range(2)], [[0, 1, 2, 3], [4]])
            coordinator.request_stop()
            coordinator.join(threads)

    def test_mistakes_are_named(self):
        scalar = {"value": tf.FixedLenFeature([], tf.int32)}
        with tf.Session() as session:
            for element, message in ((None, "generator must return dict"), ({"value": "a"}, "invalid literal"),
                                     ({"value": [1, 2]}, "incompatible with declared shape"),
                                     ({}, "Expected generator to return key 'value'")):
                with self.assertRaisesRegex(tf.errors.OpError, message):
                    session.run(training.python_input(lambda: iter([element]), scalar))
        sequence = tf.FixedLenSequenceFeature
        for generator, features, kind, message in (
                (1, scalar, TypeError, "generator must be callable"),
                (list, [], TypeError, "features must be a dict"),
                (list, {"a": 1}, TypeError, "'a' to be one of"),
                (list, {"a": tf.VarLenFeature(tf.int32)}, NotImplementedError, "VarLenFeature not supported"),
                (list, {"a": sequence([], tf.int32)}, ValueError, "allow_missing=False"),
                (list, {"a": sequence([], tf.int32, True, 0)}, ValueError, "with default value"),
                (list, {"a": tf.FixedLenFeature([None], tf.int32)}, ValueError, "not fully defined")):
            with self.assertRaisesRegex(kind, message):
                training.python_input(generator, features)


class Passing(Exception):
    """An error that goes away."""


class FailureToleratorTest(unittest.TestCase):
    def fail(self, tolerator, error=Passing):
        with tolerator.forgive():
            raise error

    def test_errors_are_raised_at_the_limit(self):
        tolerator = training.FailureTolerator(init_delay=0.0, limit=3, handled_exceptions=[Passing])
        self.fail(tolerator)
        self.fail(tolerator)
        with self.assertRaises(Passing):
            self.fail(tolerator)
        with self.assertRaises(KeyError):
            self.fail(training.FailureTolerator(), KeyError)

    def test_delays_grow(self):
        tolerator = training.FailureTolerator(init_delay=1.0, backoff_factor=1.5, handled_exceptions=[Passing])
        with mock.patch("time.sleep") as sleep:
            for _ in range(4):
                self.fail(tolerator)
        self.assertEqual([call.args[0] for call in sleep.call_args_list], [1.0, 1.5, 2.25])

    def test_old_errors_do_not_count_and_delays_do_not_age_them(self):
        now = [10.0]

        def pass_time(seconds):
            now[0] += seconds

        with mock.patch("time.sleep", pass_time), mock.patch("time.time", lambda: now[0]):
            tolerator = training.FailureTolerator(limit=3, init_delay=0.0, forgive_after_seconds=10.0,
                                                  handled_exceptions=[Passing])
            for now[0] in (10.0, 15.0, 20.1):
                self.fail(tolerator)
            now[0] = 24.0
            with self.assertRaises(Passing):
                self.fail(tolerator)
            now[0] = 10.0
            tolerator = training.FailureTolerator(limit=3, init_delay=1.0, backoff_factor=1.0,
                                                  forgive_after_seconds=10.0, handled_exceptions=[Passing])
            self.fail(tolerator)
            now[0] += 1.0
            self.fail(tolerator)
            self.assertEqual(now[0], 12.0)
            now[0] = 20.1  # 10.1 seconds after the first error, of which one was a delay
            with self.assertRaises(Passing):
                self.fail(tolerator)


if __name__ == "__main__":
    unittest.main()
