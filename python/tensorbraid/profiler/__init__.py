"""tf.profiler: times, memory, parameters and floating point operations by scope, by inputs, by type or by line of code."""

from tensorbraid import errors, proto
from tensorbraid.internal import graphs
from tensorbraid.profiler import advice, views
from tensorbraid.profiler.advice import ALL_ADVICE as ALL_ADVICE
from tensorbraid.profiler.op_logs import graph_with_shapes, op_log_of, write_op_log as write_op_log
from tensorbraid.profiler.options import ProfileOptionBuilder as ProfileOptionBuilder
from tensorbraid.profiler.records import Profile as _Profile

__all__ = ["AdviceProto", "GraphNodeProto", "MultiGraphNodeProto", "OpLogProto", "ProfileOptionBuilder", "Profiler",
           "advise", "profile", "write_op_log"]

_MESSAGES = ("AdviceProto", "GraphNodeProto", "MultiGraphNodeProto", "OpLogProto")


def __getattr__(name):
    if name in _MESSAGES:
        return getattr(proto, name)
    raise AttributeError(f"module '{__name__}' has no attribute '{name}'")


def _run_metadata(value):
    return None if value is None else proto.message("RunMetadata", value, "run_meta")


def _profile_of(graph, run_meta, op_log, with_lines=True):
    graph = graph or graphs.get_default_graph()
    run_meta = _run_metadata(run_meta)
    op_log = None if op_log is None else proto.message("OpLogProto", op_log, "op_log")
    graph_def = graph_with_shapes(graph, run_meta)
    result = _Profile(graph_def)
    if run_meta is not None and run_meta.HasField("step_stats"):
        result.add_run(0, run_meta)
    result.add_log(op_log_of(graph, graph_def, op_log, with_lines))
    return result


def profile(graph=None, run_meta=None, op_log=None, cmd="scope", options=None):
    """What the nodes of a graph take: a GraphNodeProto (cmd "scope", "graph") or MultiGraphNodeProto ("op", "code").

    `run_meta`: a step's RunMetadata, without which there are no times and sizes. `op_log`: an OpLogProto with groups,
    operations and lines of nodes. A node without a line in it has the line of the program that made the node, without
    the calls that led there. Prints a report unless the options say something else; without options, the parameters of
    the trainable variables. InvalidArgumentError names a wrong option.
    """
    views.check(cmd)
    options = ProfileOptionBuilder.trainable_variables_parameter() if options in (None, 0) else options
    return views.message_of(_profile_of(graph, run_meta, op_log, cmd == "code"), cmd, options)


def advise(graph=None, run_meta=None, options=None):
    """Prints what the checkers find, and returns it as an AdviceProto. `options`: a dictionary whose keys are checkers."""
    return advice.advise(_profile_of(graph, run_meta, None), ALL_ADVICE if options in (None, 0) else options)


class Profiler:
    """The profile of several steps of a graph."""

    def __init__(self, graph=None, op_log=None):
        self._graph = graph or graphs.get_default_graph()
        self._profile = _profile_of(self._graph, None, op_log)

    def add_step(self, step, run_meta):
        """Adds the RunMetadata of a step. Those with the same number count as one step.

        InvalidArgumentError: a negative step, or a RunMetadata of a step that was not traced.
        """
        run_meta = _run_metadata(run_meta)
        if int(step) < 0:
            raise errors.InvalidArgumentError(None, None, f"The step of a profile must not be negative, but is {step}")
        if run_meta is None or not run_meta.HasField("step_stats"):
            raise errors.InvalidArgumentError(None, None, f"The run_meta of step {step} has no step_stats; run it with "
                                              "options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)")
        graph_def = graph_with_shapes(self._graph, run_meta)
        self._profile.add_graph(graph_def)
        self._profile.add_run(int(step), run_meta)
        self._profile.add_log(op_log_of(self._graph, graph_def, with_lines=True))

    def profile_python(self, options):
        """The MultiGraphNodeProto of the lines of code."""
        return views.message_of(self._profile, "code", options)

    def profile_operations(self, options):
        """The MultiGraphNodeProto of the types of nodes."""
        return views.message_of(self._profile, "op", options)

    def profile_name_scope(self, options):
        """The GraphNodeProto of the nodes by scope."""
        return views.message_of(self._profile, "scope", options)

    def profile_graph(self, options):
        """The GraphNodeProto of the nodes by inputs."""
        return views.message_of(self._profile, "graph", options)

    def advise(self, options=None):
        """Prints what the checkers find, and returns it as an AdviceProto."""
        return advice.advise(self._profile, ALL_ADVICE if options is None else options)

    def serialize_to_string(self):
        """The profile as bytes of a ProfileProto, which TensorFlow's profiler reads."""
        return self._profile.message().SerializeToString()
