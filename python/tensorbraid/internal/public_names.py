"""The names that dir() shows for a module of the package: without the modules and helpers that it only uses itself."""

import ast
import functools
import importlib
import inspect
import types

__all__ = []

_HELPERS = ("tensorbraid.ops.node", "tensorbraid.internal.function_names")  # only used by modules of the package


def names(module):
    """The names of the module, sorted. A module among them is one that the source exports, as type checkers see it."""
    exported = _exported(module)
    return sorted(name for name, value in vars(module).items() if name in exported or name.startswith("__") or not (
        isinstance(value, types.ModuleType) or getattr(value, "__module__", None) in _HELPERS))


@functools.cache
def _exported(module):
    """The names in `__all__`, and those that the source imports `as` themselves, by `*`, or assigns."""
    try:
        statements = ast.parse(inspect.getsource(module)).body
    except (OSError, TypeError):  # the module has no source
        statements = []
    found = set(getattr(module, "__all__", ()))
    for statement in statements:
        if isinstance(statement, ast.ImportFrom) and statement.names[0].name == "*":
            found |= _exported(importlib.import_module(statement.module))
        elif isinstance(statement, (ast.Import, ast.ImportFrom)):
            found.update(imported.name for imported in statement.names if imported.name == imported.asname)
        elif isinstance(statement, ast.Assign):
            found.update(node.id for target in statement.targets for node in ast.walk(target)
                         if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    return frozenset(found)
