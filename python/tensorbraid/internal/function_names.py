"""Names of functions that are made by other functions."""

import sys
from typing import Any, Callable, TypeVar

__all__ = []

_made = []  # functions that modules of this package make while they are imported, and the variables of the module
_Function = TypeVar("_Function", bound=Callable[..., Any])


def named(function: _Function, name: str, doc: str | None = None) -> _Function:
    """The function, after it got the name and the docstring that help() and tracebacks show."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    if frame is not None and frame.f_globals["__name__"].startswith("tensorbraid."):
        _made.append((function, frame.f_globals))
    return function


def use_names_of_variables():
    """Gives the functions that `named` got, and that are variables of a module, the names of these variables.

    Pickle finds a function by its name in its module: an object that has tf.tanh as its activation can be pickled.
    """
    names = {}
    for function, variables in _made:
        if id(variables) not in names:
            names[id(variables)] = {id(value): name for name, value in reversed(variables.items())}
        name = names[id(variables)].get(id(function))
        if name is not None:
            function.__module__, function.__name__, function.__qualname__ = variables["__name__"], name, name
    _made.clear()
