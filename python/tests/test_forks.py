"""Children of fork, as multiprocessing makes them: they have this process's objects, but not their threads."""

import gc
import os
import signal
import tempfile
import traceback
import unittest

import tensorbraid as tf


def _in_child(work):
    """Calls `work` in a child of fork. Returns what the child wrote, and raises an error if it failed or did not end."""
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # ends a child that waits
        code = 1
        try:
            os.write(sink, str(work()).encode())
            code = 0
        except Exception:
            os.write(sink, traceback.format_exc().encode())
        finally:
            os._exit(code)
    os.close(sink)
    with os.fdopen(source) as written:
        text = written.read()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if status != 0:
        raise AssertionError(f"the child ended with {status} after it wrote: {text}")
    return text


def _error_of(call):
    try:
        call()
    except tf.errors.OpError as error:
        return f"{type(error).__name__}: {error.message}"
    return "no error"


class ForkTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        self.step = tf.train.create_global_step()
        self.more = tf.assign_add(self.step, 1)

    def _dropped(self, make):
        """What `make` returns, of which a child has dropped the last reference that it has."""
        held = [make()]

        def drop():
            held.clear()
            gc.collect()

        _in_child(drop)
        return held[0]

    def _session(self):
        session = tf.Session()
        session.run(self.step.initializer)
        return session

    def test_a_session(self):
        session = self._dropped(self._session)
        self.assertEqual(session.run(self.more), 1)
        message = _in_child(lambda: _error_of(lambda: session.run(self.more)))
        self.assertIn("FailedPreconditionError: this session belongs to the process that has forked this one", message)
        _in_child(session.close)
        self.assertEqual(session.run(self.more), 2)

    def test_a_prepared_step(self):
        step = self._dropped(lambda: self._session().make_callable(self.more))
        self.assertEqual(step(), 1)

    def test_a_monitored_session(self):
        session = self._dropped(lambda: tf.train.MonitoredTrainingSession(checkpoint_dir=tempfile.mkdtemp()))
        self.assertEqual(session.run(self.more), 1)
        self.assertIn("belongs to the process", _in_child(lambda: _error_of(lambda: session.run(self.more))))
        _in_child(session.close)
        self.assertEqual(session.run(self.more), 2)
        session.close()

    def test_a_supervisor(self):
        def make():
            supervisor = tf.train.Supervisor(logdir=tempfile.mkdtemp())
            return supervisor, supervisor.PrepareSession()

        supervisor, session = self._dropped(make)
        self.assertIn("this supervisor belongs", _in_child(lambda: _error_of(supervisor.should_stop)))
        _in_child(supervisor.stop)
        self.assertEqual(session.run(self.more), 1)
        supervisor.stop()

    def test_a_server(self):
        server = self._dropped(tf.train.Server.create_local_server)
        with tf.Session(server.target) as session:
            session.run(self.step.initializer)
        self.assertIn("this server belongs", _in_child(lambda: _error_of(server.join)))

    def test_a_coordinator_with_threads(self):
        queue = tf.FIFOQueue(2, tf.int64)
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(self.more)]))
        taken = queue.dequeue()

        def make():
            session, coordinator = self._session(), tf.train.Coordinator()
            return coordinator, tf.train.start_queue_runners(session, coordinator), session

        coordinator, threads, session = self._dropped(make)
        self.assertEqual(session.run(taken), 1)
        coordinator.request_stop()
        session.run(queue.close(cancel_pending_enqueues=True))
        coordinator.join(threads)

    def test_an_event_file(self):
        folder = tempfile.mkdtemp()
        writer = self._dropped(lambda: tf.summary.FileWriter(folder))
        summary = tf.Summary(value=[tf.Summary.Value(tag="loss", simple_value=1.0)])
        writer.add_summary(summary, 1)
        message = _in_child(lambda: _error_of(lambda: writer.add_summary(summary, 2)))
        self.assertIn("are written by the process that has forked this one", message)
        _in_child(writer.close)
        writer.close()
        events = list(tf.train.summary_iterator(os.path.join(folder, os.listdir(folder)[0])))
        self.assertEqual([event.step for event in events if event.summary.value], [1])

    def test_a_child_trains_with_objects_of_its_own(self):
        with tf.Session() as session:
            session.run(self.step.initializer)

            def train():
                with tf.Session() as own:
                    own.run(self.step.initializer)
                    return own.run(self.more)

            self.assertEqual(_in_child(train), "1")


if __name__ == "__main__":
    unittest.main()
