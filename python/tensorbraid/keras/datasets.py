"""tf.keras.datasets: the data sets in `~/.keras/datasets`. They are not downloaded."""

import os
import types

import numpy as np
from tensorbraid.internal import gzip_magic
from tensorbraid.keras import library

__all__ = ["mnist"]


def _load_mnist(path="mnist.npz"):
    """The images and labels to train with, and those to test with, of the file mnist.npz."""
    path = path if os.path.isabs(path) else os.path.join(os.path.expanduser("~/.keras/datasets"), path)
    if not os.path.exists(path):
        raise FileNotFoundError(f"{path} is missing, and data sets are not downloaded; get it from "
                                "https://storage.googleapis.com/tensorflow/tf-keras-datasets/mnist.npz")
    with open(path, "rb") as file:
        if compressed := gzip_magic.hint(file.read(2)):
            raise ValueError(f"{path} is not a NumPy file{compressed}")
    with np.load(path) as file:
        return (file["x_train"], file["y_train"]), (file["x_test"], file["y_test"])


mnist = types.ModuleType("tensorbraid.keras.datasets.mnist", "The handwritten digits of MNIST.")
mnist.load_data = _load_mnist


def __getattr__(name):
    """The library's data sets, if it is installed. It downloads them."""
    try:
        return library.find(__name__, "datasets", name)
    except library.Unavailable as error:
        raise AttributeError(f"tf.keras.datasets.{name}: {error}") from None
