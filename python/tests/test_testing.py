"""tf.test: comparisons, sessions, folders."""

import unittest

import numpy as np
import tensorbraid as tf


class TestingTest(tf.test.TestCase):
    def test_arrays_and_tensors_are_compared(self):
        self.assertAllEqual(tf.constant([1, 2]), [1, 2])
        self.assertAllEqual([np.nan, 1.0], [np.nan, 1.0])
        self.assertAllClose({"a": [1.0, 2.0]}, {"a": np.array([1.0, 2.0 + 1e-7])})
        self.assertAllClose([[1.0], [1.0, 2.0]], [[1.0], [1.0, 2.0]])
        self.assertAllCloseAccordingToType(np.float16([1.0]), [1.0005])
        self.assertAllInRange([1, 2], 1, 2)
        self.assertAllInSet([1, 2, 1], {1, 2, 3})
        self.assertShapeEqual(np.ones([2, 3]), tf.ones([2, 3]))
        for compare in (lambda: self.assertAllEqual([1], [2]), lambda: self.assertAllEqual([1], [[1]]),
                        lambda: self.assertAllClose([1.0], [1.1]), lambda: self.assertAllClose({"a": 1}, {"b": 1}),
                        lambda: self.assertNotAllClose([1.0], [1.0]), lambda: self.assertAllGreater([1, 2], 1),
                        lambda: self.assertAllInRange([1, 2], 1, 2, open_upper_bound=True),
                        lambda: self.assertAllInSet([4], {1})):
            with self.assertRaises(AssertionError):
                compare()

    def test_a_cached_session_is_one_session(self):
        v = tf.Variable(1.0)
        with self.cached_session() as first:
            first.run(v.initializer)
        with self.test_session() as second:
            self.assertIs(second, first)
            self.assertEqual(self.evaluate([v]), [1.0])
            self.assertEqual(v.eval(), 1.0)

    def test_sessions_place_nodes_softly_and_on_the_cpu(self):
        for session in (self.session, self.test_session):
            with session() as made:
                with tf.device("/gpu:0"):
                    self.assertEqual(made.run(tf.constant(1.0) + 1.0), 2.0)
                self.assertEqual(tf.constant(1.0).device, "/device:CPU:0")
            with session(use_gpu=True):
                self.assertEqual(tf.constant(1.0).device, "")
            with self.assertRaises(tf.errors.InvalidArgumentError), session(force_gpu=True):
                pass

    def test_the_config_of_the_program_is_not_changed(self):
        with self.session(config=tf.ConfigProto()) as session, tf.device("/gpu:0"):
            x = tf.constant(1.0) + 1.0
            self.assertRaises(tf.errors.InvalidArgumentError, session.run, x)

    def test_a_local_cluster_has_servers_in_this_process(self):
        workers, servers = tf.test.create_local_cluster(num_workers=2, num_ps=1)
        self.assertEqual([len(workers), len(servers)], [2, 1])
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(3.0)
        with tf.Session(workers[0].target) as session:
            session.run(v.initializer)
        with tf.Session(workers[1].target) as session:
            self.assertEqual(session.run(v), 3.0)
        workers, servers = tf.test.create_local_cluster(1, 0, ps_config=tf.ConfigProto())
        self.assertEqual(servers, [])
        with tf.Session(workers[0].target) as session:
            self.assertEqual(session.run(tf.constant(4)), 4)

    def test_errors_of_ops_are_expected_by_their_text(self):
        v = tf.Variable(1.0, name="weights")
        with self.session() as session, self.assertRaisesOpError("weights"):
            session.run(v)
        with self.assertRaises(AssertionError), self.session() as session, self.assertRaisesOpError("biases"):
            session.run(v)

    def test_each_test_begins_with_an_empty_graph_and_a_folder(self):
        self.assertEqual(tf.get_default_graph().get_operations(), [])
        self.assertTrue(tf.gfile.IsDirectory(self.get_temp_dir()))
        self.assertTrue(self.get_temp_dir().startswith(tf.test.get_temp_dir()))
        self.assertFalse(tf.test.is_gpu_available())


if __name__ == "__main__":
    unittest.main()
