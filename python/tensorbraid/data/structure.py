"""Structures of elements: tuples and dictionaries, whose leaves are everything else. So a list is one tensor.

A template is a structure whose leaves are objects of the class Leaf.
"""

import copy

from tensorbraid import dtypes, nest
from tensorbraid.graphs import Tensor, convert_to_tensor, name_scope
from tensorbraid.shapes import TensorShape

__all__ = []


class Leaf:
    """A leaf of a template, with the value that was there."""

    def __init__(self, value=None):
        self.value = value


def template_of(value):
    """The structure of a value, with a position in place of each component."""
    if isinstance(value, dict):
        template = copy.copy(value)
        for key in value:
            template[key] = template_of(value[key])
        return template
    if nest.is_namedtuple(value):
        return type(value)(*[template_of(part) for part in value])
    if isinstance(value, tuple):
        return tuple(template_of(part) for part in value)
    return Leaf(value)


def values_of(template):
    """The values in the leaves of a template."""
    return [leaf.value for leaf in nest.flatten(template)]


def tensors_of(value):
    """The template of a value, and its leaves as tensors."""
    template = template_of(value)
    with name_scope("normalize_element"):
        return template, [convert_to_tensor(leaf, name=f"component_{i}") for i, leaf in enumerate(values_of(template))]


def pack(template, leaves):
    """The components in the structure of the template."""
    return nest.pack_sequence_as(template, list(leaves))


def flatten_up_to(template, value):
    """The parts of `value` at the leaves of the template. They may be structures."""
    return nest.flatten_up_to(template, value, check_types=False)


class Described:
    """An object with elements: it has `_template`, and `_core.element`, which describes their tensors."""

    @property
    def output_types(self):
        """The dtypes of an element, in its structure."""
        return pack(self._template, [dtypes.as_dtype(dtype) for dtype, _ in self._core.element])

    @property
    def output_shapes(self):
        """The shapes of an element, in its structure."""
        return pack(self._template, [TensorShape(dims) for _, dims in self._core.element])

    @property
    def output_classes(self):
        """tf.Tensor for each tensor of an element, in its structure."""
        return pack(self._template, [Tensor] * len(self._core.element))


def get_output_types(dataset_or_iterator):
    """The dtypes of a dataset's or iterator's elements."""
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator):
    """The shapes of a dataset's or iterator's elements."""
    return dataset_or_iterator.output_shapes


def get_output_classes(dataset_or_iterator):
    """The classes of the components of a dataset's or iterator's elements."""
    return dataset_or_iterator.output_classes
