"""Arrays of tensors for loops."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, make_op
from tensorbraid.internal.shapes import TensorShape

__all__ = ["TensorArray"]


class TensorArray:
    """An array of tensors that are written once each. Source: tf.TensorArray.

    Writing returns a new object of the same array. A loop passes the array on as a variable of the loop.
    """

    def __init__(self, dtype, size=None, dynamic_size=None, clear_after_read=None, tensor_array_name=None, handle=None,
                 flow=None, infer_shape=True, element_shape=None, colocate_with_first_write_call=True, name=None):
        if handle is not None and tensor_array_name:
            raise ValueError("Cannot provide both `handle` and `tensor_array_name` arguments at the same time.")
        if handle is not None and size is not None:
            raise ValueError("Cannot provide both a `handle` and `size` arguments at the same time.")
        if handle is None and size is None:
            raise ValueError("Argument `size` must be provided if handle is not provided.")
        if handle is not None and (element_shape is not None or dynamic_size is not None
                                   or clear_after_read is not None):
            raise ValueError("element_shape, dynamic_size and clear_after_read belong to a new array, not to a handle")
        self._dtype = dtypes.as_dtype(dtype).base_dtype
        self._infer_shape = infer_shape
        self._known = [TensorShape(element_shape)]  # the shape of an element, which all objects of the array learn
        if handle is not None:
            self._handle = handle
            self._flow = flow
            return
        made = make_op(
            "TensorArrayV3", [size], name or "TensorArray", dtype=self._dtype,
            element_shape=TensorShape(element_shape), dynamic_size=bool(dynamic_size),
            clear_after_read=clear_after_read is None or bool(clear_after_read),
            identical_element_shapes=infer_shape, tensor_array_name=tensor_array_name or "").outputs
        self._handle, self._flow = made if flow is None else (made[0], flow)

    flow = property(lambda self: self._flow)
    handle = property(lambda self: self._handle)
    dtype = property(lambda self: self._dtype)
    element_shape = _element_shape = property(lambda self: self._known[0])

    def _with_flow(self, flow):
        array = TensorArray(self._dtype, handle=self._handle, flow=flow, infer_shape=self._infer_shape)
        array._known = self._known
        return array

    # A loop passes these tensors from one iteration to the next.
    def _parts(self):
        return [self._flow]

    def _with_parts(self, parts):
        return self._with_flow(parts[0])

    def _op(self, op_type, inputs, name, **attrs):
        with self._handle.graph.colocate_with(self._handle):
            return make_op(op_type, [self._handle, *inputs, self._flow], name, **attrs)

    def _learn_shape(self, shape):
        """Remembers the shape of an element; all elements have the same shape if `infer_shape` is set."""
        if not self._infer_shape:
            return
        if not self._element_shape.is_compatible_with(shape):
            raise ValueError(f"Inconsistent shapes: saw {shape} but expected {self._element_shape}")
        self._known[0] = self._element_shape.merge_with(shape)

    def identity(self):
        """The same array; reads wait for what the identity waits for."""
        return self._with_flow(make_op("Identity", [self._flow]).outputs[0])

    def grad(self, source, flow=None, name=None):
        """The array of the gradients of this array for one call of tf.gradients, which `source` names."""
        flow = self._flow if flow is None else flow
        with self._handle.graph.colocate_with(self._handle):
            made = make_op("TensorArrayGradV3", [self._handle, flow], name or "TensorArrayGrad", source=source).outputs
        with graphs.control_dependencies([made[0]]):
            flow = make_op("Identity", [flow], "gradient_flow").outputs[0]
        array = TensorArray(self._dtype, handle=made[0], flow=flow, infer_shape=self._infer_shape)
        array._known = [self._element_shape]
        return array

    def read(self, index, name=None):
        """The element `index`."""
        value = self._op("TensorArrayReadV3", [index], name or "TensorArrayReadV3", dtype=self._dtype).outputs[0]
        value.set_shape(self._element_shape)
        return value

    def write(self, index, value, name=None):
        """The array after `value` has been written to the element `index`."""
        value = convert_to_tensor(value, self._dtype, "value")
        self._learn_shape(value.shape)
        return self._with_flow(self._op("TensorArrayWriteV3", [index, value],
                                        name or "TensorArrayWrite/TensorArrayWriteV3")
                               .outputs[0])

    def gather(self, indices, name=None):
        """The elements `indices` as one tensor with a new first dimension."""
        value = self._op("TensorArrayGatherV3", [indices], name or "TensorArrayGatherV3", dtype=self._dtype,
                         element_shape=self._element_shape).outputs[0]
        if self._element_shape.ndims is not None:
            value.set_shape([None, *self._element_shape.as_list()])
        return value

    def stack(self, name=None):
        """All elements as one tensor with a new first dimension."""
        handle = self._handle
        with graphs.name_scope(name, "TensorArrayStack", [handle]), handle.graph.colocate_with(handle):
            every = make_op("Range", [0, self.size(), 1], "range").outputs[0]
            return self.gather(every)

    def concat(self, name=None):
        """All elements, joined along their first dimension."""
        rest = self._element_shape[1:] if self._element_shape.ndims else TensorShape(None)
        value = self._op("TensorArrayConcatV3", [], name or "TensorArrayConcatV3", dtype=self._dtype,
                         element_shape_except0=rest).outputs[0]
        if rest.ndims is not None:
            value.set_shape([None, *rest.as_list()])
        return value

    def unstack(self, value, name=None):
        """The array after the slices of `value` have been written to the elements 0, 1, 2, ..."""
        with graphs.name_scope(name, "TensorArrayUnstack", [self._handle]):
            value = convert_to_tensor(value, self._dtype, "value")
            shape = make_op("Shape", [value]).outputs[0]
            rows = make_op("StridedSlice", [shape, [0], [1], [1]], shrink_axis_mask=1).outputs[0]
            return self.scatter(make_op("Range", [0, rows, 1], "range").outputs[0], value)

    def scatter(self, indices, value, name=None):
        """The array after the slices of `value` have been written to the elements `indices`."""
        value = convert_to_tensor(value, self._dtype, "value")
        if value.shape.ndims is not None:
            self._learn_shape(value.shape[1:])
        return self._with_flow(self._op("TensorArrayScatterV3", [indices, value],
                                        name or "TensorArrayScatter/TensorArrayScatterV3").outputs[0])

    def split(self, value, lengths, name=None):
        """The array after parts of `value` with these lengths have been written to its elements."""
        value = convert_to_tensor(value, self._dtype, "value")
        lengths = convert_to_tensor(lengths, name="lengths")
        if lengths.dtype != dtypes.int64:
            lengths = make_op("Cast", [lengths], DstT=dtypes.int64).outputs[0]
        return self._with_flow(self._op("TensorArraySplitV3", [value, lengths],
                                        name or "TensorArraySplit/TensorArraySplitV3").outputs[0])

    def size(self, name=None):
        """The number of elements."""
        return self._op("TensorArraySizeV3", [], name or "TensorArraySizeV3").outputs[0]

    def close(self, name=None):
        """An operation that frees the array's memory."""
        with self._handle.graph.colocate_with(self._handle):
            return make_op("TensorArrayCloseV3", [self._handle], name or "TensorArrayCloseV3")
