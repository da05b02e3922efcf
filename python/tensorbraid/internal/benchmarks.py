"""tf.test.Benchmark: classes of a program whose methods measure steps. tf.test.main runs them."""

import json
import re
import statistics
import sys
import time

__all__ = ["Benchmark", "benchmark_config"]

_classes = []  # all subclasses of Benchmark, in the order of their definition


def benchmark_config():
    """The ConfigProto for sessions of measurements: nodes are not removed from the graph by optimization."""
    from tensorbraid import proto

    config = proto.ConfigProto()
    rewrite = config.graph_options.rewrite_options
    rewrite.dependency_optimization = rewrite.OFF
    return config


class Benchmark:
    """The base class of benchmarks: methods whose names begin with "benchmark". tf.test.main --benchmarks runs them."""

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        _classes.append(cls)

    def _reported_name(self, name):
        """The report's name, CLASS.METHOD: the outermost running method of a Benchmark, or `name` if it is given."""
        found, frame = None, sys._getframe()
        while frame is not None:
            if isinstance(frame.f_locals.get("self"), Benchmark):
                found = frame
            frame = frame.f_back
        return f"{type(found.f_locals['self']).__name__}.{name or found.f_code.co_name}"

    def report_benchmark(self, iters=None, cpu_time=None, wall_time=None, throughput=None, extras=None, name=None,
                         metrics=None):
        """Prints the numbers in the text format of TensorFlow's message BenchmarkEntry."""
        lines = [f"  name: {json.dumps(self._reported_name(name))}"]
        for field, value in (("iters", iters), ("cpu_time", cpu_time), ("wall_time", wall_time),
                             ("throughput", throughput)):
            if value is not None:
                lines.append(f"  {field}: {value}")
        for key, value in (extras or {}).items():
            kind = "double_value" if isinstance(value, (int, float)) else "string_value"
            text = value if kind == "double_value" else json.dumps(str(value))
            lines.append(f"  extras {{ key: {json.dumps(key)} value {{ {kind}: {text} }} }}")
        for metric in metrics or []:
            limits = "".join(f" {field} {{ value: {metric[field]} }}" for field in ("min_value", "max_value")
                             if metric.get(field) is not None)
            lines.append(f"  metrics {{ name: {json.dumps(metric['name'])} value: {metric['value']}{limits} }}")
        print("\n".join(["entry {", *lines, "}"]), flush=True)

    def run_op_benchmark(self, sess, op_or_tensor, feed_dict=None, burn_iters=2, min_iters=10, store_trace=False,
                         store_memory_usage=True, name=None, extras=None, mbs=0):
        """Measures steps that run an operation, reports the median of their durations, and returns the report, a dict.

        The first `burn_iters` steps are not measured. "extras" in the report also has the mean and the standard
        deviation and, with `store_trace`, the trace of one more step in Chrome's format. `store_memory_usage` has no
        effect.
        """
        from tensorbraid import proto
        from tensorbraid.tensorflow_python.timeline import Timeline

        for _ in range(burn_iters):
            sess.run(op_or_tensor, feed_dict)
        times = []
        for _ in range(min_iters):
            begin = time.perf_counter()
            sess.run(op_or_tensor, feed_dict)
            times.append(time.perf_counter() - begin)
        values = {"iters": min_iters, "wall_time": statistics.median(times), "extras": dict(extras or {}), "name": name,
                  "throughput": mbs / statistics.median(times)}
        self.report_benchmark(**values)
        values["extras"].update(wall_time_mean=statistics.mean(times),
                                wall_time_stdev=statistics.stdev(times) if min_iters > 1 else -1)
        if store_trace:
            metadata = proto.RunMetadata()
            sess.run(op_or_tensor, feed_dict, proto.RunOptions(trace_level=proto.RunOptions.FULL_TRACE), metadata)
            values["extras"]["full_trace_chrome_format"] = Timeline(
                metadata.step_stats).generate_chrome_trace_format()
        return values

    def evaluate(self, tensors):
        """The values of the tensors in the default session. ValueError if there is no default session."""
        from tensorbraid.internal import session

        current = session.get_default_session()
        if current is None:
            raise ValueError("Benchmark.evaluate needs a default session: `with tf.Session():`")
        return current.run(tensors)


def chosen(argv):
    """The value of the flag --benchmarks in a command line; None if it does not have the flag."""
    return next((argument.partition("=")[2] for argument in argv if argument.startswith("--benchmarks=")), None)


def run(expression):
    """Runs the benchmark methods whose name "module.Class.method" matches the regular expression; "all" runs all.

    ValueError if no method matches.
    """
    pattern = re.compile("" if expression == "all" else expression)
    methods = [(cls, method) for cls in list(_classes) for method in sorted(dir(cls))
               if method.startswith("benchmark") and callable(getattr(cls, method))
               and pattern.search(f"{cls.__module__}.{cls.__name__}.{method}")]
    if not methods:
        raise ValueError(f"No benchmarks matched the pattern: '{expression}'")
    for cls, method in methods:
        getattr(cls(), method)()
