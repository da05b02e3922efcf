"""Variables that begin with the values of a checkpoint: init_from_checkpoint, and warm starts."""

import collections
import re

from tensorbraid import _core
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.initial_operations import set_initializer
from tensorbraid.internal.partitioned_variables import PartitionedVariable
from tensorbraid.train.checkpoint_chain import CheckpointChain, parts_in
from tensorbraid.train.checkpoint_tables import TableStarts, rows_as_variable
from tensorbraid.train.vocabularies import VocabInfo, remapped

__all__ = ["VocabInfo", "WarmStartSettings", "init_from_checkpoint", "warm_start"]


class WarmStartSettings(collections.namedtuple("WarmStartSettings", [
        "ckpt_to_initialize_from", "vars_to_warm_start", "var_name_to_vocab_info", "var_name_to_prev_var_name"])):
    """From which checkpoint an Estimator begins, and with which of its variables; see warm_start."""

    def __new__(cls, ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None,
                var_name_to_prev_var_name=None):
        if not ckpt_to_initialize_from:
            raise ValueError("`ckpt_to_initialize_from` MUST be set in WarmStartSettings")
        return super().__new__(cls, ckpt_to_initialize_from, vars_to_warm_start, var_name_to_vocab_info or {},
                               var_name_to_prev_var_name or {})


def as_warm_start(value):
    """The settings for what an Estimator is given: settings, or the path of a checkpoint; None for None."""
    if value is None or isinstance(value, WarmStartSettings):
        return value
    if isinstance(value, (str, bytes)):
        return WarmStartSettings(value.decode() if isinstance(value, bytes) else value)
    raise ValueError("warm_start_from must be a string or a WarmStartSettings, instead got {}".format(type(value)))


class _Source:
    """A checkpoint from which variables take values, with the increments that follow it."""

    def __init__(self, path):
        self.chain = CheckpointChain(path)
        self.path, self.shapes = self.chain.path, self.chain.shapes
        self.tables = TableStarts(self.chain)

    def initialize(self, name, variable):
        """Lets a variable, of which the parts may be distributed, begin with what the checkpoint has under this name.

        Growing tables do so once tables.finish() is called.
        """
        if _is_table(variable):
            self.tables.add(name, _parts(variable))
            return
        rows = [] if name in self.shapes else parts_in(self.shapes, name)
        if rows:
            self._initialize_by_rows(name, rows, variable)
            return
        if name not in self.shapes and variable.shape.ndims == 0:
            name = _name_in_other_parts(name, self.shapes)
        if name not in self.shapes:
            raise ValueError(f"Tensor {name} is not found in {self.path} checkpoint {self.shapes}")
        if not variable.shape.is_compatible_with(self.shapes[name]):
            raise ValueError(f"Shape of variable {variable.name} ({variable.shape}) doesn't match with shape of tensor "
                             f"{name} ({self.shapes[name]}) from checkpoint reader.")
        for part in _parts(variable):
            with graphs.device(part.device), graphs.name_scope("init_from_checkpoint"):
                value = self.chain.read(name, part.dtype, _slice(part))
                set_initializer(part, part.assign(value, read_value=False))

    def _initialize_by_rows(self, name, saved, variable):
        """Lets a variable begin with the rows of a growing table, whose keys are numbers of rows."""
        shape = list(self.shapes[saved[0] + "-values"])
        if variable.shape.ndims != 2 or variable.shape.as_list()[1] != shape[1]:
            raise ValueError(f"Shape of variable {variable.name} ({variable.shape}) doesn't match with the rows of the "
                             f"growing table {name} ({shape}) from checkpoint reader.")
        for part in _parts(variable):
            _, whole, first = part._part_of or (None, part.shape.as_list(), 0)
            with graphs.device(part.device), graphs.name_scope("init_from_checkpoint"):
                value = rows_as_variable(self.chain, name, part, first, whole[0])
                set_initializer(part, part.assign(value, read_value=False))


def _name_in_other_parts(name, saved):
    """The name that a scalar of a part, such as a power of AdamAsync, has if another number of parts was saved.

    Each part was updated in every step, so the scalars of the first part hold for all.
    """
    part = re.fullmatch(r"(.+)/part_\d+(/.+)", name)
    if part:
        others = [part[1] + part[2], f"{part[1]}/part_0{part[2]}"]
    else:
        others = [f"{name[:slash.start()]}/part_0{name[slash.start():]}" for slash in re.finditer("/", name)]
    return next((other for other in others if other in saved), name)


def _is_table(variable):
    return _parts(variable)[0]._table is not None


def _parts(variable):
    return list(variable) if isinstance(variable, (PartitionedVariable, list)) else [variable]


def _slice(part):
    """Which rows of the tensor the part has; empty for all."""
    if part._part_of is None:
        return ""
    _, whole, first = part._part_of
    rest = ":".join([f"{first},{part.shape.as_list()[0]}"] + ["-"] * (len(whole) - 1))
    return " ".join([str(size) for size in whole] + [rest])


def name_of(variable):
    """The name of a variable in checkpoints. All parts of a growing table, or of a slot, have the name of the whole."""
    if _is_table(variable):
        return _parts(variable)[0]._table[0]
    if isinstance(variable, PartitionedVariable):
        return variable.name
    return variable._part_of[0] if variable._part_of else variable.op.name


def _grouped(variables):
    """The variables by name; the parts of a variable are one PartitionedVariable, those of a growing table a list."""
    groups = {}
    for variable in variables:
        groups.setdefault(name_of(variable), []).append(variable)
    return {name: [part for table in group for part in _parts(table)] if _is_table(group[0])
            else group[0] if len(group) == 1 and (isinstance(group[0], PartitionedVariable)
                                                   or group[0]._part_of is None)
            else PartitionedVariable(name, group) for name, group in groups.items()}


def init_from_checkpoint(ckpt_dir_or_file, assignment_map):
    """Lets variables of the default graph begin with values of a checkpoint. Source: tf.train.init_from_checkpoint.

    A directory means its latest checkpoint. The values are those of the newest increment that follows the checkpoint,
    or of an increment that is named.
    `assignment_map` has a variable or its name for each name in the checkpoint, or scopes: "old/": "new/".
    """
    source = _Source(ckpt_dir_or_file)
    present = _grouped(graphs.global_variables())
    pairs = assignment_map.items() if isinstance(assignment_map, dict) else arguments.items(
        "assignment_map", assignment_map, "a dictionary")
    for name, wanted in sorted(pairs, key=lambda pair: pair[0]):
        if isinstance(wanted, (list, tuple)) and wanted[0]._table is not None:
            wanted = list(wanted)
        elif isinstance(wanted, (list, tuple)):
            wanted = PartitionedVariable(name_of(wanted[0]), wanted) if wanted[0]._part_of else wanted[0]
        if isinstance(wanted, (_core.Variable, PartitionedVariable, list)):
            source.initialize(name, wanted)
        elif not isinstance(wanted, str):
            raise TypeError(f"the value for '{name}' must be a variable or the name of one, not {wanted!r}")
        elif wanted in present and not wanted.endswith("/"):
            source.initialize(name, present[wanted])
        else:
            _initialize_scope(source, name, wanted, present)
    source.tables.finish()


def _initialize_scope(source, old, new, present):
    """Variables of the scope `new` take the values of those of the scope `old`."""
    if not (old.endswith("/") and new.endswith("/")):
        scope = new if "/" not in new else ""
        raise ValueError(f"Assignment map with scope only name {scope} should map to scope only {old}. Should be "
                         "'scope/': 'other_scope/'.")
    for name, variable in sorted(present.items()):
        if new == "/" or name.startswith(new):
            tail = name if new == "/" else name[len(new):]
            source.initialize(tail if old == "/" else old + tail, variable)


def warm_start(ckpt_to_initialize_from, vars_to_warm_start=".*", var_name_to_vocab_info=None,
               var_name_to_prev_var_name=None):
    """Lets variables of the default graph begin with values of a checkpoint. Source: tf.train.warm_start.

    A checkpoint is found as in init_from_checkpoint, and its increments are used, too.
    `vars_to_warm_start` is a regular expression for names of trainable variables, a list of regular expressions for
    names of any variables, a list of variables, or None for those with a VocabInfo only. A variable whose name in the
    checkpoint differs has it in `var_name_to_prev_var_name`. One whose vocabulary has changed has a VocabInfo, and its
    rows are found by their words.
    """
    source = _Source(ckpt_to_initialize_from)
    vocabularies, previous = dict(var_name_to_vocab_info or {}), dict(var_name_to_prev_var_name or {})
    chosen = _grouped(_chosen(vars_to_warm_start))
    if vars_to_warm_start is None:
        chosen.update({name: variable for name, variable in _grouped(graphs.trainable_variables()).items()
                       if name in vocabularies})
    for what, unused in (("var_name_to_prev_var_name", set(previous) - set(chosen)),
                         ("var_name_to_vocab_info", set(vocabularies) - set(chosen))):
        if unused:
            raise ValueError(f"{what} names variables that are not warm-started: {sorted(unused)}. Those that are: "
                             f"{sorted(chosen)}")
    for name, variable in chosen.items():
        old = previous.get(name, name)
        if name not in vocabularies:
            source.initialize(old, variable)
            continue
        first = 0
        for part in _parts(variable):
            with graphs.device(part.device), graphs.name_scope("warm_start"):
                value = remapped(source.chain, old, part, vocabularies[name], first)
                set_initializer(part, part.assign(value, read_value=False))
            first += part.shape.as_list()[vocabularies[name].axis]
    source.tables.finish()


def _chosen(wanted):
    """The variables that `vars_to_warm_start` means."""
    if wanted is None:
        return []
    if isinstance(wanted, str):
        return [variable for variable in graphs.trainable_variables() if re.match(wanted, variable.name)]
    if not isinstance(wanted, list):
        raise ValueError(f"`vars_to_warm_start must be a `list` or `str`.  Given type is {type(wanted)}")
    if all(isinstance(item, str) for item in wanted):
        return [variable for variable in graphs.global_variables()
                if any(re.match(pattern, variable.name) for pattern in wanted)]
    if all(isinstance(item, (_core.Variable, PartitionedVariable)) for item in wanted):
        return [part for item in wanted for part in _parts(item)]
    raise ValueError("If `vars_to_warm_start` is a list, it must be all `Variable` or all `str`.  Given types are "
                     f"{[type(item) for item in wanted]}")
