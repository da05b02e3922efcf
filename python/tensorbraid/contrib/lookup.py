"""tf.contrib.lookup: the tables of tf.lookup under their first names and arguments."""

from tensorbraid import dtypes, lookup
from tensorbraid.internal.graphs import name_scope
from tensorbraid.lookup import KeyValueTensorInitializer, TextFileIndex, TextFileInitializer  # noqa: F401
from tensorbraid.lookup import StaticHashTable as HashTable  # noqa: F401
from tensorbraid.ops import index_tables
from tensorbraid.ops.index_tables import IdTableWithHashBuckets, index_table_from_file  # noqa: F401

__all__ = [
    "HashTable", "IdTableWithHashBuckets", "KeyValueTensorInitializer", "TextFileIndex", "TextFileInitializer",
    "index_table_from_file"]


class TextFileStringTableInitializer(TextFileInitializer):
    """Fills a table from numbers to words from the lines of a file."""

    def __init__(self, filename, key_column_index=TextFileIndex.LINE_NUMBER,
                 value_column_index=TextFileIndex.WHOLE_LINE, vocab_size=None, delimiter="\t",
                 name="text_file_string_table_init"):
        super().__init__(filename, dtypes.int64, key_column_index, dtypes.string, value_column_index, vocab_size,
                         delimiter, name)


class TextFileIdTableInitializer(TextFileInitializer):
    """Fills a table from words to numbers from the lines of a file."""

    def __init__(self, filename, key_column_index=TextFileIndex.WHOLE_LINE,
                 value_column_index=TextFileIndex.LINE_NUMBER, vocab_size=None, delimiter="\t",
                 name="text_file_id_table_init", key_dtype=dtypes.string):
        super().__init__(filename, key_dtype, key_column_index, dtypes.int64, value_column_index, vocab_size,
                         delimiter, name)


def index_table_from_tensor(mapping, num_oov_buckets=0, default_value=-1, hasher_spec=None, dtype=dtypes.string,
                            name=None):
    """A table from the elements of a list or tensor to their positions."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return index_tables.index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, dtype, name)


def string_to_index(tensor, mapping, default_value=-1, name=None):
    """The positions of words in a list or tensor."""
    return index_table_from_tensor(mapping, default_value=default_value, name=name).lookup(tensor)


def index_to_string_table_from_tensor(mapping, default_value="UNK", name=None):
    """A table from positions to the words of a list or tensor."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return index_tables.index_to_string_table_from_tensor(mapping, default_value, name)


def index_to_string(tensor, mapping, default_value="UNK", name=None):
    """The words of a list or tensor at positions."""
    return index_to_string_table_from_tensor(mapping, default_value, name).lookup(tensor)


def index_to_string_table_from_file(vocabulary_file, vocab_size=None, default_value="UNK", name=None,
                                    key_column_index=TextFileIndex.LINE_NUMBER,
                                    value_column_index=TextFileIndex.WHOLE_LINE, delimiter="\t"):
    """A table from the numbers of a file's lines to the lines."""
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")
    with name_scope(name, "index_to_string"):
        return lookup.StaticHashTable(
            TextFileStringTableInitializer(vocabulary_file, key_column_index, value_column_index, vocab_size, delimiter,
                                           "table_init"), default_value, "hash_table")
