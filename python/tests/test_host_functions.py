"""Functions of the program in steps: tf.py_func, and datasets from generators."""

import gc
import subprocess
import sys
import threading
import unittest
import weakref

import numpy as np

import tensorbraid as tf


class HostFunctionTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_one_and_several_results(self):
        single = tf.py_func(lambda x, y: x + y, [1.0, tf.constant([1.0, 2.0])], tf.float32)
        self.assertEqual((single.op.type, single.dtype, single.shape.ndims), ("PyFunc", tf.float32, None))
        pair = tf.py_func(lambda x: (x * 2, b"a"), [np.int64(4)], [tf.int64, tf.string], stateful=False, name="pair")
        self.assertEqual([t.name for t in pair], ["pair:0", "pair:1"])
        self.assertEqual(pair[0].op.type, "PyFuncStateless")
        with tf.Session() as session:
            np.testing.assert_array_equal(session.run(single), [2.0, 3.0])
            self.assertEqual(session.run(pair), [8, b"a"])

    def test_without_results_it_is_an_operation(self):
        seen = []
        operation = tf.py_func(lambda x: seen.append(x.item()), [3], [])
        self.assertIsInstance(operation, tf.Operation)
        with tf.Session() as session:
            self.assertIsNone(session.run(operation))
        self.assertEqual(seen, [3])

    def test_strings(self):
        upper = tf.py_func(lambda texts: np.array([t.decode().upper() for t in texts]), [["a", "b"]], tf.string)
        with tf.Session() as session:
            self.assertEqual(session.run(upper).tolist(), [b"A", b"B"])

    def test_wrong_results_are_errors(self):
        with tf.Session() as session:
            for function in (lambda x: 2.0, lambda x: np.float64(2), lambda x: None, lambda x: [x, x]):
                with self.assertRaises(tf.errors.InvalidArgumentError):
                    session.run(tf.py_func(function, [1.0], tf.float32))

    def test_its_exceptions_are_the_errors_of_the_step(self):
        def fail(kind):
            raise kind("of mine")

        with tf.Session() as session:
            for kind, expected in ((ValueError, tf.errors.InvalidArgumentError),
                                   (StopIteration, tf.errors.OutOfRangeError),
                                   (KeyError, tf.errors.UnknownError),
                                   (NotImplementedError, tf.errors.UnimplementedError)):
                with self.assertRaisesRegex(expected, f"(?s){kind.__name__}.*of mine.*test_host_functions.py"):
                    session.run(tf.py_func(lambda x, k=kind: fail(k), [1.0], tf.float32))

    def test_the_function_gets_arrays_of_its_own(self):
        value = np.arange(100_000, dtype=np.float32)
        kept = []
        x = tf.placeholder(tf.float32, [100_000])
        call = tf.py_func(lambda a: kept.append(a), [x], [], stateful=False)
        with tf.Session() as session:
            session.run(call, {x: value})
        value[:] = -1
        np.testing.assert_array_equal(kept[0], np.arange(100_000))

    def test_it_may_run_a_session(self):
        inner = tf.constant(5.0)
        with tf.Session() as session:
            outer = tf.py_func(lambda: session.run(inner), [], tf.float32)
            self.assertEqual(session.run(outer), 5.0)

    def test_steps_of_several_threads(self):
        x = tf.placeholder(tf.int64, [])
        doubled = tf.py_func(lambda v: v * 2, [x], tf.int64)
        results = []
        with tf.Session() as session:
            def work(begin):
                results.extend(session.run(doubled, {x: i}) == 2 * i for i in range(begin, begin + 50))

            threads = [threading.Thread(target=work, args=(50 * i,)) for i in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(results, [True] * 200)

    def test_a_graph_that_is_deleted_lets_its_functions_go(self):
        def make():
            graph = tf.Graph()
            with graph.as_default(), tf.Session() as session:
                def function():
                    return session is None  # a cycle through C++: graph, function, session, graph

                self.assertFalse(session.run(tf.py_func(function, [], tf.bool)))
            return weakref.ref(function), weakref.ref(graph)

        references = make()
        gc.collect()
        self.assertEqual([reference() for reference in references], [None, None])

    def test_a_program_may_end_while_its_functions_run(self):
        program = """
import threading, time
import tensorbraid as tf

server = tf.train.Server.create_local_server()
element = tf.data.Dataset.from_generator(lambda: iter(range(10**9)), tf.int64).prefetch(2)
element = element.make_one_shot_iterator().get_next()
started = threading.Event()
slow = tf.py_func(lambda: started.set() or time.sleep(0.3) or 1, [], tf.int64)
sessions = [tf.Session(server.target), tf.Session()]
print([int(session.run(element)) for session in sessions])
threading.Thread(target=sessions[1].run, args=(slow,), daemon=True).start()
started.wait()
"""
        ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
        self.assertEqual((ended.returncode, ended.stdout), (0, "[0, 0]\n"), ended.stderr)

    def test_a_function_of_another_process_is_refused(self):
        text = tf.py_func(lambda: 1, [], tf.int64, name="call").graph.as_graph_def()
        tf.reset_default_graph()
        gc.collect()
        tf.import_graph_def(text, name="")
        with tf.Session() as session, self.assertRaisesRegex(tf.errors.FailedPreconditionError, "process"):
            session.run("call:0")


class GeneratorTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def run_all(self, dataset):
        element = dataset.make_one_shot_iterator().get_next()
        values = []
        with tf.Session() as session:
            with self.assertRaises(tf.errors.OutOfRangeError):
                while True:
                    values.append(session.run(element))
        return values

    def test_structures_and_shapes(self):
        def generate():
            for i in range(3):
                yield {"x": [i, i + 1], "name": f"row {i}"}

        dataset = tf.data.Dataset.from_generator(generate, {"x": tf.float32, "name": tf.string},
                                                 {"x": tf.TensorShape([2]), "name": []})
        self.assertEqual(dataset.output_shapes["x"].as_list(), [2])
        values = self.run_all(dataset)
        self.assertEqual([v["name"] for v in values], [b"row 0", b"row 1", b"row 2"])
        np.testing.assert_array_equal(values[2]["x"], [2.0, 3.0])

    def test_arguments_and_repeats(self):
        dataset = tf.data.Dataset.from_generator(lambda n: iter(range(n)), tf.int64, [], args=(tf.constant(2),))
        self.assertEqual(self.run_all(dataset.repeat(2).map(lambda x: x * 10)), [0, 10, 0, 10])

    def test_inside_of_another_dataset(self):
        dataset = tf.data.Dataset.range(1, 4).flat_map(
            lambda n: tf.data.Dataset.from_generator(lambda k: iter([k] * int(k)), tf.int64, [], args=(n,)))
        self.assertEqual(self.run_all(dataset), [1, 2, 2, 3, 3, 3])

    def test_maps_may_call_the_program(self):
        dataset = tf.data.Dataset.range(4).map(lambda x: tf.py_func(lambda v: v * v, [x], tf.int64),
                                               num_parallel_calls=2)
        self.assertEqual(self.run_all(dataset), [0, 1, 4, 9])

    def test_elements_that_do_not_fit(self):
        def first(dataset):
            with tf.Session() as session:
                session.run(dataset.make_one_shot_iterator().get_next())

        def generator_of(value):
            return lambda: iter([value])

        from_generator = tf.data.Dataset.from_generator
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "converted to the expected type"):
            first(from_generator(generator_of("a"), tf.float32))
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "shape"):
            first(from_generator(generator_of([1, 2]), tf.float32, [3]))
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "structure"):
            first(from_generator(generator_of((1, 2)), (tf.float32, tf.float32, tf.float32)))
        with self.assertRaises(TypeError):
            from_generator([1, 2], tf.int64)

    def test_errors_of_the_generator(self):
        def generate():
            yield 1
            raise KeyError("broken")

        element = tf.data.Dataset.from_generator(generate, tf.int64).make_one_shot_iterator().get_next()
        with tf.Session() as session:
            self.assertEqual(session.run(element), 1)
            with self.assertRaisesRegex(tf.errors.UnknownError, "broken"):
                session.run(element)


if __name__ == "__main__":
    unittest.main()
