"""Finds the modules of the library, and gives them imports of their own."""

import builtins
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys

from tensorbraid.keras.adapter import changes
from tensorbraid.keras.checks import changes as checks
from tensorbraid.keras.library import old_modules
from tensorbraid.runner import api

__all__ = []

_PREFIX = __name__.rpartition(".")[0] + "."
_PACKAGES = ("keras", "keras_applications", "keras_preprocessing")
# Modules that are written anew, in place of the library's: without messages, other backends and files of settings.
_OWN = {"keras.backend.load_backend": os.path.join(os.path.dirname(__file__), "backend_names.py")}


def _import(name, globals=None, locals=None, fromlist=(), level=0):
    """The statement `import` in modules of the library: `tensorflow` is this package, `keras` the library itself."""
    root = name.partition(".")[0]
    if level == 0 and root in _PACKAGES:
        module = importlib.import_module(_PREFIX + name)
        if fromlist:
            return builtins.__import__(_PREFIX + name, globals, locals, fromlist, 0)
        return sys.modules[_PREFIX + root] if "." in name else module
    if level == 0 and root == "tensorflow":
        if not fromlist:
            return api.find("")
        return _of_tensorflow(name, fromlist)
    if level == 0 and name in old_modules.NAMES:
        return old_modules.find(name)
    return builtins.__import__(name, globals, locals, fromlist, level)


def _of_tensorflow(name, fromlist):
    """What TensorFlow calls `name`, after modules in it that are imported from it."""
    path = name[len("tensorflow."):]
    try:
        for wanted in fromlist:
            if not hasattr(api.find(path), wanted):
                api.find(f"{path}.{wanted}")
        return api.find(path)
    except api.Missing as missing:
        raise ImportError(f"tensorbraid has no {name}: {missing}", name=name) from None


class _Loader(importlib.machinery.SourceFileLoader):
    """Loads a module with these imports, and changes it to what tf.keras was."""

    def exec_module(self, module):
        module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import}
        super().exec_module(module)
        changes.apply(module.__name__.removeprefix(_PREFIX), module)
        checks.apply(module.__name__.removeprefix(_PREFIX), module)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds a package of the library where Python would find it, and the modules below it."""

    def find_spec(self, fullname, path=None, target=None):
        name = fullname.removeprefix(_PREFIX)
        if name == fullname or name.partition(".")[0] not in _PACKAGES:
            return None
        if name in _OWN:
            return importlib.util.spec_from_file_location(fullname, _OWN[name], loader=_Loader(fullname, _OWN[name]))
        spec = importlib.machinery.PathFinder.find_spec(name if path is None or "." not in name else fullname,
                                                        path if "." in name else None)
        if spec is None or not (spec.origin or "").endswith(".py"):
            return None
        return importlib.util.spec_from_file_location(fullname, spec.origin, loader=_Loader(fullname, spec.origin),
                                                      submodule_search_locations=spec.submodule_search_locations)


def install():
    """Lets Python find the modules, once."""
    if not any(isinstance(found, _Finder) for found in sys.meta_path):
        sys.meta_path.insert(0, _Finder())  # before the one that finds them in their own folders
