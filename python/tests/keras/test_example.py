"""The example of tf.keras, in one process and in a cluster."""

import os
import re
import shutil
import subprocess
import sys
import unittest

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
EXAMPLE = os.path.join(TOP, "examples", "python", "keras_mnist.py")


class ExampleTest(unittest.TestCase):
    def check(self, *command):
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout)
        accuracy = re.search(r"test accuracy (0\.\d+)", done.stdout)
        self.assertIsNotNone(accuracy, done.stdout)
        self.assertGreater(float(accuracy[1]), 0.8)

    def test_fit(self):
        self.check(sys.executable, EXAMPLE, "--train_steps=150")

    def test_a_cluster(self):
        launch = shutil.which("tensorbraid") or os.path.join(TOP, "build", "release", "src", "cli", "tensorbraid")
        self.check(launch, "launch", "--ps=2", "--workers=2", "--", sys.executable, EXAMPLE, "--train_steps=150",
                   "--issync")


if __name__ == "__main__":
    unittest.main()
