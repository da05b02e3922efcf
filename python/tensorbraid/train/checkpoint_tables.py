"""Growing tables and checkpoints: tables that begin with saved rows, and static variables that begin with those of a table."""

from tensorbraid.internal import graphs
from tensorbraid.internal.initial_operations import native_initializer, set_initializer
from tensorbraid.ops.node import op
from tensorbraid.train.checkpoint_chain import parts_in

__all__ = []


class TableStarts:
    """The growing tables of a graph that begin with rows of a checkpoint, and the slots that do so with them."""

    def __init__(self, chain):
        self._chain, self._path = chain, chain.path
        self._tables, self._slots = {}, []

    def add(self, name, parts):
        """The table with these parts, or a slot of it, begins with what the checkpoint has under this name."""
        dim = parts[0].shape.as_list()[1]
        shapes = self._chain.shapes
        saved = parts_in(shapes, name)
        shape = shapes[f"{saved[0]}-values"] if saved else shapes.get(name)
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
            with graphs.control_dependencies([native_initializer(variable) for variable in variables]):
                restore = self._chain.restore_table(name, part.handle,
                                                    [(slot.handle, slot_name) for slot, slot_name in slots])
        for variable in variables:
            set_initializer(variable, restore)


def rows_as_variable(chain, table, variable, first, whole):
    """The initial value of a variable, with the rows of a growing table at the places that are their keys.

    The variable has the rows from `first` on of a variable with `whole` rows. A key that is none of these is an error
    when the variable is initialized.
    """
    keys, values = chain.rows_of_table(table, variable.dtype.base_dtype)
    fits = op("LogicalAnd", [op("GreaterEqual", [keys, graphs.constant(0, "int64")]),
                             op("Less", [keys, graphs.constant(whole, "int64")])])
    # An assertion shows quotes with backslashes, so the message has none.
    message = (f"the growing table {table} of the checkpoint {chain.path} has a key that is no row of the variable "
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
