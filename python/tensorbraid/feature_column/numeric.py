"""Columns of numbers."""

import collections

from tensorbraid import dtypes
from tensorbraid.feature_column.base import CategoricalColumn, DenseColumn, IdsAndWeights, checked_key
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.ops import arrays, math_ops, patterns
from tensorbraid.ops.node import op
from tensorbraid.ops.parsing_ops import FixedLenFeature
from tensorbraid.ops.sparse_tensor import SparseTensor

__all__ = ["bucketized_column", "numeric_column"]


class NumericColumn(DenseColumn, collections.namedtuple("NumericColumn", [
        "key", "shape", "default_value", "dtype", "normalizer_fn"])):
    """Numbers that a model reads as they are."""

    name = property(lambda self: self.key)
    variable_shape = property(lambda self: TensorShape(self.shape))
    parse_example_spec = property(lambda self: {self.key: FixedLenFeature(self.shape, self.dtype, self.default_value)})

    def transform(self, features):
        return math_ops.cast(normalized(self, features), dtypes.float32)

    def dense_tensor(self, features, weight_collections=None, trainable=None):
        return features.get(self)


def normalized(column, features):
    """The tensor of the key of a column, after its normalizer_fn."""
    value = features.get(column.key)
    if isinstance(value, SparseTensor):
        raise ValueError("The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not "
                         f"supported. key: {column.key}")
    return value if column.normalizer_fn is None else column.normalizer_fn(value)


class BucketizedColumn(DenseColumn, CategoricalColumn, collections.namedtuple("BucketizedColumn", [
        "source_column", "boundaries"])):
    """Numbers as one of the ranges between boundaries. Element i of a vector has ids of its own."""

    name = property(lambda self: f"{self.source_column.name}_bucketized")
    parse_example_spec = property(lambda self: self.source_column.parse_example_spec)
    _ranges = property(lambda self: len(self.boundaries) + 1)
    variable_shape = property(lambda self: TensorShape(tuple(self.source_column.shape) + (self._ranges,)))
    num_buckets = property(lambda self: self._ranges * self.source_column.shape[0])

    def transform(self, features):
        return op("Bucketize", [features.get(self.source_column)], boundaries=[float(b) for b in self.boundaries])

    def dense_tensor(self, features, weight_collections=None, trainable=None):
        return patterns.one_hot(math_ops.cast(features.get(self), dtypes.int64), self._ranges, 1.0, 0.0)

    def ids_and_weights(self, features):
        value = features.get(self)
        batch, width = arrays.shape(value)[0], self.source_column.shape[0]
        rows = arrays.reshape(arrays.tile(arrays.expand_dims(math_ops.range(0, batch), 1), [1, width]), [-1])
        columns = arrays.tile(math_ops.range(0, width), arrays.stack([batch]))
        ids = arrays.reshape(value, [-1]) + self._ranges * columns
        indices = math_ops.cast(arrays.transpose(arrays.stack([rows, columns])), dtypes.int64)
        dense_shape = math_ops.cast(arrays.stack([batch, width]), dtypes.int64)
        return IdsAndWeights(SparseTensor(indices, ids, dense_shape), None)


def checked_numbers(key, shape, dtype, normalizer_fn):
    """The shape and the dtype of a column of numbers; an error if the arguments do not describe one."""
    shape = checked_shape(shape, key)
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype must be convertible to float. dtype: {dtype}, key: {key}")
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError(f"normalizer_fn must be a callable. Given: {normalizer_fn}")
    return shape, dtype


def numeric_column(key, shape=(1,), default_value=None, dtype=dtypes.float32, normalizer_fn=None):
    """Numbers of a fixed shape. `normalizer_fn` takes and returns a tensor."""
    shape, dtype = checked_numbers(key, shape, dtype, normalizer_fn)
    checked_key(key)
    return NumericColumn(key, shape, _checked_default(default_value, shape, dtype, key), dtype, normalizer_fn)


def checked_shape(shape, key):
    """The shape of a column as a tuple of positive integers."""
    shape = tuple(shape) if isinstance(shape, (list, tuple)) else (shape,)
    for size in shape:
        if not isinstance(size, int):
            raise TypeError(f"shape dimensions must be integer. shape: {shape}, key: {key}")
        if size < 1:
            raise ValueError(f"shape dimensions must be greater than 0. shape: {shape}, key: {key}")
    return shape


def _checked_default(value, shape, dtype, key):
    """The default as nested tuples of the shape. A number stands for all elements."""
    if value is None:
        return None
    import numpy as np

    array = np.asarray(value)
    fits = array.dtype.kind in "iu" or dtype.is_floating and array.dtype.kind == "f"
    if not fits:
        raise TypeError(f"default_value must be compatible with dtype. default_value: {value}, dtype: {dtype}, key: "
                        f"{key}")
    if array.ndim == 0:
        array = np.full(shape, array)
    if array.shape != tuple(shape):
        raise ValueError(f"The shape of default_value must be equal to given shape. default_value: {value}, shape: "
                         f"{shape}, key: {key}")

    def nested(items):
        return tuple(nested(item) for item in items) if isinstance(items, list) else items

    return nested(array.tolist())


def bucketized_column(source_column, boundaries):
    """The ranges of a numeric column of one dimension: below boundaries[0], from it to below boundaries[1], ..."""
    if not isinstance(source_column, NumericColumn):
        raise ValueError(f"source_column must be a column generated with numeric_column(). Given: {source_column}")
    if len(source_column.shape) > 1:
        raise ValueError(f"source_column must be one-dimensional column. Given: {source_column}")
    if not isinstance(boundaries, (list, tuple)) or not boundaries:
        raise ValueError("boundaries must be a list or a tuple that is not empty.")
    if any(left >= right for left, right in zip(boundaries, boundaries[1:])):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))
