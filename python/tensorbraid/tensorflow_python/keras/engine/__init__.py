"""tensorflow.python.keras.engine: the library's modules."""

import importlib

import tensorbraid as tf


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "training_utils":
        return importlib.import_module(f"{__name__}.{name}")
    return getattr(tf.keras.engine, name)
