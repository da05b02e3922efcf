"""Small modules of tensorflow.python.util: decorators, inspection of functions, lists of public names, LazyLoader."""

import collections
import contextlib
import functools
import importlib
import inspect
import types
from inspect import (  # noqa: F401
    currentframe, getcallargs, getdoc, getfile, getmembers, getmodule, getmro, getsource, isbuiltin, isclass,
    isfunction, ismethod, ismodule, isroutine, signature, stack)

__all__ = ["ArgSpec", "FullArgSpec", "LazyLoader", "contextmanager", "estimator_export", "fn_args",
           "get_filtered_args", "getargspec", "getfullargspec", "has_kwargs", "keras_export", "keyword_args_only",
           "make_all", "make_decorator", "remove_undocumented", "should_use_result", "tf_export", "unwrap"]

ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])
FullArgSpec = inspect.FullArgSpec
contextmanager = contextlib.contextmanager


def tf_export(*names, **options):
    """A decorator without effect. TensorFlow's registers the public names of a function."""
    return lambda function: function


keras_export = estimator_export = tf_export


def should_use_result(function=None, **options):
    """A decorator without effect. TensorFlow's warns of results that are not used."""
    return function if function is not None else lambda decorated: decorated


def getfullargspec(obj):
    """inspect.getfullargspec of a function, or of the function that a decorator wraps."""
    return inspect.getfullargspec(inspect.unwrap(obj) if callable(obj) and not inspect.isclass(obj) else obj)


def getargspec(obj):
    """The arguments of a function like Python 2's inspect.getargspec: (args, varargs, keywords, defaults)."""
    found = getfullargspec(obj)
    return ArgSpec(found.args + found.kwonlyargs, found.varargs, found.varkw, found.defaults)


def fn_args(fn):
    """The argument names of a function, method, partial or callable object, without `self` and bound arguments."""
    given = ()
    if isinstance(fn, functools.partial):
        found = fn_args(fn.func)[len(fn.args):]
        return tuple(name for name in found if name not in (fn.keywords or {}))
    if not (inspect.isfunction(fn) or inspect.ismethod(fn)) and hasattr(fn, "__call__") and not inspect.isclass(fn):
        fn = fn.__call__
    found = getargspec(fn).args
    if inspect.ismethod(fn) or (inspect.isclass(fn) and found[:1] == ["self"]):
        given = found[:1]
    return tuple(found[len(given):])


def has_kwargs(fn):
    """Whether a function has **kwargs."""
    target = fn.func if isinstance(fn, functools.partial) else fn
    if not (inspect.isfunction(target) or inspect.ismethod(target)) and hasattr(target, "__call__"):
        target = target.__call__
    return getfullargspec(target).varkw is not None


def get_filtered_args(fn, values):
    """The entries of the dict `values` whose keys are argument names of the function."""
    return {name: values[name] for name in fn_args(fn) if name in values}


def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    """Gives `decorator_func`, which wraps `target`, the name and the docstring of `target`."""
    functools.update_wrapper(decorator_func, target)
    return decorator_func


def unwrap(maybe_tf_decorator):
    """([], the function below all decorators)."""
    return [], inspect.unwrap(maybe_tf_decorator)


def keyword_args_only(function):
    """A decorator: calls with positional arguments raise ValueError."""
    @functools.wraps(function)
    def wrapped(*args, **kwargs):
        if args:
            raise ValueError(f"Must use keyword args to call {function.__name__}.")
        return function(**kwargs)

    return wrapped


def make_all(module_name, doc_string_modules=None):
    """The public names of a module."""
    return sorted(name for name in dir(importlib.import_module(module_name)) if not name.startswith("_"))


def remove_undocumented(module_name, allowed_exception_list=None, doc_string_modules=None):
    """Has no effect. TensorFlow's hides the names of a module that are not documented."""


class LazyLoader(types.ModuleType):
    """A module that is imported when one of its names is first used."""

    def __init__(self, local_name, parent_module_globals, name):
        super().__init__(name)
        self.__dict__.update(_local_name=local_name, _globals=parent_module_globals)

    def __getattr__(self, name):
        module = importlib.import_module(self.__name__)
        self._globals[self._local_name] = module
        return getattr(module, name)
