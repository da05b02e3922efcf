"""Datasets of the lines and records of files."""

from tensorbraid import _core, dtypes
from tensorbraid.data import structure
from tensorbraid.data.datasets import Dataset
from tensorbraid.internal import arguments, graphs
from tensorbraid.ops import arrays

__all__ = []

_BUFFER_SIZE = 256 * 1024


def _size(buffer_size):
    return arguments.integer("buffer_size", buffer_size or _BUFFER_SIZE)


class _FileDataset(Dataset):
    """Reads files one after the other, or several at a time. Their names may be a dataset."""

    def __init__(self, filenames, num_parallel_reads, read):
        def records(names):
            return Dataset(read(graphs.get_default_graph(), names), structure.Leaf())

        if not isinstance(filenames, Dataset):
            if num_parallel_reads is None:
                try:
                    super().__init__(records(filenames)._core, structure.Leaf())
                except TypeError as error:
                    raise TypeError(arguments.about(filenames, str(error), "filenames")) from None
                return
            filenames = Dataset.from_tensor_slices(filenames)
        if num_parallel_reads is None:
            made = filenames.flat_map(records)
        else:
            made = filenames.interleave(records, num_parallel_reads, 1, num_parallel_reads)
        super().__init__(made._core, structure.Leaf())


class TextLineDataset(_FileDataset):
    """The lines of text files, without their ends."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None):
        super().__init__(filenames, num_parallel_reads, lambda graph, names: _core.Dataset.text_lines(
            graph, names, compression_type or "", _size(buffer_size)))


class TFRecordDataset(_FileDataset):
    """The records of TFRecord files."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None):
        super().__init__(filenames, num_parallel_reads, lambda graph, names: _core.Dataset.tf_records(
            graph, names, compression_type or "", _size(buffer_size)))


class FixedLengthRecordDataset(_FileDataset):
    """Records of `record_bytes` bytes, after a header and before a footer in each file."""

    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None,
                 compression_type=None, num_parallel_reads=None):
        super().__init__(filenames, num_parallel_reads, lambda graph, names: _core.Dataset.fixed_length_records(
            graph, names, record_bytes, header_bytes or 0, footer_bytes or 0, compression_type or "",
            _size(buffer_size)))


class CsvDataset(Dataset):
    """The rows of CSV files, as tuples of a scalar for each column.

    Each entry of `record_defaults` is the dtype of a column that must have a value, or a list of the one value that
    stands for a missing one.
    """

    def __init__(self, filenames, record_defaults, compression_type=None, buffer_size=None, header=False,
                 field_delim=",", use_quote_delim=True, na_value="", select_cols=None):
        defaults = [arrays.zeros([0], default) if isinstance(default, dtypes.DType) else
                    graphs.convert_to_tensor(default, name="record_defaults") for default in record_defaults]
        element = [(default.dtype.as_datatype_enum, []) for default in defaults]
        chosen = list(select_cols or [])
        columns = graphs.constant(chosen, dtypes.int64, [len(chosen)])
        made = graphs.make_op("CSVDatasetV2", [
            filenames, compression_type or "", buffer_size or 4 * 1024 * 1024, header, field_delim, use_quote_delim,
            na_value, columns, defaults, arrays.zeros([0], dtypes.int64)], output_shapes=[[]] * len(element))
        super().__init__(_core.Dataset(made.outputs[0], element), tuple(structure.Leaf() for _ in element))
