"""Small data sets, which are read from files of the working folder and never from the network."""

import os

import numpy as np

from tensorbraid.contrib.learn.datasets import base, mnist

__all__ = ["load_boston", "load_dataset", "load_iris"]

_SOURCE = ("https://raw.githubusercontent.com/tensorflow/tensorflow/v1.15.0/tensorflow/contrib/learn/python/learn/"
           "datasets/data/")


def _table(name, path, target_dtype):
    path = path or name
    if not os.path.exists(path):
        raise FileNotFoundError(f"there is no file {path}, and nothing is downloaded: get it from {_SOURCE}{name} and "
                                "put it there")
    return base.load_csv_with_header(path, target_dtype, np.float64)


def load_iris(data_path=None):
    """The 150 flowers of Fisher's data set: four sizes each, and one of three kinds. By default in iris.csv."""
    return _table("iris.csv", data_path, np.int64)


def load_boston(data_path=None):
    """The prices of houses in 506 districts of Boston. The file is boston_house_prices.csv by default."""
    return _table("boston_house_prices.csv", data_path, np.float64)


_LOADERS = {"boston": load_boston, "iris": load_iris, "mnist": mnist.load_mnist}


def load_dataset(name, size="small", test_with_fake_data=False):
    """The data set of this name: boston, iris, or mnist, whose files are in the folder MNIST-data."""
    if name not in _LOADERS:
        raise ValueError(f"Name of dataset is not found: {name}; there are {', '.join(sorted(_LOADERS))}")
    if size != "small" or test_with_fake_data:
        raise NotImplementedError("size and test_with_fake_data of load_dataset, which are for dbpedia")
    return _LOADERS[name]()
