"""Dense tensors of categories: counts and embeddings."""

import collections
import contextlib
import math

from tensorbraid.feature_column.base import CategoricalColumn, DenseColumn, SequenceDenseColumn
from tensorbraid.feature_column.sequence_ids import SequenceCategoricalColumn, sequence_length
from tensorbraid.feature_column.tables import table_of
from tensorbraid.initializers import TruncatedNormal
from tensorbraid.internal import arguments
from tensorbraid.internal.graphs import name_scope
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.nn.embeddings import embedding_lookup_sparse, safe_embedding_lookup_sparse
from tensorbraid.ops import indexing, math_ops, patterns, reductions, sparse_ops

__all__ = ["embedding_column", "group_embedding_column_scope", "indicator_column", "shared_embedding_columns"]


@contextlib.contextmanager
def group_embedding_column_scope(name=None):
    """Does nothing. In DeepRec, one op looks up the embedding columns that are made in this scope."""
    yield


class _OfCategories(DenseColumn, SequenceDenseColumn):
    """A dense column of a categorical column, which may be one of sequences."""

    parse_example_spec = property(lambda self: self.categorical_column.parse_example_spec)

    def transform(self, features):
        return self.categorical_column.ids_and_weights(features)

    def dense_tensor(self, features, weight_collections=None, trainable=None):
        if isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise ValueError(f"In {self.name}: a sequence_categorical_column_with_* has no tensor for a whole example. "
                             "Use a categorical_column_with_*, or a sequence_input_layer.")
        return self._of_ids(features, weight_collections, trainable)

    def sequence_dense_tensor(self, features, weight_collections=None, trainable=None):
        if not isinstance(self.categorical_column, SequenceCategoricalColumn):
            raise ValueError(f"In {self.name}: a sequence_input_layer needs a sequence_categorical_column_with_*, not "
                             f"{self.categorical_column}.")
        return (self._of_ids(features, weight_collections, trainable),
                sequence_length(self.categorical_column.ids_and_weights(features).id_tensor))


class IndicatorColumn(_OfCategories, collections.namedtuple("IndicatorColumn", ["categorical_column"])):
    """For each id how often, or with which weight, an example has it."""

    name = property(lambda self: f"{self.categorical_column.name}_indicator")
    variable_shape = property(lambda self: TensorShape([1, self.categorical_column.num_buckets]))

    def transform(self, features):
        ids, weights = self.categorical_column.ids_and_weights(features)
        count = self.categorical_column.num_buckets
        if weights is not None:
            known = math_ops.greater_equal(ids.values, 0)  # words that the vocabulary does not have are -1
            merged = sparse_ops.sparse_merge(sparse_ops.sparse_retain(ids, known),
                                             sparse_ops.sparse_retain(weights, known), count)
            return indexing.scatter_nd(merged.indices, merged.values, merged.dense_shape)
        dense_ids = sparse_ops.sparse_tensor_to_dense(ids, default_value=-1)
        return reductions.reduce_sum(patterns.one_hot(dense_ids, count, 1.0, 0.0), [-2])

    def _of_ids(self, features, weight_collections, trainable):
        return features.get(self)


class EmbeddingColumn(_OfCategories, collections.namedtuple("EmbeddingColumn", [
        "categorical_column", "dimension", "combiner", "initializer", "ckpt_to_load_from", "tensor_name_in_ckpt",
        "max_norm", "trainable", "use_safe_embedding_lookup"])):
    """The rows of a table of variables for the ids, combined to one."""

    name = property(lambda self: f"{self.categorical_column.name}_embedding")
    variable_shape = property(lambda self: TensorShape([self.dimension]))

    def _of_ids(self, features, weight_collections, trainable):
        return _combined(self, features.get(self), table_of(self, weight_collections, trainable))


class SharedEmbeddingColumn(_OfCategories, collections.namedtuple("SharedEmbeddingColumn", [
        "categorical_column", "dimension", "combiner", "initializer", "shared_embedding_collection_name",
        "ckpt_to_load_from", "tensor_name_in_ckpt", "max_norm", "trainable", "use_safe_embedding_lookup"])):
    """An embedding whose table is that of all columns with the same shared_embedding_collection_name."""

    name = property(lambda self: f"{self.categorical_column.name}_shared_embedding")
    variable_shape = property(lambda self: TensorShape([self.dimension]))
    _scope_name = property(lambda self: self.shared_embedding_collection_name)

    def _of_ids(self, features, weight_collections, trainable):
        with name_scope(None, self.name):
            ids = features.get(self)
            return _combined(self, ids, table_of(self, weight_collections, trainable,
                                                 shared=self.shared_embedding_collection_name))


def _combined(column, ids, table):
    """One row for each example, or for each step of a sequence."""
    lookup = safe_embedding_lookup_sparse if column.use_safe_embedding_lookup else embedding_lookup_sparse
    kind = {} if column.use_safe_embedding_lookup else {"partition_strategy": "div"}
    return lookup(table, ids.id_tensor, ids.weight_tensor, combiner=column.combiner, name=f"{column.name}_weights",
                  max_norm=column.max_norm, **kind)


def indicator_column(categorical_column):
    """For each id how often an example has it."""
    if not isinstance(categorical_column, CategoricalColumn):
        raise ValueError(f"Unsupported input type. Input must be a CategoricalColumn. Given: {categorical_column}")
    return IndicatorColumn(categorical_column)


def _checked(columns, dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt):
    """The initializer of a table: the given one, or normal numbers of variance 1 / dimension."""
    for column in columns:
        if not isinstance(column, CategoricalColumn):
            raise ValueError(f"The column of an embedding must be a CategoricalColumn. Given: {column}")
    if dimension is None or arguments.number("dimension", dimension) < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is not None and not callable(initializer):
        raise ValueError("initializer must be callable if specified. "
                         f"Embedding of column_name: {', '.join(column.name for column in columns)}")
    return TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(dimension)) if initializer is None else initializer


def embedding_column(categorical_column, dimension, combiner="mean", initializer=None, ckpt_to_load_from=None,
                     tensor_name_in_ckpt=None, max_norm=None, trainable=True, use_safe_embedding_lookup=True, do_fusion=False):
    """The mean, "sum" or "sqrtn" of the rows of a table for the ids of an example.

    `do_fusion` is DeepRec's, and has no effect.
    """
    initializer = _checked([categorical_column], dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    return EmbeddingColumn(categorical_column, dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
                           max_norm, trainable, use_safe_embedding_lookup)


def _kind(column):
    """The class of the ids of a column, without its weights and sequences."""
    while hasattr(column, "categorical_column"):
        column = column.categorical_column
    return type(column)


def shared_embedding_columns(categorical_columns, dimension, combiner="mean", initializer=None,
                             shared_embedding_collection_name=None, ckpt_to_load_from=None, tensor_name_in_ckpt=None,
                             max_norm=None, trainable=True, use_safe_embedding_lookup=True):
    """Embeddings of several columns, which have the same ids and share a table."""
    categorical_columns = list(categorical_columns)
    initializer = _checked(categorical_columns, dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    in_order = sorted(categorical_columns, key=lambda column: column.name)
    first = in_order[0]
    for column in in_order[1:]:
        if _kind(column) is not _kind(first):
            raise ValueError("To use shared_embedding_column, all categorical_columns must have the same type, or be "
                             "weighted_categorical_column or sequence column of the same type. "
                             f"Given column: {first} of type: {_kind(first)} does not match given column: {column} of "
                             f"type: {_kind(column)}")
        if column.num_buckets != first.num_buckets:
            raise ValueError("To use shared_embedding_column, all categorical_columns must have the same number of "
                             f"buckets. Given column: {first} with buckets: {first.num_buckets} does not match column: "
                             f"{column} with buckets: {column.num_buckets}")
    name = shared_embedding_collection_name or "_".join(column.name for column in in_order) + "_shared_embedding"
    return [SharedEmbeddingColumn(column, dimension, combiner, initializer, name, ckpt_to_load_from,
                                  tensor_name_in_ckpt, max_norm, trainable, use_safe_embedding_lookup)
            for column in categorical_columns]
