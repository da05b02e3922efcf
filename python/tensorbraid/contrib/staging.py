"""tf.contrib.staging: buffers between two parts of a step, such as the copy of an input and its use."""

from tensorbraid import dtypes as dtypes_module
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.shapes import TensorShape

__all__ = []


class StagingArea:
    """A buffer of elements on a device; an element is a list of tensors. Source: tf.contrib.staging.StagingArea.

    A `put` in one step and a `get` in the next let a step use what the step before has prepared.
    """

    def __init__(self, dtypes, shapes=None, names=None, shared_name=None, capacity=0, memory_limit=0):
        """Makes the area.

        Args:
            dtypes: A list with the dtype of each component of an element.
            shapes: A list with the shape of each component, or None.
            names: A list of names. Elements are then dictionaries.
            shared_name: Areas of the same name and device are the same area.
            capacity: The largest number of elements; `put` waits while the area is full. 0: any number.
            memory_limit: The largest number of bytes of all elements; `put` waits, too. 0: any number.
        """
        self._graph = graphs.get_default_graph()
        self._name = shared_name or self._graph.unique_name("StagingArea")
        self._dtypes = [dtypes_module.as_dtype(dtype) for dtype in dtypes]
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        self._shapes = [TensorShape(shape) for shape in (shapes or [None] * len(self._dtypes))]
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._names = names
        self._capacity, self._memory_limit = max(capacity, 0), max(memory_limit, 0)
        with graphs.name_scope(f"{self._name}_root"):
            self._root = make_op("NoOp", [], "NoOp")  # the place of the area

    name = property(lambda self: self._name, doc="The name that the area has on its device.")
    dtypes = property(lambda self: self._dtypes, doc="The dtypes of the components of an element.")
    shapes = property(lambda self: self._shapes, doc="The shapes of the components of an element.")
    names = property(lambda self: self._names, doc="The names of the components of an element, or None.")
    capacity = property(lambda self: self._capacity, doc="The largest number of elements; 0 for any number.")
    memory_limit = property(lambda self: self._memory_limit, doc="The largest number of bytes; 0 for any number.")

    def _op(self, op_type, name, inputs=()):
        with self._graph.colocate_with(self._root):
            return make_op(op_type, list(inputs), name, dtypes=self._dtypes, shared_name=self._name,
                           capacity=self._capacity, memory_limit=self._memory_limit)

    def _tensors(self, values):
        """The element as a list of tensors of the area's dtypes and shapes."""
        if isinstance(values, dict):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if sorted(self._names) != sorted(values):
                raise ValueError("Keys in dictionary to put do not match names of staging area. "
                                 f"Dictionary: {sorted(values)}, names: {sorted(self._names)}")
            values = [values[name] for name in self._names]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a staging area with names")
        else:
            values = list(values) if isinstance(values, (list, tuple)) else [values]
        if len(values) != len(self._dtypes):
            raise ValueError(f"put of a staging area of {len(self._dtypes)} components got {len(values)}")
        tensors = []
        for i, (value, dtype, shape) in enumerate(zip(values, self._dtypes, self._shapes)):
            tensor = graphs.convert_to_tensor(value, name=f"component_{i}")
            if tensor.dtype != dtype:
                raise ValueError(f"Datatypes do not match. Received val.dtype {tensor.dtype} and dtype {dtype}")
            tensor.shape.assert_is_compatible_with(shape)
            tensors.append(tensor)
        return tensors

    def _element(self, operation):
        """The result of `get` and `peek` for an element."""
        for output, shape in zip(operation.outputs, self._shapes):
            output.set_shape(shape)
        return dict(zip(self._names, operation.outputs)) if self._names else list(operation.outputs)

    def put(self, values, name=None):
        """The operation that adds an element; it waits while the area is full."""
        flat = list(values.values()) if isinstance(values, dict) else values
        flat = list(flat) if isinstance(flat, (list, tuple)) else [flat]
        with graphs.name_scope(name, f"{self._name}_put", flat) as scope:
            tensors = self._tensors(values)
            return self._op("Stage", scope, [tensors])

    def get(self, name=None):
        """The oldest element, which leaves the area; the step waits while the area is empty."""
        return self._element(self._op("Unstage", name or f"{self._name}_get"))

    def peek(self, index, name=None):
        """The element at a position, which stays in the area; the step waits until it is there."""
        with graphs.name_scope(name, f"{self._name}_peek") as scope:
            at = graphs.convert_to_tensor(index, dtypes_module.int32, name="index")
            return self._element(self._op("StagePeek", scope, [at]))

    def size(self, name=None):
        """The number of elements, a scalar of int32."""
        return self._op("StageSize", name or f"{self._name}_size").outputs[0]

    def clear(self, name=None):
        """The operation that removes all elements."""
        return self._op("StageClear", name or f"{self._name}_clear")
