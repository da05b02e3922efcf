"""Datasets whose elements functions of the program make."""

from tensorbraid import _core, dtypes
from tensorbraid.data import structure
from tensorbraid.internal import graphs
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops.script_ops import HostFunction, as_array

__all__ = []


def _converted(value, dtype, shape):
    """The array for a part of an element, checked as tf.data does."""
    try:
        array = as_array(value, None if dtype == dtypes.string else dtype.as_numpy_dtype)
    except (TypeError, ValueError):
        raise TypeError("`generator` yielded an element that could not be converted to the expected type. The "
                        f"expected type was {dtype.name}, but the yielded element was {value}.") from None
    if dtype == dtypes.string and array.dtype.kind not in "OSU":
        raise TypeError(f"`generator` yielded an element of type {array.dtype} where an element of type string was "
                        "expected.")
    if not shape.is_compatible_with(array.shape):
        raise ValueError(f"`generator` yielded an element of shape {array.shape} where an element of shape {shape} was "
                         "expected.")
    return array


def from_generator(generator, output_types, output_shapes=None, args=None):
    """The core dataset of the elements that generator(*args) yields, and its template."""
    if not callable(generator):
        raise TypeError("`generator` must be a Python callable.")
    template = structure.template_of(output_types)
    types = [dtypes.as_dtype(dtype) for dtype in structure.values_of(template)]
    if output_shapes is None:
        shapes = [TensorShape(None)] * len(types)
    else:
        shapes = [TensorShape(shape) for shape in structure.flatten_up_to(template, output_shapes)]
    graph = graphs.get_default_graph()
    tensors = [graphs.convert_to_tensor(arg) for arg in args or ()]

    def begin(*arrays):
        elements = iter(generator(*arrays))

        def next_element():
            try:
                element = next(elements)
            except StopIteration:
                return None
            try:
                parts = structure.flatten_up_to(template, element)
            except (TypeError, ValueError):
                raise TypeError("`generator` yielded an element that did not match the expected structure. The "
                                f"expected structure was {output_types}, but the yielded element was "
                                f"{element}.") from None
            return [_converted(*part) for part in zip(parts, types, shapes)]

        return HostFunction(next_element)

    element = [(t.as_datatype_enum, s.as_list() if s.ndims is not None else None) for t, s in zip(types, shapes)]
    core = _core.Dataset.from_callback(graph, HostFunction(begin).kept_by(graph), tensors, element)
    return core, template
