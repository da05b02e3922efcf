"""Datasets: sequences of elements, which are structures of tensors."""

import builtins

from tensorbraid import _core, dtypes, nest
from tensorbraid.data import choices, generators, groups, iterators, options, padding, states, structure
from tensorbraid.data.structure import built
from tensorbraid.internal import arguments, graphs, library_functions
from tensorbraid.ops import elementwise, random_ops

__all__ = []

AUTOTUNE = -1
_ALL = -2  # the size of a buffer for all elements
_VARIANT = (dtypes.variant.as_datatype_enum, [])


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
        return Dataset(built(make, *args), self._template)

    def _add(self, op_type, inputs, template=None, element=None, **attrs):
        """The dataset of an op that takes this one first. Its elements are those of this one unless they are given."""
        element = self._core.element if element is None else element
        made = graphs.make_op(op_type, [self._variant_tensor, *inputs], output_types=[dtype for dtype, _ in element],
                              output_shapes=[dims for _, dims in element], **attrs)
        return Dataset(_core.Dataset(made.outputs[0], element), self._template if template is None else template)

    def _leaf(self):
        return DatasetLeaf(self._core.element, self._template, self)

    # Sources.

    @staticmethod
    def from_tensors(tensors):
        """One element."""
        template, components = structure.tensors_of(tensors)
        return Dataset(built(_core.Dataset.from_tensors, graphs.get_default_graph(), components), template)

    @staticmethod
    def from_tensor_slices(tensors):
        """The slices of the tensors along dimension 0."""
        template, components = structure.tensors_of(tensors, slices=True)
        core = built(_core.Dataset.from_tensor_slices, graphs.get_default_graph(), components)
        return Dataset(core, structure.transformed(template, lambda leaf: leaf.unbatched()))

    @staticmethod
    def from_sparse_tensor_slices(sparse_tensor):
        """Triples of the indices, the values and the shape of each row of a SparseTensor."""
        parts = [sparse_tensor.indices, sparse_tensor.values, sparse_tensor.dense_shape]
        ndims = sparse_tensor.get_shape().ndims
        inner = None if ndims is None else ndims - 1
        element = [(dtypes.int64.as_datatype_enum, [None, inner]), (sparse_tensor.dtype.as_datatype_enum, [None]),
                   (dtypes.int64.as_datatype_enum, [inner])]
        variant = graphs.make_op("SparseTensorSliceDataset", parts).outputs[0]
        return Dataset(_core.Dataset(variant, element), (structure.Leaf(), structure.Leaf(), structure.Leaf()))

    @staticmethod
    def random(seed=None):
        """Random int64 numbers from 0 to below 2**32, without end."""
        element = [(dtypes.int64.as_datatype_enum, [])]
        variant = graphs.make_op("RandomDataset", [*random_ops.seed_pair(seed)], output_types=[dtypes.int64],
                                 output_shapes=[[]]).outputs[0]
        return Dataset(_core.Dataset(variant, element), structure.Leaf())

    @staticmethod
    def counter(start=0, step=1, dtype=dtypes.int64):
        """Numbers from `start` in steps of `step`, without end."""
        limit = 2**63 - 1 if step > 0 else -2**63
        return Dataset.range(start, limit, step, output_type=dtype)

    @staticmethod
    def from_generator(generator, output_types, output_shapes=None, args=None):
        """The elements that generator(*args) yields. It runs in this process; each iterator calls it once."""
        return Dataset(*built(generators.from_generator, generator, output_types, output_shapes, args))

    @staticmethod
    def range(*args, output_type=dtypes.int64):
        """The numbers of range(*args)."""
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Dataset.range takes 1 to 3 numbers, got {len(args)}")
        start, stop = (0, args[0]) if len(args) == 1 else args[:2]
        step = args[2] if len(args) == 3 else 1
        core = built(_core.Dataset.range, graphs.get_default_graph(), start, stop, step)
        numbers = Dataset(core, structure.Leaf())
        if dtypes.as_dtype(output_type) == dtypes.int64:
            return numbers
        return numbers.map(lambda number: elementwise.cast(number, output_type))

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None):
        """The names of the files that match a pattern or one of several, in random order unless shuffle=False."""
        files = Dataset(built(_core.Dataset.list_files, graphs.get_default_graph(), file_pattern), structure.Leaf())
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
        core = built(_core.Dataset.zip, [part._core for part in parts])
        return Dataset(core, structure.pack(template, [part._template for part in parts]))

    # Functions of elements.

    def _call(self, function, tensors):
        """function(element): a tuple is given as several arguments."""
        element = structure.components(self._template, tensors)
        return function(*element) if type(element) is tuple else function(element)

    def _function(self, kind, function):
        """The library function of a function that returns tensors, and the template of what it returns."""
        templates = []
        arguments.check(callable(function), "map_func" if kind != "filter" else "predicate", "a function", function)

        def build(tensors):
            template, results = structure.results_of(self._call(function, tensors))
            templates.append(template)
            return results

        defined = built(library_functions.define, self._core.graph, _name(kind, function), self._core.element, build)
        return defined, templates[0]

    def _define(self, kind, function, build, args=None):
        """The library function that build(tensors) makes, for the op of a dataset. It gets an element unless `args`."""
        return built(library_functions.define, graphs.graph_of([self._variant_tensor]), _name(kind, function),
                     self._core.element if args is None else args, build)

    def _predicate(self, kind, predicate):
        """The library function of a function that returns a bool scalar."""
        def build(tensors):
            result = graphs.convert_to_tensor(self._call(predicate, tensors))
            if result.dtype != dtypes.bool or not result.shape.is_compatible_with([]):
                raise ValueError(f"`predicate` must return a `tf.bool` scalar tensor, but it returned {result}")
            return [result]

        return self._define(kind, predicate, build)

    def _dataset_function(self, kind, function):
        """The library function of a function that returns a dataset, and this dataset."""
        made = []

        def build(tensors):
            result = self._call(function, tensors)
            if not isinstance(result, Dataset):
                raise TypeError(f"map_func must return a `Dataset` object, got {type(result).__name__}")
            made.append(result)
            return [result._variant_tensor]

        defined = built(library_functions.define, self._core.graph, _name(kind, function), self._core.element, build)
        return defined, made[0]

    def map(self, map_func, num_parallel_calls=None, deterministic=None):
        """map_func(element) for each element, with several calls at a time if `num_parallel_calls` is given."""
        function, template = self._function("map", map_func)
        if num_parallel_calls is None:
            return Dataset(built(self._core.map, function), template)
        in_order = deterministic is None or bool(deterministic)
        return Dataset(built(self._core.parallel_map, function, num_parallel_calls, in_order), template)

    def filter(self, predicate):
        """The elements for which predicate(element) is true."""
        return self._like(self._core.filter, self._function("filter", predicate)[0])

    def take_while(self, predicate):
        """The elements before the first for which predicate(element) is false."""
        function = self._predicate("take_while", predicate)
        return self._add("TakeWhileDataset", [function.captures], predicate=function,
                         Targuments=[tensor.dtype for tensor in function.captures])

    reduce = states.reduce
    scan = states.scan

    def flat_map(self, map_func):
        """The elements of the datasets map_func(element)."""
        function, made = self._dataset_function("flat_map", map_func)
        return Dataset(built(self._core.flat_map, function, made._core.element), made._template)

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None):
        """As flat_map, but takes blocks of elements from `cycle_length` datasets in turn."""
        function, made = self._dataset_function("interleave", map_func)
        in_order = deterministic is None or bool(deterministic)
        core = built(self._core.interleave, function, made._core.element,
                     AUTOTUNE if cycle_length is None else cycle_length, 1 if block_length is None else block_length,
                     num_parallel_calls, in_order)
        return Dataset(core, made._template)

    # Order and number of elements.

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None):
        """A random order: each element is drawn from a buffer."""
        reshuffle = reshuffle_each_iteration is None or bool(reshuffle_each_iteration)
        return self._like(self._core.shuffle, buffer_size, *random_ops.seed_pair(seed), reshuffle)

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
        arguments.check(isinstance(dataset, Dataset), "dataset", "a tf.data.Dataset", dataset)
        if self.output_types != dataset.output_types:
            raise TypeError(f"Two datasets to concatenate have different types {self.output_types} and "
                            f"{dataset.output_types}")
        return self._like(self._core.concatenate, dataset._core)

    def enumerate(self, start=0):
        """Pairs of a number and an element."""
        return Dataset.zip((Dataset.range(start, 2**63 - 1), self))

    def unique(self):
        """Each element once: elements that came before are left out."""
        return self._add("UniqueDataset", [])

    def ignore_errors(self, log_warning=False):
        """Leaves out elements that fail to be made."""
        return self._add("IgnoreErrorsDataset", [], log_warning=bool(log_warning))

    def cardinality(self):
        """The number of elements, an int64 scalar; -1: without end, -2: not known."""
        return graphs.make_op("DatasetCardinality", [self._variant_tensor]).outputs[0]

    def get_single_element(self):
        """The only element. A step fails if there is none, or another one."""
        element = self._core.element
        made = graphs.make_op("DatasetToSingleElement", [self._variant_tensor],
                              output_types=[dtype for dtype, _ in element], output_shapes=[dims for _, dims in element])
        return structure.components(self._template, made.outputs)

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """The next element of the dataset whose number is the next element of choice_dataset."""
        return choices.choose(datasets, choice_dataset, stop_on_empty_dataset)

    @staticmethod
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False):
        """The next element of a dataset that is drawn with its weight."""
        return choices.sample(datasets, weights, Dataset.random(seed), stop_on_empty_dataset)

    # Batches.

    def batch(self, batch_size, drop_remainder=False):
        """Stacks consecutive elements."""
        size = batch_size if drop_remainder is True and isinstance(batch_size, int) else None
        template = structure.transformed(self._template, lambda leaf: leaf.batched(size))
        return Dataset(built(self._core.batch, batch_size, drop_remainder), template)

    padded_batch = padding.padded_batch

    def unbatch(self):
        """The slices of each element along dimension 0."""
        core = self._core
        if any(isinstance(leaf, structure.SparseLeaf) for leaf in nest.flatten(self._template)):
            def build(tensors):
                elements = structure.template_of(structure.components(self._template, tensors))
                return [leaf.slices() for leaf in nest.flatten(elements)]

            slices = built(library_functions.define, core.graph, "Dataset_slices", core.element, build)
            core = built(core.map, slices)
        return Dataset(built(core.unbatch), structure.transformed(self._template, lambda leaf: leaf.unbatched()))

    def window(self, size, shift=None, stride=1, drop_remainder=False):
        """Datasets of `size` elements. Each begins `shift` elements after the one before, and takes every stride-th."""
        leaves = [DatasetLeaf([spec], leaf) for spec, leaf in
                  builtins.zip(self._core.element, nest.flatten(self._template))]
        return self._add("WindowDataset", [size, size if shift is None else shift, stride, drop_remainder],
                         structure.pack(self._template, leaves), [_VARIANT] * len(leaves))

    group_by_window = groups.group_by_window
    bucket_by_sequence_length = groups.bucket_by_sequence_length
    sparse_batch = groups.sparse_batch

    # Speed.

    with_options = options.with_options
    options = options.options_of

    def prefetch(self, buffer_size):
        """Computes up to `buffer_size` elements ahead."""
        return self._like(self._core.prefetch, AUTOTUNE if buffer_size is None else buffer_size)

    def cache(self, filename=""):
        """Keeps the elements of the first iteration, in memory or in files."""
        return self._like(self._core.cache, filename)

    def apply(self, transformation_func):
        """transformation_func(self), which must be a dataset."""
        made = arguments.function("transformation_func", transformation_func)(self)
        if not isinstance(made, Dataset):
            raise TypeError(f"`transformation_func` must return a `Dataset` object, got {type(made).__name__}")
        return made

    make_one_shot_iterator = iterators.make_one_shot_iterator
    make_initializable_iterator = iterators.make_initializable_iterator


class DatasetLeaf(structure.Leaf):
    """A dataset as a component of an element. Its tensor is a variant."""

    def __init__(self, element, template, value=None):
        super().__init__(value)
        self._element, self._template = element, template

    def tensor(self, name=None):
        return self.value._variant_tensor

    def slices(self, name=None):
        raise TypeError("a dataset has no slices")

    def component(self, tensor):
        return Dataset(_core.Dataset(tensor, self._element), self._template)

    def described(self, dtype, dims):
        parts = [leaf.described(*spec) for leaf, spec in builtins.zip(nest.flatten(self._template), self._element)]
        types, shapes = ([part[i] for part in parts] for i in (0, 1))
        return structure.pack(self._template, types), structure.pack(self._template, shapes), Dataset

    def batched(self, size):
        raise NotImplementedError("batches of datasets: join their elements with flat_map first")

    def unbatched(self):
        raise TypeError("a dataset has no slices")


def _name(kind, function):
    return f"Dataset_{kind}_{getattr(function, '__name__', type(function).__name__)}"
