"""A profile by a command: the message of a view, and its report where the options want it."""

from tensorbraid import errors, proto
from tensorbraid.profiler import report, timelines, trees, types
from tensorbraid.profiler.options import Options

__all__ = []

COMMANDS = ("scope", "graph", "op", "code")
_TREES = {"scope": trees.by_scope, "graph": trees.by_inputs, "code": trees.by_code}


def check(command):
    """InvalidArgumentError if there is no view of this name."""
    if command not in COMMANDS:
        raise errors.InvalidArgumentError(None, None, f"No command {command!r} of profiles, only {', '.join(COMMANDS)}")


def message_of(profile, command, options):
    """The GraphNodeProto ("scope", "graph") or the MultiGraphNodeProto ("op", "code") of a profile by these options.

    InvalidArgumentError: a wrong option, or a step that was not added. NotImplementedError: what profiles do not have.
    """
    options = Options(options)
    if options.step >= 0 and options.step not in profile.steps:
        raise errors.InvalidArgumentError(
            None, None, f"The profile has no step {options.step}, only {sorted(profile.steps) or 'none'}")
    if command == "code" and not profile.has_trace:
        raise errors.InvalidArgumentError(
            None, None, "The code view needs the lines of nodes, but the nodes of a GraphDef have none; pass an op_log whose "
            "entries have a code_def, or use the scope view")
    if options.output == "timeline":
        return _timeline(profile, command, options)
    if command == "op":
        view = types.Types(profile)
        shown = view.select(options)
        _write(command, options, lambda: report.types_text(view.root, shown, options, profile.records))
        return types.message_of(view.root, shown, options, profile.records)
    tree = _TREES[command](profile)
    tree.select(options)
    _write(command, options, lambda: report.tree_text(tree, options, profile.records))
    return trees.message_of(tree, options, profile.records)


def _timeline(profile, command, options):
    if command == "op":
        raise NotImplementedError("A timeline of the op view of a profile: use the scope or the graph view")
    steps = [options.step]
    if command == "graph" and options.step < 0:
        steps = sorted(profile.steps)
    result = proto.GraphNodeProto()
    for step in steps:
        options.step = step
        tree = _TREES[command](profile)
        timelines.write(command, tree.select(options), step, options.file)
        result = trees.message_of(tree, options, profile.records)
    return result


def _write(command, options, text):
    if options.output == "file":
        with open(options.file, "w") as file:
            file.write(report.heading(command, options) + text())
    elif options.output == "stdout":
        print(f"\n{_rule('Options', 25)}\n{options}\n{_rule('Model Analysis Report', 18)}")
        print(report.heading(command, options) + text())
        print(_rule("End of Report", 22))


def _rule(title, before):
    """A line between the parts of a report."""
    return ("=" * before + title).ljust(61, "=")
