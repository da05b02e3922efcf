"""Static shapes of tensors."""

from tensorbraid.internal import arguments
from tensorbraid.internal.dimension import Dimension, size_of


def _size(value):
    """A size of a shape, in which -1 is unknown."""
    size = size_of(value)
    if size is not None and size < -1:
        raise ValueError(f"Dimension {size} must be >= 0")
    return None if size == -1 else size


class TensorShape:
    """The sizes of a tensor as far as they are known before a step."""

    def __init__(self, dims):
        if isinstance(dims, TensorShape):
            dims = dims._dims
        elif isinstance(dims, (int, Dimension)):
            dims = [dims]
        elif hasattr(dims, "unknown_rank"):  # a TensorShapeProto
            dims = None if dims.unknown_rank else [dim.size for dim in dims.dim]
        elif dims is not None and (isinstance(dims, (str, bytes)) or not hasattr(dims, "__iter__")):
            raise TypeError(arguments.about(dims, f"a shape must be a list of sizes, but got {dims!r}"))
        self._dims = None if dims is None else [_size(d) for d in dims]

    @property
    def ndims(self):
        """The number of dimensions; None if it is unknown."""
        return None if self._dims is None else len(self._dims)

    rank = ndims

    @property
    def dims(self):
        """The dimensions as a list; None if their number is unknown."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    def as_list(self):
        """The sizes as a list, None for an unknown one. ValueError if their number is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def is_fully_defined(self):
        """Whether all sizes are known."""
        return self._dims is not None and None not in self._dims

    def is_compatible_with(self, other):
        """Whether a tensor could have both shapes."""
        other = TensorShape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims))

    def merge_with(self, other):
        """The shape that both describe, with all that is known of it."""
        other = TensorShape(other)
        if self._dims is None:
            return other
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        if other._dims is None:
            return self
        return TensorShape([b if a is None else a for a, b in zip(self._dims, other._dims)])

    def concatenate(self, other):
        """The dimensions of this shape, then those of `other`."""
        other = TensorShape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    def with_rank(self, rank):
        """This shape, which must have this rank."""
        return self.merge_with(TensorShape([None] * int(rank)))

    def with_rank_at_least(self, rank):
        """This shape, which must have this rank or a higher one."""
        if self.ndims is not None and self.ndims < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank):
        """This shape, which must have this rank or a lower one."""
        if self.ndims is not None and self.ndims > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def most_specific_compatible_shape(self, other):
        """The shape with the sizes that both have, and unknown sizes elsewhere."""
        other = TensorShape(other)
        if self._dims is None or other._dims is None or self.ndims != other.ndims:
            return TensorShape(None)
        return TensorShape([a if a == b else None for a, b in zip(self._dims, other._dims)])

    def assert_same_rank(self, other):
        """Raises ValueError if both numbers of dimensions are known and differ."""
        other = TensorShape(other)
        if self.ndims is not None and other.ndims is not None and self.ndims != other.ndims:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_is_compatible_with(self, other):
        """Raises ValueError if the shapes contradict each other."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {TensorShape(other)} are incompatible")

    def assert_has_rank(self, rank):
        """Raises ValueError if the number of dimensions is another."""
        if self.ndims not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_is_fully_defined(self):
        """Raises ValueError unless all sizes are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def num_elements(self):
        """The product of the sizes; None if one is unknown."""
        if not self.is_fully_defined():
            return None
        product = 1
        for dim in self._dims:
            product *= dim
        return product

    def as_proto(self):
        """The shape as a TensorShapeProto, in which -1 stands for an unknown size."""
        from tensorbraid import proto

        message = proto.TensorShapeProto(unknown_rank=self._dims is None)
        for dim in self._dims or []:
            message.dim.add(size=-1 if dim is None else dim)
        return message

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return TensorShape(other).concatenate(self)

    def __bool__(self):
        """Whether the rank is known."""
        return self._dims is not None

    def __len__(self):
        return len(self.as_list())

    def __iter__(self):
        return iter([Dimension(d) for d in self.as_list()])

    def __getitem__(self, key):
        if isinstance(key, slice):
            return TensorShape(self.as_list()[key])
        return Dimension(None if self._dims is None else self._dims[key])

    def __eq__(self, other):
        try:
            return self._dims == TensorShape(other)._dims
        except TypeError:
            return NotImplemented

    def __hash__(self):
        return hash(None if self._dims is None else tuple(self._dims))

    def __repr__(self):
        return f"TensorShape({[Dimension(d) for d in self._dims] if self._dims is not None else None})"

    def __str__(self):
        if self._dims is None:
            return "<unknown>"
        dims = ", ".join(str(Dimension(d)) for d in self._dims)
        return f"({dims},)" if len(self._dims) == 1 else f"({dims})"
