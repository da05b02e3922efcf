"""Columns of categories: ids, words of a vocabulary, hashes, and their crossings and weights."""

import collections

from tensorbraid import dtypes, gfile
from tensorbraid.feature_column.base import (
    CategoricalColumn, IdsAndWeights, checked_key, checked_string_or_int, to_sparse)
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.embedding_options import EmbeddingVariableOption
from tensorbraid.ops import arrays, math_ops, sparse_crosses, string_ops
from tensorbraid.ops.index_tables import index_table_from_file, index_table_from_tensor
from tensorbraid.ops.node import op
from tensorbraid.ops.parsing_ops import VarLenFeature
from tensorbraid.ops.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor

__all__ = ["categorical_column_with_embedding", "categorical_column_with_hash_bucket", "categorical_column_with_identity",
           "categorical_column_with_vocabulary_file", "categorical_column_with_vocabulary_list", "crossed_column",
           "crossed_column_with_embedding", "weighted_categorical_column"]


class _OfKey(CategoricalColumn):
    """A column of one feature."""

    name = property(lambda self: self.key)
    parse_example_spec = property(lambda self: {self.key: VarLenFeature(self.dtype)})

    def transform(self, features):
        sparse = to_sparse(features.get(self.key))
        return sparse.with_values(self._ids(sparse.values))

    def _checked(self, values):
        """The values of a tensor of categories of the dtype of the column."""
        if self.dtype.is_integer != values.dtype.is_integer:
            raise ValueError("Column dtype and SparseTensors dtype must be compatible. "
                             f"key: {self.key}, column dtype: {self.dtype}, tensor dtype: {values.dtype}")
        checked_string_or_int(values.dtype, f"column_name: {self.key} input_tensor")
        return values


class IdentityCategoricalColumn(_OfKey, collections.namedtuple("IdentityCategoricalColumn", [
        "key", "number_buckets", "default_value"])):
    """Integers that are ids already."""

    dtype = dtypes.int64
    num_buckets = property(lambda self: self.number_buckets)

    def _ids(self, values):
        if not values.dtype.is_integer:
            raise ValueError(f"Invalid input, not integer. key: {self.key} dtype: {values.dtype}")
        values = math_ops.cast(values, dtypes.int64, name="values")
        if self.default_value is None:
            return values
        below = op("Less", [values, graphs.constant(0, dtypes.int64, name="zero")])
        above = op("GreaterEqual", [values, graphs.constant(self.num_buckets, dtypes.int64, name="num_buckets")])
        default = graphs.constant(self.default_value, dtypes.int64)
        return op("SelectV2", [op("LogicalOr", [below, above], "out_of_range"),
                               arrays.fill(arrays.shape(values), default, name="default_values"), values])


class HashedCategoricalColumn(_OfKey, collections.namedtuple("HashedCategoricalColumn", [
        "key", "hash_bucket_size", "dtype"])):
    """Strings or integers, of which a hash is the id."""

    num_buckets = property(lambda self: self.hash_bucket_size)

    def _ids(self, values):
        values = self._checked(values)
        if self.dtype.is_integer:
            values = string_ops.as_string(values)
        return string_ops.string_to_hash_bucket_fast(values, self.hash_bucket_size, name="lookup")


class EmbeddingCategoricalColumn(_OfKey, collections.namedtuple("EmbeddingCategoricalColumn", [
        "key", "dtype", "partition_num", "ev_option"])):
    """Strings or integers that are the keys of a growing table. Integers are keys as they are."""

    num_buckets = property(lambda self: 1)  # as in DeepRec; the table has no number of keys

    def _ids(self, values):
        values = self._checked(values)
        if self.dtype.is_integer:
            return math_ops.cast(values, dtypes.int64)
        return string_ops.string_to_hash_bucket_fast(values, 2**63 - 1, name="lookup")


class _Vocabulary(_OfKey):
    """A column whose ids are the positions in a vocabulary."""

    def _ids(self, values):
        values = self._checked(values)
        if self.dtype.is_integer:
            values = math_ops.cast(values, dtypes.int64)
        key_dtype = dtypes.int64 if values.dtype.is_integer else self.dtype
        return self._table(key_dtype).lookup(values)


class VocabularyListCategoricalColumn(_Vocabulary, collections.namedtuple("VocabularyListCategoricalColumn", [
        "key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets"])):
    """Words of a list."""

    num_buckets = property(lambda self: len(self.vocabulary_list) + self.num_oov_buckets)

    def _table(self, key_dtype):
        return index_table_from_tensor(self.vocabulary_list, self.num_oov_buckets, self.default_value, dtype=key_dtype,
                                       name=f"{self.key}_lookup")


class VocabularyFileCategoricalColumn(_Vocabulary, collections.namedtuple("VocabularyFileCategoricalColumn", [
        "key", "vocabulary_file", "vocabulary_size", "num_oov_buckets", "dtype", "default_value"])):
    """Words of a file, one in each line."""

    num_buckets = property(lambda self: self.vocabulary_size + self.num_oov_buckets)

    def _table(self, key_dtype):
        return index_table_from_file(self.vocabulary_file, self.num_oov_buckets, self.vocabulary_size,
                                     self.default_value, key_dtype=key_dtype, name=f"{self.key}_lookup")


class _Crossed(CategoricalColumn):
    """Hashes of all combinations of the categories of several columns or features."""

    @property
    def _leaves(self):
        """The keys, with those of crossed columns in their place."""
        return [leaf for key in self.keys for leaf in (key._leaves if isinstance(key, _Crossed) else [key])]

    @property
    def name(self):
        """The names of the crossed features, joined by "_X_"."""
        return "_X_".join(sorted(leaf if isinstance(leaf, str) else leaf.name for leaf in self._leaves))

    @property
    def parse_example_spec(self):
        spec = {}
        for key in self.keys:
            spec.update({key: VarLenFeature(dtypes.string)} if isinstance(key, str) else key.parse_example_spec)
        return spec

    def transform(self, features):
        return sparse_crosses.cross_hashed([_crossed_input(leaf, features) for leaf in self._leaves],
                                           self.hash_bucket_size, self.hash_key)


class CrossedColumn(_Crossed, collections.namedtuple("CrossedColumn", ["keys", "hash_bucket_size", "hash_key"])):
    """Hashes below a number of buckets."""

    num_buckets = property(lambda self: self.hash_bucket_size)


class CrossedEmbeddingColumn(_Crossed, collections.namedtuple("CrossedEmbeddingColumn", [
        "keys", "hash_key", "partition_num", "ev_option"])):
    """Hashes of 63 bits that are the keys of a growing table."""

    num_buckets = property(lambda self: 1)
    hash_bucket_size = 0  # no limit


def _crossed_input(leaf, features):
    if isinstance(leaf, str):
        return features.get(leaf)
    ids, weights = leaf.ids_and_weights(features)
    if weights is not None:
        raise ValueError("crossed_column does not support weight_tensor, but the given column populates weight_tensor. "
                         f"Given column: {leaf.name}")
    return ids


class WeightedCategoricalColumn(CategoricalColumn, collections.namedtuple("WeightedCategoricalColumn", [
        "categorical_column", "weight_feature_key", "dtype"])):
    """Categories with a weight for each, which another feature has."""

    name = property(lambda self: f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}")
    num_buckets = property(lambda self: self.categorical_column.num_buckets)

    @property
    def parse_example_spec(self):
        spec = dict(self.categorical_column.parse_example_spec)
        if self.weight_feature_key in spec:
            raise ValueError(f"Parse config {spec[self.weight_feature_key]} already exists for "
                             f"{self.weight_feature_key}.")
        spec[self.weight_feature_key] = VarLenFeature(self.dtype)
        return spec

    def transform(self, features):
        weights = convert_to_tensor_or_sparse_tensor(features.get(self.weight_feature_key))
        if weights.dtype != self.dtype:
            raise ValueError(f"Bad dtype, expected: {self.dtype}, but got: {weights.dtype}.")
        if not isinstance(weights, SparseTensor):
            weights = to_sparse(weights, ignore_value=0.0)  # an id whose weight is 0 is not there
        if not weights.dtype.is_floating:
            weights = weights.with_values(math_ops.cast(weights.values, dtypes.float32))
        return IdsAndWeights(features.get(self.categorical_column), weights)

    def ids_and_weights(self, features):
        return IdsAndWeights(*features.get(self))


def categorical_column_with_identity(key, num_buckets, default_value=None):
    """Integers in [0, num_buckets), which are ids. Others become `default_value`, or are ignored if it is None."""
    if arguments.number("num_buckets", num_buckets) < 1:
        raise ValueError(f"num_buckets {num_buckets} < 1, column_name {key}")
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError(f"default_value {default_value} not in range [0, {num_buckets}), column_name {key}")
    return IdentityCategoricalColumn(checked_key(key), num_buckets, default_value)


def categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string):
    """Strings or integers, of which a hash below `hash_bucket_size` is the id."""
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if arguments.number("hash_bucket_size", hash_bucket_size) < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}, key: {key}")
    dtype = checked_string_or_int(dtypes.as_dtype(dtype), f"column_name: {key}")
    return HashedCategoricalColumn(checked_key(key), hash_bucket_size, dtype)


def categorical_column_with_embedding(key, dtype=dtypes.string, partition_num=None, ev_option=None):
    """Strings or integers that are the keys of a growing table (tf.get_embedding_variable). Source: DeepRec.

    The key of a string is its fingerprint modulo 2^63 - 1. In dense features, "" and -1 stand for no value. With
    `partition_num`, the table has so many parts; otherwise the partitioner of the variable scope says it.
    """
    dtype = checked_string_or_int(dtypes.as_dtype(dtype), f"column_name: {key}")
    return EmbeddingCategoricalColumn(checked_key(key), dtype, *_checked_table(key, partition_num, ev_option))


def _checked_table(key, partition_num, ev_option):
    if partition_num is not None and arguments.integer("partition_num", partition_num) < 1:
        raise ValueError(f"partition_num must be at least 1. partition_num: {partition_num}, key: {key}")
    return partition_num, EmbeddingVariableOption() if ev_option is None else ev_option


def growing_column(column):
    """The column of keys of a growing table in a column, without weights and sequences; None if it has no table."""
    while hasattr(column, "categorical_column"):
        column = column.categorical_column
    return column if isinstance(column, (CrossedEmbeddingColumn, EmbeddingCategoricalColumn)) else None


def _checked_oov(key, default_value, num_oov_buckets):
    if num_oov_buckets and default_value != -1:
        raise ValueError(f"Can't specify both num_oov_buckets and default_value in {key}.")
    if num_oov_buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {num_oov_buckets} in {key}.")


def categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0):
    """Words of a list. Others have the id `default_value`, or a hash after the list if there are oov buckets."""
    import numpy as np

    arguments.check(hasattr(vocabulary_list, "__len__") or vocabulary_list is None, "vocabulary_list",
                    "a list of strings or integers", vocabulary_list)
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}")
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}")
    array = np.array(vocabulary_list)
    vocabulary_dtype = dtypes.string if array.dtype.kind in "SU" else dtypes.as_dtype(array.dtype)
    _checked_oov(key, default_value, num_oov_buckets)
    checked_string_or_int(vocabulary_dtype, f"column_name: {key} vocabulary")
    dtype = vocabulary_dtype if dtype is None else dtypes.as_dtype(dtype)
    if dtype.is_integer != vocabulary_dtype.is_integer:
        raise ValueError(f"dtype {dtype} and vocabulary dtype {vocabulary_dtype} do not match, column_name: {key}")
    checked_string_or_int(dtype, f"column_name: {key}")
    return VocabularyListCategoricalColumn(checked_key(key), tuple(vocabulary_list), dtype, default_value,
                                           num_oov_buckets)


def categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0,
                                            default_value=None, dtype=dtypes.string):
    """Words of a file, one in each line. `vocabulary_size` lines are used, or all."""
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        if not gfile.Exists(vocabulary_file):
            raise ValueError(f"vocabulary_file in {key} does not exist.")
        with gfile.GFile(vocabulary_file, "rb") as lines:
            vocabulary_size = sum(1 for _ in lines)
    if arguments.number("vocabulary_size", vocabulary_size) < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}.")
    default_value = -1 if default_value is None else default_value
    _checked_oov(key, default_value, num_oov_buckets)
    dtype = checked_string_or_int(dtypes.as_dtype(dtype), f"column_name: {key}")
    return VocabularyFileCategoricalColumn(checked_key(key), vocabulary_file, vocabulary_size, num_oov_buckets, dtype,
                                           default_value)


def crossed_column(keys, hash_bucket_size, hash_key=None):
    """Hashes below `hash_bucket_size` of all combinations. A key is the name of a feature or a categorical column."""
    if not hash_bucket_size or arguments.number("hash_bucket_size", hash_bucket_size) < 1:
        raise ValueError(f"hash_bucket_size must be at least 1. hash_bucket_size: {hash_bucket_size}")
    return CrossedColumn(_checked_keys(keys), hash_bucket_size, hash_key)


def crossed_column_with_embedding(keys, hash_key=None, partition_num=None, ev_option=None):
    """All combinations of categories as the keys of a growing table, so that hardly any two share a row.

    The key is a hash of 63 bits. Keys are as those of tf.feature_column.crossed_column, and `partition_num` and
    `ev_option` as those of tf.feature_column.categorical_column_with_embedding. TensorFlow and DeepRec have no such
    column.
    """
    return CrossedEmbeddingColumn(_checked_keys(keys), hash_key, *_checked_table(keys, partition_num, ev_option))


def _checked_keys(keys):
    arguments.check(keys is None or hasattr(keys, "__len__"), "keys", "a list of names and columns", keys)
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn)):
            raise ValueError("Unsupported key type. All keys must be either string, or categorical column except "
                             f"HashedCategoricalColumn. Given: {key}")
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError("categorical_column_with_hash_bucket is not supported for crossing: hashing twice makes "
                             f"more collisions. Use the feature name as a key instead. Given: {key}")
    return tuple(keys)


def weighted_categorical_column(categorical_column, weight_feature_key, dtype=dtypes.float32):
    """Categories with the weights that the feature `weight_feature_key` has at the same positions."""
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)
