"""Feature columns of tf.contrib.layers: older names and arguments of those of tf.feature_column."""

import collections
import copy
import math

from tensorbraid import dtypes, feature_column
from tensorbraid.feature_column.categorical import IdentityCategoricalColumn, growing_column
from tensorbraid.initializers import TruncatedNormal
from tensorbraid.internal.embedding_options import EmbeddingVariableOption, GlobalStepEvict
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.variable_scope import variable_scope
from tensorbraid.ops import math_ops

__all__ = [
    "bucketized_column", "create_feature_spec_for_parsing", "crossed_column", "embedding_column",
    "input_from_feature_columns", "one_hot_column", "real_valued_column", "shared_embedding_columns",
    "sparse_column_with_embedding", "sparse_column_with_hash_bucket", "sparse_column_with_integerized_feature",
    "sparse_column_with_keys", "sparse_column_with_vocabulary_file", "weighted_sparse_column"]

bucketized_column = feature_column.bucketized_column


def real_valued_column(column_name, dimension=1, default_value=None, dtype=dtypes.float32, normalizer=None):
    """Numbers: `dimension` for each example."""
    if dimension is None:
        raise NotImplementedError("dimension=None of real_valued_column, numbers without a fixed count")
    return feature_column.numeric_column(column_name, (dimension,), default_value, dtype, normalizer)


def _check_combiner(combiner, name):
    """A linear model adds the weights of the ids of an example; its estimator is given another combiner."""
    if combiner not in ("sum", None):
        raise NotImplementedError(f"combiner={combiner!r} of {name}: give a linear estimator of tf.estimator the "
                                  "argument sparse_combiner, which is for all columns")


def sparse_column_with_keys(column_name, keys, default_value=-1, combiner="sum", dtype=dtypes.string):
    """Words of a list. Others have the id `default_value`."""
    _check_combiner(combiner, "sparse_column_with_keys")
    return feature_column.categorical_column_with_vocabulary_list(column_name, list(keys), dtype, default_value)


def sparse_column_with_vocabulary_file(column_name, vocabulary_file, num_oov_buckets=0, vocab_size=None,
                                       default_value=-1, combiner="sum", dtype=dtypes.string):
    """Words of a file, one in each line. `vocab_size` lines are used."""
    _check_combiner(combiner, "sparse_column_with_vocabulary_file")
    if vocab_size is None:
        raise ValueError("vocab_size should be defined. column_name: {}".format(column_name))
    return feature_column.categorical_column_with_vocabulary_file(
        column_name, vocabulary_file, vocab_size, num_oov_buckets, None if num_oov_buckets else default_value, dtype)


def sparse_column_with_hash_bucket(column_name, hash_bucket_size, combiner="sum", dtype=dtypes.string):
    """Strings or integers, of which a hash below `hash_bucket_size` is the id."""
    _check_combiner(combiner, "sparse_column_with_hash_bucket")
    return feature_column.categorical_column_with_hash_bucket(column_name, hash_bucket_size, dtype)


def sparse_column_with_embedding(column_name, dtype=dtypes.string, partition_num=None, steps_to_live=None,
                                 init_data_source=None, ht_partition_num=1000, evconfig=None, ev_option=None):
    """Strings or integers that are the keys of a growing table. Source: DeepRec. `ht_partition_num` has no effect.

    `evconfig` and `ev_option` are two names of one argument. `steps_to_live` is the same as tf.GlobalStepEvict in it.
    """
    if init_data_source is not None:
        raise NotImplementedError("the argument init_data_source of sparse_column_with_embedding")
    if evconfig is not None and ev_option is not None:
        raise ValueError("sparse_column_with_embedding takes evconfig or ev_option, which are the same")
    option = ev_option if evconfig is None else evconfig
    if steps_to_live is not None:
        option = EmbeddingVariableOption() if option is None else copy.copy(option)
        if option.evict is not None:
            raise ValueError("sparse_column_with_embedding has steps_to_live and an evict_option; give one of them")
        option.evict = GlobalStepEvict(steps_to_live)
    return feature_column.categorical_column_with_embedding(column_name, dtype, partition_num, option)


class _IntegerizedColumn(IdentityCategoricalColumn, collections.namedtuple("_IntegerizedColumn", [
        "key", "number_buckets", "default_value"])):
    """Integers whose remainders are the ids."""

    def _ids(self, values):
        return math_ops.mod(super()._ids(values), self.num_buckets)


def sparse_column_with_integerized_feature(column_name, bucket_size, combiner="sum", dtype=dtypes.int64):
    """Integers, whose remainders of a division by `bucket_size` are the ids."""
    _check_combiner(combiner, "sparse_column_with_integerized_feature")
    if not dtypes.as_dtype(dtype).is_integer:
        raise ValueError(f"dtype must be an integer. dtype: {dtype}, column_name: {column_name}")
    if bucket_size < 1:
        raise ValueError(f"bucket_size must be at least 1. bucket_size: {bucket_size}, column_name: {column_name}")
    return _IntegerizedColumn(column_name, bucket_size, None)


def weighted_sparse_column(sparse_id_column, weight_column_name, dtype=dtypes.float32):
    """Ids with the weights that the feature `weight_column_name` has at the same positions."""
    return feature_column.weighted_categorical_column(sparse_id_column, weight_column_name, dtype)


def one_hot_column(sparse_id_column):
    """For each id how often an example has it."""
    return feature_column.indicator_column(sparse_id_column)


def _default(initializer, columns, dimension):
    """The initial values of a table: truncated normal numbers of variance 1 / number of ids.

    For a growing table, whose number of ids is not known, the variance is 1 / dimension.
    """
    return initializer or TruncatedNormal(
        stddev=1 / math.sqrt(dimension if growing_column(columns[0]) else columns[0].num_buckets))


def embedding_column(sparse_id_column, dimension, combiner="mean", initializer=None, ckpt_to_load_from=None,
                     tensor_name_in_ckpt=None, max_norm=None, trainable=True, do_fusion=False):
    """The mean, "sum" or "sqrtn" of the rows of a table for the ids of an example. `do_fusion` has no effect."""
    return feature_column.embedding_column(
        sparse_id_column, dimension, combiner, _default(initializer, [sparse_id_column], dimension), ckpt_to_load_from,
        tensor_name_in_ckpt, max_norm, trainable)


def shared_embedding_columns(sparse_id_columns, dimension, combiner="mean", initializer=None,
                             shared_embedding_name=None, ckpt_to_load_from=None, tensor_name_in_ckpt=None,
                             max_norm=None, trainable=True):
    """Embeddings of several columns, which share a table."""
    columns = list(sparse_id_columns)
    return feature_column.shared_embedding_columns(
        columns, dimension, combiner, _default(initializer, columns, dimension), shared_embedding_name, ckpt_to_load_from,
        tensor_name_in_ckpt, max_norm, trainable)


def crossed_column(columns, hash_bucket_size, combiner="sum", ckpt_to_load_from=None, tensor_name_in_ckpt=None,
                   hash_key=None):
    """Hashes below `hash_bucket_size` of all combinations of the features of the columns.

    Buckets, crosses and what the other columns are made of are crossed.
    """
    _check_combiner(combiner, "crossed_column")
    if ckpt_to_load_from is not None or tensor_name_in_ckpt is not None:
        raise NotImplementedError("ckpt_to_load_from of crossed_column")
    keys = [getattr(column, "key", column) for column in columns]
    return feature_column.crossed_column(sorted(keys, key=lambda key: getattr(key, "name", key)), hash_bucket_size,
                                         hash_key)


def create_feature_spec_for_parsing(feature_columns):
    """The features of the columns in the form that tf.parse_example takes."""
    return feature_column.make_parse_example_spec(feature_columns)


def input_from_feature_columns(columns_to_tensors, feature_columns, weight_collections=None, trainable=True, scope=None,
                               cols_to_outs=None):
    """All columns as one tensor [batch, size], in the order of their names."""
    with variable_scope(scope, "input_from_feature_columns", list(columns_to_tensors.values())):
        keys = list(weight_collections or []) + [GraphKeys.MODEL_VARIABLES]
        return feature_column.input_layer(columns_to_tensors, feature_columns, keys, trainable, None, cols_to_outs)
