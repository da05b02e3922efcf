"""What a module of the package does with a name that it lacks: it may be an older name, or else the error explains."""

import difflib
import sys
import types

from tensorbraid.internal import old_names

__all__ = []


_being_explained = set()  # the paths whose errors are being made


def error(module, name):
    """The AttributeError. It says why the name is refused, or which name is near."""
    path = f"{module}.{name}".removeprefix("tensorbraid.")
    if path in _being_explained:  # the explanation looks whether the name exists
        return AttributeError(f"module '{module}' has no attribute '{name}'")
    _being_explained.add(path)
    try:
        return _explained(module, name, path)
    finally:
        _being_explained.discard(path)


def _explained(module, name, path):
    from tensorbraid.runner import api  # which imports the whole package

    reason = api.refusal(path)
    if reason:
        return AttributeError(f"tf.{path}: {reason}")
    text = f"module '{module}' has no attribute '{name}'"
    siblings = dir(sys.modules[module]) if module in sys.modules else []  # some modules have no file
    near = difflib.get_close_matches(name, [near for near in siblings if near[:1] != "_"], 1, 0.7)
    if near:
        return AttributeError(f"{text}; did you mean '{near[0]}'?")
    elsewhere = api.public_name(name)
    return AttributeError(f"{text}; there is tf.{elsewhere}" if elsewhere else text)


def find(module, name):
    """The object that had this name before TensorFlow 1.0; raises `error` if there is none."""
    if name.startswith("__"):
        raise AttributeError(f"module '{module}' has no attribute '{name}'")
    try:
        return old_names.find(f"{module}.{name}".removeprefix("tensorbraid."))
    except AttributeError:
        raise error(module, name) from None


def install(module):
    """Lets a module, and the modules of the package in it, find older names and explain names that they lack."""
    seen, waiting = set(), [module]
    while waiting:
        module = waiting.pop()
        seen.add(module)
        if "__getattr__" not in vars(module):
            module.__getattr__ = lambda name, module=module.__name__: find(module, name)
        waiting += [value for name, value in vars(module).items()
                    if isinstance(value, types.ModuleType) and value not in seen and not name.startswith("_")
                    and value.__name__.startswith(module.__name__ + ".")]
