"""tf.data.experimental: functions for Dataset.apply."""

from tensorbraid import _core
from tensorbraid.data.datasets import AUTOTUNE, Dataset, get_seeds
from tensorbraid.graphs import make_op

__all__ = []


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """Shuffles and repeats, so that the buffer stays full at the end of a round."""

    def apply(dataset):
        variant = make_op("ShuffleAndRepeatDataset",
                          [dataset._variant_tensor, buffer_size, *get_seeds(seed), -1 if count is None else count],
                          output_types=_types(dataset), output_shapes=_shapes(dataset)).outputs[0]
        return Dataset(_core.Dataset(variant, dataset._core.element), dataset._template)

    return apply


def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    """Maps in parallel, then makes batches."""
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError("`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to be set, "
                         "but both were set.")
    if num_parallel_calls is None:
        num_parallel_calls = batch_size * (num_parallel_batches or 1)
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None,
                        prefetch_input_elements=None):
    """Dataset.interleave with a thread for each dataset. `sloppy` allows another order of the elements."""
    if buffer_output_elements is not None or prefetch_input_elements is not None:
        raise NotImplementedError("buffer_output_elements and prefetch_input_elements of parallel_interleave")
    return lambda dataset: dataset.interleave(map_func, cycle_length, block_length, cycle_length, not sloppy)


def unbatch():
    """A transformation that divides each batch into its elements."""
    return lambda dataset: dataset.unbatch()


def enumerate_dataset(start=0):
    """A transformation that puts a number before each element."""
    return lambda dataset: dataset.enumerate(start)


def _types(dataset):
    return [dtype for dtype, _ in dataset._core.element]


def _shapes(dataset):
    return [dims for _, dims in dataset._core.element]
