#!/usr/bin/env python3
"""own.py [FILE...]: runs the tests of tf.keras in this folder, all if none is named.

They need the library Keras 2.3.1, so they run in the virtual environment of its own tests. PYTHONPATH names the package.
The environment is made in KERAS_VENV (default: build/keras_venv-2.3.1).
"""

import glob
import os
import subprocess
import sys

from run import compiled_files

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
VERSION = "2.3.1"


def main():
    venv = os.environ.get("KERAS_VENV", os.path.join(TOP, "build", f"keras_venv-{VERSION}"))
    subprocess.run([os.path.join(HERE, "make_venv"), venv, VERSION], check=True)
    files = sys.argv[1:] or sorted(glob.glob(os.path.join(HERE, "test_*.py")))
    modules = [os.path.splitext(os.path.basename(file))[0] for file in files]
    python = os.path.join(venv, "bin", "python")
    return subprocess.run([python, "-m", "unittest", *modules], cwd=HERE,
                          env={"OMP_NUM_THREADS": "1", **os.environ, **compiled_files(python)}).returncode


if __name__ == "__main__":
    sys.exit(main())
