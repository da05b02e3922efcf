"""Prepares a process for programs of TensorFlow 1."""

from tensorbraid.runner import after_import, finder, installed_tensorflow, keras_version, old_numpy, removed_names


def prepare():
    """Lets `import tensorflow` mean the package, and puts names back that programs of TensorFlow 1's time use.

    Modules of TensorFlow must not have been imported: ImportError.
    """
    finder.install()
    installed_tensorflow.install()
    keras_version.install()
    removed_names.put_back()
    for module in ("imdb", "reuters"):  # data sets whose samples are lists of different lengths
        after_import.change(f"keras.datasets.{module}", old_numpy.use)
