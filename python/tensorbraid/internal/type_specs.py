"""Descriptions of values: their class, dtype and shape."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops.sparse_tensor import SparseTensor

__all__ = ["IndexedSlicesSpec", "OptionalSpec", "SparseTensorSpec", "TensorArraySpec", "TensorSpec", "TypeSpec",
           "type_spec_from_value"]


class TypeSpec:
    """The type of a value as it is known before a step. Source: tf.TypeSpec. A subclass names its components."""

    value_type = None  # the class of the values

    def _parts(self):
        """The arguments that make an equal description."""
        raise NotImplementedError(f"{type(self).__name__}._parts")

    def is_compatible_with(self, spec_or_value):
        """Whether a value, or the values of another description, may have this description."""
        spec = spec_or_value if isinstance(spec_or_value, TypeSpec) else type_spec_from_value(spec_or_value)
        if type(spec) is not type(self):
            return False
        return all(mine.is_compatible_with(other) if isinstance(mine, (TensorShape, TypeSpec)) else mine == other
                   for mine, other in zip(self._parts(), spec._parts()))

    def __eq__(self, other):
        return type(other) is type(self) and [_plain(part) for part in self._parts()] == [
            _plain(part) for part in other._parts()]

    def __hash__(self):
        return hash((type(self).__name__, *map(_plain, self._parts())))

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(map(repr, self._parts()))})"


def _plain(part):
    """A shape as a tuple, in which unknown sizes are equal."""
    if isinstance(part, TensorShape):
        return None if part.ndims is None else tuple(part.as_list())
    return part


class TensorSpec(TypeSpec):
    """The dtype, the shape and perhaps the name of a tensor."""

    value_type = graphs.Tensor

    def __init__(self, shape, dtype=dtypes.float32, name=None):
        self._shape, self._dtype, self._name = TensorShape(shape), dtypes.as_dtype(dtype), name

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._name)

    @classmethod
    def from_spec(cls, spec, name=None):
        """The description of a tensor like `spec`, with another name."""
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """The description of a tensor."""
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    def _parts(self):
        return self._shape, self._dtype, self._name

    def is_compatible_with(self, spec_or_value):
        if not isinstance(spec_or_value, (TensorSpec, graphs.Tensor)):
            spec_or_value = type_spec_from_value(spec_or_value)
        return self._dtype == spec_or_value.dtype and self._shape.is_compatible_with(spec_or_value.shape)

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"


class SparseTensorSpec(TypeSpec):
    """The dtype and the dense shape of a SparseTensor."""

    value_type = SparseTensor

    def __init__(self, shape=None, dtype=dtypes.float32):
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)

    def _parts(self):
        return self._shape, self._dtype


class IndexedSlicesSpec(TypeSpec):
    """The dtypes and shapes of IndexedSlices."""

    value_type = graphs.IndexedSlices

    def __init__(self, shape=None, dtype=dtypes.float32, indices_dtype=dtypes.int64, dense_shape_dtype=None,
                 indices_shape=None):
        self._shape, self._dtype = TensorShape(shape), dtypes.as_dtype(dtype)
        self._indices_dtype = dtypes.as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else dtypes.as_dtype(dense_shape_dtype)
        indices = TensorShape(indices_shape)
        self._indices_shape = TensorShape([None]) if indices.ndims is None else indices

    def _parts(self):
        return self._shape, self._dtype, self._indices_dtype, self._dense_shape_dtype, self._indices_shape


class TensorArraySpec(TypeSpec):
    """The dtype and the shape of the elements of a TensorArray."""

    def __init__(self, element_shape=None, dtype=dtypes.float32, dynamic_size=False, infer_shape=True):
        self._element_shape, self._dtype = TensorShape(element_shape), dtypes.as_dtype(dtype)
        self._dynamic_size, self._infer_shape = bool(dynamic_size), bool(infer_shape)

    @property
    def value_type(self):
        from tensorbraid.ops.tensor_array import TensorArray

        return TensorArray

    def _parts(self):
        return self._element_shape, self._dtype, self._dynamic_size, self._infer_shape


class OptionalSpec(TypeSpec):
    """The description of the value that an optional value may have."""

    def __init__(self, element_spec):
        self._element_spec = element_spec

    def _parts(self):
        return (self._element_spec,)

    def __repr__(self):
        return f"OptionalSpec{self._parts()!r}"


def type_spec_from_value(value):
    """The description of a value."""
    if isinstance(value, TypeSpec):
        return value
    if isinstance(value, SparseTensor):
        return SparseTensorSpec(value.shape, value.dtype)
    if isinstance(value, graphs.IndexedSlices):
        shape = None if value.dense_shape is None else value.dense_shape.dtype
        return IndexedSlicesSpec(value.values.shape, value.dtype, value.indices.dtype, shape, value.indices.shape)
    if hasattr(value, "_type_spec"):
        return value._type_spec
    if not isinstance(value, graphs.Tensor):
        try:
            with graphs.Graph().as_default():  # the tensor is of no use in the program's graph
                found = graphs.convert_to_tensor(value)
                return TensorSpec(found.shape, found.dtype)
        except (TypeError, ValueError):
            raise TypeError(f"Could not build a TypeSpec for {value!r} of the type {type(value).__name__}") from None
    return TensorSpec(value.shape, value.dtype)
