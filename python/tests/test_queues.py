"""Queues, coordinators, queue runners and input pipelines."""

import os
import tempfile
import threading
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.internal.graphs import make_op


class QueueTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_the_names_of_operations_have_the_scope_once(self):
        with tf.name_scope("a"):
            queue = tf.FIFOQueue(2, [tf.float32], name="q")
            self.assertEqual([queue.name, queue.enqueue([1.0]).name, queue.dequeue().name, queue.close().name],
                             ["a/q", "a/q_enqueue", "a/q_Dequeue:0", "a/q_Close"])
        self.assertEqual(queue.size().name, "q_Size:0")

    def test_elements_are_checked_when_the_graph_is_built(self):
        queue = tf.FIFOQueue(2, [tf.float32, tf.int32], shapes=[[2], []])
        self.assertEqual((queue.name, queue.dtypes, queue.shapes), ("fifo_queue", [tf.float32, tf.int32], [[2], []]))
        with self.assertRaisesRegex(ValueError, "not compatible"):
            queue.enqueue([[1.0, 2.0, 3.0], 1])
        with self.assertRaisesRegex(ValueError, "2 components"):
            queue.enqueue([[1.0, 2.0]])
        with self.assertRaises(ValueError):
            queue.enqueue([tf.constant([1, 2]), 1])
        with self.assertRaisesRegex(ValueError, "must have names"):
            queue.enqueue({"a": 1.0})
        with self.assertRaisesRegex(ValueError, "same length"):
            tf.FIFOQueue(2, [tf.float32, tf.int32], shapes=[[2]])
        named = tf.FIFOQueue(2, tf.float32, names="a")
        with self.assertRaisesRegex(ValueError, "dictionary"):
            named.enqueue(1.0)

    def test_names_and_shapes_are_tensorflows(self):
        queue = tf.RandomShuffleQueue(10, 2, tf.float32, shapes=[[3]], seed=1, name="q")
        self.assertEqual(queue.enqueue([[1.0, 2.0, 3.0]]).name, "q_enqueue")
        one, some, most = queue.dequeue(), queue.dequeue_many(4), queue.dequeue_up_to(4)
        self.assertEqual([x.name for x in (one, some, most)], ["q_Dequeue:0", "q_DequeueMany:0", "q_DequeueUpTo:0"])
        self.assertEqual([str(x.shape) for x in (one, some, most)], ["(3,)", "(4, 3)", "(?, 3)"])
        self.assertEqual(queue.size().name, "q_Size:0")
        self.assertEqual(queue.close().name, "q_Close")

    def test_closing_ends_or_cancels_those_who_wait(self):
        queue = tf.FIFOQueue(1, tf.int32, [[]])
        add, take, closed = queue.enqueue(1), queue.dequeue(), queue.is_closed()
        cancel = queue.close(cancel_pending_enqueues=True)
        with tf.Session() as session:
            session.run(add)
            errors = []

            def wait():
                try:
                    session.run(add)
                except tf.errors.CancelledError as error:
                    errors.append(error)

            thread = threading.Thread(target=wait)
            thread.start()
            session.run(cancel)
            thread.join()
            self.assertEqual(len(errors), 1)
            self.assertTrue(session.run(closed))
            self.assertEqual(session.run(take), 1)
            with self.assertRaises(tf.errors.OutOfRangeError):
                session.run(take)

    def test_a_queue_may_be_chosen_in_the_step(self):
        queues = [tf.FIFOQueue(3, tf.int32, [[]], shared_name=f"q{i}") for i in range(2)]
        which = tf.placeholder(tf.int32, [])
        taken = tf.QueueBase.from_list(which, queues).dequeue()
        add = [queue.enqueue(10 + i) for i, queue in enumerate(queues)]
        with tf.Session() as session:
            for operation in add:
                session.run(operation)
            self.assertEqual([session.run(taken, {which: i}) for i in (1, 0)], [11, 10])


class CoordinatorTest(unittest.TestCase):
    def test_threads_of_python_stop_together(self):
        coordinator = tf.train.Coordinator()
        ended = []

        def work():
            with coordinator.stop_on_exception():
                while not coordinator.should_stop():
                    coordinator.wait_for_stop(10)
                ended.append(1)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        self.assertFalse(coordinator.wait_for_stop(0.01))
        coordinator.request_stop()
        coordinator.join(threads)
        self.assertEqual(len(ended), 3)
        self.assertTrue(coordinator.joined)

    def test_join_raises_the_first_exception_but_not_the_end_of_the_input(self):
        coordinator = tf.train.Coordinator()

        def work():
            with coordinator.stop_on_exception():
                raise KeyError("in a thread")

        thread = threading.Thread(target=work)
        thread.start()
        with self.assertRaisesRegex(KeyError, "in a thread"):
            coordinator.join([thread])
        with self.assertRaisesRegex(KeyError, "in a thread"):
            coordinator.raise_requested_exception()
        coordinator.clear_stop()
        self.assertFalse(coordinator.should_stop())
        coordinator.request_stop(tf.errors.OutOfRangeError(None, None, "end"))
        coordinator.join()

    def test_a_thread_that_does_not_end_is_an_error(self):
        coordinator = tf.train.Coordinator()
        release = threading.Event()
        thread = threading.Thread(target=release.wait, name="stays")
        thread.start()
        coordinator.request_stop()
        with self.assertRaisesRegex(RuntimeError, "still running: stays"):
            coordinator.join([thread], stop_grace_period_secs=0.01)
        coordinator.join([thread], stop_grace_period_secs=0.01, ignore_live_threads=True)
        release.set()
        thread.join()

    def test_a_looper_calls_again_and_again(self):
        coordinator = tf.train.Coordinator()
        calls = []

        def target(limit):
            calls.append(1)
            if len(calls) == limit:
                coordinator.request_stop()

        looper = tf.train.LooperThread.loop(coordinator, 0, target, args=(3,))
        coordinator.join([looper])
        self.assertEqual(len(calls), 3)


class QueueRunnerTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_an_error_of_an_enqueue_is_raised_by_join(self):
        queue = tf.FIFOQueue(3, tf.float32, [[]])
        bad = make_op("CheckNumerics", [tf.constant(1.0) / 0.0], message="the message").outputs[0]
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(bad)]))
        with tf.Session():
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(coord=coordinator)
            self.assertEqual(len(threads), 1)
            coordinator.wait_for_stop(10)
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "the message"):
                coordinator.join(threads)

    def test_threads_without_a_coordinator_end_with_the_session(self):
        queue = tf.FIFOQueue(3, tf.int32, [[]])
        count = tf.Variable(0)
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(count.assign_add(1))] * 2))
        taken = queue.dequeue()
        with tf.Session() as session:
            session.run(count.initializer)
            self.assertEqual(len(tf.train.start_queue_runners()), 2)
            self.assertEqual(len([session.run(taken) for _ in range(20)]), 20)
        with self.assertRaisesRegex(ValueError, "No default session"):
            tf.train.start_queue_runners()

    def test_a_program_may_end_while_threads_wait(self):
        import subprocess
        import sys

        program = (
            "import tensorbraid as tf\n"
            "q = tf.train.range_input_producer(3)\n"
            "session = tf.Session()\n"
            "tf.train.start_queue_runners(session, tf.train.Coordinator())\n"
            "print(session.run(q.dequeue()) in (0, 1, 2))\n")
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
        self.assertEqual((ran.returncode, ran.stdout), (0, "True\n"), ran.stderr)
        self.assertNotIn("leaked", ran.stderr)


class InputTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_summaries_say_how_full_the_queues_are(self):
        number = tf.train.range_input_producer(4, shuffle=False).dequeue()
        batch = tf.train.batch([number], batch_size=2)
        self.assertEqual((number.name, batch.name), ("input_producer_Dequeue:0", "batch:0"))
        self.assertEqual([s.name for s in tf.get_collection("summaries")],
                         ["input_producer/fraction_of_32_full:0", "batch/fraction_of_32_full:0"])
        self.assertEqual(len(tf.get_collection("queue_runners")), 2)

    def test_wrong_arguments_are_refused(self):
        with self.assertRaisesRegex(ValueError, "non-null"):
            tf.train.string_input_producer([])
        with self.assertRaisesRegex(ValueError, "num_epochs must be > 0"):
            tf.train.limit_epochs(tf.constant(1), num_epochs=0)
        with self.assertRaisesRegex(ValueError, "fully defined"):
            tf.train.batch([tf.placeholder(tf.float32, [None])], batch_size=2)
        with self.assertRaisesRegex(ValueError, "different numbers of rows"):
            tf.train.slice_input_producer([np.zeros(3), np.zeros(4)])

    def test_files_that_match_are_found_once(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("a", "b"):
                with open(os.path.join(folder, name), "w") as file:
                    file.write(name)
            names = tf.train.match_filenames_once(os.path.join(folder, "*"))
            queue = tf.train.string_input_producer(names, num_epochs=1, shuffle=False)
            _, content = tf.WholeFileReader().read(queue)
            with tf.train.MonitoredSession() as session:
                with open(os.path.join(folder, "c"), "w"):
                    pass
                self.assertEqual([os.path.basename(name) for name in session.run(names)], [b"a", b"b"])
                self.assertEqual([session.run(content) for _ in range(2)], [b"a", b"b"])

    def test_records_of_tfrecord_files_and_work_itself_can_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "events")
            with tf.summary.FileWriter(path) as writer:
                writer.add_summary(b"")
            files = [os.path.join(path, name) for name in os.listdir(path)]
            key, value = tf.TFRecordReader().read(tf.train.string_input_producer(files, num_epochs=1))
            identity = tf.IdentityReader()
            keys = identity.read_up_to(tf.train.string_input_producer(["a", "b"], num_epochs=1, shuffle=False), 1)
            produced = identity.num_records_produced()
            with tf.Session() as session:
                session.run(tf.local_variables_initializer())
                coordinator = tf.train.Coordinator()
                tf.train.start_queue_runners(session, coordinator)
                self.assertIn(b"brain.Event", session.run(value))
                self.assertEqual([list(session.run(keys.key)) for _ in range(2)], [[b"a"], [b"b"]])
                self.assertEqual(session.run(produced), 2)
                coordinator.request_stop()
                coordinator.join()


class StagingAreaTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_elements_wait_for_the_next_step(self):
        area = tf.contrib.staging.StagingArea([tf.float32, tf.int32], shapes=[[2], []])
        value = tf.placeholder(tf.float32, [2])
        put, got, peeked = area.put([value, 7]), area.get(), area.peek(1)
        self.assertEqual([t.shape.as_list() for t in got], [[2], []])
        with tf.Session() as session:
            session.run(put, {value: [1, 2]})
            session.run(put, {value: [3, 4]})
            self.assertEqual(session.run(area.size()), 2)
            np.testing.assert_array_equal(session.run(peeked)[0], [3, 4])
            np.testing.assert_array_equal(session.run(got)[0], [1, 2])
            # One step uses what an earlier one has prepared.
            _, (now, number) = session.run([put, got], {value: [5, 6]})
            np.testing.assert_array_equal(now, [3, 4])
            self.assertEqual(number, 7)
            session.run(area.clear())
            self.assertEqual(session.run(area.size()), 0)

    def test_names_make_dictionaries_and_areas_of_one_name_are_one(self):
        first = tf.contrib.staging.StagingArea([tf.float32], names=["x"], shared_name="shared", capacity=1)
        second = tf.contrib.staging.StagingArea([tf.float32], names=["x"], shared_name="shared", capacity=1)
        with tf.Session() as session:
            session.run(first.put({"x": tf.constant(1.5)}))
            self.assertEqual(session.run(second.get()["x"]), 1.5)

    def test_mistakes_are_named(self):
        area = tf.contrib.staging.StagingArea([tf.float32, tf.int32], shapes=[[2], []])
        for values, message in ([[1.0, 2.0]], "2 components got 1"), ([[1.0, 2.0, 3.0], 1], "incompatible"), \
                ([[1, 2], 1], "Datatypes do not match"), ({"x": 1.0}, "must have names"):
            with self.subTest(message), self.assertRaisesRegex(ValueError, message):
                area.put(values)
        with self.assertRaisesRegex(ValueError, "same length"):
            tf.contrib.staging.StagingArea([tf.float32], shapes=[[1], [2]])


if __name__ == "__main__":
    unittest.main()
