"""Names that pandas has removed, which the runner puts back. run.py runs this file, since Keras's tests need pandas."""

import datetime

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def frame():
    return pd.DataFrame({"a": [1.0, 2.0, 6.0], "b": [4.0, 5.0, 9.0]}, index=["x", "y", "z"])


def test_values_of_a_frame(frame):
    assert frame.as_matrix().tolist() == frame.get_values().tolist() == [[1, 4], [2, 5], [6, 9]]
    assert frame.as_matrix(["b"]).tolist() == [[4], [5], [9]]
    assert frame["a"].as_matrix().tolist() == frame["a"].ravel().tolist() == [1, 2, 6]
    assert [name for name, _ in frame.iteritems()] == ["a", "b"]
    assert [value for _, value in frame["a"].iteritems()] == [1, 2, 6]
    assert frame.applymap(lambda value: -value)["a"].tolist() == [-1, -2, -6]
    assert frame.lookup(["x", "z"], ["b", "a"]).tolist() == [4, 6]
    assert frame.mad()["a"] == frame["a"].mad() == 2
    assert (frame["a"] - 1).nonzero()[0].tolist() == [1, 2]


def test_ix_takes_labels_and_positions(frame):
    assert frame.ix["y", "b"] == frame.ix[1, "b"] == frame.ix["y", 1] == frame.ix[1, 1] == 5
    assert frame.ix[0:2].values.tolist() == frame.ix["x":"y"].values.tolist() == [[1, 4], [2, 5]]
    assert frame.ix[:, [0]].values.tolist() == frame.ix[:, "a":"a"].values.tolist() == [[1], [2], [6]]
    assert frame["a"].ix[2] == frame["a"].ix["z"] == 6
    frame.ix[0, "a"] = 7
    assert frame["a"].tolist() == [7, 2, 6]
    numbered = frame.reset_index(drop=True)  # its integers are labels, so the end of a slice is in it
    assert numbered.ix[0:1, "b"].tolist() == [4, 5]
    assert numbered.ix[numbered["b"] > 4, "b"].tolist() == [5, 9]


def test_values_are_set_and_rows_are_added(frame):
    assert frame.set_value("x", "b", 8.0).get_value("x", "b") == 8
    assert frame["a"].get_value("x") == 1
    assert frame.append({"a": 0.0, "b": 1.0}, ignore_index=True).values.tolist()[-1] == [0, 1]
    assert frame.append(frame).shape == frame.append([frame]).shape == (6, 2)
    assert frame["a"].append(frame["b"], ignore_index=True).tolist() == [1, 2, 6, 8, 5, 9]


def test_names_of_the_module():
    assert pd.np is np and pd.datetime is datetime.datetime
    index = pd.Int64Index([1, 2, 3])
    assert index.dtype == np.int64 and pd.Float64Index([1]).dtype == np.float64
    assert index.is_monotonic and index.contains(2) and index.get_values().tolist() == [1, 2, 3]
    assert pd.MultiIndex.from_tuples([(1, 2), (1, 3)]).labels[1].tolist() == [0, 1]
