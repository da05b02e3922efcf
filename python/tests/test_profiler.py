"""tf.profiler: the report of a profile, and what is refused."""

import contextlib
import io
import os
import tempfile
import unittest

import tensorbraid as tf

Builder = tf.profiler.ProfileOptionBuilder


class ProfilerTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        with tf.variable_scope("a"):
            self.w = tf.get_variable("w", [30, 40])

    def test_the_report_has_scopes_and_sums(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            found = tf.profiler.profile(tf.get_default_graph())
        self.assertEqual(found.total_parameters, 1200)
        self.assertEqual(printed.getvalue(), "_TFProfRoot (--/1.20k params)\n  a (--/1.20k params)\n"
                                             "    a/w (30x40, 1.20k/1.20k params)\n")

    def test_operations_of_a_type_are_written_to_a_file(self):
        tf.matmul(tf.placeholder(tf.float32, [2, 30]), self.w, name="product")
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report")
            options = Builder(Builder.float_operation()).with_node_names(show_name_regexes=["product", "MatMul"])
            found = tf.profiler.profile(cmd="op", options=options.with_file_output(path).build())
            with open(path) as file:
                self.assertEqual(file.read().splitlines()[1], "  MatMul (4.80k/4.80k flops)")
        self.assertEqual(found.total_float_ops, 4800)

    def test_times_and_other_commands_are_refused(self):
        with self.assertRaisesRegex(NotImplementedError, "ProfilerHook"):
            Builder.time_and_memory()
        with self.assertRaisesRegex(NotImplementedError, "'graph'"):
            tf.profiler.profile(cmd="graph")
        with self.assertRaisesRegex(NotImplementedError, "micros"):
            tf.profiler.profile(options=Builder().with_empty_output().build())

    def test_the_names_of_contrib_count_the_same(self):
        with tf.Graph().as_default() as graph:
            tf.get_variable("w", [3, 4])
            tfprof = tf.contrib.tfprof.model_analyzer
            options = {**tfprof.TRAINABLE_VARS_PARAMS_STAT_OPTIONS, "output": "none"}
            found = tfprof.print_model_analysis(graph, tfprof_options=options)
        self.assertEqual(found.total_parameters, 12)


if __name__ == "__main__":
    unittest.main()
