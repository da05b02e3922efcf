"""The library's modules, for functions that run after they are loaded."""

import sys

__all__ = []

PREFIX = "tensorbraid.keras.library."


def loaded(path):
    """The library's module `path`, such as "engine.base_layer", which has been loaded."""
    return sys.modules[f"{PREFIX}keras.{path}"]


def replace(kind, methods):
    """Gives the class `kind` the functions and properties of the class `methods` in place of its own."""
    for name, value in vars(methods).items():
        if name == "__init_subclass__" or not name.startswith("__") or name in ("__init__", "__call__", "__setattr__",
                                                                                       "__getattr__"):
            setattr(kind, name, value)
