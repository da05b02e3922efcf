"""Barriers: elements that are put together component by component, and can be taken once they are complete."""

from tensorbraid import dtypes
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.shapes import TensorShape

__all__ = []


def _listed(value, is_one):
    return [value] if is_one(value) else list(value)


class Barrier:
    """A map from a string to an element with several components. Source: tensorflow.python.ops.data_flow_ops.Barrier.

    A component of an element that is not complete is set by insert_many. Complete elements leave in the order in which
    their keys were first inserted.
    """

    def __init__(self, types, shapes=None, shared_name=None, name="barrier"):
        """Makes a barrier for elements with components of these dtypes and shapes, which are lists, or one for one."""
        self._types = [dtypes.as_dtype(dtype)
                       for dtype in _listed(types, lambda given: not isinstance(given, (list, tuple)))]
        self._shapes = [TensorShape(None)] * len(self._types)
        if shapes is not None:
            self._shapes = [TensorShape(shape) for shape in _listed(shapes, lambda given: len(self._types) == 1 and not any(
                isinstance(part, (list, tuple, TensorShape)) for part in given))]
            if len(self._shapes) != len(self._types):
                raise ValueError(f"Barrier shapes must have the same length as types: {len(self._shapes)} and "
                                 f"{len(self._types)}")
            for i, shape in enumerate(self._shapes):
                if shape.num_elements() == 0:
                    raise ValueError(f"Empty tensors are not supported, but received shape '{shape}' at index {i}")
        self._handle = make_op("Barrier", [], name, component_types=self._types, shapes=self._shapes,
                               shared_name=shared_name).outputs[0]
        self._short_name = self.name.rsplit("/", 1)[-1]

    barrier_ref = property(lambda self: self._handle, doc="The handle of the barrier.")
    name = property(lambda self: self._handle.op.name, doc="The name of the barrier's operation.")

    def _op(self, op_type, name, *inputs, **attrs):
        return make_op(op_type, [self._handle, *inputs], name or f"{self._short_name}_{op_type}", **attrs)

    def insert_many(self, component_index, keys, values, name=None):
        """The operation that sets one component: row i of `values` is that of the element of key i."""
        return self._op("BarrierInsertMany", name, keys, values, component_index=component_index)

    def take_many(self, num_elements, allow_small_batch=False, timeout=None, name=None):
        """Waits for so many complete elements. Returns their indices, their keys and a list of their components.

        The index of an element tells which insert_many was the first for its key; the first one is -2**63. A closed
        barrier raises OutOfRangeError if it has fewer elements; with `allow_small_batch`, only if it has none.
        """
        taken = self._op("BarrierTakeMany", name, num_elements, component_types=self._types,
                         allow_small_batch=allow_small_batch, timeout_ms=timeout)
        indices, keys, *values = taken.outputs
        for value, shape in zip(values, self._shapes):
            value.set_shape(TensorShape(indices.shape).concatenate(shape))
        return indices, keys, values

    def close(self, cancel_pending_enqueues=False, name=None):
        """The operation after which no key can be added. Other elements can be completed, unless they are cancelled."""
        return self._op("BarrierClose", name, cancel_pending_enqueues=cancel_pending_enqueues)

    def ready_size(self, name=None):
        """The number of complete elements."""
        return self._op("BarrierReadySize", name).outputs[0]

    def incomplete_size(self, name=None):
        """The number of elements that lack a component."""
        return self._op("BarrierIncompleteSize", name).outputs[0]
