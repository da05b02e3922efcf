"""Batches that are made ahead of the steps that use them. Source: DeepRec's tf.staged."""

from tensorbraid import _core, nest
from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.ops.queues import FIFOQueue
from tensorbraid.ops.sparse_tensor import SparseTensor
from tensorbraid.train.hooks import SessionRunHook
from tensorbraid.train.queue_runner import QueueRunner

__all__ = ["make_prefetch_hook", "prefetch_join", "staged"]


def staged(features, feed_dict=None, capacity=1, num_threads=1, num_clients=1, timeout_millis=300000,
           closed_exception_types=None, ignored_exception_types=(), use_stage_subgraph_thread_pool=False,
           stage_subgraph_thread_pool_id=0, stage_subgraph_stream_id=0, name=None):
    """The same structure of tensors, whose values a thread makes ahead of the steps. Batches keep their order.

    A structure may have tensors, SparseTensors and None. One batch waits and the next one is being made, whatever the
    capacity and number of threads, which are there for DeepRec's programs. The thread is a queue runner: the sessions of
    tf.train start it, with or without the hook of tf.make_prefetch_hook, and tf.train.start_queue_runners does so for a
    plain session. At the end of the data, a step ends with OutOfRangeError, as without tf.staged.

    If ConfigProto.graph_options.optimizer_options.do_smart_stage is set, the lookups that follow from the features are
    made ahead, too, each beside the step before its own. A step may then miss the updates of the step before.
    """
    if num_threads < 1:
        raise ValueError(f"num_threads of tf.staged must be at least 1, got {num_threads}")
    return _ahead([features], feed_dict, ignored_exception_types, name)


def prefetch_join(thread_to_features, feed_dict=None, capacity=1, num_clients=1, timeout_millis=300000,
                  closed_exception_types=None, ignored_exception_types=(), name=None):
    """As tf.staged, for several inputs of equal structure, each with a thread. The batches come as they are made."""
    sources = list(thread_to_features)
    if not sources:
        raise ValueError("thread_to_features must have at least one element")
    return _ahead(sources, feed_dict, ignored_exception_types, name)


class _StagedInput:
    """What tf.staged has made: its queue of batches, and the operation by which steps take a batch."""

    def __init__(self, queue, taken):
        self._queue, self._taken, self._has_lookups = queue, taken, False

    def look_up_ahead(self):
        """Moves the lookups that follow from the batches into a thread that runs ahead, unless it has been done.

        A graph that is finalized does not change.
        """
        graph = self._taken.graph
        if self._has_lookups or graph.finalized:
            return
        self._has_lookups = True
        runner = _core.look_up_ahead(self._queue.queue_ref, self._taken, list(graph.staging_targets))
        if runner is not None:
            graph.add_to_collection(GraphKeys.QUEUE_RUNNERS, QueueRunner._wrap(runner, graph))


class _PrefetchHook(SessionRunHook):
    """Does nothing, since queue runners make the batches."""


def make_prefetch_hook():
    """A hook for DeepRec's programs, in which batches are made ahead only with it. Here it has no effect."""
    return _PrefetchHook()


def mark_target_node(nodes):
    """Lets these nodes be computed ahead of the steps, too, if they follow from the batches of tf.staged alone.

    It has an effect in sessions with do_smart_stage, as in DeepRec, where lookups are computed ahead without it.
    """
    graph = graphs.get_default_graph()
    for node in nest.flatten(nodes):
        element = graph.as_graph_element(node)
        graph.staging_targets.add(element if isinstance(element, graphs.Operation) else element.op)


def _ahead(sources, feed_dict, ignored, name):
    if feed_dict:
        raise NotImplementedError("feed_dict of tf.staged: let a dataset give these values, such as "
                                  "tf.data.Dataset.from_generator")
    if ignored:
        raise NotImplementedError("ignored_exception_types of tf.staged: apply tf.data.experimental.ignore_errors() to "
                                  "the dataset")
    for other in sources[1:]:
        nest.assert_same_structure(sources[0], other)
    with graphs.name_scope(name, "prefetch"):
        batches = [_tensors(source) for source in sources]
        tensors = batches[0]
        if not tensors:
            raise ValueError("tf.staged needs at least one tensor")
        queue = FIFOQueue(1, [tensor.dtype for tensor in tensors], name="batches")
        runner = QueueRunner(queue, [queue.enqueue(batch) for batch in batches])
        graphs.add_to_collection(GraphKeys.QUEUE_RUNNERS, runner)
        taken = queue.dequeue()
        taken = list(taken) if isinstance(taken, (list, tuple)) else [taken]
        taken[0].graph.staged_inputs.append(_StagedInput(queue, taken[0].op))
        for tensor, *made in zip(taken, *batches):
            if len(made) == 1:
                tensor.set_shape(made[0].shape)
    return _packed(sources[0], taken)


def _tensors(structure):
    """The tensors of a structure, in order; a SparseTensor has three."""
    found = []
    for leaf in nest.flatten(structure):
        if isinstance(leaf, SparseTensor):
            found += [leaf.indices, leaf.values, leaf.dense_shape]
        elif leaf is not None:
            found.append(graphs.convert_to_tensor(leaf))
    return found


def _packed(structure, tensors):
    """The structure with these tensors in the place of its own."""
    rest = iter(tensors)

    def leaf_for(leaf):
        if isinstance(leaf, SparseTensor):
            return SparseTensor(next(rest), next(rest), next(rest))
        return None if leaf is None else next(rest)

    return nest.pack_sequence_as(structure, [leaf_for(leaf) for leaf in nest.flatten(structure)])
