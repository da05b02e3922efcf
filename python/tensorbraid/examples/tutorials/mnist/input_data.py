"""Reads the handwritten digits of MNIST from files of the idx format, and gives them in batches.

A data set has the examples of TensorFlow's module of this name, in the same order if NumPy's global generator has the
same seed.
"""

import collections
import gzip
import os

import numpy as np

from tensorbraid import dtypes
from tensorbraid.internal import graphs

DEFAULT_SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
Datasets = collections.namedtuple("Datasets", ["train", "validation", "test"])

_IMAGES, _LABELS = 2051, 2049  # the first number of a file
_FAKE_EXAMPLES = 10000


class DataSet:
    """Images and their labels. next_batch() goes through them again and again, each time in a new random order.

    Images have one row of numbers each with `reshape`, and numbers in [0, 1] with the dtype float32. A `seed`, or the
    seed of the default graph, seeds NumPy's global generator.
    """

    def __init__(self, images, labels, fake_data=False, one_hot=False, dtype=dtypes.float32, reshape=True, seed=None):
        graph_seed = graphs.get_default_graph().seed
        if seed is not None or graph_seed:
            np.random.seed(graph_seed if seed is None else seed)
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.uint8, dtypes.float32):
            raise TypeError(f"Invalid image dtype {dtype!r}, expected uint8 or float32")
        self.one_hot = one_hot
        self._num_examples = _FAKE_EXAMPLES
        if not fake_data:
            if images.shape[0] != labels.shape[0]:
                raise AssertionError(f"there are {images.shape[0]} images, but {labels.shape[0]} labels")
            self._num_examples = images.shape[0]
            if reshape:
                if images.shape[3] != 1:
                    raise AssertionError(f"images of {images.shape[3]} channels cannot be reshaped to rows")
                images = images.reshape(images.shape[0], images.shape[1] * images.shape[2])
            if dtype == dtypes.float32:
                images = np.multiply(images.astype(np.float32), 1.0 / 255.0)
        self._images, self._labels = images, labels
        self._epochs_completed = 0
        self._index_in_epoch = 0

    images = property(lambda self: self._images)
    labels = property(lambda self: self._labels)
    num_examples = property(lambda self: self._num_examples)
    epochs_completed = property(lambda self: self._epochs_completed)

    def next_batch(self, batch_size, fake_data=False, shuffle=True):
        """The next images and labels. A batch may have the last examples of an epoch and the first ones of the next."""
        if fake_data:
            label = [1] + [0] * 9 if self.one_hot else 0
            return [[1] * 784] * batch_size, [label] * batch_size
        start, end = self._index_in_epoch, self._index_in_epoch + batch_size
        if self._epochs_completed == 0 and start == 0 and shuffle:
            self._shuffle()
        if end <= self._num_examples:
            self._index_in_epoch = end
            return self._images[start:end], self._labels[start:end]
        rest = self._images[start:], self._labels[start:]
        self._epochs_completed += 1
        if shuffle:
            self._shuffle()
        self._index_in_epoch = end - self._num_examples
        return (np.concatenate((rest[0], self._images[:self._index_in_epoch])),
                np.concatenate((rest[1], self._labels[:self._index_in_epoch])))

    def _shuffle(self):
        order = np.arange(self._num_examples)
        np.random.shuffle(order)
        self._images, self._labels = self._images[order], self._labels[order]


def _open(path):
    return gzip.open(path, "rb") if path.endswith(".gz") else open(path, "rb")


def _numbers(path, magic, dimensions):
    """The array of bytes in an idx file."""
    with _open(path) as file:
        data = file.read()
    header = np.frombuffer(data[:4 * (dimensions + 1)], ">i4")
    if len(header) < dimensions + 1 or header[0] != magic:
        found = header[0] if len(header) else "nothing"
        raise ValueError(f"{path} is no idx file of this kind: its first number is {found}, not {magic}")
    shape = [int(size) for size in header[1:]]
    array = np.frombuffer(data, np.uint8, offset=4 * (dimensions + 1))
    if array.size != np.prod(shape, dtype=np.int64):
        raise ValueError(f"{path} has {array.size} values, but says that it has {shape}")
    return array.reshape(shape).copy()


def extract_images(path):
    """The images of an idx file, as an array [images, rows, columns, 1] of bytes."""
    return _numbers(path, _IMAGES, 3)[..., np.newaxis]


def extract_labels(path, one_hot=False, num_classes=10):
    """The labels of an idx file; with `one_hot`, each as a row with a 1 at the position of the label."""
    labels = _numbers(path, _LABELS, 1)
    return np.eye(num_classes)[labels] if one_hot else labels


def _find(folder, name, source_url):
    for path in (os.path.join(folder, name + ".gz"), os.path.join(folder, name)):
        if os.path.isfile(path):
            return path
    path = os.path.join(folder, name + ".gz")
    raise FileNotFoundError(f"{path} does not exist, and nothing is downloaded here; get it with "
                            f"`mkdir -p {folder} && curl -Lo {path} {source_url}{name}.gz`")


def read_data_sets(train_dir, fake_data=False, one_hot=False, dtype=dtypes.float32, reshape=True, validation_size=5000,
                   seed=None, source_url=DEFAULT_SOURCE_URL):
    """The data sets train, validation and test of the four files in a folder. A missing file is an error.

    `source_url` is named in this error; the network is not used.
    """
    options = {"one_hot": one_hot, "dtype": dtype, "reshape": reshape, "seed": seed}
    if fake_data:
        return Datasets(*[DataSet([], [], fake_data=True, **options) for _ in Datasets._fields])
    source_url = source_url or DEFAULT_SOURCE_URL
    paths = [_find(train_dir, name, source_url) for name in (
        "train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")]
    images, labels = extract_images(paths[0]), extract_labels(paths[1], one_hot)
    if not 0 <= validation_size <= len(images):
        raise ValueError(f"Validation size should be between 0 and {len(images)}. Received: {validation_size}.")
    return Datasets(train=DataSet(images[validation_size:], labels[validation_size:], **options),
                    validation=DataSet(images[:validation_size], labels[:validation_size], **options),
                    test=DataSet(extract_images(paths[2]), extract_labels(paths[3], one_hot), **options))
