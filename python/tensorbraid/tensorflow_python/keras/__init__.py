"""tensorflow.python.keras: what the library Keras takes from TensorFlow, and the modules of tf.keras."""

import importlib

import tensorbraid as tf


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("backend", "backend_config", "engine", "optimizer_v2", "utils"):
        return importlib.import_module(f"{__name__}.{name}")
    return getattr(tf.keras, name)
