"""Compares profiles of the package with those that TensorFlow makes of the same graph, steps and groups.

Both get the same messages, and must return the same trees and print the same tables. Needs a Python with TensorFlow, and
the package tensorbraid in PYTHONPATH.
"""

import contextlib
import io
import os
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorbraid as tf  # noqa: E402
from tensorbraid import proto  # noqa: E402
from tensorbraid.profiler import op_logs, records, views  # noqa: E402

Builder = tf.profiler.ProfileOptionBuilder
ALL = ["params", "float_ops", "micros", "bytes", "peak_bytes", "residual_bytes", "output_bytes", "device", "op_types",
       "occurrence", "input_shapes"]
# Without order_by: TensorFlow's order of equal numbers is no rule.
OPTIONS = [
    {},
    {"select": ["params", "float_ops"], "order_by": "params"},
    {"select": ["micros", "bytes"], "account_displayed_op_only": True, "min_micros": 1, "min_bytes": 1},
    {"max_depth": 2},
    {"max_depth": 0},
    {"account_type_regexes": ["_trainable_variables", "mine"], "select": ["params"]},
    {"account_type_regexes": ["MatMul", "Mul", "_trainable_variables"], "account_displayed_op_only": True},
    {"account_type_regexes": [".*cpu:0"]},
    {"start_name_regexes": ["net.*", "MatMul"]},
    {"trim_name_regexes": ["net/first.*", "Mul"]},
    {"show_name_regexes": ["net.*", "M.*", ".*gradients.*"], "hide_name_regexes": [".*w", "Mul"]},
    {"show_name_regexes": [".*w"], "account_displayed_op_only": True},
    {"min_params": 5}, {"min_float_ops": 10, "account_displayed_op_only": True}, {"min_occurrence": 2},
    {"min_peak_bytes": 20}, {"min_output_bytes": 100}, {"min_cpu_micros": 3}, {"min_accelerator_micros": 1},
    {"step": 0}, {"step": 3, "select": ["micros", "occurrence"]}, {"select": ["accelerator_micros"]},
    {"select": ["cpu_micros", "output_bytes"]},
]


def model():
    """A graph, two steps of it, and an OpLogProto."""
    graph = tf.Graph()
    with graph.as_default():
        x = tf.placeholder(tf.float32, [None, 6], name="x")
        with tf.variable_scope("net"):
            for name, width in (("first", 6), ("second", 3)):
                with tf.variable_scope(name):
                    x = tf.nn.relu(tf.matmul(x, tf.get_variable("w", [6, width])) + tf.get_variable("b", [width]))
        tf.get_variable("scalar", [], trainable=False)
        count = tf.while_loop(lambda i: i < 4, lambda i: i * 2 + 1, [tf.constant(0)])
        loss = tf.reduce_sum(x * x) + tf.cast(count, tf.float32)
        train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        metadata = [tf.RunMetadata(), tf.RunMetadata()]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            for rows, found in enumerate(metadata):
                session.run([loss, train], {"x:0": [[1.0] * 6] * (rows + 2)}, options=tf.RunOptions(
                    trace_level=tf.RunOptions.FULL_TRACE), run_metadata=found)
    log = proto.OpLogProto(log_entries=[proto.OpLogEntry(name="net/first/MatMul", types=["mine"], float_ops=7)],
                           id_to_string={0: "none", 1: "/home/me/train.py", 2: "main", 3: "build_the_whole_network"})
    lines = {"net/first/MatMul": (3, 8), "net/second/MatMul": (3, 9), "gradients/net/first/MatMul_grad/MatMul": (2, 5),
             "x": (2, 4)}
    for name, line in lines.items():
        entry = next((entry for entry in log.log_entries if entry.name == name), None) or log.log_entries.add(name=name)
        entry.code_def.traces.add(file_id=1, lineno=2, function_id=2)
        entry.code_def.traces.add(file_id=1, lineno=line[1], function_id=line[0])
    return graph, metadata, log


class Theirs:
    """TensorFlow's profile of the same messages."""

    def __init__(self, graph_def, op_log):
        from tensorflow.python.util import _pywrap_tfprof

        self._profiler, self._graph_def, self._op_log = _pywrap_tfprof, graph_def, op_log
        self._profiler.NewProfiler(graph_def.SerializeToString(), op_log.SerializeToString())

    def add_run(self, step, run_meta):
        self._profiler.AddStep(step, self._graph_def.SerializeToString(), run_meta.SerializeToString(),
                               self._op_log.SerializeToString())

    def message_of(self, command, options):
        from tensorflow.python.profiler import model_analyzer

        return self._profiler.Profile(command.encode(), model_analyzer._build_options(options).SerializeToString())

    def message(self):
        return self._profiler.SerializeToString()


def table(text):
    """The text of a report from the names of the columns on."""
    return text[text.index("node name |"):].rstrip()


def differences(ours, theirs, command, options, folder):
    """What differs in the message and in the written report."""
    kind = proto.GraphNodeProto if command in ("scope", "graph") else proto.MultiGraphNodeProto
    files = [os.path.join(folder, name) for name in ("ours", "theirs")]
    found = views.message_of(ours, command, {**options, "output": f"file:outfile={files[0]}"})
    wanted = kind.FromString(theirs.message_of(command, {**options, "output": f"file:outfile={files[1]}"}))
    texts = []
    for name in files:
        with open(name) as file:
            texts.append(table(file.read()))
    result = []
    if found != wanted:
        result.append(f"{command} {options}: the message is\n{found}\nnot\n{wanted}")
    if texts[0] != texts[1]:
        result.append(f"{command} {options}: the report is\n{texts[0]}\nnot\n{texts[1]}")
    return result


def main():
    graph, metadata, log = model()
    graph_def = op_logs.graph_with_shapes(graph, metadata[0])
    log = op_logs.op_log_of(graph, graph_def, log)
    ours, theirs = records.Profile(graph_def), Theirs(graph_def, log)
    ours.add_log(log)
    for step, run_meta in ((0, metadata[0]), (3, metadata[1])):
        ours.add_run(step, run_meta)
        theirs.add_run(step, run_meta)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for command in views.COMMANDS:
            for options in OPTIONS:
                if command == "code" and options.get("max_depth") == 0:
                    continue  # TensorFlow crashes
                options = {**Builder().with_max_depth(100).select(ALL).build(), **options}
                with contextlib.redirect_stderr(io.StringIO()):
                    found += differences(ours, theirs, command, options, folder)
    wanted, made = proto.ProfileProto.FromString(theirs.message()), ours.message()
    for message in (wanted, made):  # TensorFlow takes every output for the first
        for node in message.nodes.values():
            node.ClearField("src_output_index")
    if made != wanted:
        found.append("serialize_to_string gives another ProfileProto")
    print(f"{len(views.COMMANDS) * len(OPTIONS)} profiles compared")
    if found:
        sys.exit("\n".join([*found, f"{len(found)} differ"]))


if __name__ == "__main__":
    main()
