"""Makes `import tensorflow` and its submodules mean this package."""

import importlib.abc
import importlib.machinery
import linecache
import os
import sys
import types

from tensorbraid.runner import api, python2, sources


class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds every module below tensorflow in the package. The ImportError of one that it lacks says so in words."""

    def find_spec(self, fullname, path=None, target=None):
        if fullname != "tensorflow" and not fullname.startswith("tensorflow."):
            return None
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True)

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        """Puts the module of the package in the place of the new, empty one; the import system takes it from there."""
        fullname = module.__name__
        sys.modules[fullname] = self._found(fullname)

    @staticmethod
    def _found(fullname):
        path = fullname[len("tensorflow."):]
        reason = api.refusal(path)
        if reason:
            raise ModuleNotFoundError(f"{fullname}: {reason}")  # with a name, `from x import y` would hide the reason
        try:
            value = api.find(path)
        except api.Missing as missing:
            near = api.nearest(path, missing)
            hint = f"; the nearest name is tf.{near}" if near else ""
            raise ModuleNotFoundError(f"{fullname} does not exist in this package{hint}", name=fullname) from None
        if not isinstance(value, types.ModuleType) and not isinstance(value, type):
            raise ModuleNotFoundError(f"{fullname} is not a module", name=fullname)
        if not hasattr(value, "__path__"):
            value.__path__ = []  # `import tensorflow.nn.rnn_cell` needs a package, and nn may be a module
        return value


class _Python2Loader(importlib.machinery.SourceFileLoader):
    """Loads a module of Python 2."""

    def get_code(self, fullname):
        path = self.get_filename(fullname)
        text = python2.convert(sources.read(path))[0]
        linecache.cache[path] = (len(text), None, text.splitlines(True), path)
        return compile(text, path, "exec", dont_inherit=True)

    def exec_module(self, module):
        module.__dict__.update(python2.HELPERS)
        super().exec_module(module)


class _Python2Finder(importlib.abc.MetaPathFinder):
    """Finds the modules in a folder, and converts them to Python 3."""

    def __init__(self, folder):
        self._folder = folder

    def find_spec(self, fullname, path=None, target=None):
        spec = importlib.machinery.PathFinder.find_spec(fullname, [self._folder] if path is None else path)
        if spec is None or not (spec.origin or "").startswith(self._folder + os.sep) or not spec.origin.endswith(".py"):
            return None
        spec.loader = _Python2Loader(fullname, spec.origin)
        return spec


def convert_modules_of(folder):
    """Converts the modules of the folder to Python 3 when they are imported."""
    sys.meta_path.insert(0, _Python2Finder(folder))


def install():
    """Lets the imports of this process find the package. Modules of TensorFlow must not have been imported."""
    if any(isinstance(finder, Finder) for finder in sys.meta_path):
        return
    loaded = [name for name in sys.modules if name == "tensorflow" or name.startswith("tensorflow.")]
    if loaded:
        raise ImportError("TensorFlow has already been imported")
    sys.meta_path.insert(0, Finder())
