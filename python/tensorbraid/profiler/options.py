"""The options of a profile: the builder that users have, and the checked values that the views read."""

import copy
import re

from tensorbraid import errors

__all__ = []

TRAINABLE_VARIABLES = "_trainable_variables"
LIMITS = ("bytes", "peak_bytes", "residual_bytes", "output_bytes", "micros", "accelerator_micros", "cpu_micros", "params",
          "float_ops", "occurrence")
ORDERS = ("name", *LIMITS)
SELECTABLE = (*LIMITS, "device", "op_types", "input_shapes")
_PATTERNS = ("account_type_regexes", "start_name_regexes", "trim_name_regexes", "show_name_regexes", "hide_name_regexes")
_DEFAULTS = {
    "max_depth": 100, "min_bytes": 0, "min_micros": 0, "min_params": 0, "min_float_ops": 0, "min_occurrence": 0,
    "order_by": "name", "account_type_regexes": [".*"], "start_name_regexes": [".*"], "trim_name_regexes": [],
    "show_name_regexes": [".*"], "hide_name_regexes": [], "account_displayed_op_only": False, "select": ["micros"],
    "step": -1, "output": "stdout"}
_FIXED = {**_DEFAULTS, "max_depth": 10000, "account_displayed_op_only": True}


class ProfileOptionBuilder:
    """Options for profile() and the methods of Profiler, which build() returns as a dictionary."""

    def __init__(self, options=None):
        self._options = copy.deepcopy(_DEFAULTS if options is None else options)

    @staticmethod
    def trainable_variables_parameter():
        """Options that count the parameters of the trainable variables."""
        return {**copy.deepcopy(_FIXED), "account_type_regexes": [TRAINABLE_VARIABLES], "select": ["params"]}

    @staticmethod
    def float_operation():
        """Options that count floating point operations."""
        return {**copy.deepcopy(_FIXED), "min_float_ops": 1, "order_by": "float_ops", "select": ["float_ops"]}

    @staticmethod
    def time_and_memory(min_micros=1, min_bytes=1, min_accelerator_micros=0, min_cpu_micros=0, min_peak_bytes=0,
                        min_residual_bytes=0, min_output_bytes=0):
        """Options that show times and memory of nodes with at least so much of each, the slowest first."""
        return {**copy.deepcopy(_FIXED), "min_micros": min_micros, "min_bytes": min_bytes,
                "min_accelerator_micros": min_accelerator_micros, "min_cpu_micros": min_cpu_micros,
                "min_peak_bytes": min_peak_bytes, "min_residual_bytes": min_residual_bytes,
                "min_output_bytes": min_output_bytes, "order_by": "micros", "select": ["micros", "bytes"]}

    def _with(self, **options):
        self._options.update(options)
        return self

    def build(self):
        """The options."""
        return copy.deepcopy(self._options)

    def with_max_depth(self, max_depth):
        """Shows nodes up to this depth."""
        return self._with(max_depth=max_depth)

    def with_min_memory(self, min_bytes=0, min_peak_bytes=0, min_residual_bytes=0, min_output_bytes=0):
        """Shows nodes that request, hold at most, keep and output at least so many bytes."""
        return self._with(min_bytes=min_bytes, min_peak_bytes=min_peak_bytes, min_residual_bytes=min_residual_bytes,
                          min_output_bytes=min_output_bytes)

    def with_min_execution_time(self, min_micros=0, min_accelerator_micros=0, min_cpu_micros=0):
        """Shows nodes that take at least so many microseconds in all, on accelerators and on CPUs."""
        return self._with(min_micros=min_micros, min_accelerator_micros=min_accelerator_micros,
                          min_cpu_micros=min_cpu_micros)

    def with_min_parameters(self, min_params):
        """Shows nodes with at least so many parameters."""
        return self._with(min_params=min_params)

    def with_min_occurrence(self, min_occurrence):
        """Shows nodes that run at least so many times; in the view of types, those with so many nodes."""
        return self._with(min_occurrence=min_occurrence)

    def with_min_float_operations(self, min_float_ops):
        """Shows nodes with at least so many floating point operations."""
        return self._with(min_float_ops=min_float_ops)

    def with_accounted_types(self, account_type_regexes):
        """Counts nodes of these types, devices or groups, such as "_trainable_variables"."""
        return self._with(account_type_regexes=list(account_type_regexes))

    def with_node_names(self, start_name_regexes=None, show_name_regexes=None, hide_name_regexes=None,
                        trim_name_regexes=None):
        """Starts at nodes with these names, shows and hides nodes with these names, and does not go below the last."""
        given = {"show_name_regexes": show_name_regexes, "hide_name_regexes": hide_name_regexes,
                 "start_name_regexes": start_name_regexes, "trim_name_regexes": trim_name_regexes}
        return self._with(**{name: list(value) for name, value in given.items() if value is not None})

    def account_displayed_op_only(self, is_true):
        """Whether the totals have only nodes that are shown."""
        return self._with(account_displayed_op_only=is_true)

    def with_empty_output(self):
        """Prints nothing."""
        return self._with(output="none")

    def with_stdout_output(self):
        """Prints the report."""
        return self._with(output="stdout")

    def with_file_output(self, outfile):
        """Writes the report to a file."""
        return self._with(output=f"file:outfile={outfile}")

    def with_timeline_output(self, timeline_file):
        """Writes a trace for Chrome's trace viewer; its name is followed by "_" and the number of the step."""
        return self._with(output=f"timeline:outfile={timeline_file}")

    def with_pprof_output(self, pprof_file):
        """Refused: there is no output for the program pprof."""
        raise NotImplementedError("with_pprof_output: profiles are not written for pprof; use with_timeline_output")

    def order_by(self, attribute):
        """Sorts nodes by an attribute, such as "name", "micros", "bytes", "params" or "float_ops"."""
        return self._with(order_by=attribute)

    def select(self, attributes):
        """Shows these attributes, such as "micros", "bytes", "params", "float_ops", "device" or "occurrence"."""
        return self._with(select=list(attributes))

    def with_step(self, step):
        """Uses what add_step was given for this step; -1 means the average of all steps."""
        return self._with(step=step)


def _invalid(text):
    return errors.InvalidArgumentError(None, None, text)


class Matcher:
    """Patterns of which one has to match a whole text. InvalidArgumentError names a pattern that is none."""

    def __init__(self, option, patterns):
        self.everything = list(patterns) == [".*"]
        try:
            self._patterns = [re.compile(pattern, re.ASCII) for pattern in patterns]
        except re.error as error:
            raise _invalid(f"Option {option} of the profile: {error.pattern!r}: {error}") from None

    def matches(self, text):
        """Whether a pattern matches the text."""
        return self.everything or any(pattern.fullmatch(text) for pattern in self._patterns)


class Options:
    """The checked values of a dictionary of options. InvalidArgumentError and NotImplementedError name a wrong option."""

    def __init__(self, given):
        given = dict(given)
        self.max_depth, self.step = int(given.get("max_depth", 10)), int(given.get("step", -1))
        self.minimum = {name: int(given.get(f"min_{name}", 0)) for name in LIMITS}
        self.order_by = given.get("order_by", "name")
        self.displayed_only = bool(given.get("account_displayed_op_only", False))
        self.select = frozenset(given.get("select", ()))
        self._texts = {name: list(given.get(name, ())) for name in _PATTERNS}
        self.accounted, self.start, self.trim, self.show, self.hide = (
            Matcher(name, patterns) for name, patterns in self._texts.items())
        self.output, self.file = _output(given)
        if self.order_by not in ORDERS:
            raise _invalid(f"Option order_by of the profile is {self.order_by!r}, not one of {', '.join(ORDERS)}")
        if "tensor_value" in self.select:
            raise NotImplementedError("A profile cannot select tensor_value: it reads no checkpoint")
        unknown = sorted(self.select.difference(SELECTABLE))
        if unknown:
            raise _invalid(f"A profile cannot select {', '.join(unknown)}, only {', '.join(SELECTABLE)}")

    def __str__(self):
        """A line for each option, as it is printed above a report."""
        values = {"max_depth": self.max_depth, **{f"min_{name}": value for name, value in self.minimum.items()},
                  "step": self.step, "order_by": self.order_by,
                  **{name: ",".join(patterns) for name, patterns in self._texts.items()},
                  "account_displayed_op_only": str(self.displayed_only).lower(),
                  "select": ",".join(sorted(self.select)), "output": f"{self.output}:"}
        return "".join(f"-{name:<26} {value}\n" for name, value in values.items())


def _output(given):
    """The kind of output and its file, from the options output and, in older scripts, dump_to_file."""
    text = given.get("output", "stdout")
    if given.get("dump_to_file"):
        text = f"file:outfile={given['dump_to_file']}"
    kind, _, rest = text.partition(":")
    if kind == "pprof":
        raise NotImplementedError("Option output of the profile: profiles are not written for pprof; use timeline")
    if kind not in ("stdout", "none", "file", "timeline"):
        raise _invalid(f"Option output of the profile is {text!r}, not stdout, none, file:outfile=FILE or "
                       "timeline:outfile=FILE")
    file = rest.removeprefix("outfile=") if rest.startswith("outfile=") else ""
    if kind in ("file", "timeline") and not file:
        raise _invalid(f"Option output of the profile is {text!r}; it must be {kind}:outfile=FILE")
    return kind, file
