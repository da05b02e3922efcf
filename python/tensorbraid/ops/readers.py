"""Readers: they read records from the files, or other pieces of work, that a queue names."""

from tensorbraid import dtypes
from tensorbraid.internal import arguments
from tensorbraid.internal.graphs import Tensor, convert_to_tensor, make_op
from tensorbraid.ops.queues import QueueBase
from tensorbraid.python_io import TFRecordOptions

__all__ = [
    "FixedLengthRecordReader", "IdentityReader", "ReaderBase", "TFRecordReader", "TextLineReader", "WholeFileReader"]


class ReaderBase:
    """The base class of readers. Source: tf.ReaderBase."""

    def __init__(self, reader_ref, supports_serialize=False):
        self._reader_ref = reader_ref
        self._supports_serialize = supports_serialize

    reader_ref = property(lambda self: self._reader_ref)
    supports_serialize = property(lambda self: self._supports_serialize)

    def _op(self, op_type, name, *inputs):
        with self._reader_ref.graph.colocate_with(self._reader_ref.op):
            return make_op(op_type, [self._reader_ref, *inputs], name)

    def read(self, queue, name=None):
        """The key and the value of the next record. The queue has the names of the files."""
        return _Record(self._op("ReaderReadV2", name or "ReaderReadV2", _handle(queue)).outputs)

    def read_up_to(self, queue, num_records, name=None):
        """The keys and the values of at most `num_records` records."""
        count = convert_to_tensor(num_records, dtype=dtypes.int64)
        return _Record(self._op("ReaderReadUpToV2", name or "ReaderReadUpToV2", _handle(queue), count).outputs)

    def num_records_produced(self, name=None):
        """An int64 tensor: how many records were read."""
        return self._op("ReaderNumRecordsProducedV2", name).outputs[0]

    def num_work_units_completed(self, name=None):
        """An int64 tensor: how many files were read to the end."""
        return self._op("ReaderNumWorkUnitsCompletedV2", name).outputs[0]

    def serialize_state(self, name=None):
        """A string tensor with the state of the reader."""
        return self._op("ReaderSerializeStateV2", name).outputs[0]

    def restore_state(self, state, name=None):
        """An operation that gives the reader this state."""
        return self._op("ReaderRestoreStateV2", name, state)

    def reset(self, name=None):
        """The operation that makes the reader begin anew."""
        return self._op("ReaderResetV2", name)


class _Record(tuple):
    """A pair of a key and a value, with these names."""

    key = property(lambda self: self[0])
    value = property(lambda self: self[1])


def _handle(queue):
    arguments.check(isinstance(queue, (QueueBase, Tensor)), "queue", "a queue of strings", queue)
    return queue.queue_ref if isinstance(queue, QueueBase) else queue


class TextLineReader(ReaderBase):
    """Each record is a line, without the end of the line. Keys are "FILE:NUMBER"."""

    def __init__(self, skip_header_lines=None, name=None):
        made = make_op("TextLineReaderV2", [], name or "TextLineReaderV2", skip_header_lines=skip_header_lines)
        super().__init__(made.outputs[0])


class TFRecordReader(ReaderBase):
    """Each record is one of a TFRecord file. `options` are TFRecordOptions."""

    def __init__(self, name=None, options=None):
        kind = TFRecordOptions.get_compression_type_string(options)
        super().__init__(make_op("TFRecordReaderV2", [], name or "TFRecordReaderV2", compression_type=kind).outputs[0])


class WholeFileReader(ReaderBase):
    """Each record is a file: its name is the key, its content the value."""

    def __init__(self, name=None):
        super().__init__(make_op("WholeFileReaderV2", [], name or "WholeFileReaderV2").outputs[0], True)


class FixedLengthRecordReader(ReaderBase):
    """Each record has the same number of bytes."""

    def __init__(self, record_bytes, header_bytes=None, footer_bytes=None, hop_bytes=None, name=None, encoding=None):
        made = make_op("FixedLengthRecordReaderV2", [], name or "FixedLengthRecordReaderV2", record_bytes=record_bytes,
                       header_bytes=header_bytes, footer_bytes=footer_bytes, hop_bytes=hop_bytes, encoding=encoding)
        super().__init__(made.outputs[0])


class IdentityReader(ReaderBase):
    """Each record is a piece of work itself, as its key and its value."""

    def __init__(self, name=None):
        super().__init__(make_op("IdentityReaderV2", [], name or "IdentityReaderV2").outputs[0], True)
