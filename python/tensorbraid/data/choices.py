"""Datasets that take each element from one of several datasets."""

from tensorbraid import dtypes, nest
from tensorbraid.data import structure
from tensorbraid.internal import graphs
from tensorbraid.ops import arrays, elementwise, random_ops

__all__ = []


def choose(datasets, choice_dataset, stop_on_empty_dataset):
    """The next element of the dataset whose number is the next element of choice_dataset."""
    datasets = list(datasets)
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    if type(choice_dataset._template) is not structure.Leaf or (
            choice_dataset._core.element != [(dtypes.int64.as_datatype_enum, [])]):
        raise TypeError("`choice_dataset` should have elements of one scalar `tf.int64` tensor, got the types "
                        f"{choice_dataset.output_types} and the shapes {choice_dataset.output_shapes}")
    first = datasets[0]
    element = first._core.element
    for other in datasets[1:]:
        nest.assert_same_structure(first._template, other._template)
        if [dtype for dtype, _ in other._core.element] != [dtype for dtype, _ in element]:
            raise TypeError(f"the datasets have different types {first.output_types} and {other.output_types}")
        element = [(dtype, structure.common_dims(dims, more)) for (dtype, dims), (_, more)
                   in zip(element, other._core.element)]
    return choice_dataset._add("DirectedInterleaveDataset", [[dataset._variant_tensor for dataset in datasets]],
                               first._template, element, stop_on_empty_dataset=bool(stop_on_empty_dataset))


def sample(datasets, weights, random, stop_on_empty_dataset):
    """The next element of a dataset that is drawn with its weight. `random` is a dataset of random numbers."""
    datasets = list(datasets)
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    if isinstance(weights, structure.Described):
        raise NotImplementedError("`weights` that are a dataset")
    if isinstance(weights, (list, tuple)):
        if len(weights) != len(datasets):
            raise ValueError(f"Invalid `weights`. The shape of `weights` should be compatible with `[{len(datasets)}]`")
        used = [pair for pair in zip(datasets, weights) if pair[1] != 0]
        datasets, weights = [dataset for dataset, _ in used], [weight for _, weight in used]
    if len(datasets) == 1:
        return datasets[0]
    if weights is None:
        logits = graphs.constant([[1.0] * len(datasets)])
    else:
        weights = graphs.convert_to_tensor(weights, name="weights")
        if weights.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError(f"Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64`, got "
                            f"{weights.dtype.name}")
        if not weights.shape.is_compatible_with([len(datasets)]):
            raise ValueError(f"Invalid `weights`. The shape of `weights` should be compatible with `[{len(datasets)}]`")
        logits = arrays.expand_dims(elementwise.log(weights, name="logits"), 0)

    def drawn(seed):
        return arrays.squeeze(random_ops.stateless_multinomial(logits, 1, seed=seed), [0, 1])

    return choose(datasets, random.batch(2).map(drawn), stop_on_empty_dataset)
