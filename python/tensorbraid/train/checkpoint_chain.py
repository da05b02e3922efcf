"""A full checkpoint with the increments that follow it, and operations that read what they have together."""

import functools

from tensorbraid import _core, dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import make_op
from tensorbraid.train.checkpoints import NewCheckpointReader, checkpoint_path

__all__ = []

_DEEPREC = "-sparse_incr_"


class CheckpointChain:
    """The chain of a checkpoint, of a directory's latest one, or of an increment.

    `path` is the full checkpoint, `increments` are those that follow it, up to the one that was named, and `shapes` has
    the shapes of the tensors by name. FailedPreconditionError if there is an increment whose predecessor is gone.
    """

    def __init__(self, ckpt_dir_or_file):
        self.path, self.increments = _core.find_chain(checkpoint_path(ckpt_dir_or_file))

    @functools.cached_property
    def shapes(self):
        return shapes_in(self.path)

    def read(self, name, dtype, part=""):
        """The value of a variable, or the rows of it that `part` describes in the form of RestoreV2."""
        inputs = [self.path, [name], [part]]
        if not self.increments:  # TensorFlow knows this op
            return make_op("RestoreV2", inputs, "checkpoint_initializer", dtypes=[dtype]).outputs[0]
        return make_op("_RestoreIncrements", [*inputs, self.increments], "checkpoint_initializer",
                       dtypes=[dtype]).outputs[0]

    def restore_table(self, name, handle, slots):
        """The operation that gives a growing table the rows of the table `name`. `slots`: pairs of handle and name."""
        attrs = {"N": len(slots), "name": name, "slot_names": [slot for _, slot in slots]}
        handles = [slot for slot, _ in slots]
        if not self.increments:
            return handle.graph._op("_RestoreTable", [self.path, handle, handles], attrs, "restore_table")
        inputs = [self.path, self.increments, graphs.constant(0, dtypes.int64), handle, handles]
        return handle.graph._op("_RestoreTrackedTable", inputs, attrs, "restore_table")

    def rows_of_table(self, name, dtype):
        """The keys and the rows of the growing table `name`, or of a slot of one."""
        keys, rows = _rows_in(self.path, parts_in(self.shapes, name), "-", dtype)
        for increment in self.increments:
            shapes = shapes_in(increment)
            parts, before = parts_in(shapes, name), "-"
            if not parts:  # of DeepRec's (src/checkpoint/row_tensors.h), which has no parts that have not changed
                parts, before = parts_in(shapes, name, _DEEPREC), _DEEPREC
            if not parts:
                continue
            newer_keys, newer_rows = _rows_in(increment, parts, before, dtype)
            deleted = [_read(increment, tensor, dtypes.int64) for part in parts
                       for tensor in _deleted_keys_of(part, shapes)]
            kept = make_op("ListDiff", [keys, _joined([newer_keys, *deleted])], "kept").outputs
            keys = _joined([kept[0], newer_keys])
            rows = _joined([make_op("GatherV2", [rows, kept[1], 0], "rows").outputs[0], newer_rows])
        return keys, rows


def shapes_in(checkpoint):
    """The shapes of the tensors of one checkpoint by name."""
    return NewCheckpointReader(checkpoint).get_variable_to_shape_map()


def parts_in(shapes, name, before="-"):
    """The names of the parts of a growing table, or of a slot of one, in a checkpoint. [] if it has no such table.

    Their keys are in the tensors that are named like the parts, followed by `before` and "keys".
    """
    table, _, slot = name.rpartition("/")
    if f"{name}{before}keys" in shapes:
        return [name]
    found = [f"{name}/part_{{}}", f"{table}/part_{{}}/{slot}"]
    for pattern in found:
        parts = [pattern.format(i) for i in range(1000) if f"{pattern.format(i)}{before}keys" in shapes]
        if parts:
            return parts
    return []


def _rows_in(checkpoint, parts, before, dtype):
    """The keys and the rows that one checkpoint has of these parts."""
    return (_joined([_read(checkpoint, f"{part}{before}keys", dtypes.int64) for part in parts]),
            _joined([_read(checkpoint, f"{part}{before}values", dtype) for part in parts]))


def _deleted_keys_of(part, shapes):
    """The tensor with the deleted keys of a part, if there is one. Those of a slot are with its table."""
    while f"{part}-keys_deleted" not in shapes and "/" in part:
        part = part.rpartition("/")[0]
    return [f"{part}-keys_deleted"] if f"{part}-keys_deleted" in shapes else []


def _read(checkpoint, name, dtype):
    return make_op("RestoreV2", [checkpoint, [name], [""]], "rows", dtypes=[dtype]).outputs[0]


def _joined(tensors):
    return make_op("ConcatV2", [tensors, 0], "joined").outputs[0] if len(tensors) > 1 else tensors[0]
