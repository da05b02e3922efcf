"""Modules as the library expects them: with what newer versions of Python, NumPy and h5py have removed.

Only the library sees them. The runner puts the same back for the whole process (`runner/removed_names.py`).
"""

import collections
import collections.abc
import functools
import importlib
import types

from tensorbraid.runner import distutils_version, old_h5py, old_numpy

__all__ = []


def _collections():
    return old_numpy.Module(collections, {name: getattr(collections.abc, name) for name in collections.abc.__all__})


def _distutils_version():
    module = types.ModuleType("distutils.version")
    module.StrictVersion, module.LooseVersion = distutils_version.StrictVersion, distutils_version.LooseVersion
    return module


_MAKE = {"collections": _collections, "distutils.version": _distutils_version,
         "numpy": old_numpy.module,
         "h5py": lambda: old_numpy.Module(h5py := importlib.import_module("h5py"), old_h5py.classes(h5py))}
NAMES = frozenset(_MAKE)


@functools.cache
def find(name):
    """The module as the library expects it."""
    return _MAKE[name]()
