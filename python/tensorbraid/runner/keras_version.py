"""Refuses `import keras` of a library that is made for TensorFlow 2."""

import importlib.abc
import importlib.machinery
import importlib.metadata
import os
import sys

from tensorbraid.internal import installed_keras


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the installed library Keras, if it cannot be used. Loading it is an ImportError in words."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "keras" or os.environ.get("KERAS_BACKEND", "tensorflow") != "tensorflow":
            return None
        if installed_keras.problem_of_import() is None:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname)
        installed = importlib.metadata.distribution("keras").locate_file(os.path.join("keras", "__init__.py"))
        if spec is None or spec.origin != str(installed):  # a module of the program
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=spec.origin, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        raise ImportError(installed_keras.problem_of_import(), name="keras")


def install():
    """Checks `import keras` in this process."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())
