"""Changes modules right after they are imported, and those that are imported already at once."""

import importlib.abc
import importlib.machinery
import sys

_changes = {}  # by the name of a module: the function that changes it


class _Loader(importlib.abc.Loader):
    """Loads a module with its own loader, and changes it."""

    def __init__(self, loader, change):
        self._loader, self._change = loader, change

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        self._loader.exec_module(module)
        self._change(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, fullname, path=None, target=None):
        if fullname not in _changes:
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if spec is not None:
            spec.loader = _Loader(spec.loader, _changes[fullname])
        return spec


def change(name, function):
    """Calls the function with the module of this name once it is imported. The first function of a name counts."""
    if name in _changes:
        return
    if not _changes:
        sys.meta_path.insert(0, _Finder())
    _changes[name] = function
    if name in sys.modules:
        function(sys.modules[name])
