"""The names that dir() shows for a module of the package: without modules and helpers that are its implementation."""

import ast
import functools
import importlib
import inspect
import types

__all__ = []

_HELPERS = ("tensorbraid.ops.node", "tensorbraid.internal.function_names")  # modules whose functions are not public


def names(module):
    """The public names of the module, sorted. Modules among them are those that type checkers regard as exported."""
    exported = _exported(module)
    return sorted(name for name, value in vars(module).items() if name in exported or name.startswith("__") or not (
        isinstance(value, types.ModuleType) or getattr(value, "__module__", None) in _HELPERS))


@functools.cache
def _exported(module):
    """The names in `__all__`, names imported by `import x as x` or `import *`, and names that the source assigns."""
    try:
        statements = ast.parse(inspect.getsource(module)).body
    except (OSError, TypeError):  # the module has no source file
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
