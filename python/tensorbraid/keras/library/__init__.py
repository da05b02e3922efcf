"""The library Keras 2.3.1 as modules of this package alone.

Its modules are loaded a second time under this package's name, so `import keras` and TensorFlow itself can be used in
the same process. Their `tensorflow` is this package. `tensorbraid.keras.adapter` changes some of them after they are
loaded, to what TensorFlow 1.15's tf.keras was.
"""

import importlib

from tensorbraid.internal import installed_keras
from tensorbraid.keras.library import finder

__all__ = ["Unavailable", "find", "module", "publish"]


class Unavailable(ModuleNotFoundError):
    """The library is not installed. The text says what helps."""


def module(path):
    """The library's module `path`, such as "layers.core"; "" is the library itself. Unavailable if there is none."""
    text = installed_keras.problem()
    if text is not None:
        raise Unavailable(text, name="tensorbraid.keras")
    finder.install()
    return importlib.import_module(f"{__name__}.keras.{path}" if path else f"{__name__}.keras")


def publish(namespace, path):
    """Gives a public module, whose globals are `namespace`, the public names of the library's module `path`.

    Names of the library that are not public are found when they are used, its submodules among them.
    """
    source = module(path)
    names = [name for name, value in vars(source).items()
             if not name.startswith("_") and (not isinstance(value, type(importlib)) or hasattr(value, "__path__"))]
    namespace.update({name: getattr(source, name) for name in names if name not in namespace})

    namespace["__getattr__"] = lambda name: find(namespace["__name__"], path, name)


def find(public, path, name):
    """The name, or the submodule, of the library's module `path`, for the public module of this name."""
    if not name.startswith("__"):
        source = module(path)
        try:
            return getattr(source, name)
        except AttributeError:
            pass
        try:
            return importlib.import_module(f"{source.__name__}.{name}")
        except ModuleNotFoundError:
            pass
    raise AttributeError(f"module '{public}' has no attribute '{name}'")
