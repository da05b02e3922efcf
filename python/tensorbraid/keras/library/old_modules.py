"""Modules as the library expects them: with what newer versions of Python, NumPy and h5py have removed.

Only the library sees them. The runner puts the same back for the whole process (`runner/removed_names.py`).
"""

import collections
import collections.abc
import functools
import importlib
import types

import numpy as np

from tensorbraid.runner import distutils_version, old_h5py, removed_names

__all__ = []


class _Module(types.ModuleType):
    """A module with further names. All others are those of the original."""

    def __init__(self, original, names):
        super().__init__(original.__name__, original.__doc__)
        self.__dict__.update(_original=original, **names)

    def __getattr__(self, name):
        return getattr(self._original, name)


def _collections():
    return _Module(collections, {name: getattr(collections.abc, name) for name in collections.abc.__all__})


def _distutils_version():
    module = types.ModuleType("distutils.version")
    module.StrictVersion, module.LooseVersion = distutils_version.StrictVersion, distutils_version.LooseVersion
    return module


_MAKE = {"collections": _collections, "distutils.version": _distutils_version,
         "numpy": lambda: _Module(np, removed_names.NUMPY),
         "h5py": lambda: _Module(h5py := importlib.import_module("h5py"), old_h5py.classes(h5py))}
NAMES = frozenset(_MAKE)


@functools.cache
def find(name):
    """The module as the library expects it."""
    return _MAKE[name]()
