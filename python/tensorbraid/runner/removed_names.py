"""Puts back names that Python, NumPy, h5py and pandas have removed since programs were written for TensorFlow 1.

The names are set in the modules that had them. So every module of the process finds them, those of installed packages
and test modules that pytest rewrites as well, and no source is changed. What a module has is never replaced.
"""

import base64
import collections
import collections.abc
import fractions
import functools
import importlib
import importlib.util
import inspect
import math
import threading
import time

import numpy as np

from tensorbraid.runner import after_import, old_h5py, old_pandas, old_random, old_scipy, removed_modules

_ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])


def _getargspec(func):
    """The arguments of a function that has no keyword-only arguments and no annotations."""
    spec = inspect.getfullargspec(func)
    if spec.kwonlyargs or spec.annotations:
        raise ValueError("Function has keyword-only parameters or annotations, use getfullargspec() API which can "
                         "support them")
    return _ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def _find_loader(name, path=None):
    spec = importlib.util.find_spec(name)
    return None if spec is None else spec.loader


_PYTHON = [
    (collections, {name: getattr(collections.abc, name) for name in collections.abc.__all__}),
    (inspect, {"ArgSpec": _ArgSpec, "getargspec": _getargspec}),
    (time, {"clock": time.perf_counter}),
    (fractions, {"gcd": math.gcd}),
    (base64, {"encodestring": base64.encodebytes, "decodestring": base64.decodebytes}),
    (threading.Thread, {"isAlive": threading.Thread.is_alive}),
    (importlib, {"find_loader": _find_loader}),
]


def _asscalar(a):
    return np.asarray(a).item()


def _asfarray(a, dtype=np.float64):
    return np.asarray(a, dtype if np.issubdtype(dtype, np.inexact) else np.float64)


def _find_common_type(array_types, scalar_types):
    return np.result_type(*array_types, *scalar_types)


class _Casts:
    """np.cast: `np.cast[dtype]` is a function that makes arrays of the dtype."""

    def __getitem__(self, dtype):
        return lambda x: np.asarray(x).astype(dtype)


# The names of NumPy that are put back where it lacks them.
NUMPY = {
    "float": float, "int": int, "bool": bool, "object": object, "str": str, "complex": complex, "long": int,
    "unicode": str, "float_": np.float64, "complex_": np.complex128, "int_": np.int64, "unicode_": np.str_,
    "string_": np.bytes_, "Inf": np.inf, "Infinity": np.inf, "infty": np.inf, "PINF": np.inf, "NINF": -np.inf,
    "NaN": np.nan, "NAN": np.nan, "NZERO": -0.0, "PZERO": 0.0, "asscalar": _asscalar, "product": np.prod,
    "cumproduct": np.cumprod, "alltrue": np.all, "sometrue": np.any, "round_": np.round, "row_stack": np.vstack,
    "in1d": np.isin, "trapz": getattr(np, "trapezoid", None), "rank": np.ndim,
    "msort": functools.partial(np.sort, axis=0),
    "asfarray": _asfarray, "cast": _Casts(), "find_common_type": _find_common_type, "issubclass_": issubclass,
    "mat": np.asmatrix,
}
NUMPY = {name: value for name, value in NUMPY.items() if name not in vars(np)}  # hasattr may warn of a name


# What the module numpy.lib.npyio had; the functions are NumPy's own.
NPYIO = {name: getattr(np, name) for name in (
    "fromregex", "genfromtxt", "load", "loadtxt", "save", "savetxt", "savez", "savez_compressed")}

# Names of unittest.TestCase, and those that took their places.
_ASSERTIONS = {
    "assertEquals": "assertEqual", "assertNotEquals": "assertNotEqual", "assert_": "assertTrue",
    "assertAlmostEquals": "assertAlmostEqual", "assertNotAlmostEquals": "assertNotAlmostEqual",
    "assertRegexpMatches": "assertRegex", "assertNotRegexpMatches": "assertNotRegex",
    "assertRaisesRegexp": "assertRaisesRegex", "assertItemsEqual": "assertCountEqual", "failUnless": "assertTrue",
    "failIf": "assertFalse", "failUnlessEqual": "assertEqual", "failIfEqual": "assertNotEqual",
    "failUnlessAlmostEqual": "assertAlmostEqual", "failIfAlmostEqual": "assertNotAlmostEqual",
    "failUnlessRaises": "assertRaises",
}


def _restore_unittest(case):
    _put_back(case.TestCase, {old: getattr(case.TestCase, new) for old, new in _ASSERTIONS.items()})


def _restore_configparser(configparser):
    _put_back(configparser, {"SafeConfigParser": configparser.ConfigParser})
    _put_back(configparser.RawConfigParser,
              {"readfp": lambda self, fp, filename=None: self.read_file(fp, filename)})


def _restore_locale(locale):
    _put_back(locale, {"format": lambda percent, value, grouping=False, monetary=False:
                       locale.format_string(percent, value, grouping, monetary)})


def _put_back(module, names):
    for name, value in names.items():
        if name not in vars(module):
            setattr(module, name, value)


_WHEN_IMPORTED = {"h5py": old_h5py.restore, "pandas": old_pandas.restore, "random": old_random.restore,
                  "scipy.sparse.linalg": old_scipy.restore,
                  "unittest.case": _restore_unittest, "configparser": _restore_configparser,
                  "locale": _restore_locale}


def put_back():
    """Puts the names back in this process; those of a module that is imported later, when it is."""
    for module, names in [*_PYTHON, (np, NUMPY), (importlib.import_module("numpy.lib.npyio"), NPYIO)]:
        _put_back(module, names)
    for name, restore in _WHEN_IMPORTED.items():
        after_import.change(name, restore)
    removed_modules.install()
