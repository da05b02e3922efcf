"""tensorflow.python.util.deprecation: decorators that log warnings when deprecated functions or arguments are used."""

import contextlib
import functools
import inspect

from tensorbraid import tf_logging as logging
from tensorbraid.ops.old_arguments import renamed

__all__ = ["deprecated", "deprecated_alias", "deprecated_arg_values", "deprecated_argument_lookup", "deprecated_args",
           "deprecated_endpoints", "rewrite_argument_docstring", "silence"]

_silent = [False]


class _Warning:
    """A warning that is logged at the first use or, with once=False, at each use."""

    def __init__(self, once):
        self._once, self._logged = once, False

    def log(self, subject, date, instructions):
        if _silent[0] or (self._once and self._logged):
            return
        self._logged = True
        logging.warning("%s is deprecated and will be removed %s.\nInstructions for updating:\n%s", subject,
                        "in a future version" if date is None else f"after {date}", instructions)


def deprecated(date, instructions, warn_once=True):
    """A decorator of functions and classes: the first call, or with warn_once=False each call, logs a warning."""
    warning = _Warning(warn_once)

    def decorate(function):
        if inspect.isclass(function):
            class Deprecated(function):
                def __init__(self, *args, **kwargs):
                    warning.log(f"{function.__module__}.{function.__name__}", date, instructions)
                    super().__init__(*args, **kwargs)

            Deprecated.__name__, Deprecated.__qualname__ = function.__name__, function.__qualname__
            Deprecated.__module__, Deprecated.__doc__ = function.__module__, function.__doc__
            return Deprecated

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            warning.log(f"{function.__name__} (from {function.__module__})", date, instructions)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples, warn_once=True):
    """A decorator that logs a warning if a call passes one of these arguments.

    A tuple has the name of an argument and the values that do not cause a warning. ValueError if the function has no
    such argument.
    """
    allowed = {item[0]: item[1:] if isinstance(item, tuple) else () for item in (
        item if isinstance(item, tuple) else (item,) for item in deprecated_arg_names_or_tuples)}
    warning = _Warning(warn_once)

    def decorate(function):
        signature = inspect.signature(function)
        missing = sorted(set(allowed) - set(signature.parameters))
        if missing and not any(p.kind is p.VAR_KEYWORD for p in signature.parameters.values()):
            raise ValueError(f"The following deprecated arguments are not present in the function signature: {missing}.")

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            given = signature.bind_partial(*args, **kwargs).arguments
            for name, values in allowed.items():
                if name in given and not any(given[name] is value or given[name] == value for value in values):
                    warning.log(f"The argument {name} of {function.__name__} (from {function.__module__})", date,
                                instructions)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs):
    """A decorator that logs a warning if a call passes one of these values of arguments."""
    warning = _Warning(warn_once)

    def decorate(function):
        signature = inspect.signature(function)

        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            given = signature.bind_partial(*args, **kwargs).arguments
            for name, value in deprecated_kwargs.items():
                if name in given and given[name] == value:
                    warning.log(f"{name}={value!r} of {function.__name__} (from {function.__module__})", date,
                                instructions)
            return function(*args, **kwargs)

        return wrapped

    return decorate


def deprecated_endpoints(*args):
    """A decorator without effect."""
    return lambda function: function


def deprecated_alias(deprecated_name, name, func_or_class, warn_once=True):
    """The function or class under an older name. Calls by that name log a warning."""
    return deprecated(None, f"Please use {name} instead.", warn_once)(func_or_class)


deprecated_argument_lookup = renamed


def rewrite_argument_docstring(old_doc, old_argument, new_argument):
    """Replaces the old name of an argument in a docstring by the new name."""
    return old_doc.replace(f"`{old_argument}`", f"`{new_argument}`").replace(f"{old_argument}:", f"{new_argument}:")


@contextlib.contextmanager
def silence():
    """A context manager in which no such warnings are logged."""
    before, _silent[0] = _silent[0], True
    try:
        yield
    finally:
        _silent[0] = before
