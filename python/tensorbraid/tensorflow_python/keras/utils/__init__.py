"""tensorflow.python.keras.utils: what the library Keras takes from TensorFlow, and the names of tf.keras.utils."""

import importlib

import tensorbraid as tf


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "tf_utils":
        return importlib.import_module(f"{__name__}.{name}")
    return getattr(tf.keras.utils, name)
