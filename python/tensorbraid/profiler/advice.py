"""What a profile shows that a user may want to change."""

from tensorbraid import errors, proto
from tensorbraid.profiler import trees, types
from tensorbraid.profiler.options import Options
from tensorbraid.profiler.report import short_time

__all__ = []

_SELECTED = {"max_depth": 100, "order_by": "micros", "account_type_regexes": [".*"], "start_name_regexes": [".*"],
             "show_name_regexes": [".*"], "output": "none"}


def _times(what, numbers):
    return (f"{what}: {short_time(numbers['exec_micros'])}, of which {short_time(numbers['cpu_exec_micros'])} on CPUs "
            f"and {short_time(numbers['accelerator_exec_micros'])} on accelerators")


def _expensive_types(profile):
    options = Options({**_SELECTED, "max_depth": 2, "min_micros": 1})
    view = types.Types(profile)
    lines = [f"{_times(f'{i + 1}. type {kind.name}', kind.own)} "
             f"({100.0 * kind.own['exec_micros'] / view.root.total['exec_micros']:.2f}%)"
             for i, kind in enumerate(view.select(options)) if kind.own["exec_micros"]]
    return ["The types of nodes that take most time:\n" + "\n".join(lines)] if lines else []


def _expensive_scopes(profile):
    tree = trees.by_scope(profile)
    top = tree.select(Options({**_SELECTED, "min_micros": 100})).shown_children[:3]
    lines = [_times(f"{i + 1}. {node.name}", node.total) for i, node in enumerate(top)]
    return ["The scopes that take most time:\n" + "\n".join(lines)] if lines else []


def _expensive_lines(profile):
    if not profile.has_trace:
        return []
    node = trees.by_code(profile).select(Options({**_SELECTED, "min_micros": 1000}))
    while len(node.shown_children) == 1:
        node = node.shown_children[0]
    lines = [_times(f"{i + 1}. {child.name}", child.total) for i, child in enumerate(node.shown_children[:3])]
    return ["The lines of code that take most time:\n" + "\n".join(lines)] if lines else []


def _expensive(profile):
    return _expensive_types(profile) + _expensive_scopes(profile) + _expensive_lines(profile)


def _utilization(profile):
    """The share of the last step in which each accelerator computed. There is nothing to say of CPUs."""
    devices = {}
    for record in profile.records.values():
        if "gpu" in record.device and record.node.execs:
            devices.setdefault(record.device, []).append(record.node.execs[max(record.node.execs)])
    found = []
    for device, runs in sorted(devices.items()):
        start = min(run.all_start_micros for run in runs)
        duration = max(run.latest_end_micros for run in runs) - start
        busy = sum(time.int64_values[1] for run in runs for streams in run.accelerator_execs.values()
                   for time in streams.times)
        if duration > 0:
            found.append(f"{device} computes in {100.0 * busy / duration:.0f}% of the step"
                         + (", so that it mostly waits" if 2 * busy < duration else ""))
    return found


def _operations(profile):
    records, found = profile.records.values(), []
    if any("BatchNorm" in record.name for record in records) and not any(
            record.node.op.startswith("FusedBatchNorm") for record in records):
        found.append("Batch normalization is made of several nodes; tf.nn.fused_batch_norm (fused=True of a layer) is one "
                     "node, and faster")
    if any("gpu" in record.device and "data_format" in record.node.attrs and record.node.attrs["data_format"].s == b"NHWC"
           for record in records):
        found.append("Nodes on GPUs have images of the format NHWC; NCHW may be faster there")
    return found


_CHECKERS = {"AcceleratorUtilizationChecker": _utilization, "ExpensiveOperationChecker": _expensive,
             "JobChecker": None, "OperationChecker": _operations}
ALL_ADVICE = {name: {} for name in _CHECKERS}


def advise(profile, options):
    """The AdviceProto of the checkers that the options name, which is printed, too.

    JobChecker has nothing to report. InvalidArgumentError: a checker that does not exist.
    """
    unknown = sorted(set(options or {}) - set(_CHECKERS))
    if unknown:
        raise errors.InvalidArgumentError(None, None, f"No checker {', '.join(unknown)}, only {', '.join(_CHECKERS)}")
    result = proto.AdviceProto()
    for name, check in _CHECKERS.items():
        if check is not None and name in (options or {}):
            result.checkers[name].reports.extend(check(profile))
            print("\n".join([f"\n{name}:", *result.checkers[name].reports]))
    return result
