"""run_example.py NAME: runs an example of Keras on little data, for two epochs. test_examples.py starts it by the runner.

Prints the loss of each epoch as JSON in the last line. The examples are those of the source distribution. Only numbers
of epochs and of made-up examples are changed in their text.
"""

import gzip
import json
import os
import re
import sys
import types
from unittest import mock

import keras
import numpy as np
from keras import callbacks, datasets, utils
from keras.utils import data_utils

TOP = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "..", ".."))
CHANGES = [(r"\bepochs ?= ?\d+", "epochs=2"), (r"TRAINING_SIZE = \d+", "TRAINING_SIZE = 2000"),
           (r"range\(1, 200\)", "range(1, 3)")]


def _mnist(count):
    """The first `count` examples of MNIST, and as many tests as a tenth; those of the repository, repeated if need be."""
    def read(name, offset, number):
        with gzip.open(os.path.join(TOP, "examples", "data", "mnist", name)) as file:
            return np.resize(np.frombuffer(file.read()[offset:], np.uint8), number)

    def part(prefix, number):
        images = read(f"{prefix}-images-idx3-ubyte.gz", 16, number * 784).reshape(number, 28, 28)
        return images, read(f"{prefix}-labels-idx1-ubyte.gz", 8, number)

    return part("train", count), part("t10k", 10000 if count == 60000 else count // 10)


def _imdb(num_words):
    """Reviews whose words tell the label."""
    random = np.random.RandomState(0)

    def part(count):
        labels = np.arange(count) % 2
        words = np.empty(count, object)
        words[:] = [list(random.randint(1, num_words // 2, random.randint(5, 100)) + label * (num_words // 2 - 1))
                    for label in labels]
        return words, labels

    return part(320), part(64)


def _cifar10():
    """Images whose colour tells the class."""
    random = np.random.RandomState(0)

    def part(count):
        labels = np.arange(count).reshape(count, 1) % 10
        colours = np.stack([25 * labels, 225 - 25 * labels, 100 * (labels % 3)], -1).reshape(count, 1, 1, 3)
        images = random.randint(0, 30, (count, 32, 32, 3)) + colours
        return images.astype(np.uint8), labels

    return part(320), part(64)


def main():
    name = sys.argv.pop(1)
    datasets.mnist.load_data = lambda: _mnist(60000 if name == "mnist_mlp" else 2000)
    datasets.imdb.load_data = _imdb
    datasets.cifar10.load_data = _cifar10
    data_utils.get_file = lambda fname, origin: os.path.join(TOP, "docs", "glossary.md")
    utils.plot_model = lambda *args, **kwargs: None  # it needs the program dot
    sys.modules["matplotlib"] = matplotlib = types.ModuleType("matplotlib")
    sys.modules["matplotlib.pyplot"] = matplotlib.pyplot = mock.MagicMock()
    losses, on_epoch_end = [], callbacks.History.on_epoch_end

    def noted(self, epoch, logs=None):
        losses.append(float(logs["loss"]))
        on_epoch_end(self, epoch, logs)

    callbacks.History.on_epoch_end = noted
    path = os.path.join(sys.prefix, "examples", name + ".py")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    for pattern, by in CHANGES:
        text = re.sub(pattern, by, text)
    exec(compile(text, path, "exec"), {"__name__": "__main__", "__file__": path})
    print(f"\n{json.dumps({'keras': keras.__version__, 'losses': losses})}")


main()
