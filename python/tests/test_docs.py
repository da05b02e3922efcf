"""Docstrings and the stub: what an editor shows."""

import ast
import inspect
import os
import types
import unittest

import tensorbraid as tf
from tensorbraid import _core, raw_ops
from tensorbraid.internal import protobuf_messages

# What is not the package's own, or a message of protobuf, whose fields are the documentation.
_FOREIGN = ("tensorbraid.proto", "tensorbraid.runner", "unittest")


def public(module, path="tf", seen=None):
    """The public classes, functions and methods of the package, each once: (path, object)."""
    seen = set() if seen is None else seen
    for name in sorted(dir(module)):
        value = getattr(module, name, None)
        if name.startswith("_") or id(value) in seen:
            continue
        own = getattr(value, "__module__", None) or getattr(value, "__name__", "")
        if not isinstance(own, str) or not own.startswith(("tensorbraid", "_core")) or own.startswith(_FOREIGN):
            continue
        seen.add(id(value))
        if isinstance(value, types.ModuleType):
            if value is not raw_ops:
                yield from public(value, f"{path}.{name}", seen)
        elif isinstance(value, type):
            yield f"{path}.{name}", value
            for member, entry in sorted(vars(value).items()):
                if not member.startswith("_") and (callable(entry) or isinstance(entry, (classmethod, staticmethod))):
                    yield f"{path}.{name}.{member}", getattr(value, member)
        elif callable(value):
            yield f"{path}.{name}", value


def text_of(value):
    """The docstring, without the signature that nanobind puts before it."""
    text = inspect.getdoc(value) or ""
    return text.partition("\n\n")[2] if type(value).__name__ in ("nb_func", "nb_method") else text


class DocsTest(unittest.TestCase):
    def test_public_names_have_docstrings(self):
        names = list(public(tf))
        self.assertGreater(len(names), 1000)
        self.assertEqual([name for name, value in names if not (inspect.getdoc(value) or "").strip()], [])

    def test_module_has_the_texts_of_the_headers(self):
        self.assertIn("Prunes, places and partitions", _core.Session._prepare.__doc__)
        self.assertIn("A set of jobs", _core.ClusterSpec.__doc__)
        missing = [name for name, value in vars(_core).items() if not name.startswith("__") and not text_of(value)]
        self.assertEqual(missing, [])

    def test_help_of_a_session(self):
        for method in (tf.Session.run, tf.Session.close, tf.Graph.as_default, tf.train.Saver.save, tf.matmul):
            self.assertGreater(len(inspect.getdoc(method)), 20, method)

    def test_stub_names_each_member_of_the_module(self):
        with open(os.path.join(os.path.dirname(_core.__file__), "_core.pyi"), encoding="utf-8") as file:
            tree = ast.parse(file.read())
        stub = {}
        for node in tree.body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef)):
                members = getattr(node, "body", []) if isinstance(node, ast.ClassDef) else []
                stub.setdefault(node.name, set()).update(m.name for m in members if isinstance(m, ast.FunctionDef))
        for name, value in vars(_core).items():
            if name.startswith("__"):
                continue
            self.assertIn(name, stub)
            for member, entry in vars(value).items() if isinstance(value, type) else ():
                # Others were added by the package.
                if type(entry).__name__ in ("nb_method", "nb_func") and not member.startswith("__"):
                    self.assertIn(member, stub[name], name)

    def test_type_checkers_see_the_messages(self):
        for module in (tf, tf.train):
            with open(module.__file__, encoding="utf-8") as file:
                seen = {alias.name for node in ast.walk(ast.parse(file.read())) if isinstance(node, ast.ImportFrom)
                        and node.module == "tensorbraid.proto" for alias in node.names}
            self.assertEqual(seen, protobuf_messages.NAMES[module.__name__])

    def test_variable_shows_its_arguments_and_methods(self):
        self.assertEqual(list(inspect.signature(tf.Variable).parameters)[:3],
                         ["initial_value", "trainable", "collections"])
        self.assertIn("assign_add", dir(tf.Variable))
        self.assertIs(tf.Variable.assign_add, _core.Variable.assign_add)

    def test_package_says_that_it_has_types(self):
        self.assertTrue(os.path.exists(os.path.join(os.path.dirname(tf.__file__), "py.typed")))


class RawOpsTest(unittest.TestCase):
    def test_functions_have_texts_and_parameters(self):
        self.assertIn("matrices", tf.raw_ops.MatMul.__doc__)
        self.assertIn("Inputs: a (T), b (T).", tf.raw_ops.MatMul.__doc__)
        self.assertEqual(list(inspect.signature(tf.raw_ops.TopKV2).parameters),
                         ["input", "k", "sorted", "index_type", "name"])
        self.assertIs(inspect.signature(tf.raw_ops.TopKV2).parameters["index_type"].default, tf.int32)
        self.assertEqual(inspect.signature(tf.raw_ops.PrintV2).parameters["end"].default, "\n")

    def test_results(self):
        with tf.Graph().as_default(), tf.Session() as session:
            best = tf.raw_ops.TopKV2(input=[1.0, 3.0, 2.0], k=2, name="best")
            self.assertEqual(best.values.name, "best:0")
            self.assertEqual(session.run(best.indices).tolist(), [1, 2])
            parts = tf.raw_ops.Split(axis=0, value=[1.0, 2.0], num_split=2)
            self.assertEqual([session.run(part).tolist() for part in parts], [[1.0], [2.0]])
            self.assertEqual(session.run(tf.raw_ops.Cast(x=1.5, DstT="int32")), 1)
            self.assertIsInstance(tf.raw_ops.NoOp(), tf.Operation)

    def test_wrong_calls(self):
        with tf.Graph().as_default():
            with self.assertRaisesRegex(TypeError, "only takes keyword args"):
                tf.raw_ops.Add(1, 2)
            with self.assertRaisesRegex(TypeError, "Add: .*'z'"):
                tf.raw_ops.Add(x=1, y=2, z=3)
            with self.assertRaisesRegex(AttributeError, "NoSuchOp"):
                tf.raw_ops.NoSuchOp()

    def test_each_op_has_a_function_with_a_text(self):
        names = dir(tf.raw_ops)
        self.assertGreater(len(names), 900)
        self.assertIn("MatMul", names)
        with tf.Graph().as_default():
            self.assertEqual([name for name in names if "op " not in getattr(tf.raw_ops, name).__doc__], [])


if __name__ == "__main__":
    unittest.main()
