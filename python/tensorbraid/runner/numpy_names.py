"""Names of NumPy that scripts use and the installed NumPy lacks, with what to write instead."""

import difflib

import numpy as np

from tensorbraid.runner import removed_names

_INSTEAD = {"ndarray.tostring": "array.tobytes()"}


def problem(path):
    """The problem with NumPy's name `path`; None if the installed NumPy has it or it is an attribute of an object.

    The runner puts most names back that NumPy has removed, so these are no problem.
    """
    value = np
    if path.startswith("lib.npyio.") and path.split(".")[2] in removed_names.NPYIO:
        return None
    for part in path.split("."):
        if value is np and part in removed_names.NUMPY:
            return None
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
