"""Structures of elements: tuples and dictionaries, whose leaves are everything else. So a list is one tensor.

A template is a structure whose leaves are objects of the class Leaf. Each leaf is one tensor of the library's dataset.
A leaf knows how a tensor, a SparseTensor or a dataset becomes this tensor, and the other way.
"""

import copy

from tensorbraid import dtypes, errors, nest
from tensorbraid.internal import arguments
from tensorbraid.internal.graphs import Tensor, convert_to_tensor, make_op, name_scope
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops import sparse_ops
from tensorbraid.ops.sparse_tensor import SparseTensor, SparseTensorValue

__all__ = []


def built(make, *args):
    """make(*args); an error of the library is a ValueError, as in TensorFlow while a graph is built."""
    try:
        return make(*args)
    except errors.InvalidArgumentError as error:
        raise ValueError(arguments.in_python(error.message)) from None
    except TypeError as error:
        text = arguments.in_python(str(error))
        for value in args:
            if text.startswith("expected ") and f"got {value!r}" in text:
                text = arguments.about(value, text)
        raise TypeError(text) from None


class Leaf:
    """A leaf of a template, with the value that was there. In a dataset, it is a tensor."""

    def __init__(self, value=None):
        self.value = value

    def tensor(self, name=None):
        """The value as one tensor, which is what an element of a dataset has for the leaf."""
        return convert_to_tensor(self.value, name=name)

    def slices(self, name=None):
        """The value as one tensor, whose slices stand for the slices of the value."""
        return self.tensor(name)

    def component(self, tensor):
        """The value that a function of the program gets for the tensor of the leaf."""
        return tensor

    def described(self, dtype, dims):
        """The dtype, shape and class of the component, whose tensor has this dtype and shape."""
        return dtypes.as_dtype(dtype), TensorShape(dims), Tensor

    def batched(self, size):
        """The leaf of elements that are batches of `size` of these; None: a number that differs."""
        return self

    def unbatched(self):
        """The leaf of elements that are slices of these."""
        return self


class SparseLeaf(Leaf):
    """A SparseTensor. Its tensor is a vector of three variants; a matrix of such rows is a batch."""

    def __init__(self, dtype, shape, value=None):
        super().__init__(value)
        self._dtype, self._shape = dtype, TensorShape(shape)

    def tensor(self, name=None):
        return sparse_ops.serialize_sparse(self.value, name, dtypes.variant)

    def slices(self, name=None):
        return sparse_ops.serialize_many_sparse(self.value, name, dtypes.variant)

    def component(self, tensor):
        ndims = self._shape.ndims
        parts = make_op("DeserializeSparse", [tensor], dtype=self._dtype).outputs
        parts[0].set_shape([None, ndims])
        parts[2].set_shape([ndims])
        made = SparseTensor(*parts)
        made._static_shape = self._shape
        return made

    def described(self, dtype, dims):
        return self._dtype, self._shape, SparseTensor

    def batched(self, size):
        return SparseLeaf(self._dtype, TensorShape([size]).concatenate(self._shape))

    def unbatched(self):
        return SparseLeaf(self._dtype, self._shape[1:])


def leaf_of(value):
    """The leaf for a component."""
    if isinstance(value, SparseTensorValue):
        value = SparseTensor.from_value(value)
    if isinstance(value, SparseTensor):
        return SparseLeaf(value.dtype, value.get_shape(), value)
    return value._leaf() if isinstance(value, Described) else Leaf(value)


def template_of(value):
    """The structure of a value, with a leaf in place of each component."""
    if isinstance(value, dict):
        template = copy.copy(value)
        for key in value:
            template[key] = template_of(value[key])
        return template
    if nest.is_namedtuple(value) and not isinstance(value, SparseTensorValue):
        return type(value)(*[template_of(part) for part in value])
    if isinstance(value, tuple) and not isinstance(value, SparseTensorValue):
        return tuple(template_of(part) for part in value)
    return leaf_of(value)


def values_of(template):
    """The values in the leaves of a template."""
    return [leaf.value for leaf in nest.flatten(template)]


def tensors_of(value, slices=False):
    """The template of a value, and its leaves as tensors, or as tensors of slices."""
    template = template_of(value)
    with name_scope("normalize_element"):
        return template, [(leaf.slices if slices else leaf.tensor)(f"component_{i}")
                          for i, leaf in enumerate(nest.flatten(template))]


def results_of(value):
    """The template and the tensors of what a function of the program returned for an element. A list is a tuple."""
    template = template_of(tuple(value) if isinstance(value, list) else value)
    return template, [leaf.tensor() for leaf in nest.flatten(template)]


def components(template, tensors):
    """The element, as functions of the program get it, that has these tensors."""
    leaves = nest.flatten(template)
    return pack(template, [leaf.component(tensor) for leaf, tensor in zip(leaves, tensors)])


def transformed(template, change):
    """The template with change(leaf) in place of each leaf."""
    return pack(template, [change(leaf) for leaf in nest.flatten(template)])


def description(tensors):
    """The structure of an element in the form that C++ takes: pairs (number of the dtype, sizes) of its tensors."""
    return [(tensor.dtype.as_datatype_enum, tensor.shape._dims) for tensor in tensors]


def pack(template, leaves):
    """The components in the structure of the template."""
    return nest.pack_sequence_as(template, list(leaves))


def flatten_up_to(template, value):
    """The parts of `value` at the leaves of the template. They may be structures."""
    return nest.flatten_up_to(template, value, check_types=False)


def common_dims(first, second):
    """The sizes that two shapes share; other sizes are not known. None: a shape of any rank."""
    if first is None or second is None or len(first) != len(second):
        return None
    return [a if a == b else None for a, b in zip(first, second)]


class Described:
    """An object with elements: it has `_template`, and `_core.element`, which describes their tensors."""

    def _described(self, part):
        leaves = nest.flatten(self._template)
        return pack(self._template, [leaf.described(*spec)[part] for leaf, spec in zip(leaves, self._core.element)])

    output_types = property(lambda self: self._described(0), doc="The dtypes of an element, in its structure.")
    output_shapes = property(lambda self: self._described(1), doc="The shapes of an element, in its structure.")
    output_classes = property(lambda self: self._described(2), doc="The classes of an element's components: tf.Tensor "
                                                                   "or tf.SparseTensor, in its structure.")


def get_output_types(dataset_or_iterator):
    """The dtypes of a dataset's or iterator's elements."""
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator):
    """The shapes of a dataset's or iterator's elements."""
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator):
    """The classes of the components of a dataset's or iterator's elements."""
    return dataset_or_iterator.output_classes
