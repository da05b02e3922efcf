"""tf.estimator.inputs: input functions over arrays of NumPy and data frames of pandas."""

import collections
import numbers

import numpy as np

from tensorbraid import dtypes
from tensorbraid.data.datasets import Dataset
from tensorbraid.data.iterators import make_initializable_iterator
from tensorbraid.internal import arguments, graphs
from tensorbraid.train.fed_input import add_fed_input

__all__ = ["numpy_input_fn", "pandas_input_fn"]


def numpy_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1):
    """An input_fn whose batches are rows of the arrays of `x` and `y`, which are arrays or dicts of arrays.

    The arrays are fed once, when the session begins. With num_epochs=None they are repeated without an end. As in
    TensorFlow, each of `num_threads` goes through all epochs. `queue_capacity` rows are shuffled at a time.
    """
    _check_shuffle(shuffle)
    for name, value in (("batch_size", batch_size), ("num_epochs", 1 if num_epochs is None else num_epochs),
                        ("queue_capacity", queue_capacity), ("num_threads", num_threads)):
        arguments.check(isinstance(value, numbers.Integral), name, "an integer", value)

    def input_fn():
        if not isinstance(x, (dict, np.ndarray)):
            raise TypeError(f"x must be a dict or array; got {type(x).__name__}")
        _check_arrays("x", x)
        if y is not None:
            _check_arrays("y", y)
        features = _ordered(x) if isinstance(x, dict) else x
        if isinstance(x, dict) and not x:
            raise ValueError("x cannot be an empty dict")
        if isinstance(y, dict) and not y:
            raise ValueError("y cannot be empty dict, use None instead.")
        both = set(x) & set(y) if isinstance(x, dict) and isinstance(y, dict) else ()
        if both:
            raise ValueError(f"{len(both)} duplicate keys are found in both x and y: {both}")
        labels = _ordered(y) if isinstance(y, dict) else y
        parts = _arrays(features) + ([] if labels is None else _arrays(labels))
        if len({array.shape[0] for array in parts}) > 1:
            raise ValueError("Length of tensors in x and y is mismatched. All elements in x and y must have the same "
                             f"length.\nShapes in x: {_shapes(features)}\nShapes in y: {_shapes(labels)}\n")
        tensors = _batches(parts, batch_size, num_epochs, shuffle, queue_capacity, num_threads)
        features = _filled(features, tensors)
        return features if labels is None else (features, _filled(labels, tensors[len(_arrays(x)):]))

    return input_fn


def pandas_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1,
                    target_column="target"):
    """An input_fn whose features are the columns of the data frame `x`; the labels are `y`, a series or data frame."""
    try:
        import pandas
    except ImportError:
        raise ImportError("pandas_input_fn needs the package pandas: pip install pandas") from None
    if not isinstance(x, pandas.DataFrame):
        raise TypeError("x must be pd.DataFrame")
    if y is not None and not isinstance(y, (pandas.Series, pandas.DataFrame)):
        raise TypeError("y must be pd.Series or pd.DataFrame")
    if y is not None and not x.index.equals(y.index):
        raise ValueError(f"Index for x and y are mismatched.\nIndex for x: {x.index}\nIndex for y: {y.index}\n")
    if isinstance(y, pandas.DataFrame):
        labels = {column: y[column].to_numpy() for column in y}
        if set(labels) & set(x):
            raise ValueError("Found one or more column names in both x and y")
    else:
        if target_column in x:
            raise ValueError(f"Cannot use name {target_column} for target column: DataFrame already has a column with "
                             "that name")
        labels = None if y is None else y.to_numpy()
    return numpy_input_fn({column: x[column].to_numpy() for column in x}, labels, batch_size, num_epochs, shuffle,
                          queue_capacity, num_threads)


def _check_shuffle(shuffle):
    if not isinstance(shuffle, (bool, np.bool_)):
        raise ValueError("shuffle must be provided and explicitly set as boolean (it is recommended to set it as True "
                         f"for training); got {shuffle}")


def _check_arrays(name, value):
    """Raises TypeError unless the argument of this name is an array, or a dict of arrays with names, and ValueError if
    an array has no rows."""
    for key, array in value.items() if isinstance(value, dict) else [(None, value)]:
        argument, place = f"numpy_input_fn: the argument {name!r}", "" if key is None else f" for the key {key!r}"
        if not isinstance(key, (str, type(None))):
            raise TypeError(f"{argument} must have strings as its keys, but one is {key!r}")
        if not isinstance(getattr(array, "dtype", None), np.dtype):
            raise TypeError(f"{argument} must have arrays of NumPy, but got {arguments.text_of(array)}{place}; "
                            "np.array(...) makes an array of a list")
        if not array.shape:
            raise ValueError(f"{argument} must have arrays whose first axis is that of the examples, but got an array "
                             f"without axes{place}")


def _ordered(arrays):
    return collections.OrderedDict((key, arrays[key]) for key in sorted(arrays))


def _arrays(value):
    return [value[key] for key in sorted(value)] if isinstance(value, dict) else [value]


def _shapes(value):
    if isinstance(value, dict):
        return {key: array.shape for key, array in value.items()}
    return None if value is None else value.shape


def _filled(value, tensors):
    """The tensors in the structure of `value`."""
    return dict(zip(value, tensors)) if isinstance(value, dict) else tensors[0]


def _batches(arrays, batch_size, num_epochs, shuffle, capacity, num_threads):
    """A batch of the rows of each array, which are fed when a session begins."""
    if num_threads < 1:
        raise ValueError(f"num_threads must be positive: {num_threads}")
    arrays = [array.astype(object) if array.dtype.kind in "US" else array for array in arrays]
    with graphs.name_scope("enqueue_input"):
        fed = [graphs.placeholder(dtypes.string if array.dtype == object else array.dtype, array.shape)
               for array in arrays]
        dataset = Dataset.from_tensor_slices(tuple(fed))
        dataset = dataset.repeat(-1 if num_epochs is None else num_epochs * num_threads)
        if shuffle:
            dataset = dataset.shuffle(max(1, capacity))
        iterator = make_initializable_iterator(dataset.batch(batch_size, drop_remainder=num_epochs is None).prefetch(2))
    add_fed_input(iterator.initializer, dict(zip(fed, arrays)))
    return list(iterator.get_next())
