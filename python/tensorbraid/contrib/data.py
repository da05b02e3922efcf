"""tf.contrib.data: names of tf.data."""

from tensorbraid.data import structure
from tensorbraid.data import (  # noqa: F401
    AUTOTUNE, Dataset, FixedLengthRecordDataset, Iterator, TextLineDataset, TFRecordDataset)
from tensorbraid.data.experimental import (  # noqa: F401
    CheckpointInputPipelineHook, Counter, CsvDataset, RandomDataset, bucket_by_sequence_length, choose_from_datasets,
    dense_to_sparse_batch, enumerate_dataset, get_single_element, group_by_window, ignore_errors,
    make_batched_features_dataset, make_csv_dataset, make_saveable_from_iterator, map_and_batch, parallel_interleave,
    parse_example_dataset, prefetch_to_device, sample_from_datasets, scan, shuffle_and_repeat, unbatch, unique)

__all__ = [
    "AUTOTUNE", "CheckpointInputPipelineHook", "Counter", "CsvDataset", "Dataset", "FixedLengthRecordDataset", "Iterator",
    "RandomDataset", "TFRecordDataset", "TextLineDataset", "bucket_by_sequence_length", "choose_from_datasets",
    "dense_to_sparse_batch", "enumerate_dataset", "get_single_element", "group_by_window", "ignore_errors",
    "make_batched_features_dataset", "make_csv_dataset", "make_saveable_from_iterator", "map_and_batch",
    "parallel_interleave", "parse_example_dataset", "prefetch_to_device", "sample_from_datasets", "scan",
    "shuffle_and_repeat", "unbatch", "unique"]


def batch_and_drop_remainder(batch_size):
    """A transformation that batches elements and leaves out a last batch that is too small."""
    return lambda dataset: dataset.batch(batch_size, drop_remainder=True)


def padded_batch_and_drop_remainder(batch_size, padded_shapes, padding_values=None):
    """A transformation that makes padded batches and leaves out a last batch that is too small."""
    return lambda dataset: dataset.padded_batch(batch_size, padded_shapes, padding_values, drop_remainder=True)


def sloppy_interleave(map_func, cycle_length, block_length=1):
    """parallel_interleave, in the order in which elements are ready."""
    return parallel_interleave(map_func, cycle_length, block_length, sloppy=True)


def sliding_window_batch(window_size, stride=None, window_shift=None, window_stride=1):
    """A transformation to batches of consecutive elements, each of which begins `window_shift` elements after the last.

    `stride` is an old name of `window_shift`.
    """
    if stride is not None and window_shift is not None:
        raise ValueError("Cannot specify both `window_shift` and `stride`")
    shift = (1 if stride is None else stride) if window_shift is None else window_shift

    def batch(*parts):
        windows = structure.template_of(parts if len(parts) > 1 else parts[0])
        return Dataset.zip(structure.transformed(windows, lambda leaf: leaf.value.batch(window_size)))

    return lambda dataset: dataset.window(window_size, shift, window_stride, True).flat_map(batch)
