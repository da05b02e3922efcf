"""NumPy as modules of Keras expect it: with removed names, and arrays of lists of different lengths."""

import types

import numpy as np

from tensorbraid.runner import removed_names

__all__ = []


def array(values, *args, **kwargs):
    """np.array, which makes an array of objects of lists of different lengths, as NumPy did before 1.24."""
    try:
        return np.array(values, *args, **kwargs)
    except ValueError as error:
        if "inhomogeneous" not in str(error) or args or "dtype" in kwargs:
            raise
        return np.array(values, dtype=object, **kwargs)


class Module(types.ModuleType):
    """A module with further names. All others are those of the original."""

    def __init__(self, original, names):
        super().__init__(original.__name__, original.__doc__)
        self.__dict__.update(_original=original, **names)

    def __getattr__(self, name):
        return getattr(self._original, name)


def module():
    """NumPy with these names."""
    return Module(np, {**removed_names.NUMPY, "array": array})


def use(loaded):
    """Lets a module that was loaded use this NumPy."""
    loaded.np = module()
