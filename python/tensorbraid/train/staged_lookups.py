"""Lookups that are made ahead of the steps that use them: the effect of do_smart_stage in DeepRec's programs.

tf.staged gives a step the batch that a thread has put into a queue. Here a second thread takes that batch, looks up its
rows, and puts both into two further queues, from which the steps take them:

    batches --> thread: lookups --> staged batches, rows --> step

The lookups of a batch begin when the step before it has taken its own rows, so they run beside that step and miss its
updates, but never those of a step before it. The queue `turns` sees to that: the thread puts an element into it before it
takes a batch, and a step takes one out of it.
"""

from tensorbraid import _core
from tensorbraid.internal import graph_defs, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.ops.control import group
from tensorbraid.ops.node import op as node
from tensorbraid.ops.queues import FIFOQueue
from tensorbraid.train.queue_runner import QueueRunner

__all__ = []

_LOOKUPS = {"KvResourceGather", "KvResourceGatherV1", "ResourceGather", "ResourceGatherNd"}
_READERS = _LOOKUPS | {"LookupTableFind", "LookupTableFindV2"}  # stateful ops that only read
_HANDLES = {"HashTable", "HashTableV2", "KvVarHandleOp", "MutableHashTable", "MutableHashTableV2", "VarHandleOp"}
_NEVER = {"Enter", "Exit", "LoopCond", "Merge", "NextIteration", "Placeholder", "PlaceholderV2",
          "PlaceholderWithDefault", "RefEnter", "RefExit", "RefMerge", "RefNextIteration", "RefSwitch", "Switch"}


class StagedInput:
    """What tf.staged has made: its queue of batches, and the operation by which steps take a batch."""

    def __init__(self, queue, taken):
        self._queue, self._taken, self._has_lookups = queue, taken, False

    def look_up_ahead(self):
        """Moves the lookups that follow from the batches into a thread that runs ahead, unless it has been done.

        Lookups of growing tables and of variables are moved, with all that they are computed from and with the nodes of
        tf.train.mark_target_node. A lookup stays in the step if it depends on more than the batch: on the value of a
        variable, on a feed, a random number, a loop, a conditional or a check of values. A graph that is finalized does
        not change.
        """
        graph = self._taken.graph
        if not self._has_lookups and not graph.finalized:
            self._has_lookups = True
            moved = _moved(graph, self._taken)
            if moved:
                _Stage(graph, self._queue, self._taken, moved)


def _moved(graph, taken):
    """The operations to move, in the order of the graph: lookups, marked nodes, and what these are computed from."""
    fixed, derived = {}, {taken}
    for operation in graph.get_operations():
        if operation is not taken and _is_derived(operation, derived, fixed):
            derived.add(operation)
    waiting = [operation for operation in derived
               if operation.type in _LOOKUPS or operation in graph.staging_targets and operation is not taken]
    moved = set()
    while waiting:
        operation = waiting.pop()
        if operation not in moved:
            moved.add(operation)
            waiting.extend(x.op for x in operation.inputs if x.op in derived and x.op is not taken)
    return [operation for operation in graph.get_operations() if operation in moved]


def _is_derived(operation, derived, fixed):
    """Whether an operation is computed from the batch and from what never changes."""
    if operation.type in _NEVER or operation.control_inputs or not any(x.op in derived for x in operation.inputs):
        return False
    if operation.type not in _READERS and operation.op_def.is_stateful:
        return False
    return all(x.op in derived or _is_fixed(x.op, fixed) for x in operation.inputs)


def _is_fixed(operation, known):
    """Whether the outputs of an operation are the same in all steps."""
    if operation not in known:
        stateless = operation.type not in _NEVER and not operation.op_def.is_stateful and not operation.control_inputs
        known[operation] = operation.type in _HANDLES or stateless and all(_is_fixed(x.op, known)
                                                                           for x in operation.inputs)
    return known[operation]


class _Stage:
    """The nodes for one input whose lookups run ahead."""

    def __init__(self, graph, queue, taken, moved):
        self._taken = taken
        inside = {taken, *moved}
        uses = {}  # by tensor that a moved operation makes: the inputs outside that have it, as (operation, index)
        for operation in graph.get_operations():
            if operation not in inside:
                for i, x in enumerate(operation.inputs):
                    if x.op in inside and x.op is not taken:
                        uses.setdefault(x, []).append((operation, i))
        rows = list(uses)
        if not rows:  # nothing uses them
            return
        with graph.as_default(), graphs.device(queue.queue_ref.op.device), graphs.control_dependencies(None), \
                graphs.name_scope("staged_lookups"):
            turns = FIFOQueue(1, [bool], [()], name="turns")
            batches = FIFOQueue(1, [x.dtype for x in taken.outputs], name="batches")
            found = FIFOQueue(1, [x.dtype for x in rows], name="rows")
            with graphs.control_dependencies([turns.enqueue(True)]):
                batch = _listed(queue.dequeue())
            copies = self._copy(moved, batch, rows)
            made = (batches, found, turns)
            fill = group(batches.enqueue(batch), found.enqueue(copies), name="fill")
            runner = QueueRunner(batches, [fill], group(*[each.close() for each in made], name="close"),
                                 group(*[each.close(cancel_pending_enqueues=True) for each in made], name="cancel"))
            graphs.add_to_collection(GraphKeys.QUEUE_RUNNERS, runner)
            given = _listed(found.dequeue())
            with graphs.control_dependencies([given[0].op]):
                turn = turns.dequeue()
            with graphs.control_dependencies([turn]):
                handle = node("Identity", [batches.queue_ref])
            changes = [(taken, 0, handle)]
            with graphs.control_dependencies([taken]):  # each step takes a batch and its rows, or none of them
                for x, value in zip(rows, given):
                    value.set_shape(x.shape)
                    value = node("Identity", [value])
                    changes += [(operation, i, value) for operation, i in uses[x]]
        _core.replace_inputs(changes)

    def _copy(self, moved, batch, wanted_tensors):
        """Copies the operations, with the tensors `batch` in the place of the batch of the steps."""
        from tensorbraid import proto

        copied = proto.GraphDef(node=[operation.node_def for operation in moved])
        for definition in copied.node:
            definition.attr.pop("_class", None)  # the copies of lookups are placed with their tables
        inside = set(moved)
        outer = {x.name: x for operation in moved for x in operation.inputs if x.op not in inside}
        outer.update({x.name: value for x, value in zip(self._taken.outputs, batch) if x.name in outer})
        return graph_defs.import_graph_def(copied, outer, [x.name for x in wanted_tensors], "ahead")


def _listed(tensors):
    return list(tensors) if isinstance(tensors, (list, tuple)) else [tensors]
