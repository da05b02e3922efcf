"""Iterators over datasets."""

from tensorbraid import _core, dtypes, errors
from tensorbraid.data import structure
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops.sparse_tensor import SparseTensor

__all__ = []


def _element(output_types, output_shapes, output_classes):
    """The template and the description of elements with these dtypes and shapes."""
    template = structure.template_of(output_types)
    types = [dtypes.as_dtype(dtype) for dtype in structure.values_of(template)]
    shapes, classes = [None] * len(types), [graphs.Tensor] * len(types)
    if output_shapes is not None:
        shapes = structure.flatten_up_to(template, output_shapes)
    if output_classes is not None:
        classes = structure.flatten_up_to(template, output_classes)
    leaves, element = [], []
    for dtype, shape, cls in zip(types, shapes, classes):
        if cls not in (graphs.Tensor, SparseTensor):
            raise NotImplementedError(f"output_classes other than tf.Tensor and tf.SparseTensor: {cls}")
        sparse = cls is SparseTensor
        leaves.append(structure.SparseLeaf(dtype, shape) if sparse else structure.Leaf())
        # A SparseTensor is a vector of three variants, or a matrix of such rows.
        element.append((dtypes.variant.as_datatype_enum, None) if sparse else (
            dtype.as_datatype_enum, TensorShape(shape)._dims))
    return structure.pack(template, leaves), element


class Iterator(structure.Described):
    """Goes through the elements of a dataset. Source: tf.data.Iterator."""

    def __init__(self, core, template):
        self._core = core
        self._template = template
        self._handle = None

    @staticmethod
    def from_structure(output_types, output_shapes=None, shared_name=None, output_classes=None):
        """An iterator for all datasets with such elements, see make_initializer."""
        template, element = _element(output_types, output_shapes, output_classes)
        graph = graphs.get_default_graph()
        return Iterator(_core.DatasetIterator.from_structure(graph, element, shared_name or ""), template)

    @staticmethod
    def from_string_handle(string_handle, output_types, output_shapes=None, output_classes=None):
        """The iterator whose string_handle() has this value in a step."""
        template, element = _element(output_types, output_shapes, output_classes)
        handle = graphs.convert_to_tensor(string_handle, dtypes.string)
        return Iterator(_core.DatasetIterator.from_string_handle(handle, element), template)

    @property
    def initializer(self):
        """The operation that makes an iterator of make_initializable_iterator begin."""
        if self._core.initializer is None:
            raise ValueError("The iterator does not have an initializer: use make_initializer, or a dataset's "
                             "make_initializable_iterator.")
        return self._core.initializer

    def make_initializer(self, dataset, name=None):
        """An operation that makes the iterator begin with `dataset`."""
        with graphs.name_scope(name, "make_initializer") as scope:
            try:
                return self._core.make_initializer(dataset._core, scope)
            except errors.InvalidArgumentError as error:
                raise TypeError(arguments.in_python(error.message)) from None

    def get_next(self, name=None):
        """The next element, in its structure. A step that takes it after the last one fails with OutOfRangeError."""
        return structure.components(self._template, self._core.get_next(name or ""))

    def string_handle(self, name=None):
        """A string tensor, whose value makes from_string_handle use this iterator."""
        if name is not None:
            return self._core.string_handle(name)
        if self._handle is None:
            self._handle = self._core.string_handle("")
        return self._handle


def make_one_shot_iterator(dataset):
    """An iterator that needs no initializer. The dataset may not depend on placeholders, variables or tables."""
    try:
        return Iterator(_core.DatasetIterator.one_shot(dataset._core), dataset._template)
    except errors.InvalidArgumentError as error:
        raise ValueError(f"{error.message}: a dataset that depends on a tf.Variable, a table or a placeholder needs "
                         "make_initializable_iterator().") from None


def make_initializable_iterator(dataset, shared_name=None):
    """An iterator that begins when a session runs its initializer, and again each time."""
    return Iterator(_core.DatasetIterator.initializable(dataset._core, shared_name or ""), dataset._template)
