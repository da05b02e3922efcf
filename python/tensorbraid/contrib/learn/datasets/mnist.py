"""tf.contrib.learn.datasets.mnist: the module of tf.examples.tutorials.mnist.input_data."""

from tensorbraid.examples.tutorials.mnist.input_data import *  # noqa: F401,F403
from tensorbraid.examples.tutorials.mnist.input_data import DataSet, Datasets, read_data_sets  # noqa: F401


def load_mnist(train_dir="MNIST-data"):
    """The digits of MNIST in a folder."""
    return read_data_sets(train_dir)
