"""Threads that build one graph while others run steps of it."""

import threading
import unittest

import numpy as np
import tensorbraid as tf


class ThreadsTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def in_threads(self, *functions):
        graph, errors = tf.get_default_graph(), []

        def run(function):
            try:
                with graph.as_default():
                    function()
            except BaseException as error:  # noqa: B902
                errors.append(error)

        threads = [threading.Thread(target=run, args=(function,)) for function in functions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(errors, [])

    def test_threads_build_and_run_at_once(self):
        x = tf.placeholder(tf.float32, [None, 20], "x")
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        add = v.assign_add(1.0)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())

            def build_and_run():
                for k in range(40):
                    values = session.run(x * float(k), {x: np.full((2, 20), 3.0)})
                    np.testing.assert_array_equal(values, np.full((2, 20), 3.0 * k))

            def build_cond():
                for _ in range(20):
                    tf.cond(x[0, 0] > 0, lambda: tf.reduce_sum(x), lambda: tf.constant(0.0))

            def run_fixed():
                for _ in range(100):
                    session.run(add)

            self.in_threads(build_and_run, build_and_run, build_cond, build_cond, run_fixed, run_fixed)
            self.assertEqual(session.run(v), 200)

    def test_scopes_belong_to_the_thread_that_opened_them(self):
        made = []
        with tf.name_scope("outer"), tf.device("/job:ps"), tf.variable_scope("scope"):
            self.in_threads(lambda: made.extend([tf.constant(1.0, name="alone"), tf.get_variable("v", [])]))
        self.assertEqual([(value.name, value.op.device) for value in made], [("alone:0", ""), ("v:0", "")])

    def test_a_device_function_may_wait_for_a_thread_that_builds(self):
        # The function runs while its thread holds the graph's lock. The other thread releases Python's lock meanwhile.
        entered, tried = threading.Event(), threading.Event()

        def device(op):
            entered.set()
            tried.wait(10)
            return "/cpu:0"

        def place():
            with tf.device(device):
                tf.no_op()

        def build():
            entered.wait(10)
            tried.set()
            tf.constant(1.0)

        self.in_threads(place, build)


if __name__ == "__main__":
    unittest.main()
