"""tf.compat.v2: the names that mean the same in TensorFlow 1 and 2. The others of TensorFlow 2 are refused."""

import importlib
import sys
import types

from tensorbraid.compat.v2_names import ALSO, SAME

__all__ = []

_NAMES = {module: frozenset((SAME.get(module, "") + " " + ALSO.get(module, "")).split()) for module in {*SAME, *ALSO}}
_NAMES["raw_ops"] = None  # all of them


class _Names(types.ModuleType):
    """The module `path` of TensorFlow 2, "" for TensorFlow itself, with the names that it shares with TensorFlow 1."""

    def __init__(self, path):
        super().__init__(f"{__name__}.{path}")
        self.__path__ = []  # it may have submodules
        self.__dict__["_place"] = path

    def __getattr__(self, name):
        return _find(self._place, name)

    def __dir__(self):
        return _dir(self._place)


_modules = {path: _Names(path) for path in _NAMES if path}


def _find(place, name):
    """What tf.compat.v2 has as `name` in the module `place`; AttributeError if it lacks it."""
    path = f"{place}.{name}" if place else name
    if path in _modules:
        return _modules[path]
    if path == "compat":
        return importlib.import_module("tensorbraid.compat")
    if name.startswith("__") or (_NAMES[place] is not None and name not in _NAMES[place]):
        raise AttributeError(f"tf.compat.v2.{path}: TensorFlow 2 is not part of this package; tf.compat.v2 has the "
                             "names that mean the same in TensorFlow 1")
    value = importlib.import_module("tensorbraid")
    for part in path.split("."):
        value = getattr(value, part)
    return value


def _dir(place):
    names = dir(getattr(sys.modules["tensorbraid"], place)) if _NAMES[place] is None else _NAMES[place]
    start = place + "." if place else ""
    inner = {path[len(start):] for path in _modules if path.startswith(start)}
    return sorted({*names, *(path for path in inner if "." not in path)})


def __getattr__(name):
    return _find("", name)


def __dir__():
    return _dir("")
