"""tf.contrib.learn.datasets.base: tables in CSV files, and files that are fetched from the network."""

import collections
import csv
import os
import urllib.request

import numpy as np

from tensorbraid import gfile

__all__ = ["Dataset", "Datasets", "load_csv_with_header", "load_csv_without_header",
           "maybe_download"]

Dataset = collections.namedtuple("Dataset", ["data", "target"])
Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])


def _rows(filename):
    with gfile.GFile(filename) as file:
        return list(csv.reader(line for line in file))


def _dataset(rows, target_dtype, features_dtype, target_column):
    targets = [row.pop(target_column) for row in rows]
    return Dataset(np.array(rows, features_dtype), np.array(targets, target_dtype))


def load_csv_with_header(filename, target_dtype, features_dtype, target_column=-1):
    """A table whose first line has the number of rows and of features."""
    header, *rows = _rows(filename)
    return _dataset(rows[:int(header[0])], target_dtype, features_dtype, target_column)


def load_csv_without_header(filename, target_dtype, features_dtype, target_column=-1):
    """A table without a first line of another kind."""
    return _dataset(_rows(filename), target_dtype, features_dtype, target_column)


def maybe_download(filename, work_directory, source_url):
    """The path of a file in a folder. Downloads the file from the URL if it does not exist."""
    path = os.path.join(work_directory, filename)
    if not os.path.exists(path):
        os.makedirs(work_directory, exist_ok=True)
        partial, _ = urllib.request.urlretrieve(source_url, f"{path}.partial-{os.getpid()}")
        os.replace(partial, path)
    return path
