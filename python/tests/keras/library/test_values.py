"""Keras on this package computes what tf_keras computes on TensorFlow in graph mode. run.py runs this file."""

import keras
import numpy as np
import pytest
import values

WANTED = values.read()


@pytest.fixture(scope="module")
def found():
    return values.values(keras)


def test_all_are_computed(found):
    assert sorted(found) == sorted(WANTED) and len(found) > 75


@pytest.mark.parametrize("name", sorted(WANTED))
def test_same_values(found, name):
    tolerance = 1e-5 if name.startswith(("layer", "loss")) else 1e-4
    assert len(found[name]) == len(WANTED[name])
    for got, wanted in zip(found[name], WANTED[name]):
        np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance / 5)
