"""Default arguments for layers: `with arg_scope([conv2d], padding="VALID"):`."""

import contextlib
import functools
import inspect
import threading

__all__ = ["add_arg_scope", "arg_scope", "arg_scope_func_key", "arg_scoped_arguments", "current_arg_scope",
            "has_arg_scope"]


class _Stack(threading.local):
    """The defaults of this thread, innermost last: the key of a function -> its arguments."""

    def __init__(self):
        self.items = [{}]


_scopes = _Stack()


def _key(function):
    return getattr(function, "_arg_scope_key", None)


def arg_scope_func_key(op):
    """The key of the function in the dict of an arg_scope."""
    return _key(op) or str(op)


def add_arg_scope(func):
    """Lets arg_scope give default arguments to a function."""
    @functools.wraps(func)
    def _with_defaults(*args, **kwargs):
        defaults = _scopes.items[-1].get(_with_defaults._arg_scope_key, {})
        return func(*args, **{**defaults, **kwargs})

    _with_defaults._arg_scope_key = f"{func.__module__}.{func.__qualname__}"
    _with_defaults._arg_scope_names = [
        name for name, parameter in inspect.signature(func).parameters.items()
        if parameter.default is not parameter.empty]
    return _with_defaults


def has_arg_scope(func):
    """Whether arg_scope can give default arguments to a function."""
    return _key(func) is not None


def arg_scoped_arguments(func):
    """The names of the arguments to which arg_scope can give values."""
    if not has_arg_scope(func):
        raise ValueError(f"{func.__name__} is not decorated with @add_arg_scope")
    return func._arg_scope_names


def current_arg_scope():
    """The default arguments of the open scope, by the key of a function."""
    return _scopes.items[-1]


@contextlib.contextmanager
def arg_scope(list_ops_or_scope, **kwargs):
    """Gives default arguments to functions inside of the `with`; or opens again what an arg_scope has yielded."""
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling a dictionary, kwargs must be empty.")
        scope = dict(list_ops_or_scope)
    else:
        if not isinstance(list_ops_or_scope, (list, tuple)):
            raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
        scope = dict(_scopes.items[-1])
        for function in list_ops_or_scope:
            if not has_arg_scope(function):
                raise ValueError(f"{function.__name__} is not decorated with @add_arg_scope")
            scope[_key(function)] = {**scope.get(_key(function), {}), **kwargs}
    _scopes.items.append(scope)
    try:
        yield scope
    finally:
        _scopes.items.pop()
