"""Modules that SciPy has renamed: scipy.sparse.linalg.eigen and eigen.arpack, from which old programs import."""

import sys
import types

__all__ = []


def restore(linalg):
    """Lets the modules below scipy.sparse.linalg be imported that are names of itself now."""
    for path in ("eigen", "eigen.arpack"):
        name = f"{linalg.__name__}.{path}"
        module = types.ModuleType(name)
        module.__path__ = []
        module.__getattr__ = lambda found: getattr(linalg, found)
        sys.modules.setdefault(name, module)
