"""Gives names and docstrings to functions that other functions create."""

import sys
import types
from typing import Any, Callable, TypeVar

__all__ = []

_made = []  # (function, global variables of its module), for functions created while the package is imported
_Function = TypeVar("_Function", bound=Callable[..., Any])


def named(function: _Function, name: str, doc: str | None = None) -> _Function:
    """Sets the name and the docstring of a function, which help() and tracebacks show. Returns the function."""
    _rename(function, name)
    function.__doc__ = doc
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    if frame is not None and frame.f_globals.get("__name__", "").startswith("tensorbraid."):
        _made.append((function, frame.f_globals))
    return function


def _rename(function, name):
    """Gives a function this name, also in its frames, which tracebacks and messages about arguments show."""
    function.__name__ = function.__qualname__ = name
    if isinstance(function, types.FunctionType):
        function.__code__ = function.__code__.replace(co_name=name, co_qualname=name)


def use_names_of_variables():
    """Renames the functions of `named` after the global variables that hold them.

    Pickle finds a function by its name in its module, so objects that hold one, such as a cell with the activation
    tf.tanh, can be pickled then.
    """
    names = {}
    for function, variables in _made:
        if id(variables) not in names:
            names[id(variables)] = {id(value): name for name, value in reversed(variables.items())}
        name = names[id(variables)].get(id(function))
        if name is not None:
            function.__module__ = variables["__name__"]
            _rename(function, name)
    _made.clear()
