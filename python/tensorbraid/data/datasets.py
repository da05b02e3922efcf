"""Datasets: sequences of elements, which are structures of tensors."""

import builtins

from tensorbraid import _core, arrays, dtypes, elementwise, errors, functions, graphs, nest, random_ops
from tensorbraid.data import generators, iterators, structure
from tensorbraid.shapes import TensorShape

__all__ = []

AUTOTUNE = -1
_ALL = -2  # the size of a buffer for all elements


def _built(make, *args):
    """make(*args); an error of the library is a ValueError, as in TensorFlow while a graph is built."""
    try:
        return make(*args)
    except errors.InvalidArgumentError as error:
        raise ValueError(error.message) from None


def get_seeds(seed):
    """The two seeds of an op that shuffles."""
    first, second = random_ops.get_seed(seed)
    return first or 0, second or 0


class Dataset(structure.Described):
    """A sequence of elements. Source: tf.data.Dataset."""

    def __init__(self, core, template):
        self._core = core
        self._template = template

    def __repr__(self):
        return f"<{type(self).__name__} shapes: {self.output_shapes}, types: {self.output_types}>"

    def __iter__(self):
        raise RuntimeError("a dataset is not iterable in a graph: use make_one_shot_iterator")

    @property
    def _variant_tensor(self):
        return self._core.variant

    def _like(self, make, *args):
        """A dataset with elements of this structure."""
        return Dataset(_built(make, *args), self._template)

    # Sources.

    @staticmethod
    def from_tensors(tensors):
        """One element."""
        template, components = structure.tensors_of(tensors)
        return Dataset(_built(_core.Dataset.from_tensors, graphs.get_default_graph(), components), template)

    @staticmethod
    def from_tensor_slices(tensors):
        """The slices of the tensors along dimension 0."""
        template, components = structure.tensors_of(tensors)
        return Dataset(_built(_core.Dataset.from_tensor_slices, graphs.get_default_graph(), components), template)

    @staticmethod
    def from_generator(generator, output_types, output_shapes=None, args=None):
        """The elements that generator(*args) yields. It runs in this process; each iterator calls it once."""
        return Dataset(*_built(generators.from_generator, generator, output_types, output_shapes, args))

    @staticmethod
    def range(*args, output_type=dtypes.int64):
        """The numbers of range(*args)."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Dataset.range takes 1 to 3 numbers, got {len(args)}")
        start, stop = (0, args[0]) if len(args) == 1 else args[:2]
        step = args[2] if len(args) == 3 else 1
        core = _built(_core.Dataset.range, graphs.get_default_graph(), start, stop, step)
        numbers = Dataset(core, structure.Leaf())
        if dtypes.as_dtype(output_type) == dtypes.int64:
            return numbers
        return numbers.map(lambda number: elementwise.cast(number, output_type))

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None):
        """The names of the files that match a pattern or one of several, in random order unless shuffle=False."""
        files = Dataset(_built(_core.Dataset.list_files, graphs.get_default_graph(), file_pattern), structure.Leaf())
        return files.shuffle(_ALL, seed) if shuffle is None or shuffle else files

    @staticmethod
    def zip(*args, datasets=None):
        """Elements with one element of each dataset, in the structure of `datasets`."""
        if datasets is None:
            datasets = args[0] if len(args) == 1 else args
        elif args:
            raise ValueError("zip takes either datasets=, or datasets as positional arguments")
        template = structure.template_of(datasets)
        parts = structure.values_of(template)
        for part in parts:
            if not isinstance(part, Dataset):
                raise TypeError("zip takes structures of `tf.data.Dataset` objects; a structure is a tuple or a "
                                f"dictionary, not a list. Got {type(part).__name__}")
        core = _built(_core.Dataset.zip, [part._core for part in parts])
        return Dataset(core, structure.pack(template, [part._template for part in parts]))

    # Functions of elements.

    def _call(self, function, tensors):
        """function(element): a tuple is given as several arguments."""
        element = structure.pack(self._template, tensors)
        return function(*element) if type(element) is tuple else function(element)

    def _function(self, kind, function):
        """The library function of a function that returns tensors, and the template of what it returns."""
        templates = []

        def build(tensors):
            result = self._call(function, tensors)
            if isinstance(result, list):
                result = tuple(result)
            template = structure.template_of(result)
            templates.append(template)
            return structure.values_of(template)

        return _built(functions.define, self._core.graph, _name(kind, function), self._core.element, build), templates[0]

    def _dataset_function(self, kind, function):
        """The library function of a function that returns a dataset, and this dataset."""
        made = []

        def build(tensors):
            result = self._call(function, tensors)
            if not isinstance(result, Dataset):
                raise TypeError(f"map_func must return a `Dataset` object, got {type(result).__name__}")
            made.append(result)
            return [result._variant_tensor]

        return _built(functions.define, self._core.graph, _name(kind, function), self._core.element, build), made[0]

    def map(self, map_func, num_parallel_calls=None, deterministic=None):
        """map_func(element) for each element, with several calls at a time if `num_parallel_calls` is given."""
        function, template = self._function("map", map_func)
        if num_parallel_calls is None:
            return Dataset(_built(self._core.map, function), template)
        in_order = deterministic is None or bool(deterministic)
        return Dataset(_built(self._core.parallel_map, function, num_parallel_calls, in_order), template)

    def filter(self, predicate):
        """The elements for which predicate(element) is true."""
        return self._like(self._core.filter, self._function("filter", predicate)[0])

    def flat_map(self, map_func):
        """The elements of the datasets map_func(element)."""
        function, made = self._dataset_function("flat_map", map_func)
        return Dataset(_built(self._core.flat_map, function, made._core.element), made._template)

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None):
        """As flat_map, but takes blocks of elements from `cycle_length` datasets in turn."""
        function, made = self._dataset_function("interleave", map_func)
        in_order = deterministic is None or bool(deterministic)
        core = _built(self._core.interleave, function, made._core.element,
                      AUTOTUNE if cycle_length is None else cycle_length, 1 if block_length is None else block_length,
                      num_parallel_calls, in_order)
        return Dataset(core, made._template)

    # Order and number of elements.

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None):
        """A random order: each element is drawn from a buffer."""
        reshuffle = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        return self._like(self._core.shuffle, buffer_size, *get_seeds(seed), reshuffle)

    def repeat(self, count=None):
        """The elements `count` times; None and -1: without end."""
        return self._like(self._core.repeat, -1 if count is None else count)

    def take(self, count):
        """The first `count` elements; all if it is -1."""
        return self._like(self._core.take, count)

    def skip(self, count):
        """The elements after the first `count`; none if it is -1."""
        return self._like(self._core.skip, count)

    def shard(self, num_shards, index):
        """Every num_shards-th element, beginning with element `index`."""
        return self._like(self._core.shard, num_shards, index)

    def concatenate(self, dataset):
        """The elements of this dataset, then those of another one."""
        if self.output_types != dataset.output_types:
            raise TypeError(f"Two datasets to concatenate have different types {self.output_types} and "
                            f"{dataset.output_types}")
        return self._like(self._core.concatenate, dataset._core)

    def enumerate(self, start=0):
        """Pairs of a number and an element."""
        return Dataset.zip((Dataset.range(start, 2**63 - 1), self))

    # Batches.

    def batch(self, batch_size, drop_remainder=False):
        """Stacks consecutive elements."""
        return self._like(self._core.batch, batch_size, drop_remainder)

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False):
        """Stacks consecutive elements that are padded first. None or -1 in a shape: the largest size of the batch."""
        if padded_shapes is None:
            shapes = [TensorShape(dims) for _, dims in self._core.element]
        else:
            shapes = structure.flatten_up_to(self._template, padded_shapes)
        if any(isinstance(shape, graphs.Tensor) for shape in shapes):
            raise NotImplementedError("padded_shapes that are tensors")
        dims = [[None if size in (None, -1) else int(size) for size in TensorShape(_sizes(shape)).as_list()]
                for shape in shapes]
        return self._like(self._core.padded_batch, batch_size, dims, self._padding(padding_values), bool(drop_remainder))

    def _padding(self, padding_values):
        """A tensor for each tensor of an element; none for zeros."""
        if padding_values is None:
            return []
        if not nest.is_nested(padding_values):
            values = [padding_values] * len(self._core.element)
        else:
            values = structure.flatten_up_to(self._template, padding_values)
        types = [dtypes.as_dtype(dtype) for dtype, _ in self._core.element]
        return [arrays.zeros([], dtype) if value is None else graphs.convert_to_tensor(value, dtype, "padding_value")
                for value, dtype in builtins.zip(values, types)]

    def unbatch(self):
        """The slices of each element along dimension 0."""
        return self._like(self._core.unbatch)

    # Speed.

    def prefetch(self, buffer_size):
        """Computes up to `buffer_size` elements ahead."""
        return self._like(self._core.prefetch, AUTOTUNE if buffer_size is None else buffer_size)

    def cache(self, filename=""):
        """Keeps the elements of the first iteration, in memory or in files."""
        return self._like(self._core.cache, filename)

    def apply(self, transformation_func):
        """transformation_func(self), which must be a dataset."""
        made = transformation_func(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"`transformation_func` must return a `Dataset` object, got {type(made).__name__}")
        return made

    make_one_shot_iterator = iterators.make_one_shot_iterator
    make_initializable_iterator = iterators.make_initializable_iterator


def _name(kind, function):
    return f"Dataset_{kind}_{getattr(function, '__name__', type(function).__name__)}"


def _sizes(shape):
    return [None if size == -1 else size for size in shape] if isinstance(shape, (list, tuple)) else shape
