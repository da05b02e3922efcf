"""Categories of the steps of sequences."""

import collections

from tensorbraid import dtypes
from tensorbraid.feature_column.base import CategoricalColumn, IdsAndWeights
from tensorbraid.feature_column.categorical import (
    categorical_column_with_embedding, categorical_column_with_hash_bucket, categorical_column_with_identity, categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list)
from tensorbraid.internal.graphs import name_scope
from tensorbraid.ops import arrays, math_ops, sparse_ops
from tensorbraid.ops.segment_ops import segment_max

__all__ = ["sequence_categorical_column_with_embedding", "sequence_categorical_column_with_hash_bucket", "sequence_categorical_column_with_identity",
           "sequence_categorical_column_with_vocabulary_file", "sequence_categorical_column_with_vocabulary_list"]


class SequenceCategoricalColumn(CategoricalColumn, collections.namedtuple("SequenceCategoricalColumn", [
        "categorical_column"])):
    """A categorical column whose second dimension is that of the steps."""

    name = property(lambda self: self.categorical_column.name)
    parse_example_spec = property(lambda self: self.categorical_column.parse_example_spec)
    num_buckets = property(lambda self: self.categorical_column.num_buckets)

    def transform(self, features):
        return self.categorical_column.transform(features)

    def ids_and_weights(self, features):
        ids, weights = self.categorical_column.ids_and_weights(features)
        shape = ids.dense_shape
        if ids.shape.ndims == 2:  # one id in each step
            shape = arrays.concat([shape, [1]], axis=0)
        else:
            shape = arrays.concat([shape[:2], [-1]], axis=0)
        return IdsAndWeights(sparse_ops.sparse_reshape(ids, shape),
                             None if weights is None else sparse_ops.sparse_reshape(weights, shape))


def sequence_length(sparse, elements=1):
    """For each row the number of steps: its last column, in groups of `elements`, plus 1; 0 for an empty row."""
    with name_scope(None, "sequence_length"):
        rows, columns = sparse.indices[:, 0], sparse.indices[:, 1] + 1
        batch = sparse.dense_shape[0]
        lengths = math_ops.cast(math_ops.ceil(columns / elements), dtypes.int64) if elements > 1 else columns
        found = segment_max(lengths, rows)
        missing = batch - arrays.shape(found, out_type=dtypes.int64)[0]
        return arrays.concat([found, arrays.zeros([missing], dtypes.int64)], axis=0)


def sequence_categorical_column_with_embedding(key, dtype=dtypes.string, partition_num=None, ev_option=None):
    """categorical_column_with_embedding for the steps of sequences."""
    return SequenceCategoricalColumn(categorical_column_with_embedding(key, dtype, partition_num, ev_option))


def sequence_categorical_column_with_identity(key, num_buckets, default_value=None):
    """categorical_column_with_identity for the steps of sequences."""
    return SequenceCategoricalColumn(categorical_column_with_identity(key, num_buckets, default_value))


def sequence_categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string):
    """categorical_column_with_hash_bucket for the steps of sequences."""
    return SequenceCategoricalColumn(categorical_column_with_hash_bucket(key, hash_bucket_size, dtype))


def sequence_categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1,
                                                     num_oov_buckets=0):
    """categorical_column_with_vocabulary_list for the steps of sequences."""
    return SequenceCategoricalColumn(categorical_column_with_vocabulary_list(key, vocabulary_list, dtype, default_value,
                                                                             num_oov_buckets))


def sequence_categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0,
                                                     default_value=None, dtype=dtypes.string):
    """categorical_column_with_vocabulary_file for the steps of sequences."""
    return SequenceCategoricalColumn(categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype))
