"""tf.train.SessionManager: sessions of which the model is restored, initialised, or made ready by another task."""

import tempfile
import unittest

import tensorbraid as tf


class SessionManagerTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.v = tf.Variable(1.0, name="v")
        self.init = tf.global_variables_initializer()
        self.ready = tf.report_uninitialized_variables()

    def manager(self, **options):
        return tf.train.SessionManager(ready_op=self.ready, **options)

    def save(self, value, saver):
        with tf.Session() as session:
            session.run(self.init)
            self.v.load(value, session)
            saver.save(session, self.folder + "/model", global_step=3)

    def test_the_model_is_initialised_if_there_is_no_checkpoint(self):
        calls = []
        with self.manager().prepare_session("", init_op=self.init, init_fn=calls.append) as session:
            self.assertEqual(session.run(self.v), 1.0)
        self.assertIsInstance(calls[0], tf.Session)
        with self.assertRaisesRegex(RuntimeError, "no init_op"):
            self.manager().prepare_session("")
        with self.assertRaisesRegex(RuntimeError, "without a value: v"):
            self.manager().prepare_session("", init_op=tf.no_op())
        with self.assertRaisesRegex(ZeroDivisionError, "mine"):
            self.manager().prepare_session("", init_op=self.init, init_fn=self.fail_with)

    def fail_with(self, session):
        raise ZeroDivisionError("mine")

    def test_a_checkpoint_is_restored(self):
        saver = tf.train.Saver()
        session, loaded = self.manager().recover_session("", saver, self.folder)
        self.assertFalse(loaded)
        self.save(5.0, saver)
        with self.manager().prepare_session("", self.init, saver, checkpoint_dir=self.folder) as session:
            self.assertEqual(session.run(self.v), 5.0)
        with self.manager().prepare_session("", self.init, saver,
                                            checkpoint_filename_with_path=self.folder + "/model-3") as session:
            self.assertEqual(session.run(self.v), 5.0)
        session, loaded = self.manager().recover_session("", saver, self.folder)
        self.assertTrue(loaded)
        self.assertEqual(session.run(self.v), 5.0)
        with self.assertRaisesRegex(ValueError, "both"):
            self.manager().prepare_session("", self.init, saver, self.folder, "model")

    def test_local_variables_are_initialised_in_every_session(self):
        local = tf.Variable(7.0, collections=[tf.GraphKeys.LOCAL_VARIABLES])
        manager = self.manager(local_init_op=tf.local_variables_initializer(), ready_for_local_init_op=self.ready)
        with manager.prepare_session("", init_op=self.init) as session:
            self.assertEqual(session.run(local), 7.0)
        with self.assertRaises(ValueError):
            self.manager(ready_for_local_init_op=self.ready)

    def test_another_task_waits_for_the_model(self):
        manager = self.manager(recovery_wait_secs=0.01)
        with self.assertRaises(tf.errors.DeadlineExceededError):
            manager.wait_for_session("", max_wait_secs=0.05)


if __name__ == "__main__":
    unittest.main()
