"""Mistakes of a program raise exceptions and never end the process; threads and many sessions do no harm."""

import gc
import os
import subprocess
import sys
import threading
import unittest

import numpy as np

import tensorbraid as tf

ERRORS = (TypeError, ValueError, RuntimeError, tf.errors.OpError, LookupError, ArithmeticError, AttributeError,
          MemoryError)


class NoArray:
    def __array__(self, *args, **kwargs):
        raise ArithmeticError("no array")


class Shrinking(list):
    def __len__(self):
        if super().__len__():
            self.pop()
        return super().__len__() + 1


def hostile():
    """Values that are no tensors."""
    recursive = [1.0]
    recursive.append(recursive)
    mixed = [tf.constant(1.0)]
    mixed.append(mixed)
    return [recursive, mixed, NoArray(), [NoArray()], Shrinking([1, 2, 3]), object(), {"a": 1}, lambda: 1, slice(1),
            ..., np.zeros(2, [("a", "i4")]), np.array(["2020-01-01"], "M8[D]"), 10**30, [[1, 2], [3]], {1, 2},
            tf.Tensor, "\0"]


class MistakesTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_values_that_are_no_tensors(self):
        x = tf.placeholder(tf.float32, [None])
        calls = [lambda v: tf.constant(v, tf.float32), lambda v: tf.add(x, v), lambda v: tf.reshape(x, v),
                 lambda v: tf.concat(v, 0), lambda v: tf.stack([v, x]), lambda v: tf.Variable(v, dtype=tf.float32),
                 lambda v: tf.gradients(v, x), lambda v: tf.Session().run(v), lambda v: tf.Session().run(x, {x: v}),
                 lambda v: tf.Session().run(x, {v: 1.0}), lambda v: tf.zeros(v), lambda v: tf.group(v),
                 lambda v: tf.placeholder(v), lambda v: tf.device(v).__enter__(), lambda v: tf.control_dependencies(v),
                 lambda v: tf.layers.dense(x, v), lambda v: tf.train.Saver(v),
                 lambda v: tf.data.Dataset.from_tensors(v), lambda v: tf.Graph().as_graph_element(v),
                 lambda v: tf.import_graph_def(v)]
        for call in calls:
            for value in hostile():
                with tf.Graph().as_default():
                    try:
                        call(value)
                    except ERRORS:
                        pass

    def test_a_list_that_contains_itself(self):
        for value in hostile()[:2]:
            with self.assertRaises((RecursionError, ValueError, TypeError)):
                tf.add(value, 1.0)

    def test_objects_of_another_graph(self):
        with tf.Graph().as_default():
            there, variable, operation = tf.constant(1.0), tf.Variable(1.0), tf.no_op()
            optimizer = tf.train.AdamOptimizer()
            optimizer.minimize(tf.square(variable))
        here = tf.constant(2.0)
        session = tf.Session()
        for call in (lambda: here + there, lambda: tf.concat([[here], [there]], 0), lambda: tf.gradients(here, there),
                     lambda: session.run(there), lambda: session.run(operation),
                     lambda: session.run(here, {there: 1.0}), lambda: tf.Variable(3.0).assign(there),
                     lambda: tf.group(here, operation), lambda: session.run(variable),
                     lambda: variable.load(1.0, session)):
            with self.assertRaises(ERRORS):
                call()
        with self.assertRaises(ERRORS), tf.control_dependencies([operation]):
            tf.identity(here)
        self.assertEqual(session.run(here), 2.0)

    def test_a_closed_session(self):
        x = tf.constant(1.0)
        session = tf.Session()
        session.run(x)
        session.close()
        session.close()
        for call in (lambda: session.run(x), session.list_devices, lambda: session.run([])):
            with self.assertRaisesRegex(RuntimeError, "closed"):
                call()

    def test_a_session_that_is_closed_while_it_runs(self):
        value = tf.FIFOQueue(1, [tf.float32], [[]]).dequeue()
        session = tf.Session()
        raised = []

        def run():
            try:
                session.run(value)
            except ERRORS as error:
                raised.append(error)

        threads = [threading.Thread(target=run) for _ in range(4)]
        for thread in threads:
            thread.start()
        session.close()
        for thread in threads:
            thread.join(60)
            self.assertFalse(thread.is_alive())
        self.assertEqual(len(raised), 4)

    def test_a_graph_that_is_dropped_lives_as_long_as_its_objects(self):
        def make():
            with tf.Graph().as_default():
                v = tf.Variable([1.0, 2.0], name="v")
                return v, tf.reduce_sum(v * 3.0), tf.train.Saver(), v.initializer, tf.data.make_initializable_iterator(
                    tf.data.Dataset.range(3))

        v, total, saver, initializer, iterator = make()
        gc.collect()
        self.assertEqual(v.name, "v:0")
        with total.graph.as_default():
            following = iterator.get_next() + 1
        with tf.Session(graph=total.graph) as session:
            session.run([initializer, iterator.initializer])
            self.assertEqual(session.run([total, following]), [9.0, 1])
        del v, saver, initializer, iterator, session
        gc.collect()
        self.assertEqual(total.op.inputs[0].op.type, "Mul")

    def test_huge_shapes(self):
        for shape in ([2**31, 2**31], [2**62, 4], [2**40], [1] * 300, [-5], [2**63]):
            for call in (lambda: tf.zeros(shape), lambda: tf.placeholder(tf.float32, shape),
                         lambda: tf.fill(shape, 1.0),
                         lambda: tf.constant(0.0, shape=shape) if np.prod(shape, dtype=float) > 2**50 else None,
                         lambda: tf.random_normal(shape), lambda: tf.reshape(tf.constant([1.0]), shape)):
                with tf.Graph().as_default():
                    try:
                        result = call()
                        if result is not None and result.op.type != "Placeholder":
                            with tf.Session() as session:
                                session.run(tf.reduce_sum(result))
                    except ERRORS:
                        pass

    def test_not_a_number(self):
        x = tf.placeholder(tf.float32, [None])
        nan = float("nan")
        with tf.Session() as session:
            for op in (tf.nn.softmax(x), tf.argmax(x), tf.nn.top_k(x, 2).indices, tf.cast(x, tf.int32),
                       tf.gather([1.0], tf.cast(x, tf.int32) * 0), tf.unique(x)[0], tf.one_hot(tf.cast(x, tf.int32), 2),
                       tf.histogram_fixed_width(x, [0.0, 1.0]), tf.random_normal([2]) * x[:2]):
                try:
                    session.run(op, {x: [nan, 1.0, float("inf"), nan]})
                except tf.errors.OpError:
                    pass

    def test_functions_of_the_program_that_raise(self):
        def fails(*args, **kwargs):
            raise KeyError("of the program")

        def on_a_device():
            with tf.device(fails):
                return x + 1

        for call in (lambda: tf.cond(x[0] > 0, fails, fails), lambda: tf.while_loop(fails, fails, [x]),
                     lambda: tf.map_fn(fails, x), lambda: tf.data.Dataset.range(3).map(fails),
                     lambda: tf.get_variable("a", [1], initializer=fails), on_a_device,
                     lambda: tf.layers.dense(x[None], 1, kernel_initializer=fails)):
            with tf.Graph().as_default():
                with self.assertRaises((KeyError, ValueError)):
                    x = tf.constant([1.0])
                    call()

    def test_an_operation_is_created_while_steps_run(self):
        x = tf.Variable(1.0)
        with tf.Session() as session:
            session.run(x.initializer)
            stop = threading.Event()

            def steps():
                while not stop.is_set():
                    session.run(x)

            thread = threading.Thread(target=steps)
            thread.start()
            try:
                for i in range(200):
                    self.assertEqual(session.run(x + float(i)), 1.0 + i)
            finally:
                stop.set()
                thread.join()


class ThreadsTest(unittest.TestCase):
    def test_ten_threads_lose_no_step(self):
        tf.reset_default_graph()
        count = tf.Variable(0, dtype=tf.int64)
        x = tf.placeholder(tf.float32, [8, 8])
        product = tf.matmul(x, x)
        with tf.control_dependencies([product]):
            increment = tf.assign_add(count, 1, use_locking=True)
        wrong = []
        with tf.Session() as session:
            session.run(count.initializer)

            def work(index):
                value = np.full([8, 8], index, np.float32)
                for _ in range(50):
                    result, _ = session.run([product, increment], {x: value})
                    if result[0, 0] != 8 * index * index:
                        wrong.append(index)

            threads = [threading.Thread(target=work, args=(i,)) for i in range(10)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join(120)
                self.assertFalse(thread.is_alive(), "a thread is stuck")
            self.assertEqual(session.run(count), 500)
        self.assertEqual(wrong, [])


class MemoryTest(unittest.TestCase):
    def test_sessions_and_graphs_are_freed(self):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "memory_growth.py")
        ran = subprocess.run([sys.executable, script, "300"], capture_output=True, text=True)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)


if __name__ == "__main__":
    unittest.main()
