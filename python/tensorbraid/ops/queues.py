"""Queues: they hold elements between steps. An element is a tensor, or a list or dict of tensors."""

import hashlib

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops.random_ops import seed_pair

__all__ = ["FIFOQueue", "PaddingFIFOQueue", "PriorityQueue", "QueueBase", "RandomShuffleQueue"]


class QueueBase:
    """The base class of queues. Source: tf.QueueBase."""

    def __init__(self, dtypes, shapes, names, queue_ref):
        self._dtypes = dtypes
        if shapes is not None and len(shapes) != len(dtypes):
            raise ValueError("Queue shapes must have the same length as dtypes, received "
                             f"len(shapes)={len(shapes)}, len(dtypes)={len(dtypes)}")
        self._shapes = shapes if shapes is not None else [TensorShape(None)] * len(dtypes)
        if names is not None and len(names) != len(dtypes):
            raise ValueError("Queue names must have the same length as dtypes, received "
                             f"len(names)={len(names)}, len(dtypes)={len(dtypes)}")
        self._names = names
        self._queue_ref = queue_ref

    queue_ref = property(lambda self: self._queue_ref)
    name = property(lambda self: self._queue_ref.op.name)
    _short_name = property(lambda self: self.name.rsplit("/", 1)[-1])  # prefix of its operations' names
    dtypes = property(lambda self: self._dtypes)
    shapes = property(lambda self: self._shapes)
    names = property(lambda self: self._names)

    @staticmethod
    def from_list(index, queues):
        """The queue with a number that only the step knows, out of a list of equal queues."""
        if not queues or not all(isinstance(queue, QueueBase) for queue in queues):
            raise TypeError("A list of queues expected")
        if any(queue.dtypes != queues[0].dtypes for queue in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(queue.names != queues[0].names for queue in queues):
            raise TypeError("Queues do not have matching component names.")
        same = all(queue.shapes == queues[0].shapes for queue in queues)
        handles = make_op("Pack", [[queue.queue_ref for queue in queues]]).outputs[0]
        chosen = make_op("GatherV2", [handles, index, 0]).outputs[0]
        return QueueBase(queues[0].dtypes, queues[0].shapes if same else None, queues[0].names, chosen)

    def _tensors(self, vals, what):
        """The element as a list of tensors of the queue's dtypes."""
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names) != sorted(vals):
                raise ValueError("Keys in dictionary to enqueue do not match names of Queue.  Dictionary: "
                                 f"{sorted(vals)}, Queue: {sorted(self._names)}")
            vals = [vals[name] for name in self._names]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            vals = list(vals) if isinstance(vals, (list, tuple)) else [vals]
        if len(vals) != len(self._dtypes):
            raise ValueError(f"{what} of a queue of {len(self._dtypes)} components got {len(vals)}")
        return [graphs.convert_to_tensor(value, dtype=dtype, name=f"component_{i}")
                for i, (value, dtype) in enumerate(zip(vals, self._dtypes))]

    def _element(self, operation, batch):
        """The result of a dequeue operation. `batch` are the sizes before the shape of an element."""
        outputs = operation.outputs
        for output, shape in zip(outputs, self._shapes):
            if shape.ndims is not None and hasattr(output, "set_shape"):
                output.set_shape(TensorShape(batch + shape.as_list()))
        if self._names:
            return dict(zip(self._names, outputs))
        return outputs[0] if len(outputs) == 1 else outputs

    def _op(self, op_type, name, inputs=(), **attrs):
        with self._queue_ref.graph.colocate_with(self._queue_ref.op):
            return make_op(op_type, [self._queue_ref, *inputs], name, **attrs)

    def enqueue(self, vals, name=None):
        """The operation that adds one element; it waits while the queue is full."""
        with graphs.name_scope(name, f"{self._short_name}_enqueue", _flat(vals)) as scope:
            tensors = self._tensors(vals, "enqueue")
            for tensor, shape in zip(tensors, self._shapes):
                _check_compatible(tensor.shape, shape)
            return self._op("QueueEnqueueV2", scope, [tensors])

    def enqueue_many(self, vals, name=None):
        """The operation that adds an element for each row of the values."""
        with graphs.name_scope(name, f"{self._short_name}_EnqueueMany", _flat(vals)) as scope:
            tensors = self._tensors(vals, "enqueue_many")
            for tensor, shape in zip(tensors, self._shapes):
                if tensor.shape.ndims == 0:
                    raise ValueError("enqueue_many needs values with a batch dimension, got a scalar")
                if tensor.shape.ndims is not None:
                    _check_compatible(tensor.shape[1:], shape)
            return self._op("QueueEnqueueManyV2", scope, [tensors])

    def dequeue(self, name=None):
        """One element; the step waits while the queue is empty, and raises OutOfRangeError if it is also closed."""
        return self._element(self._op("QueueDequeueV2", name or f"{self._short_name}_Dequeue",
                                      component_types=self._dtypes), [])

    def dequeue_many(self, n, name=None):
        """`n` elements, concatenated along a new first dimension."""
        operation = self._op("QueueDequeueManyV2", name or f"{self._short_name}_DequeueMany", [n],
                             component_types=self._dtypes)
        return self._element(operation, [n if isinstance(n, int) else None])

    def dequeue_up_to(self, n, name=None):
        """As dequeue_many, but fewer elements if the queue is closed and has fewer."""
        return self._element(self._op("QueueDequeueUpToV2", name or f"{self._short_name}_DequeueUpTo", [n],
                                      component_types=self._dtypes), [None])

    def close(self, cancel_pending_enqueues=False, name=None):
        """The operation after which nothing can be added. What is in the queue can still be taken."""
        return self._op("QueueCloseV2", name or f"{self._short_name}_Close", cancel_pending_enqueues=cancel_pending_enqueues)

    def is_closed(self, name=None):
        """A bool tensor: whether the queue is closed."""
        return self._op("QueueIsClosedV2", name or f"{self._short_name}_Is_Closed").outputs[0]

    def size(self, name=None):
        """The number of elements."""
        return self._op("QueueSizeV2", name or f"{self._short_name}_Size").outputs[0]


def _flat(vals):
    return list(vals.values()) if isinstance(vals, dict) else list(vals) if isinstance(vals, (list, tuple)) else [vals]


def _check_compatible(given, wanted):
    if given.ndims is None or wanted.ndims is None:
        return
    same = given.ndims == wanted.ndims and all(
        a is None or b is None or a == b for a, b in zip(given.as_list(), wanted.as_list()))
    if not same:
        raise ValueError(f"Shapes {given} and {wanted} are not compatible")


def _types(values):
    single = not isinstance(values, (list, tuple))
    return [dtypes.as_dtype(value) for value in ([values] if single else values)]


def _shapes(values, count):
    """The shapes of the components. One shape may be given without a list if there is one component."""
    if values is None:
        return None
    single = isinstance(values, TensorShape) or not isinstance(values, (list, tuple)) or (
        count == 1 and not any(isinstance(value, (list, tuple, TensorShape)) for value in values))
    if single and count != 1:
        raise ValueError("Queue shapes must have the same length as dtypes, received len(shapes)=1, "
                         f"len(dtypes)={count}")
    return [TensorShape(value) for value in ([values] if single else values)]


def _names(values):
    return None if not values else [values] if isinstance(values, str) else list(values)


class FIFOQueue(QueueBase):
    """Returns elements in the order in which they were added. A capacity below 0 is unlimited."""

    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue"):
        types = _types(dtypes)
        shapes = _shapes(shapes, len(types))
        made = make_op("FIFOQueueV2", [], name, capacity=capacity, component_types=types, shapes=shapes or [],
                       shared_name=shared_name)
        super().__init__(types, shapes, _names(names), made.outputs[0])


class RandomShuffleQueue(QueueBase):
    """Returns elements in random order. `min_after_dequeue` elements stay in it until it is closed."""

    def __init__(self, capacity, min_after_dequeue, dtypes, shapes=None, names=None, seed=None, shared_name=None,
                 name="random_shuffle_queue"):
        types = _types(dtypes)
        shapes = _shapes(shapes, len(types))
        first, second = seed_pair(seed)
        if (first or second) and seed is None and shared_name is not None:  # equal for all tasks that share the queue
            second = int(hashlib.md5(f"{first}{shared_name}".encode()).hexdigest()[:8], 16) & 0x7FFFFFFF
        made = make_op("RandomShuffleQueueV2", [], name, capacity=capacity, min_after_dequeue=min_after_dequeue,
                       component_types=types, shapes=shapes or [], seed=first, seed2=second, shared_name=shared_name)
        super().__init__(types, shapes, _names(names), made.outputs[0])


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue of elements whose sizes may differ where the shape has None; dequeue_many pads them with zeros."""

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None, name="padding_fifo_queue"):
        types = _types(dtypes)
        shapes = _shapes(shapes, len(types))
        if shapes is None or len(shapes) != len(types):
            raise ValueError("Shapes must be provided for all components of a PaddingFIFOQueue")
        made = make_op("PaddingFIFOQueueV2", [], name, capacity=capacity, component_types=types, shapes=shapes,
                       shared_name=shared_name)
        super().__init__(types, shapes, _names(names), made.outputs[0])


class PriorityQueue(QueueBase):
    """Returns the element with the smallest priority: an int64 scalar, which comes before the other components."""

    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None, name="priority_queue"):
        types = _types(types)
        shapes = _shapes(shapes, len(types))
        made = make_op("PriorityQueueV2", [], name, capacity=capacity, component_types=types,
                       shapes=[TensorShape(s) for s in shapes or []], shared_name=shared_name)
        names = _names(names)
        super().__init__([dtypes.int64] + types, [TensorShape([])] + shapes if shapes else None, names,
                         made.outputs[0])
