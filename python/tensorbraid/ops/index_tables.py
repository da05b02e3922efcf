"""Tables that give each word of a vocabulary its position."""

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import convert_to_tensor, name_scope
from tensorbraid.lookup import KeyValueTensorInitializer, StaticHashTable, TextFileIndex, TextFileInitializer
from tensorbraid.ops import math_ops, string_ops
from tensorbraid.ops.node import op
from tensorbraid.ops.sparse_tensor import SparseTensor

__all__ = ["IdTableWithHashBuckets", "index_table_from_file", "index_table_from_tensor",
           "index_to_string_table_from_tensor"]


class IdTableWithHashBuckets:
    """A table that gives keys it does not have one of `num_oov_buckets` ids after its own, by their hash."""

    def __init__(self, table, num_oov_buckets, key_dtype):
        self._table, self._num_oov_buckets = table, num_oov_buckets
        self.key_dtype, self.value_dtype = dtypes.as_dtype(key_dtype), table.value_dtype
        self.initializer, self.resource_handle, self.name = table.initializer, table.resource_handle, table.name

    def size(self, name=None):
        """The number of ids."""
        with name_scope(name, f"{self.name}_Size"):
            return self._table.size() + self._num_oov_buckets

    def lookup(self, keys, name=None):
        """The ids of the keys, which may be a SparseTensor."""
        if isinstance(keys, SparseTensor):
            return keys.with_values(self.lookup(keys.values, name))
        with name_scope(name, f"{self.name}_Lookup"):
            keys = convert_to_tensor(keys, None if isinstance(keys, graphs.Tensor) else self.key_dtype)
            text = keys if keys.dtype == dtypes.string else string_ops.as_string(keys)
            buckets = string_ops.string_to_hash_bucket_fast(text, self._num_oov_buckets, name="hash_bucket")
            ids = self._table.lookup(keys)
            buckets = op("AddV2", [buckets, self._table.size()], "Add")
            return op("SelectV2", [op("NotEqual", [ids, self._table.default_value]), ids, buckets])


def _table(make_initializer, default_value, num_oov_buckets, key_dtype):
    with name_scope("hash_table"):
        table = StaticHashTable(make_initializer(), default_value)
    return IdTableWithHashBuckets(table, num_oov_buckets, key_dtype) if num_oov_buckets else table


def index_table_from_tensor(vocabulary_list, num_oov_buckets=0, default_value=-1, hasher_spec=None, dtype=dtypes.string,
                            name=None):
    """A table from the elements of a list or tensor to their positions."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    _check(num_oov_buckets, hasher_spec)
    dtype = dtypes.as_dtype(dtype)
    if dtype != dtypes.string and not dtype.is_integer:
        raise TypeError("Only integer and string keys are supported.")
    with name_scope(name, "string_to_index"):
        keys = vocabulary_list
        if not isinstance(keys, graphs.Tensor):
            keys = convert_to_tensor(np.array(keys, None if dtype.is_integer else np.object_), None if dtype.is_integer
                                     else dtype)
        if keys.dtype.is_integer != dtype.is_integer:
            raise ValueError(f"Invalid dtype: Expected {'integer' if dtype.is_integer else dtype}, got {keys.dtype}.")
        keys = math_ops.cast(keys, dtypes.int64) if dtype.is_integer else keys
        positions = math_ops.cast(math_ops.range(math_ops.size(keys)), dtypes.int64)
        return _table(lambda: KeyValueTensorInitializer(keys, positions, keys.dtype, dtypes.int64, name="table_init"),
                      default_value, num_oov_buckets, dtype)


def index_to_string_table_from_tensor(vocabulary_list, default_value="UNK", name=None):
    """A table from positions to the words of a list or tensor."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    with name_scope(name, "index_to_string"):
        words = vocabulary_list
        if not isinstance(words, graphs.Tensor):
            words = convert_to_tensor(np.array(words, np.object_), dtypes.string)
        positions = math_ops.cast(math_ops.range(math_ops.size(words)), dtypes.int64)
        return _table(lambda: KeyValueTensorInitializer(positions, words, dtypes.int64, dtypes.string,
                                                        name="table_init"),
                      default_value, 0, dtypes.int64)


def index_table_from_file(vocabulary_file=None, num_oov_buckets=0, vocab_size=None, default_value=-1, hasher_spec=None,
                          key_dtype=dtypes.string, name=None, key_column_index=TextFileIndex.WHOLE_LINE,
                          value_column_index=TextFileIndex.LINE_NUMBER, delimiter="\t"):
    """A table from the lines of a file to their numbers."""
    if vocabulary_file is None or isinstance(vocabulary_file, str) and not vocabulary_file:
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}.")
    _check(num_oov_buckets, hasher_spec)
    key_dtype = dtypes.as_dtype(key_dtype)
    if key_dtype != dtypes.string and not key_dtype.is_integer:
        raise TypeError(f"Dtype for `keys` should be either int64 or string, got {key_dtype}.")
    with name_scope(name, "string_to_index"):
        kind = dtypes.int64 if key_dtype.is_integer else key_dtype
        return _table(lambda: TextFileInitializer(vocabulary_file, kind, key_column_index, dtypes.int64,
                                                  value_column_index, vocab_size, delimiter, name="table_init"),
                      default_value, num_oov_buckets, key_dtype)


def _check(num_oov_buckets, hasher_spec):
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")
    if hasher_spec is not None:
        raise NotImplementedError("hasher_spec: the ids of unknown words are those of tf.string_to_hash_bucket_fast")
