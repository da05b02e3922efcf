"""Files of records: TFRecordWriter and tf_record_iterator."""

from tensorbraid import _core, errors
from tensorbraid.internal import arguments

__all__ = ["TFRecordCompressionType", "TFRecordOptions", "TFRecordWriter", "tf_record_iterator"]


class TFRecordCompressionType:
    """How a file is compressed."""

    NONE, ZLIB, GZIP = 0, 1, 2


class TFRecordOptions:
    """The compression of a file: a TFRecordCompressionType or its name."""

    compression_type_map = {TFRecordCompressionType.NONE: "", TFRecordCompressionType.ZLIB: "ZLIB",
                            TFRecordCompressionType.GZIP: "GZIP"}

    def __init__(self, compression_type=None, flush_mode=None, input_buffer_size=None, output_buffer_size=None,
                 window_bits=None, compression_level=None, compression_method=None, mem_level=None,
                 compression_strategy=None):
        details = dict(flush_mode=flush_mode, input_buffer_size=input_buffer_size,
                       output_buffer_size=output_buffer_size, window_bits=window_bits,
                       compression_level=compression_level, compression_method=compression_method, mem_level=mem_level,
                       compression_strategy=compression_strategy)
        given = [name for name, value in details.items() if value is not None]
        if given:
            raise NotImplementedError(f"{', '.join(given)} of TFRecordOptions")
        self.get_compression_type_string(compression_type)
        self.compression_type = compression_type

    @classmethod
    def get_compression_type_string(cls, options):
        """The name of the compression of options, or of a compression type or its name; "" for None."""
        if isinstance(options, TFRecordOptions):
            return cls.get_compression_type_string(options.compression_type)
        if not options:
            return ""
        name = cls.compression_type_map.get(options, options)
        if name not in cls.compression_type_map.values():
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return name


class TFRecordWriter:
    """Writes records, which are bytes, to a file. An existing file is emptied."""

    def __init__(self, path, options=None):
        compression = TFRecordOptions.get_compression_type_string(options)
        self._core = _core.RecordWriter.open(arguments.path("path", path), compression)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def _open(self):
        if self._core is None:
            raise errors.FailedPreconditionError(None, None, "Writer is closed.")
        return self._core

    def write(self, record):
        """Adds a record. A str is written as UTF-8."""
        writer = self._open()
        if isinstance(record, str):
            record = record.encode()
        if not isinstance(record, (bytes, bytearray, memoryview)):
            raise TypeError(f"a record must be bytes, got {type(record).__name__}")
        writer.write(bytes(record))

    def flush(self):
        """Passes all records to the system, so that readers see them."""
        self._open().flush()

    def close(self):
        """Writes all records and closes the file. Further calls do nothing."""
        core, self._core = self._core, None
        if core is not None:
            core.close()


def tf_record_iterator(path, options=None):
    """The records of a file, one after another. DataLossError if the file is damaged."""
    reader = _core.RecordReader.open(arguments.path("path", path), TFRecordOptions.get_compression_type_string(options))
    while (record := reader.read()) is not None:
        yield record
