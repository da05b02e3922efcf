"""Datasets of the lines and records of files."""

from tensorbraid import _core, graphs
from tensorbraid.data import structure
from tensorbraid.data.datasets import Dataset

__all__ = []

_BUFFER_SIZE = 256 * 1024


class _FileDataset(Dataset):
    """Reads files one after the other, or several at a time. Their names may be a dataset."""

    def __init__(self, filenames, num_parallel_reads, read):
        def records(names):
            return Dataset(read(graphs.get_default_graph(), names), structure.Leaf())

        if not isinstance(filenames, Dataset):
            if num_parallel_reads is None:
                super().__init__(records(filenames)._core, structure.Leaf())
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
            graph, names, compression_type or "", buffer_size or _BUFFER_SIZE))


class TFRecordDataset(_FileDataset):
    """The records of TFRecord files."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None):
        super().__init__(filenames, num_parallel_reads, lambda graph, names: _core.Dataset.tf_records(
            graph, names, compression_type or "", buffer_size or _BUFFER_SIZE))


class FixedLengthRecordDataset(_FileDataset):
    """Records of `record_bytes` bytes, after a header and before a footer in each file."""

    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None,
                 compression_type=None, num_parallel_reads=None):
        super().__init__(filenames, num_parallel_reads, lambda graph, names: _core.Dataset.fixed_length_records(
            graph, names, record_bytes, header_bytes or 0, footer_bytes or 0, compression_type or "",
            buffer_size or _BUFFER_SIZE))
