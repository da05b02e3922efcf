"""`import tensorbraid.as_tensorflow`: programs of TensorFlow 1 without the runner."""

import subprocess
import sys
import unittest

PROGRAM = """
import tensorbraid.as_tensorflow
import tensorbraid
import tensorflow as tf
from tensorflow.python.ops import array_ops
import collections
import numpy as np

assert tf is tensorbraid and array_ops.zeros is tf.zeros
assert issubclass(list, collections.Iterable) and np.Inf == float("inf")
print(tf.Session().run(tf.constant(3) * 2))
"""


class AsTensorflowTest(unittest.TestCase):
    def ran(self, program):
        return subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True)

    def test_the_package_is_tensorflow(self):
        ran = self.ran(PROGRAM)
        self.assertEqual((ran.stdout, ran.stderr), ("6\n", ""))

    def test_a_tensorflow_that_is_imported_already_is_an_error(self):
        ran = self.ran("import sys, types\nsys.modules['tensorflow'] = types.ModuleType('tensorflow')\n"
                       "import tensorbraid.as_tensorflow\n")
        self.assertIn("ImportError: TensorFlow has already been imported", ran.stderr)


if __name__ == "__main__":
    unittest.main()
