"""Growing tables and checkpoints: tables that begin with saved rows, and static variables that begin with those of a table."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.initial_operations import native_initializer, set_initializer
from tensorbraid.ops.node import op

__all__ = []


def parts_in(shapes, name):
    """The names of the parts of a growing table, or of a slot of one, in a checkpoint. [] if it has no such table."""
    table, _, slot = name.rpartition("/")
    if f"{name}-keys" in shapes:
        return [name]
    found = [f"{name}/part_{{}}", f"{table}/part_{{}}/{slot}"]
    for pattern in found:
        parts = [pattern.format(i) for i in range(1000) if f"{pattern.format(i)}-keys" in shapes]
        if parts:
            return parts
    return []


class TableStarts:
    """The growing tables of a graph that begin with rows of a checkpoint, and the slots that do so with them."""

    def __init__(self, path, shapes):
        self._path, self._shapes = path, shapes
        self._tables, self._slots = {}, []

    def add(self, name, parts):
        """The table with these parts, or a slot of it, begins with what the checkpoint has under this name."""
        dim = parts[0].shape.as_list()[1]
        saved = parts_in(self._shapes, name)
        shape = self._shapes[f"{saved[0]}-values"] if saved else self._shapes.get(name)
        if shape is None:
            raise ValueError(f"the checkpoint {self._path} has no growing table '{name}', and no variable of this name; "
                             "`tensorbraid table ls` lists its tables")
        if len(shape) != 2 or list(shape)[1] != dim:
            raise ValueError(f"the rows of the growing table '{parts[0]._table[0]}' have {dim} numbers, but '{name}' in "
                             f"the checkpoint {self._path} has the shape {list(shape)}")
        if parts[0]._table[3]:
            self._slots.append((name, parts))
        else:
            self._tables[parts[0]._table[0]] = (name, parts)

    def finish(self):
        """Sets the initializers of all tables and slots that were added."""
        slots_of = {}  # (variable, name within the table), by the name of the part
        of_part = {part.op.name: name for name, parts in self._tables.values() for part in parts}
        for name, parts in self._slots:
            for slot in parts:
                table = of_part.get(slot._table[3])
                if table is None or not name.startswith(table + "/"):
                    raise ValueError(f"the slot '{slot.op.name}' of a growing table begins with '{name}' of the "
                                     f"checkpoint {self._path}, but its table '{slot._table[3]}' "
                                     + (f"with '{table}'" if table else "does not begin with rows of the checkpoint")
                                     + "; slots are found below the name of their table")
                slots_of.setdefault(slot._table[3], []).append((slot, name[len(table) + 1:]))
        for name, parts in self._tables.values():
            for part in parts:
                self._restore(name, part, slots_of.get(part.op.name, []))

    def _restore(self, name, part, slots):
        variables = [part, *(slot for slot, _ in slots)]
        with graphs.device(part.device), graphs.name_scope("init_from_checkpoint"):
            prefix = graphs.constant(self._path)
            with graphs.control_dependencies([native_initializer(variable) for variable in variables]):
                attrs = {"N": len(slots), "name": name, "slot_names": [slot for _, slot in slots]}
                restore = part.graph._op("_RestoreTable", [prefix, part.handle, [slot.handle for slot, _ in slots]], attrs,
                                         "restore_table")
        for variable in variables:
            set_initializer(variable, restore)


def rows_as_variable(path, saved, variable, first, whole):
    """The initial value of a variable, with the rows of a growing table at the places that are their keys.

    `saved` are the names of the table's parts in the checkpoint. The variable has the rows from `first` on of a variable
    with `whole` rows. A key that is none of these is an error when the variable is initialized.
    """
    def restored(suffix, dtype):
        lists = graphs.make_op("RestoreV2", [path, [name + suffix for name in saved], [""] * len(saved)], "rows",
                               dtypes=[dtype] * len(saved)).outputs
        return op("ConcatV2", [lists, graphs.constant(0)]) if len(saved) > 1 else lists[0]

    keys, values = restored("-keys", dtypes.int64), restored("-values", variable.dtype.base_dtype)
    table = saved[0].replace("/part_0", "", 1)
    fits = op("LogicalAnd", [op("GreaterEqual", [keys, graphs.constant(0, "int64")]),
                             op("Less", [keys, graphs.constant(whole, "int64")])])
    # An assertion shows quotes with backslashes, so the message has none.
    message = (f"the growing table {table} of the checkpoint {path} has a key that is no row of the variable "
               f"{variable.op.name}, which has {whole} rows: give it more rows, or make it a growing table; the keys are:")
    known = graphs.make_op("Assert", [op("All", [fits, graphs.constant([0])]), [graphs.constant(message), keys]])
    with graphs.control_dependencies([known]):
        places = op("Sub", [keys, graphs.constant(first, "int64")])
    count = variable.shape.as_list()[0]
    if count != whole:
        mine = op("LogicalAnd", [op("GreaterEqual", [places, graphs.constant(0, "int64")]),
                                 op("Less", [places, graphs.constant(count, "int64")])])
        at = op("Reshape", [op("Where", [mine]), graphs.constant([-1])])
        places, values = (op("GatherV2", [x, at, graphs.constant(0)]) for x in (places, values))
    return op("TensorScatterUpdate", [variable.initial_value, op("ExpandDims", [places, graphs.constant(1)]), values])
