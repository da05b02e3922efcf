"""Numbers of the steps of sequences, and the layer that joins columns of sequences."""

import collections

from tensorbraid import dtypes
from tensorbraid.feature_column.base import Features, SequenceDenseColumn, checked_key, sorted_columns, to_sparse
from tensorbraid.feature_column.input_layer import model_collections
from tensorbraid.feature_column.numeric import checked_numbers
from tensorbraid.feature_column.sequence_ids import sequence_length
from tensorbraid.internal import graphs
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.internal.variable_scope import variable_scope
from tensorbraid.ops import arrays, checks, math_ops, sparse_ops
from tensorbraid.ops.parsing_ops import VarLenFeature

__all__ = ["sequence_numeric_column"]


class SequenceNumericColumn(SequenceDenseColumn, collections.namedtuple("SequenceNumericColumn", [
        "key", "shape", "default_value", "dtype", "normalizer_fn"])):
    """Numbers of a fixed shape for each step. Sequences that are shorter than the longest are filled up."""

    name = property(lambda self: self.key)
    variable_shape = property(lambda self: TensorShape(self.shape))
    parse_example_spec = property(lambda self: {self.key: VarLenFeature(self.dtype)})

    def transform(self, features):
        value = features.get(self.key)
        return value if self.normalizer_fn is None else self.normalizer_fn(value)

    def sequence_dense_tensor(self, features, weight_collections=None, trainable=None):
        sparse = to_sparse(features.get(self))
        dense = sparse_ops.sparse_tensor_to_dense(sparse, default_value=self.default_value)
        dense = arrays.reshape(dense, arrays.concat([arrays.shape(dense)[:1], [-1], list(self.shape)], axis=0))
        elements = self.variable_shape.num_elements() if sparse.shape.ndims == 2 else 1
        return dense, sequence_length(sparse, elements)


def sequence_numeric_column(key, shape=(1,), default_value=0.0, dtype=dtypes.float32, normalizer_fn=None):
    """Numbers of a fixed shape for each step of sequences."""
    shape, dtype = checked_numbers(key, shape, dtype, normalizer_fn)
    checked_key(key)
    return SequenceNumericColumn(key, shape, default_value, dtype, normalizer_fn)


def sequence_input_layer(features, feature_columns, weight_collections=None, trainable=True):
    """All columns of sequences as one tensor [batch, steps, size], and the length of each sequence."""
    columns = sorted_columns(feature_columns)
    for column in columns:
        if not isinstance(column, SequenceDenseColumn):
            raise ValueError("All feature_columns must be dense columns of sequences. You can wrap a "
                             "sequence_categorical_column with an embedding_column or indicator_column. Given (type "
                             f"{type(column)}): {column}")
    keys = model_collections(weight_collections)
    with variable_scope(None, default_name="sequence_input_layer", values=list(features.values())):
        features, outputs = Features(features), []
        for column in columns:
            with variable_scope(None, default_name=column._scope_name):
                outputs.append(flat(column, features, keys, trainable))
        return joined(outputs)


def flat(column, features, keys, trainable):
    """The tensor of a column of sequences as [batch, steps, size], and the length of each sequence."""
    dense, length = column.sequence_dense_tensor(features, keys, trainable)
    sizes = arrays.shape(dense)
    return arrays.reshape(math_ops.cast(dense, dtypes.float32),
                          [sizes[0], sizes[1], column.variable_shape.num_elements()]), length


def joined(columns):
    """The tensors of columns as one, and the lengths, which are equal."""
    outputs, lengths = zip(*columns)
    with graphs.control_dependencies([checks.assert_equal(lengths[0], length) for length in lengths[1:]]):
        length = arrays.identity(lengths[0]) if len(lengths) > 1 else lengths[0]
    return arrays.concat(list(outputs), -1), length
