"""Lets this process's `import tensorflow` mean the package, for a program that is not started by the runner.

    import tensorbraid.as_tensorflow
    import keras

Names that newer versions of Python, NumPy, h5py and pandas have removed are put back, too. The program is not checked.
It is an ImportError if TensorFlow has been imported before. `pytest -p tensorbraid.as_tensorflow` does the same before
test modules are imported.
"""

from tensorbraid.runner import process

__all__ = []

process.prepare()
