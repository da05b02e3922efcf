"""The arrays of `fit(x, y)` and the functions that give batches of them."""

import collections.abc

import numpy as np

from tensorbraid.contrib import layers_feature_columns as columns
from tensorbraid.estimator.input_pipeline import features_and_labels
from tensorbraid.estimator.inputs import numpy_input_fn
from tensorbraid.internal.graphs import Graph
from tensorbraid.ops.sparse_tensor import SparseTensor

__all__ = ["infer_real_valued_columns_from_input", "infer_real_valued_columns_from_input_fn"]


def _array(values):
    """An array; numbers of double precision become single."""
    if hasattr(values, "to_numpy"):
        values = values.to_numpy()
    elif isinstance(values, collections.abc.Iterator):
        values = list(values)
    array = np.asarray(values)
    return array.astype(np.float32) if array.dtype == np.float64 else array


def _arrays(values):
    return {key: _array(value) for key, value in values.items()} if isinstance(values, dict) else _array(values)


def input_of(x, y, input_fn, batch_size, training):
    """The input_fn, or one for the arrays x and y. The rows are shuffled and repeated if it is for training."""
    if input_fn is not None:
        if x is not None or y is not None or batch_size is not None:
            raise ValueError("Can not provide both input_fn and x, y or batch_size.")
        return input_fn
    if x is None:
        raise ValueError("Either x or input_fn must be provided.")
    x, y = _arrays(x), None if y is None else _arrays(y)
    rows = len(next(iter(x.values())) if isinstance(x, dict) else x)
    return numpy_input_fn(x, y, batch_size or rows, None if training else 1, training, max(rows, 1))


def named(features):
    """The features as a dict. A tensor alone has the name ""."""
    return features if isinstance(features, dict) else {"": features}


def infer_real_valued_columns_from_input(x):
    """A column of numbers for each feature of the array, or of the dict of arrays."""
    return infer_real_valued_columns_from_input_fn(input_of(x, None, None, None, False))


def infer_real_valued_columns_from_input_fn(input_fn):
    """A column of numbers for each feature that the function returns."""
    with Graph().as_default():
        features, _, _ = features_and_labels(input_fn, None, None, None)
        return [_column(name, tensor) for name, tensor in sorted(named(features).items())]


def _column(name, tensor):
    if isinstance(tensor, SparseTensor):
        raise ValueError(f"SparseTensor is not supported: {name}")
    shape = tensor.shape.with_rank(2).as_list()
    if not (tensor.dtype.is_integer or tensor.dtype.is_floating):
        raise ValueError(f"on non-numeric type is not supported: {tensor.dtype} of {name!r}")
    return columns.real_valued_column(name, shape[1], dtype=tensor.dtype)
