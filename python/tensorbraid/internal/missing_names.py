"""Module-level __getattr__ and __dir__: finds names from before TensorFlow 1.0, and explains names that do not exist.

Proposals are names that dir() shows, so they are never internal modules.
"""

import difflib
import sys
import types

from tensorbraid.internal import old_names, public_names

__all__ = []

# Modules whose public name is not the name of their file.
_PUBLIC = {"tensorbraid.testing": "tensorbraid.test", "tensorbraid.tf_logging": "tensorbraid.logging",
           "tensorbraid.tf_sysconfig": "tensorbraid.sysconfig", "tensorbraid.versions": "tensorbraid.version"}

_being_explained = set()  # the paths for which `error` is running


def error(module, name):
    """The AttributeError for a name. It says why the name is refused, or proposes the most similar name."""
    path = _path(module, name)
    if path in _being_explained:  # api.refusal and api.public_name look names up, too
        return AttributeError(_text(module, name))
    _being_explained.add(path)
    try:
        return _explained(module, name, path)
    finally:
        _being_explained.discard(path)


def _path(module, name):
    """The path that a program writes after "tf."."""
    return f"{_PUBLIC.get(module, module)}.{name}".removeprefix("tensorbraid.")


def _text(module, name):
    return f"module '{_PUBLIC.get(module, module)}' has no attribute '{name}'"


def _explained(module, name, path):
    from tensorbraid.runner import api  # which imports the whole package

    reason = api.refusal(path)
    if reason:
        return AttributeError(f"tf.{path}: {reason}")
    text = _text(module, name)
    siblings = dir(sys.modules[module]) if module in sys.modules else []  # some modules have no file
    near = difflib.get_close_matches(name, [near for near in siblings if near[:1] != "_"], 1, 0.7)
    if near:
        return AttributeError(f"{text}; did you mean '{near[0]}'?")
    elsewhere = api.public_name(name)
    return AttributeError(f"{text}; there is tf.{elsewhere}" if elsewhere else text)


def find(module, name):
    """The object that had this name before TensorFlow 1.0. Raises the AttributeError of `error` if none had it."""
    if name.startswith("__"):
        raise AttributeError(_text(module, name))
    try:
        return old_names.find(_path(module, name))
    except AttributeError:
        raise error(module, name) from None


def install(module):
    """Gives a module and all its public submodules a __getattr__ and a __dir__, which shows their public names."""
    seen, waiting = set(), [module]
    while waiting:
        module = waiting.pop()
        seen.add(module)
        if "__getattr__" not in vars(module):
            module.__getattr__ = lambda name, module=module.__name__: find(module, name)
        if "__dir__" not in vars(module):
            module.__dir__ = lambda module=module: public_names.names(module)
        waiting += [value for name, value in vars(module).items()
                    if isinstance(value, types.ModuleType) and value not in seen and not name.startswith("_")
                    and value.__name__.startswith(module.__name__ + ".")]
