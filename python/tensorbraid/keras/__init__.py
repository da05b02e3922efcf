"""tf.keras: the library Keras 2.3.1 on this package, as TensorFlow 1.15 had it. See docs/keras.md.

The modules `datasets` and `utils` have names that need no library.
"""

import importlib as _importlib

from tensorbraid.internal import refused_keras as _refused
from tensorbraid.keras import datasets, library as _library, utils  # noqa: F401

__all__ = ["datasets", "utils"]
__version__ = "2.2.4-tf"  # what TensorFlow 1.15's tf.keras says of itself

# Modules that are imported, and with them the library, when they are first used.
_MODULES = ("activations", "applications", "backend", "callbacks", "constraints", "estimator", "experimental",
            "initializers", "layers", "losses", "metrics", "models", "optimizers", "preprocessing", "regularizers",
            "wrappers")
_INNER = ("engine",)  # modules that tensorflow.python.keras has, and tf.keras has not
_CLASSES = {"Input": "layers", "Model": "models", "Sequential": "models"}


def __getattr__(name):
    _refused.check(name)
    try:
        if name in _MODULES:
            return _importlib.import_module(f"tensorbraid.keras.{name}")
        if name in _INNER:
            return _library.module(name)
        if name in _CLASSES:
            return getattr(_importlib.import_module(f"tensorbraid.keras.{_CLASSES[name]}"), name)
    except _library.Unavailable as error:
        raise AttributeError(f"tf.keras.{name}: {error}") from None
    raise AttributeError(f"module 'tensorbraid.keras' has no attribute '{name}'")
