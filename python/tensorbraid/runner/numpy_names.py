"""Names of NumPy that scripts use and the installed NumPy lacks, with what to write instead."""

import difflib

import numpy as np

_INSTEAD = {
    "float": "float", "int": "int", "bool": "bool", "object": "object", "str": "str", "complex": "complex",
    "long": "int", "unicode": "str", "float_": "np.float64", "complex_": "np.complex128", "int_": "np.int64",
    "unicode_": "np.str_",
    "string_": "np.bytes_", "Inf": "np.inf", "Infinity": "np.inf", "infty": "np.inf", "PINF": "np.inf",
    "NINF": "-np.inf", "NaN": "np.nan", "NAN": "np.nan", "asscalar": "array.item()", "product": "np.prod",
    "cumproduct": "np.cumprod",
    "alltrue": "np.all", "sometrue": "np.any", "round_": "np.round", "row_stack": "np.vstack", "in1d": "np.isin",
    "trapz": "np.trapezoid", "rank": "np.ndim", "msort": "np.sort(a, axis=0)", "asfarray": "np.asarray(a, dtype=float)",
    "cast": "np.asarray(a, dtype)", "find_common_type": "np.result_type", "issubclass_": "issubclass",
    "mat": "np.asmatrix", "ndarray.tostring": "array.tobytes()",
}


def problem(path):
    """The problem with NumPy's name `path`; None if the installed NumPy has it or it is an attribute of an object."""
    value = np
    for part in path.split("."):
        if not hasattr(value, part):
            instead = _INSTEAD.get(path)
            if instead is None:
                near = difflib.get_close_matches(part, dir(value), 1, 0.8)
                instead = f"np.{near[0]}" if near and value is np else None
            hint = f"; write {instead}" if instead else ""
            return f"np.{path} does not exist in NumPy {np.__version__}{hint}"
        value = getattr(value, part)
        if not isinstance(value, (type(np), type)):
            return None
    return None
