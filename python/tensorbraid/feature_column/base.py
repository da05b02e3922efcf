"""The base class of feature columns, and the features that they read."""

import collections

from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graphs import name_scope
from tensorbraid.ops import arrays, checks
from tensorbraid.ops.control_flow import cond
from tensorbraid.ops.node import op
from tensorbraid.ops.sparse_tensor import SparseTensor, convert_to_tensor_or_sparse_tensor

# Two SparseTensors; the second may be None.
IdsAndWeights = collections.namedtuple("IdsAndWeights", ["id_tensor", "weight_tensor"])


class FeatureColumn:
    """Says how one input of a model is made from the features of examples.

    Columns are named tuples of their arguments, so columns with equal arguments are equal.
    """

    name = None  # unique among the columns of a layer; columns are sorted by it
    parse_example_spec = None  # what tf.parse_example needs for the column
    _scope_name = property(lambda self: self.name or "features")  # the variable scope of the column in a layer

    def __eq__(self, other):
        return type(self) is type(other) and tuple.__eq__(self, other)

    def __ne__(self, other):
        return not self == other

    def __hash__(self):
        return hash((type(self).__name__, tuple(self)))

    def transform(self, features):
        """The column's transformation of the features: a tensor or a SparseTensor. Features.get caches it."""
        raise NotImplementedError(f"transform of {type(self).__name__}")


class DenseColumn(FeatureColumn):
    """A column with a dense float tensor: `dense_tensor` returns one of shape [batch] + variable_shape."""

    variable_shape = None

    def dense_tensor(self, features, weight_collections=None, trainable=None):
        """The values of the column, a tensor of floats."""
        raise NotImplementedError(f"dense_tensor of {type(self).__name__}")

    # Programs use these names of TensorFlow's though they are private.
    _variable_shape = property(lambda self: self.variable_shape)

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return self.dense_tensor(inputs, weight_collections, trainable)


class CategoricalColumn(FeatureColumn):
    """A column with ids below `num_buckets`: `ids_and_weights` returns them as SparseTensors."""

    num_buckets = None

    def ids_and_weights(self, features):
        """The numbers of the categories, and their weights or None."""
        return IdsAndWeights(features.get(self), None)

    # Programs use these names of TensorFlow's though they are private.
    _num_buckets = property(lambda self: self.num_buckets)

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        return self.ids_and_weights(inputs)


class SequenceDenseColumn(FeatureColumn):
    """A column with a tensor for each step of a sequence: [batch, steps] + variable_shape, and the lengths."""

    variable_shape = None

    def sequence_dense_tensor(self, features, weight_collections=None, trainable=None):
        """The values of the steps, and the length of each sequence."""
        raise NotImplementedError(f"sequence_dense_tensor of {type(self).__name__}")


class Features:
    """The features of a batch, and what columns have made of them already."""

    def __init__(self, features):
        self._features = dict(features)
        self._made = {}

    def get(self, key):
        """The tensor of a feature, of rank 2 at least, or what a column makes of the features."""
        if key in self._made:
            return self._made[key]
        if key in self._features:
            made = _with_rank(key, self._features[key])
        elif isinstance(key, str):
            raise ValueError(f"Feature {key} is not in features dictionary.")
        elif isinstance(key, FeatureColumn):
            made = key.transform(self)
            if made is None:
                raise ValueError(f"Column {key.name} is not supported.")
        else:
            raise TypeError(f'"key" must be either a "str" or "FeatureColumn". Provided: {type(key)}')
        self._made[key] = made
        return made


def _with_rank(key, value):
    """The feature as a tensor with a last dimension for its values: rank 1 becomes rank 2."""
    value = convert_to_tensor_or_sparse_tensor(value)
    if isinstance(value, SparseTensor):
        return value
    rank = value.shape.ndims
    if rank == 0:
        raise ValueError(f"Feature (key: {key}) cannot have rank 0. Given: {value}")
    if rank == 1:
        return arrays.expand_dims(value, -1)
    if rank is not None:
        return value
    with graphs.control_dependencies([checks.assert_positive(
            arrays.rank(value), message=f"Feature (key: {key}) cannot have rank 0. Given: {value}")]):
        return cond(op("Equal", [1, arrays.rank(value)]), lambda: arrays.expand_dims(value, -1), lambda: value)


def to_sparse(value, ignore_value=None):
    """The elements of a tensor that are not `ignore_value`: by default "", or -1 for integers and 0 for floats."""
    value = convert_to_tensor_or_sparse_tensor(value)
    if isinstance(value, SparseTensor):
        return value
    with name_scope(None, "to_sparse_input", [value]):
        if ignore_value is None:
            ignore_value = "" if value.dtype.name == "string" else -1 if value.dtype.is_integer else 0.0
        ignore_value = graphs.constant(ignore_value, value.dtype, name="ignore_value/x")
        indices = op("Where", [op("NotEqual", [value, ignore_value])], "indices")
        return SparseTensor(indices, op("GatherNd", [value, indices], "values"),
                            arrays.shape(value, "dense_shape", "int64"))


def checked_key(key):
    """Raises ValueError unless the key of a feature is a string."""
    if not isinstance(key, str):
        raise ValueError(f"key must be a string. Got: type {type(key)}. Given key: {key}.")
    return key


def checked_string_or_int(dtype, prefix):
    """Raises ValueError unless the dtype is that of categories."""
    if dtype.name != "string" and not dtype.is_integer:
        raise ValueError(f"{prefix} dtype must be string or integer. dtype: {dtype}.")
    return dtype


def sorted_columns(columns):
    """The columns of a layer in the order of their names. Raises ValueError if two have the same name."""
    if isinstance(columns, FeatureColumn):
        columns = [columns]
    if isinstance(columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    columns = arguments.items("feature_columns", columns, "a list of feature columns")
    for column in columns:
        if not isinstance(column, FeatureColumn):
            raise ValueError(f"Items of feature_columns must be a FeatureColumn. Given (type {type(column)}): "
                             f"{column}.")
    if not columns:
        raise ValueError("feature_columns must not be empty.")
    by_name = {}
    for column in columns:
        if column.name in by_name:
            raise ValueError(f"Duplicate feature column name found for columns: {column} and {by_name[column.name]}. "
                             "This usually means that these columns refer to same base feature. Either one must be "
                             "discarded or a duplicated but renamed item must be inserted in features dict.")
        by_name[column.name] = column
    return sorted(columns, key=lambda column: column.name)
