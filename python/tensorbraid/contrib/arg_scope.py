"""Default arguments for layers: `with arg_scope([conv2d], padding="VALID"):`."""

import contextlib
import functools
import threading

__all__ = ["add_arg_scope", "arg_scope", "has_arg_scope"]


class _Stack(threading.local):
    """The defaults of this thread, innermost last: the key of a function -> its arguments."""

    def __init__(self):
        self.items = [{}]


_scopes = _Stack()


def _key(function):
    return getattr(function, "_arg_scope_key", None)


def add_arg_scope(function):
    """Lets arg_scope give default arguments to a function."""
    @functools.wraps(function)
    def with_defaults(*args, **kwargs):
        defaults = _scopes.items[-1].get(with_defaults._arg_scope_key, {})
        return function(*args, **{**defaults, **kwargs})

    with_defaults._arg_scope_key = f"{function.__module__}.{function.__qualname__}"
    return with_defaults


def has_arg_scope(function):
    """Whether arg_scope can give default arguments to a function."""
    return _key(function) is not None


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
