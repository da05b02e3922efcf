"""The names that an editor or dir() shows."""

import subprocess
import sys
import textwrap
import types
import unittest

import tensorbraid as tf

# Modules of TensorFlow 1.15, and `proto` and `ray`, which are the package's own.
MODULES = set("""
    app autograph bitwise compat config contrib data debugging distribute distributions dtypes errors estimator
    examples feature_column flags gfile graph_util image initializers io keras layers linalg logging lookup losses
    math metrics nest nn profiler proto python_io quantization random raw_ops ray resource_loader saved_model sets
    signal sparse spectral strings summary sysconfig test train version""".split())


class PublicNamesTest(unittest.TestCase):
    def test_dir_shows_no_private_module(self):
        import tensorbraid.ray
        import tensorbraid.runner.main  # noqa: F401
        import tensorbraid.tensorflow_python  # noqa: F401

        found = {name for name in dir(tf) if isinstance(getattr(tf, name), types.ModuleType)}
        self.assertEqual(found, MODULES)

    def test_dir_shows_no_private_name(self):
        self.assertEqual([name for name in dir(tf) if name.startswith("_") and not name.startswith("__")], [])

    def test_every_name_of_dir_exists(self):
        self.assertEqual([name for name in dir(tf) if not hasattr(tf, name)], [])

    def test_modules_are_not_hidden_by_modules_of_tensorflow(self):
        # `tensorflow.core` becomes an attribute of the package, which stands for TensorFlow.
        program = textwrap.dedent("""
            from tensorbraid.runner import finder
            finder.install()
            import tensorflow.core.framework.graph_pb2
            import tensorflow as tf
            from tensorbraid.internal import session
            print(tf.Session is session.Session)
        """)
        result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        self.assertEqual(result.stdout, "True\n")


if __name__ == "__main__":
    unittest.main()
