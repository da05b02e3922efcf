"""tf.profiler: the numbers of parameters and of floating point operations of a graph, by the names of its nodes."""

import copy
import re

from tensorbraid import _core
from tensorbraid.internal import flops, graphs
from tensorbraid.internal.graphs import GraphKeys

__all__ = ["ProfileOptionBuilder", "profile"]

TRAINABLE_VARIABLES = "_trainable_variables"
_DEFAULTS = {
    "max_depth": 10000, "min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "min_occurrence": 0,
    "order_by": "name", "account_type_regexes": [".*"], "start_name_regexes": [".*"], "trim_name_regexes": [],
    "show_name_regexes": [".*"], "hide_name_regexes": [], "account_displayed_op_only": False, "select": ["micros"],
    "step": -1, "output": "stdout"}


class ProfileOptionBuilder:
    """Options for profile(), which build() returns as a dictionary."""

    def __init__(self, options=None):
        self._options = copy.deepcopy(_DEFAULTS if options is None else options)

    @staticmethod
    def trainable_variables_parameter():
        """Options that count the parameters of the trainable variables."""
        return {**copy.deepcopy(_DEFAULTS), "account_type_regexes": [TRAINABLE_VARIABLES],
                "account_displayed_op_only": True, "select": ["params"]}

    @staticmethod
    def float_operation():
        """Options that count floating point operations."""
        return {**copy.deepcopy(_DEFAULTS), "min_float_ops": 1, "order_by": "float_ops",
                "account_displayed_op_only": True, "select": ["float_ops"]}

    @staticmethod
    def time_and_memory(*args, **kwargs):
        """Refused: times are measured by tf.train.ProfilerHook, and by a Timeline."""
        raise NotImplementedError("times of a profile: use tf.train.ProfilerHook, or a Timeline of RunMetadata")

    def _with(self, **options):
        self._options.update(options)
        return self

    def build(self):
        """The options."""
        return copy.deepcopy(self._options)

    def with_max_depth(self, max_depth):
        """Shows nodes up to this depth."""
        return self._with(max_depth=max_depth)

    def with_min_parameters(self, min_params):
        """Shows nodes with at least so many parameters."""
        return self._with(min_params=min_params)

    def with_min_float_operations(self, min_float_ops):
        """Shows nodes with at least so many floating point operations."""
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes):
        """Counts nodes of these types, devices or groups, such as "_trainable_variables"."""
        return self._with(account_type_regexes=list(account_type_regexes))

    def with_node_names(self, start_name_regexes=None, show_name_regexes=None, hide_name_regexes=None,
                        trim_name_regexes=None):
        """Shows nodes with these names."""
        given = {"show_name_regexes": show_name_regexes, "hide_name_regexes": hide_name_regexes,
                 "start_name_regexes": start_name_regexes, "trim_name_regexes": trim_name_regexes}
        return self._with(**{name: list(value) for name, value in given.items() if value is not None})

    def with_empty_output(self):
        """Prints nothing."""
        return self._with(output="none")

    def with_stdout_output(self):
        """Prints the report."""
        return self._with(output="stdout")

    def with_file_output(self, outfile):
        """Writes the report to a file."""
        return self._with(output=f"file:outfile={outfile}")

    def order_by(self, attribute):
        """Sorts nodes by "name", "params" or "float_ops"."""
        return self._with(order_by=attribute)

    def select(self, attributes):
        """Shows "params", "float_ops" or both."""
        return self._with(select=list(attributes))


class Node:
    """A scope, a node or a type of nodes, with what it has itself and in all."""

    def __init__(self, name):
        self.name, self.children = name, []
        self.parameters = self.float_ops = self.total_parameters = self.total_float_ops = 0
        self.shape = None
        self._by_name = {}

    def child(self, name):
        """The child of this name, which is made if it does not exist."""
        if name not in self._by_name:
            self._by_name[name] = Node(name)
            self.children.append(self._by_name[name])
        return self._by_name[name]

    def add_up(self):
        """Sums up the children, and leaves out those that have nothing."""
        for child in self.children:
            child.add_up()
        self.total_parameters = self.parameters + sum(child.total_parameters for child in self.children)
        self.total_float_ops = self.float_ops + sum(child.total_float_ops for child in self.children)
        self.children = [child for child in self.children if child.total_parameters or child.total_float_ops]


def _matches(patterns, text):
    return any(re.fullmatch(pattern, text) for pattern in patterns)


def _counted(op, groups, options):
    return any(_matches(options["account_type_regexes"], name) for name in (op.type, op.device, *groups) if name)


def _shown(name, options):
    return _matches(options["show_name_regexes"], name) and not _matches(options["hide_name_regexes"], name)


def profile(graph=None, run_meta=None, op_log=None, cmd="scope", options=None):
    """The parameters and floating point operations of the nodes, as a tree of scopes (cmd="scope") or by type ("op").

    Prints a report unless the options say something else. A step's RunMetadata is not used.
    """
    if cmd not in ("scope", "op"):
        raise NotImplementedError(f"the command {cmd!r} of profile: only 'scope' and 'op'")
    if op_log is not None:
        raise NotImplementedError("the op_log of profile")
    graph = graph or graphs.get_default_graph()
    options = options or ProfileOptionBuilder.trainable_variables_parameter()
    unknown = set(options["select"]) - {"params", "float_ops"}
    if unknown:
        raise NotImplementedError(f"profile cannot select {', '.join(sorted(unknown))}: only params and float_ops")
    trainable = {variable.op.name for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES)}
    shapes = {variable.op.name: variable.shape for variable in _core.variables(graph)}
    root = Node("_TFProfRoot")
    for op in graph.get_operations():
        groups = [TRAINABLE_VARIABLES] if op.name in trainable else []
        if not _counted(op, groups, options):
            continue
        node = root.child(op.type) if cmd == "op" else _in_scopes(root, op.name)
        node.float_ops += flops.of(op) if "float_ops" in options["select"] else 0
        if op.name in shapes and "params" in options["select"]:
            node.shape = shapes[op.name].as_list()
            node.parameters += shapes[op.name].num_elements()
    root.add_up()
    root.children = _displayed(root, options, 1)
    root.add_up()
    _sort(root, options["order_by"])
    _write("\n".join(_lines(root, options, 0, cmd)), options["output"])
    return root


def _in_scopes(root, name):
    node, parts = root, name.split("/")
    for i in range(len(parts)):
        node = node.child("/".join(parts[:i + 1]))
    return node


def _displayed(node, options, depth):
    """The children that the options show; in the place of one that they do not show, its own children."""
    found = []
    for child in node.children:
        shown = (_shown(child.name, options) and child.parameters >= options["min_params"]
                 and child.float_ops >= options["min_float_ops"])
        below = _displayed(child, options, depth + shown)
        if shown:
            child.children = below
        found += [child] * (depth < options["max_depth"]) if shown else below
    return found


def _sort(node, key):
    totals = {"params": "total_parameters", "float_ops": "total_float_ops"}
    node.children.sort(key=lambda child: child.name)
    if key in totals:
        node.children.sort(key=lambda child: -getattr(child, totals[key]))
    for child in node.children:
        _sort(child, key)


def _short(number):
    for unit, name in ((10**9, "b"), (10**6, "m"), (10**3, "k")):
        if number >= unit:
            return f"{number / unit:.2f}{name}"
    return str(number)


def _lines(node, options, depth, cmd):
    words = []
    if "params" in options["select"]:
        words += ["x".join(map(str, node.shape))] if node.shape else []
        words.append(f"{_short(node.parameters) if node.parameters else '--'}/{_short(node.total_parameters)} params")
    if "float_ops" in options["select"]:
        words.append(f"{_short(node.float_ops) if node.float_ops else '--'}/{_short(node.total_float_ops)} flops")
    lines = [f"{'  ' * depth}{node.name} ({', '.join(words)})"]
    for child in node.children:
        lines += _lines(child, options, depth + 1, cmd)
    return lines


def _write(text, output):
    if output == "stdout":
        print(text)
    elif output.startswith("file:outfile="):
        with open(output.removeprefix("file:outfile="), "w") as file:
            file.write(text + "\n")
