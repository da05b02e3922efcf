"""tensorflow.python.keras.utils: what the library Keras takes from TensorFlow, and the names of tf.keras.utils."""

import importlib

import tensorbraid as tf


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name in ("generic_utils", "tf_utils"):
        return importlib.import_module(f"{__name__}.{name}")
    if name in ("serialize_keras_class_and_config", "class_and_config_for_serialized_keras_object"):
        return getattr(importlib.import_module(f"{__name__}.generic_utils"), name)
    return getattr(tf.keras.utils, name)
