"""Stands for the module `tf` and notes which of its callables a program calls with arguments that are not defaults.

A name of tf.compat.v1, such as "nn.relu", is noted if the program
- calls the function, or makes an object of the class, or calls a method of the class itself (tf.data.Dataset.range),
  and gives an argument that is not the parameter's default (a callable without parameters only needs the call);
- derives a class from the class;
- reads a constant of a class that is never made (tf.GraphKeys.LOSSES).
Calls that the package makes itself are not noted.
"""

import functools
import inspect
import types

MODULES = ("train", "nn", "layers", "losses", "metrics", "initializers", "summary", "data", "io", "math", "random",
           "strings", "sparse", "image", "linalg", "lookup", "app", "flags", "gfile", "logging")


def callables(tf):
    """The public callables of the module and of its modules, as dotted names."""
    names = []
    for module in ("",) + MODULES:
        try:
            space = getattr(tf, module) if module else tf
            members = [name for name in dir(space) if not name.startswith("_") and name != "keras"]
            found = [(name, getattr(space, name)) for name in members]
        except ImportError:  # parts of TensorFlow need another version of Keras than the one that is installed
            continue
        names += [f"{module}.{name}" if module else name for name, value in found
                  if callable(value) and not inspect.ismodule(value)]
    return names


class TracedModule:
    """A module whose callables note their calls in the set `noted`."""

    def __init__(self, module, noted, prefix=""):
        self._module, self._noted, self._prefix = module, noted, prefix

    def __getattr__(self, name):
        value = getattr(self._module, name)
        if inspect.ismodule(value) or isinstance(value, types.ModuleType):
            inside = not self._prefix and name in MODULES
            found = TracedModule(value, self._noted, name + ".") if inside else value
        else:
            found = _traced(value, lambda: self._noted.add(self._prefix + name))
        self.__dict__[name] = found
        return found


def _traced(value, note):
    if inspect.isclass(value):
        # Exceptions must stay classes, for `except`; the cases note those that they raise.
        return value if issubclass(value, BaseException) else _TracedClass(value, note)
    if inspect.isroutine(value):
        return _traced_function(value, note)
    return _TracedObject(value, note) if callable(value) else value


def _traced_function(function, note):
    @functools.wraps(function)
    def traced(*args, **kwargs):
        if _gives_something(function, args, kwargs):
            note()
        return function(*args, **kwargs)

    return traced


def _gives_something(function, args, kwargs):
    """Whether an argument is not the default, or the function has no parameters."""
    try:
        signature = inspect.signature(function)
        given = signature.bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        return bool(args or kwargs)
    if not signature.parameters:
        return True
    return any(not _same(value, signature.parameters[key].default) for key, value in given.items())


def _same(value, default):
    return value is default or (type(value) is type(default) and isinstance(value, (bool, int, float, str, tuple))
                                and value == default)


class _TracedObject:
    """An object that can be called, such as tf.flags.FLAGS."""

    def __init__(self, value, note):
        self.__dict__.update(_value=value, _note=note)

    def __call__(self, *args, **kwargs):
        if _gives_something(self._value, args, kwargs):
            self._note()
        return self._value(*args, **kwargs)

    def __getattr__(self, name):
        return getattr(self._value, name)

    def __setattr__(self, name, value):
        setattr(self._value, name, value)

    def __delattr__(self, name):
        delattr(self._value, name)

    def __getitem__(self, key):
        return self._value[key]

    def __setitem__(self, key, value):
        self._value[key] = value

    def __contains__(self, key):
        return key in self._value

    def __iter__(self):
        return iter(self._value)

    def __len__(self):
        return len(self._value)


class _TracedClass(_TracedObject):
    """A class; isinstance, issubclass and `class Derived(...)` see the class itself."""

    def __getattr__(self, name):
        found = getattr(self._value, name)
        static = isinstance(inspect.getattr_static(self._value, name), staticmethod)
        if static or inspect.ismethod(found) or inspect.isbuiltin(found):
            return _traced_function(found, self._note)
        if not name.startswith("_") and (not callable(found) or isinstance(found, self._value)):
            self._note()
        return found

    def __instancecheck__(self, instance):
        return isinstance(instance, self._value)

    def __subclasscheck__(self, subclass):
        return issubclass(subclass, self._value)

    def __mro_entries__(self, bases):
        self._note()
        return (self._value,)

    def __eq__(self, other):
        return self._value == getattr(other, "_value", other)

    def __hash__(self):
        return hash(self._value)
