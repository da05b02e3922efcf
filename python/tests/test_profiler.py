"""tf.profiler: trees, reports, the steps of a Profiler, advice, and what is refused. compare_profiles.py has the numbers."""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

import tensorbraid as tf
from tensorbraid import proto

Builder = tf.profiler.ProfileOptionBuilder


def printed(call, *args, **kwargs):
    """What a call returns and prints."""
    text = io.StringIO()
    with contextlib.redirect_stdout(text):
        return call(*args, **kwargs), text.getvalue()


def names(message):
    """The names below a message, in order."""
    return [(child.name, names(child)) for child in message.children]


def metadata(*nodes):
    """A RunMetadata with these (name, start, micros, bytes) on a CPU."""
    result = tf.RunMetadata()
    device = result.step_stats.dev_stats.add(device="/job:localhost/replica:0/task:0/device:CPU:0")
    for name, start, micros, size in nodes:
        node = device.node_stats.add(node_name=name, all_start_micros=start, op_end_rel_micros=micros)
        node.memory.add(total_bytes=size, peak_bytes=size)
    return result


class ProfilerTest(unittest.TestCase):
    def setUp(self):
        tf.reset_default_graph()
        with tf.variable_scope("a"):
            self.w = tf.get_variable("w", [30, 40])
        self.x = tf.placeholder(tf.float32, [None, 30], name="x")
        with tf.name_scope("b"):
            self.line = sys._getframe().f_lineno + 1
            self.product = tf.matmul(self.x, self.w, name="product")
            tf.nn.relu(self.product, name="relu")

    def quiet(self, **options):
        return {**Builder().with_empty_output().build(), **options}

    def test_the_report_has_scopes_and_sums(self):
        found, text = printed(tf.profiler.profile, tf.get_default_graph())
        self.assertEqual(found.total_parameters, 1200)
        self.assertIn("-account_type_regexes       _trainable_variables\n", text)
        self.assertIn("\nProfile:\nnode name | # parameters\n_TFProfRoot (--/1.20k params)\n  a (--/1.20k params)\n"
                      "    a/w (30x40, 1.20k/1.20k params)\n\n====", text)

    def test_operations_of_a_type_are_written_to_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report")
            tf.matmul(tf.placeholder(tf.float32, [2, 30]), self.w)
            found = tf.profiler.profile(cmd="op", options={**Builder.float_operation(), "output": f"file:outfile={path}",
                                                           "show_name_regexes": ["MatMul"]})
            with open(path) as file:
                line = file.read().splitlines()[-1]
        self.assertEqual(line.split(), ["MatMul", "4.80k", "float_ops", "(100.00%,", "100.00%)"])
        self.assertEqual(found.total_float_ops, 4800)

    def test_a_graph_has_inputs_below_nodes(self):
        found = tf.profiler.profile(cmd="graph", options=self.quiet(start_name_regexes=["b/relu"], max_depth=4))
        self.assertEqual(names(found)[0][0], "b/relu")
        self.assertEqual(names(found)[0][1][0][0], "b/product")
        self.assertIn(("x", []), names(found)[0][1][0][1])

    def test_a_very_deep_graph_has_a_report(self):
        net = self.product
        for _ in range(2000):
            net = tf.identity(net)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "report")
            tf.profiler.profile(cmd="graph", options=self.quiet(max_depth=10000, output=f"file:outfile={path}"))
            with open(path) as file:
                self.assertIn(" " * 4000 + "Identity (", file.read())

    def test_a_session_gives_times_sizes_and_shapes(self):
        run_meta = tf.RunMetadata()
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run("b/relu:0", {self.x: [[1.0] * 30] * 5}, tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE),
                        run_meta)
        found = tf.profiler.profile(run_meta=run_meta, options=self.quiet(show_name_regexes=["b/product"]))
        node, = found.children
        self.assertEqual((node.run_count, node.requested_bytes, node.float_ops), (1, 800, 2 * 30 * 5 * 40))
        self.assertGreaterEqual(node.exec_micros, 1)
        self.assertEqual(list(node.devices), ["/job:localhost/replica:0/task:0/device:cpu:0"])
        self.assertEqual(self.x.shape.as_list(), [None, 30])

    def test_a_profiler_averages_steps_or_shows_one(self):
        profiler = tf.profiler.Profiler()
        profiler.add_step(1, metadata(("b/product", 100, 10, 64), ("b/relu", 110, 2, 8)))
        profiler.add_step(4, metadata(("b/product", 200, 30, 64)))
        kinds = profiler.profile_operations(self.quiet(order_by="micros"))
        self.assertEqual((kinds.children[0].name, kinds.children[0].exec_micros), ("MatMul", 20))
        self.assertEqual(kinds.children[0].children[0].exec_micros, 2)
        for step, micros in ((1, 12), (4, 30), (-1, 22)):
            self.assertEqual(profiler.profile_name_scope(self.quiet(step=step)).total_exec_micros, micros)
            self.assertEqual(profiler.profile_graph(self.quiet(step=step)).total_exec_micros, micros)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, r"no step 3, only \[1, 4\]"):
            profiler.profile_graph(self.quiet(step=3))
        serialized = proto.ProfileProto.FromString(profiler.serialize_to_string())
        self.assertEqual(list(serialized.steps), [1, 4])
        self.assertIn("b/relu", [node.name for node in serialized.nodes.values()])

    def test_a_log_gives_groups_operations_and_lines(self):
        log = tf.profiler.OpLogProto(id_to_string={1: "/home/me/train.py", 2: "main"})
        entry = log.log_entries.add(name="b/product", types=["mine"], float_ops=9)
        entry.code_def.traces.add(file_id=1, lineno=7, function_id=2)
        found = tf.profiler.profile(op_log=log, options=self.quiet(account_type_regexes=["mine"]))
        self.assertEqual((names(found), found.total_float_ops), ([("b", [("b/product", [])])], 9))
        profiler = tf.profiler.Profiler(op_log=log)
        lines = [name for name, _ in names(profiler.profile_python(self.quiet()))]
        self.assertIn("train.py:7:main", lines)
        self.assertIn(f"test_profiler.py:{self.line + 1}:setUp", lines)  # of a node that the log does not have
        with tempfile.TemporaryDirectory() as folder:
            tf.profiler.write_op_log(tf.get_default_graph(), folder, log)
            with open(os.path.join(folder, "tfprof_log"), "rb") as file:
                written = {entry.name: entry for entry in tf.profiler.OpLogProto.FromString(file.read()).log_entries}
        self.assertEqual(list(written["a/w"].types), ["_trainable_variables"])
        self.assertEqual(written["b/product"].float_ops, 9)

    def test_the_code_view_has_the_lines_of_the_program(self):
        found, text = printed(tf.profiler.profile, cmd="code", options=Builder().build())
        place = f"test_profiler.py:{self.line}:setUp"
        line, = [child for child in found.children if child.name == place]
        self.assertEqual([node.name for node in line.graph_nodes], ["b/product"])
        self.assertIn(place, text)
        with tempfile.TemporaryDirectory() as folder:
            for trace in (True, False):
                tf.profiler.write_op_log(None, folder, add_trace=trace)
                with open(os.path.join(folder, "tfprof_log"), "rb") as file:
                    log = tf.profiler.OpLogProto.FromString(file.read())
                product, = [entry for entry in log.log_entries if entry.name == "b/product"] or [None]
                self.assertEqual(product is not None and product.HasField("code_def"), trace)
                if trace:
                    line, = product.code_def.traces
                    self.assertEqual((line.lineno, log.id_to_string[line.function_id], log.id_to_string[line.line_id]), (
                        self.line, "setUp", 'self.product = tf.matmul(self.x, self.w, name="product")'))

    def test_timelines_have_the_runs_of_a_step(self):
        run_meta = metadata(("b/product", 100, 10, 64), ("b/relu", 105, 2, 8))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "line")
            events = {}
            for command in ("graph", "scope"):
                _, text = printed(tf.profiler.profile, run_meta=run_meta, cmd=command,
                                  options=Builder().with_step(0).with_timeline_output(path).build())
                self.assertIn(f"{path}_0", text)
                with open(f"{path}_0") as file:
                    events[command] = [(event["name"], event["ts"], event["dur"], event["tid"])
                                       for event in json.load(file)["traceEvents"] if event["ph"] == "X"]
        self.assertEqual(events["graph"], [("b/product", 100, 10, 0), ("b/relu", 105, 2, 1)])
        self.assertEqual(events["scope"][0], ("_TFProfRoot", 0, 12, 0))

    def test_advice_names_the_slow_types(self):
        with tf.name_scope("BatchNorm"):
            tf.no_op()
        run_meta = metadata(("b/product", 100, 3000, 64), ("b/relu", 3100, 1000, 8))
        found, text = printed(tf.profiler.advise, run_meta=run_meta)
        expensive = found.checkers["ExpensiveOperationChecker"].reports
        self.assertIn("1. type MatMul: 3.00ms, of which 3.00ms on CPUs and 0us on accelerators (75.00%)", expensive[0])
        self.assertIn("1. b: 4.00ms", expensive[1])
        self.assertIn("fused_batch_norm", found.checkers["OperationChecker"].reports[0])
        self.assertEqual(list(found.checkers["AcceleratorUtilizationChecker"].reports), [])
        self.assertIn(expensive[0], text)
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "No checker Mine"):
            tf.profiler.Profiler().advise({"Mine": {}})

    def test_what_is_refused_is_named(self):
        for options, text in (({"select": ["time"]}, "cannot select time"), ({"order_by": "size"}, "order_by .* 'size'"),
                              ({"show_name_regexes": ["("]}, "show_name_regexes"), ({"output": "file"}, "outfile")):
            with self.assertRaisesRegex(tf.errors.InvalidArgumentError, text):
                tf.profiler.profile(options=self.quiet(**options))
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "'tree'"):
            tf.profiler.profile(cmd="tree")
        with self.assertRaisesRegex(NotImplementedError, "pprof"):
            Builder().with_pprof_output("x")
        with self.assertRaisesRegex(NotImplementedError, "pprof"):
            tf.profiler.profile(options=self.quiet(output="pprof:outfile=x"))
        with tf.Graph().as_default() as imported:
            tf.import_graph_def(self.product.graph.as_graph_def())
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "op_log"):
            tf.profiler.profile(imported, cmd="code", options=self.quiet())
        with self.assertRaisesRegex(NotImplementedError, "tensor_value"):
            tf.profiler.profile(options=self.quiet(select=["tensor_value"]))
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "step 2 has no step_stats.*FULL_TRACE"):
            tf.profiler.Profiler().add_step(2, tf.RunMetadata())
        with self.assertRaisesRegex(tf.errors.InvalidArgumentError, "is -2"):
            tf.profiler.Profiler().add_step(-2, metadata())
        with self.assertRaisesRegex(TypeError, "run_meta must be a RunMetadata"):
            tf.profiler.profile(run_meta=3)

    def test_the_names_of_contrib_count_the_same(self):
        with tf.Graph().as_default() as graph:
            tf.get_variable("w", [3, 4])
            tfprof = tf.contrib.tfprof.model_analyzer
            options = {**tfprof.TRAINABLE_VARS_PARAMS_STAT_OPTIONS, "output": "none"}
            found = tfprof.print_model_analysis(graph, tfprof_options=options)
        self.assertEqual(found.total_parameters, 12)


if __name__ == "__main__":
    unittest.main()
