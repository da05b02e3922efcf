"""tensorflow.python.framework.test_util, tf.test.compute_gradient and tf.test.Benchmark."""

import contextlib
import io
import sys
import unittest

import numpy as np
import tensorbraid as tf
from tensorbraid.internal import benchmarks
from tensorbraid.runner import api

test_util = api.find("python.framework.test_util")


class TestUtilTest(test_util.TensorFlowTestCase):
    def test_it_is_the_class_of_tf_test(self):
        self.assertIsInstance(self, tf.test.TestCase)

    def test_nodes_of_a_graph_are_expected(self):
        tf.constant(1.0, name="a")
        graph = tf.get_default_graph()
        self.assertEqual(list(test_util.assert_ops_in_graph({"a": "Const"}, graph)), ["a"])
        with self.assertRaisesRegex(ValueError, "Not all expected ops are present"):
            test_util.assert_ops_in_graph({"b": "Const"}, graph)
        with self.assertRaisesRegex(ValueError, "is different. Add vs Const"):
            test_util.assert_ops_in_graph({"a": "Add"}, graph)
        before = graph.as_graph_def()
        test_util.assert_equal_graph_def(before, graph.as_graph_def())
        tf.constant(1.0, name="b")
        with self.assertRaisesRegex(AssertionError, "'b' is in one of"):
            test_util.assert_equal_graph_def(graph.as_graph_def(), before)

    def test_formats_of_images(self):
        self.assertEqual(test_util.NHWCToNCHW([1, 2, 3, 4]), [1, 4, 2, 3])
        self.assertEqual(test_util.NCHWToNHWC([1, 4, 2, 3]), [1, 2, 3, 4])
        self.assertEqual(test_util.NCHWToNHWC(tf.zeros([1, 5, 2, 3, 4])).shape.as_list(), [1, 2, 3, 4, 5])

    def test_decorators(self):
        ran = []

        class Tests(test_util.TensorFlowTestCase):
            @test_util.run_in_graph_and_eager_modes(config=None)
            def test_a(self):
                ran.append(tf.get_default_session() is not None)

            @test_util.run_deprecated_v1
            def test_b(self):
                ran.append("b")

            @test_util.run_v1_only("a reason")
            def test_c(self):
                ran.append("c")

            @test_util.run_v2_only
            def test_d(self):
                ran.append("d")

            @test_util.skip_if(lambda: True)
            def test_e(self):
                ran.append("e")

        result = unittest.TestResult()
        unittest.defaultTestLoader.loadTestsFromTestCase(Tests).run(result)
        self.assertEqual((ran, len(result.skipped), result.errors), ([True, "b", "c"], 1, []))


class GradientTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()

    def test_gradients_are_compared_with_differences(self):
        x = tf.placeholder(tf.float64, [2, 3])
        w = tf.constant(np.arange(6.0).reshape(3, 2))
        value = np.arange(6.0).reshape(2, 3)
        with tf.Session():
            by_graph, by_differences = tf.test.compute_gradient(x, [2, 3], tf.matmul(x, w), [2, 2], value)
            np.testing.assert_allclose(by_graph, np.kron(np.eye(2), np.arange(6.0).reshape(3, 2)))
            np.testing.assert_allclose(by_differences, by_graph, atol=1e-8)
            self.assertLess(tf.test.compute_gradient_error(x, [2, 3], tf.square(x), [2, 3]), 1e-6)
            self.assertLess(tf.test.compute_gradient_error(x, [2, 3], x + 1.0, [2, 3]), 1e-6)  # dx is dy
            wrong = tf.stop_gradient(x) * x
            self.assertGreater(tf.test.compute_gradient_error(x, [2, 3], wrong, [2, 3], value), 0.9)

    def test_lists_complex_numbers_and_rows(self):
        v = tf.get_variable("v", [3, 2], tf.float64)
        c = tf.constant([1 + 2j, 3 - 1j])
        rows = tf.nn.embedding_lookup(v, [2, 0])
        with tf.Session():
            errors = tf.test.compute_gradient([v, c], [[3, 2], [2]], tf.cast(rows, tf.complex128) * c, [2, 2],
                                              init_targets=[v.initializer])
            self.assertEqual([error[0].shape for error in errors], [(6, 8), (4, 8)])
            for by_graph, by_differences in errors:
                np.testing.assert_allclose(by_graph, by_differences, atol=1e-6)
            with self.assertRaisesRegex(TypeError, "needs real or complex numbers"):
                tf.test.compute_gradient(tf.constant(1), [], v, [3, 2])


class BenchmarkTest(unittest.TestCase):
    def test_benchmarks_run_by_name_and_report(self):
        class Measured(tf.test.Benchmark):
            def benchmarkSum(self):
                with tf.Graph().as_default(), tf.Session(config=tf.test.benchmark_config()) as session:
                    self.values = self.run_op_benchmark(session, tf.constant(1.0) + 2.0, min_iters=3, store_trace=True,
                                                        extras={"kind": "sum"})
                type(self).found = self.values

            def benchmarkOther(self):
                self.report_benchmark(iters=1, name="renamed", metrics=[{"name": "m", "value": 2.0, "max_value": 3}])

        printed, before = io.StringIO(), sys.argv
        with contextlib.redirect_stdout(printed):
            benchmarks.run("Measured")
            try:
                sys.argv = ["program", "--benchmarks=Measured.benchmarkOther"]
                tf.test.main()
            finally:
                sys.argv = before
        self.assertIn('name: "Measured.benchmarkSum"\n  iters: 3\n  wall_time: ', printed.getvalue())
        self.assertIn('extras { key: "kind" value { string_value: "sum" } }', printed.getvalue())
        self.assertEqual(printed.getvalue().count(
            'name: "Measured.renamed"\n  iters: 1\n  metrics { name: "m" value: 2.0 max_value { value: 3 } }'), 2)
        self.assertIn("full_trace_chrome_format", Measured.found["extras"])
        with self.assertRaisesRegex(ValueError, "No benchmarks matched the pattern: 'nothing_so'"):
            benchmarks.run("nothing_so")


if __name__ == "__main__":
    unittest.main()
