"""Input pipelines of queues: producers of file names and numbers, and batches."""

from tensorbraid import _core, dtypes, summary
from tensorbraid.internal import arguments, graphs, variables
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.graphs import convert_to_tensor, make_op
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops import control_flow
from tensorbraid.ops.parsing_ops import match_filenames_once
from tensorbraid.ops.queues import FIFOQueue, PaddingFIFOQueue, RandomShuffleQueue
from tensorbraid.ops.random_ops import random_shuffle
from tensorbraid.train.queue_runner import QueueRunner, add_queue_runner

__all__ = [
    "batch", "batch_join", "input_producer", "limit_epochs", "match_filenames_once", "maybe_batch", "maybe_batch_join",
    "maybe_shuffle_batch", "maybe_shuffle_batch_join", "range_input_producer", "shuffle_batch", "shuffle_batch_join",
    "slice_input_producer", "string_input_producer"]


def limit_epochs(tensor, num_epochs=None, name=None):
    """The tensor, in at most `num_epochs` steps; then OutOfRangeError. The count is the local variable "epochs"."""
    if num_epochs is None:
        return tensor
    with arguments.named("num_epochs", "a positive integer or None", num_epochs):
        is_positive = num_epochs > 0
    if not is_positive:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    with graphs.name_scope(name, "limit_epochs", [tensor]) as scope:
        epochs = variables.Variable(_number(0), name="epochs", trainable=False,
                                    collections=[GraphKeys.LOCAL_VARIABLES])
        count = make_op("ResourceCountUpTo", [epochs.handle], limit=num_epochs, T=dtypes.int64)
        with graphs.control_dependencies([count]):
            return make_op("Identity", [tensor], scope).outputs[0]


def _number(value):
    return convert_to_tensor(value, dtype=dtypes.int64)


def input_producer(input_tensor, element_shape=None, num_epochs=None, shuffle=True, seed=None, capacity=32,
                   shared_name=None, summary_name=None, name=None, cancel_op=None):
    """A queue with the rows of a tensor, again and again, or `num_epochs` times. A queue runner fills it."""
    with graphs.name_scope(name, "input_producer", [input_tensor]) as scope:
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        shape = rows.shape[1:] if rows.shape.ndims is not None else TensorShape(None)
        if element_shape is not None:
            shape = TensorShape(element_shape)
        if not shape.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                             "specified")
        if shuffle:
            rows = random_shuffle(rows, seed)
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(capacity, [rows.dtype], [shape], shared_name=shared_name, name=scope)
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
        if summary_name is not None:
            _summarize(summary_name, queue, capacity)
        return queue


def string_input_producer(string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None,
                          name=None, cancel_op=None):
    """A queue with strings, such as the names of files."""
    if not isinstance(string_tensor, (graphs.Tensor, _core.Variable)) and not arguments.items(
            "string_tensor", string_tensor, "a list of strings or a tensor of them"):
        raise ValueError("string_input_producer requires a non-null input tensor")
    with graphs.name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = convert_to_tensor(string_tensor, dtype=dtypes.string)
        # A tensor whose size the graph does not know may be empty.
        if strings.shape.num_elements() is None:
            size = make_op("Size", [strings]).outputs[0]
            check = make_op("Assert", [size > 0, ["string_input_producer requires a non-null input tensor"]])
            with graphs.control_dependencies([check]):
                strings = make_op("Identity", [strings]).outputs[0]
        return input_producer(strings, element_shape=[], num_epochs=num_epochs, shuffle=shuffle, seed=seed,
                              capacity=capacity, shared_name=shared_name, name=scope,
                              summary_name=f"fraction_of_{capacity}_full", cancel_op=cancel_op)


def range_input_producer(limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    """A queue with the numbers from 0 to before `limit`."""
    with graphs.name_scope(name, "input_producer", [limit]) as scope:
        numbers = make_op("Range", [0, limit, 1]).outputs[0]
        return input_producer(numbers, [], num_epochs, shuffle, seed, capacity, shared_name,
                              f"fraction_of_{capacity}_full", scope)


def slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None,
                         name=None):
    """A list with one row of each tensor, the same row of all. Each step takes the next row."""
    tensor_list = arguments.items("tensor_list", tensor_list, "a list of tensors")
    with graphs.name_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor(tensor) for tensor in tensor_list]
        if not tensors:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        sizes = [tensor.shape.as_list()[0] if tensor.shape.ndims else None for tensor in tensors]
        size = next((s for s in sizes if s is not None), None)
        if any(s not in (None, size) for s in sizes):
            raise ValueError(f"the tensors of slice_input_producer have different numbers of rows: {sizes}")
        if size is None:
            shape = make_op("Shape", [tensors[0]]).outputs[0]
            size = make_op("GatherV2", [shape, 0, 0]).outputs[0]
        row = range_input_producer(size, num_epochs, shuffle, seed, capacity, shared_name).dequeue()
        return [make_op("GatherV2", [tensor, row, 0]).outputs[0] for tensor in tensors]


def _summarize(name, queue, capacity):
    """A summary of how full the queue is, from 0 to 1."""
    size = make_op("Cast", [queue.size()], DstT=dtypes.float32).outputs[0]
    summary.scalar(name, size * (1.0 / capacity))


def batch(tensors, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
          allow_smaller_final_batch=False, shared_name=None, name=None):
    """Batches of the tensors, in the structure of `tensors`: a tensor, a list or a dict. A queue runner fills them."""
    return _batch([tensors] * num_threads, batch_size, capacity, enqueue_many, shapes, dynamic_pad,
                  allow_smaller_final_batch, shared_name, name or "batch")


def batch_join(tensors_list, batch_size, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
               allow_smaller_final_batch=False, shared_name=None, name=None):
    """As batch, with a thread for each of several structures of tensors."""
    return _batch(list(tensors_list), batch_size, capacity, enqueue_many, shapes, dynamic_pad,
                  allow_smaller_final_batch, shared_name, name or "batch_join")


def shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, num_threads=1, seed=None, enqueue_many=False,
                  shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None):
    """Batches whose elements are chosen at random from a queue, in which `min_after_dequeue` elements stay."""
    return _batch([tensors] * num_threads, batch_size, capacity, enqueue_many, shapes, False,
                  allow_smaller_final_batch, shared_name, name or "shuffle_batch", min_after_dequeue, seed)


def shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, seed=None, enqueue_many=False,
                       shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None):
    """As shuffle_batch, with a thread for each of several structures of tensors."""
    return _batch(list(tensors_list), batch_size, capacity, enqueue_many, shapes, False, allow_smaller_final_batch,
                  shared_name, name or "shuffle_batch_join", min_after_dequeue, seed)


def maybe_batch(tensors, keep_input, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None,
                dynamic_pad=False, allow_smaller_final_batch=False, shared_name=None, name=None):
    """As batch, of the elements for which `keep_input` is true."""
    return _batch([tensors] * num_threads, batch_size, capacity, enqueue_many, shapes, dynamic_pad,
                  allow_smaller_final_batch, shared_name, name or "batch", keep_input=keep_input)


def maybe_batch_join(tensors_list, keep_input, batch_size, capacity=32, enqueue_many=False, shapes=None,
                     dynamic_pad=False, allow_smaller_final_batch=False, shared_name=None, name=None):
    """As batch_join, of the elements for which `keep_input` is true."""
    return _batch(list(tensors_list), batch_size, capacity, enqueue_many, shapes, dynamic_pad,
                  allow_smaller_final_batch, shared_name, name or "batch_join", keep_input=keep_input)


def maybe_shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, keep_input, num_threads=1, seed=None,
                        enqueue_many=False, shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None):
    """As shuffle_batch, of the elements for which `keep_input` is true."""
    return _batch([tensors] * num_threads, batch_size, capacity, enqueue_many, shapes, False,
                  allow_smaller_final_batch, shared_name, name or "shuffle_batch", min_after_dequeue, seed, keep_input)


def maybe_shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, keep_input, seed=None,
                             enqueue_many=False, shapes=None, allow_smaller_final_batch=False, shared_name=None,
                             name=None):
    """As shuffle_batch_join, of the elements for which `keep_input` is true."""
    return _batch(list(tensors_list), batch_size, capacity, enqueue_many, shapes, False, allow_smaller_final_batch,
                  shared_name, name or "shuffle_batch_join", min_after_dequeue, seed, keep_input)


def _listed(tensors):
    """The tensors as a list, and a function that gives a list their structure."""
    if isinstance(tensors, dict):
        keys = sorted(tensors)
        return [tensors[key] for key in keys], lambda values: dict(zip(keys, values))
    if isinstance(tensors, (list, tuple)):
        # As in TensorFlow, a list of one tensor becomes a tensor.
        return list(tensors), lambda values: values if len(values) > 1 else values[0]
    return [tensors], lambda values: values[0]


def _enqueue_kept(enqueue, tensors, keep, enqueue_many):
    """The operation that enqueues the element, or the rows of a batch, that `keep` chooses."""
    if enqueue_many and keep.shape.ndims == 1:
        rows = make_op("Squeeze", [make_op("Where", [keep]).outputs[0]], squeeze_dims=[1]).outputs[0]
        return enqueue([make_op("GatherV2", [tensor, rows, 0]).outputs[0] for tensor in tensors])
    if keep.shape.ndims != 0:
        raise ValueError(f"`keep_input` must be a scalar, or a vector with enqueue_many; it has shape {keep.shape}")

    def kept():
        with graphs.control_dependencies([enqueue(tensors)]):
            return convert_to_tensor(True)

    return control_flow.cond(keep, kept, lambda: convert_to_tensor(False)).op


def _condition(keep_input):
    keep = convert_to_tensor(keep_input, name="keep_input")
    if keep.dtype != dtypes.bool:
        raise TypeError(f"keep_input must be a bool tensor, got {keep.dtype.name}")
    if keep.shape.ndims is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    return keep


def _batch(structures, batch_size, capacity, enqueue_many, shapes, dynamic_pad, allow_smaller, shared_name, name,
           min_after_dequeue=None, seed=None, keep_input=None):
    if not structures:
        raise ValueError("tensors_list must have at least one element")
    restore = _listed(structures[0])[1]
    lists = [_listed(structure)[0] for structure in structures]
    with graphs.name_scope(name, None, lists[0]) as scope:
        lists = [[convert_to_tensor(tensor) for tensor in tensors] for tensors in lists]
        for tensors in lists:
            if not tensors or len(tensors) != len(lists[0]):
                raise ValueError("the elements of tensors_list must be lists of the same length, which is not 0")
            if [t.dtype for t in tensors] != [t.dtype for t in lists[0]]:
                raise TypeError("the tensors of the lists have different dtypes")
        types = [tensor.dtype for tensor in lists[0]]
        shapes = _common_shapes(lists, enqueue_many) if shapes is None else [TensorShape(s) for s in shapes]
        if not dynamic_pad and not all(shape.is_fully_defined() for shape in shapes):
            raise ValueError(f"All shapes must be fully defined: {shapes}")
        if min_after_dequeue is not None:
            queue = RandomShuffleQueue(capacity, min_after_dequeue, types, shapes, seed=seed, shared_name=shared_name)
        else:
            kind = PaddingFIFOQueue if dynamic_pad else FIFOQueue
            queue = kind(capacity, types, shapes, shared_name=shared_name)
        enqueue = queue.enqueue_many if enqueue_many else queue.enqueue
        if keep_input is None:
            enqueues = [enqueue(tensors) for tensors in lists]
        else:
            enqueues = [_enqueue_kept(enqueue, tensors, _condition(keep_input), enqueue_many) for tensors in lists]
        add_queue_runner(QueueRunner(queue, enqueues))
        if min_after_dequeue is None:
            _summarize(f"fraction_of_{capacity}_full", queue, capacity)
        else:
            size = make_op("Cast", [queue.size()], DstT=dtypes.float32).outputs[0]
            above = make_op("Maximum", [0.0, size - float(min_after_dequeue)]).outputs[0]
            summary.scalar(f"fraction_over_{min_after_dequeue}_of_{capacity - min_after_dequeue}_full",
                           above * (1.0 / (capacity - min_after_dequeue)))
        dequeue = queue.dequeue_up_to if allow_smaller else queue.dequeue_many
        batched = dequeue(batch_size, name=scope)
        return restore(batched if isinstance(batched, list) else [batched])


def _common_shapes(lists, enqueue_many):
    """The shape of each component of an element, with None where the lists differ."""
    common = []
    for tensors in zip(*lists):
        dims = [tensor.shape.as_list() if tensor.shape.ndims is not None else None for tensor in tensors]
        if any(d is None for d in dims) or len({len(d) for d in dims}) > 1:
            raise ValueError("Cannot infer Tensor's rank: " + str(tensors[0]))
        merged = [sizes[0] if len(set(sizes)) == 1 else None for sizes in zip(*dims)]
        if enqueue_many and not merged:
            raise ValueError("enqueue_many needs tensors with a batch dimension, got a scalar")
        common.append(TensorShape(merged[1:] if enqueue_many else merged))
    return common
