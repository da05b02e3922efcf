"""tf.data.experimental: functions for Dataset.apply."""

from tensorbraid import dtypes, gfile
from tensorbraid.data import csv_files
from tensorbraid.data.datasets import AUTOTUNE, Dataset
from tensorbraid.data.options import (  # noqa: F401
    AutoShardPolicy, AutotuneAlgorithm, AutotuneOptions, DistributeOptions, ExternalStatePolicy, OptimizationOptions,
    ThreadingOptions)
from tensorbraid.data.readers import CsvDataset, TFRecordDataset  # noqa: F401
from tensorbraid.data.saved_iterators import CheckpointInputPipelineHook, make_saveable_from_iterator  # noqa: F401
from tensorbraid.internal import arguments
from tensorbraid.internal.device_spec import DeviceSpec
from tensorbraid.ops import parsing_ops
from tensorbraid.ops.random_ops import seed_pair

__all__ = [
    "AutoShardPolicy", "AutotuneAlgorithm", "AutotuneOptions", "CheckpointInputPipelineHook", "CsvDataset",
    "DistributeOptions", "ExternalStatePolicy", "OptimizationOptions", "TFRecordDataset", "ThreadingOptions",
    "make_saveable_from_iterator"]

INFINITE_CARDINALITY, UNKNOWN_CARDINALITY = -1, -2


def shuffle_and_repeat(buffer_size, count=None, seed=None):
    """Shuffles and repeats, so that the buffer stays full at the end of a round."""
    arguments.seed(seed)
    return lambda dataset: dataset._add(
        "ShuffleAndRepeatDataset", [buffer_size, *seed_pair(seed), -1 if count is None else count])


def _epochs(dataset, num_epochs, shuffle, buffer_size, seed):
    """The dataset repeated `num_epochs` times (None: without end), and shuffled if `shuffle` is True."""
    if shuffle:
        return dataset.shuffle(buffer_size, seed) if num_epochs == 1 else dataset.apply(
            shuffle_and_repeat(buffer_size, num_epochs, seed))
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    """Maps in parallel, then makes batches."""
    if num_parallel_batches is not None and num_parallel_calls is not None:
        raise ValueError("`map_and_batch` allows only one of `num_parallel_batches` and `num_parallel_calls` to be "
                         "set, but both were set.")
    if num_parallel_calls is None:
        num_parallel_calls = batch_size * (num_parallel_batches or 1)
    return lambda dataset: dataset.map(map_func, num_parallel_calls).batch(batch_size, drop_remainder)


def prefetch_to_device(device, buffer_size=None):
    """A transformation that prefetches elements, and copies them to the device before a step asks for them.

    The iterator is on `device`. Use it as the last transformation.
    """
    copy = copy_to_device(device)
    return lambda dataset: copy(dataset.prefetch(buffer_size))


def copy_to_device(target_device, source_device="/cpu:0"):
    """A transformation that puts the iterator on `target_device`, which then copies the elements there.

    With `prefetch` before or behind it, elements are copied before a step asks for them. `source_device` has no effect:
    elements are made on the first CPU.
    """
    device = target_device.to_string() if isinstance(target_device, DeviceSpec) else target_device
    arguments.check(isinstance(device, str), "target_device", "the name of a device", target_device)
    return lambda dataset: dataset._like(dataset._core.copy_to_device, device)


def unbatch():
    """A transformation that divides each batch into its elements."""
    return lambda dataset: dataset.unbatch()


def enumerate_dataset(start=0):
    """A transformation that puts a number before each element."""
    return lambda dataset: dataset.enumerate(start)


def group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
    """Dataset.group_by_window as a transformation."""
    return lambda dataset: dataset.group_by_window(key_func, reduce_func, window_size, window_size_func)


def bucket_by_sequence_length(element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
                              padding_values=None, pad_to_bucket_boundary=False, no_padding=False,
                              drop_remainder=False):
    """Dataset.bucket_by_sequence_length as a transformation."""
    return lambda dataset: dataset.bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding, drop_remainder)


def dense_to_sparse_batch(batch_size, row_shape):
    """Dataset.sparse_batch as a transformation."""
    return lambda dataset: dataset.sparse_batch(batch_size, row_shape)


def scan(initial_state, scan_func):
    """Dataset.scan as a transformation."""
    return lambda dataset: dataset.scan(initial_state, scan_func)


def take_while(predicate):
    """Dataset.take_while as a transformation."""
    return lambda dataset: dataset.take_while(predicate)


def unique():
    """Dataset.unique as a transformation."""
    return lambda dataset: dataset.unique()


def ignore_errors(log_warning=False):
    """Dataset.ignore_errors as a transformation."""
    return lambda dataset: dataset.ignore_errors(log_warning)


def assert_cardinality(expected_cardinality):
    """A transformation of which an iterator fails unless the dataset has this number of elements."""
    return lambda dataset: dataset._add("AssertCardinalityDataset", [expected_cardinality])


def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None,
                        prefetch_input_elements=None):
    """As Dataset.interleave, with a thread for each of the `cycle_length` datasets."""
    def apply(dataset):
        function, made = dataset._dataset_function("parallel_interleave", map_func)
        output = 2 * block_length if buffer_output_elements is None else buffer_output_elements
        ahead = 2 * cycle_length if prefetch_input_elements is None else prefetch_input_elements
        return dataset._add("LegacyParallelInterleaveDatasetV2",
                            [function.captures, cycle_length, block_length, output, ahead], made._template,
                            made._core.element, f=function, deterministic="false" if sloppy else "true",
                            Targuments=[tensor.dtype for tensor in function.captures])

    return apply


def parse_example_dataset(features, num_parallel_calls=1, deterministic=None):
    """A transformation of vectors of serialized Examples to the parsed features."""
    def parse(serialized):
        parsed = parsing_ops.parse_example(serialized, features)
        for key, feature in features.items():
            if isinstance(feature, parsing_ops.VarLenFeature):
                parsed[key]._static_shape = serialized.shape.concatenate([None])
        return parsed

    return lambda dataset: dataset.map(parse, num_parallel_calls, deterministic)


def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=False):
    """Dataset.choose_from_datasets."""
    return Dataset.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False):
    """Dataset.sample_from_datasets."""
    return Dataset.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def cardinality(dataset):
    """Dataset.cardinality."""
    return dataset.cardinality()


def get_single_element(dataset):
    """Dataset.get_single_element."""
    return dataset.get_single_element()


def Counter(start=0, step=1, dtype=dtypes.int64):
    """Dataset.counter."""
    return Dataset.counter(start, step, dtype)


def RandomDataset(seed=None):
    """Dataset.random."""
    return Dataset.random(seed)


def make_batched_features_dataset(file_pattern, batch_size, features, reader=None, label_key=None, reader_args=None,
                                  num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                                  prefetch_buffer_size=None, reader_num_threads=None, parser_num_threads=None,
                                  sloppy_ordering=False, drop_final_batch=False):
    """Batches of the parsed Examples in the files that match a pattern; with a label_key, pairs with this feature."""
    def labelled(parsed):
        label = parsed.pop(label_key)
        return parsed, label

    files = Dataset.list_files(file_pattern, shuffle, arguments.seed(shuffle_seed, "shuffle_seed"))
    read = TFRecordDataset if reader is None else reader
    examples = files.apply(parallel_interleave(lambda name: read(name, *(reader_args or [])), reader_num_threads or 1,
                                               sloppy=sloppy_ordering))
    if examples.output_types == (dtypes.string, dtypes.string):
        examples = examples.map(lambda _, value: value)
    examples = _epochs(examples, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    parsed = examples.batch(batch_size, drop_final_batch or num_epochs is None).apply(
        parse_example_dataset(features, parser_num_threads or 2))
    if label_key:
        if label_key not in features:
            raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys: "
                             f"{list(features)}.")
        parsed = parsed.map(labelled)
    return parsed.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def make_csv_dataset(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None,
                     select_columns=None, field_delim=",", use_quote_delim=True, na_value="", header=True,
                     num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                     prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False, num_rows_for_inference=100,
                     compression_type=None, ignore_errors=False, encoding="utf-8"):
    """Batches of the columns in CSV files, as dictionaries; with a label_name, pairs with this column.

    Names of columns are in the header, and types follow from the first rows, unless they are given.
    """
    if encoding != "utf-8":
        raise NotImplementedError(f"the encoding {encoding!r} of make_csv_dataset")
    arguments.seed(shuffle_seed, "shuffle_seed")
    patterns = [file_pattern] if isinstance(file_pattern, str) else list(file_pattern)
    names = sorted(name for pattern in patterns for name in gfile.Glob(pattern))
    if not names:
        raise ValueError(f"No files match `file_pattern` {file_pattern}.")
    if column_names is None:
        if not header:
            raise ValueError("Expected `column_names` or `header` arguments. Neither is provided.")
        column_names = csv_files.column_names_of(names, field_delim, use_quote_delim, compression_type)
    if len(set(column_names)) != len(column_names):
        raise ValueError(f"Cannot have duplicate column names: {column_names}")
    columns = csv_files.columns_of(select_columns, column_names)
    if column_defaults is None:
        column_defaults = csv_files.column_defaults_of(
            names, columns, len(column_names), field_delim, use_quote_delim, na_value, header, num_rows_for_inference,
            compression_type)
    elif len(column_defaults) != len(columns):
        raise ValueError(f"If specified, `column_defaults` must have the same length as column names: "
                         f"{len(column_defaults)} vs {len(columns)}.")
    if label_name is not None and label_name not in [column_names[column] for column in columns]:
        raise ValueError(f"`label_name` provided must be one of the columns: {label_name}")

    def read(name):
        rows = csv_files.named_rows(name, column_defaults, columns, column_names, header, field_delim, use_quote_delim,
                                    na_value, compression_type)
        return rows.ignore_errors() if ignore_errors else rows

    def labelled(features):
        label = features.pop(label_name)
        return features, label

    dataset = Dataset.from_tensor_slices(names)
    if shuffle:
        dataset = dataset.shuffle(len(names), shuffle_seed)
    dataset = dataset.apply(parallel_interleave(read, num_parallel_reads or 1, sloppy=sloppy))
    dataset = _epochs(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=num_epochs is None)
    if label_name is not None:
        dataset = dataset.map(labelled)
    return dataset.prefetch(1 if prefetch_buffer_size is None else prefetch_buffer_size)
