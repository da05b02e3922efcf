"""Names that pandas has removed, which programs of TensorFlow 1's time use to read and prepare their data."""

import datetime

import numpy as np


class _Ix:
    """The indexer `ix` of a frame or a series: by labels, or by positions where integers are no labels."""

    def __init__(self, data):
        self._data = data

    def _labels(self, key):
        """The key with labels in the place of positions."""
        keys = key if isinstance(key, tuple) else (key,)
        return tuple(self._labels_of_axis(axis, one) for axis, one in enumerate(keys))

    def _labels_of_axis(self, axis, key):
        index = self._data.axes[axis]
        if index.dtype.kind in "iu":
            return key
        if isinstance(key, slice):
            is_by_position = isinstance(key.start, (int, np.integer)) or isinstance(key.stop, (int, np.integer))
        else:
            kind = np.asarray(key).dtype.kind
            is_by_position = kind in "iu" and np.size(key) > 0
        return index[key] if is_by_position else key

    def __getitem__(self, key):
        labels = self._labels(key)
        return self._data.loc[labels if len(labels) > 1 else labels[0]]

    def __setitem__(self, key, value):
        labels = self._labels(key)
        self._data.loc[labels if len(labels) > 1 else labels[0]] = value


def _as_matrix(self, columns=None):
    return self.values if columns is None else self[columns].values


def _get_value(self, *key):
    return self.at[key if len(key) > 1 else key[0]]


def _set_value(self, *key_and_value):
    *key, value = key_and_value
    self.at[tuple(key) if len(key) > 1 else key[0]] = value
    return self


def _mad(self, axis=0):
    return (self - self.mean(axis=axis)).abs().mean(axis=axis)


def _lookup(self, row_labels, col_labels):
    return np.array([self.at[row, column] for row, column in zip(row_labels, col_labels)])


def _names(pandas):
    """The names of each class, and of the module."""
    def append_to_frame(self, other, ignore_index=False, verify_integrity=False, sort=False):
        others = list(other) if isinstance(other, (list, tuple)) else [other]
        if others and isinstance(others[0], (dict, pandas.Series)):
            others = [pandas.DataFrame([row]) for row in others]
        return pandas.concat([self, *others], ignore_index=ignore_index, verify_integrity=verify_integrity, sort=sort)

    def append_to_series(self, to_append, ignore_index=False, verify_integrity=False):
        others = list(to_append) if isinstance(to_append, (list, tuple)) else [to_append]
        return pandas.concat([self, *others], ignore_index=ignore_index, verify_integrity=verify_integrity)

    def index_of(dtype):
        return lambda data=None, name=None: pandas.Index([] if data is None else data, dtype=dtype, name=name)

    frame, series, index = pandas.DataFrame, pandas.Series, pandas.Index
    both = {"ix": property(_Ix), "as_matrix": _as_matrix, "get_values": lambda self: self.values, "mad": _mad,
            "get_value": _get_value, "set_value": _set_value, "pad": frame.ffill, "backfill": frame.bfill}
    return [
        (frame, {**both, "append": append_to_frame, "iteritems": frame.items, "lookup": _lookup,
                 "applymap": getattr(frame, "map", None)}),
        (series, {**both, "append": append_to_series, "iteritems": series.items, "order": series.sort_values,
                  "ravel": lambda self: self.to_numpy().ravel(), "nonzero": lambda self: self.to_numpy().nonzero()}),
        (index, {"is_monotonic": index.is_monotonic_increasing, "get_values": lambda self: self.values,
                 "contains": index.__contains__}),
        (pandas.MultiIndex, {"labels": property(lambda self: self.codes)}),
        (pandas, {"np": np, "datetime": datetime.datetime, "Int64Index": index_of("int64"),
                  "UInt64Index": index_of("uint64"), "Float64Index": index_of("float64")}),
    ]


def restore(pandas):
    """Puts the names back that the module lacks."""
    for owner, names in _names(pandas):
        for name, value in names.items():
            if not hasattr(owner, name):
                setattr(owner, name, value)
