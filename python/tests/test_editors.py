"""Which names of the package editors and type checkers regard as public.

In a typed package, `from X import a` is private. `from X import a as a`, `from X import *` (for the names in X's
`__all__`), definitions and assignments are public. A module with an `__all__` exports its definitions and the names in
`__all__`.
"""

import ast
import importlib
import os
import runpy
import types
import unittest

import tensorbraid as tf

MODULES = ["tensorbraid"] + ["tensorbraid." + name for name in (
    "nn", "train", "layers", "linalg", "math", "image", "losses", "metrics", "summary", "data", "estimator", "io",
    "strings", "sparse", "random", "saved_model", "feature_column", "debugging", "distributions", "flags",
    "initializers", "contrib", "contrib.slim", "contrib.framework", "contrib.layers", "contrib.rnn")]


def statements(tree):
    """The statements of a module, including those under `if TYPE_CHECKING`."""
    for node in tree.body:
        if isinstance(node, ast.If) and getattr(node.test, "id", "") == "_TYPE_CHECKING":
            yield from node.body
        elif not isinstance(node, ast.If):
            yield node


def exported(module):
    """The names that a type checker regards as public."""
    with open(importlib.import_module(module).__file__, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    names, listed, stars = set(), None, []
    for node in statements(tree):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            names.add(node.name)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            found = {part.id for target in targets for part in ast.walk(target) if isinstance(part, ast.Name)}
            if found == {"__all__"}:
                listed = {part.value for part in ast.walk(node.value) if isinstance(part, ast.Constant)}
            names |= found
        elif isinstance(node, ast.ImportFrom):
            names |= {alias.name for alias in node.names if alias.asname == alias.name}
            stars += [node.module] if node.names[0].name == "*" else []
    if listed is not None:
        return names | listed
    return names.union(*[exported_by_star(star) for star in stars])


def exported_by_star(module):
    listed = getattr(importlib.import_module(module), "__all__", None)
    return exported(module) if listed is None else set(listed)


def re_exports(module):
    """The names that the module intends to re-export: it imports them with the mark F401, or by `import *`."""
    path = importlib.import_module(module).__file__
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = text.split("\n")
    for node in statements(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and "F401" in lines[node.lineno - 1]:
            for alias in node.names:
                if alias.name == "*":
                    yield from exported_by_star(node.module)
                elif not (alias.asname or alias.name).startswith("_"):
                    yield alias.asname or alias.name


class EditorsTest(unittest.TestCase):
    def test_names_that_modules_pass_on_are_public(self):
        for module in MODULES:
            self.assertEqual(sorted(set(re_exports(module)) - exported(module)), [], module)

    def test_each_name_of_tf_is_public(self):
        names = {name for name in dir(tf) if not name.startswith("_")}
        lazy = {name for name in names if isinstance(getattr(tf, name), types.ModuleType) and name not in vars(tf)}
        submodules = {name for name in names if isinstance(getattr(tf, name), types.ModuleType)}
        self.assertEqual(sorted(names - exported("tensorbraid") - lazy - submodules), [])

    def test_results_are_of_the_classes_that_a_type_checker_is_told(self):
        runpy.run_path(os.path.join(os.path.dirname(os.path.abspath(__file__)), "editors", "typed_calls.py"))

    def test_the_stub_has_what_the_package_adds_to_the_classes_of_the_module(self):
        path = os.path.join(os.path.dirname(tf.__file__), "_core.pyi")
        with open(path, encoding="utf-8") as file:
            classes = {node.name: node for node in ast.parse(file.read()).body if isinstance(node, ast.ClassDef)}
        for name in ("Tensor", "Operation", "Variable"):
            declared = {node.name for node in classes[name].body if isinstance(node, ast.FunctionDef)}
            real = {member for member in dir(getattr(tf._core, name)) if not member.startswith("_")}
            self.assertEqual(real - declared, set(), name)
            self.assertEqual({member for member in declared if not hasattr(getattr(tf._core, name), member)}, set(), name)


if __name__ == "__main__":
    unittest.main()
