"""Prepares a process for programs of TensorFlow 1."""

from tensorbraid.runner import finder, keras_version, removed_names


def prepare():
    """Lets `import tensorflow` mean the package, and puts names back that programs of TensorFlow 1's time use.

    Modules of TensorFlow must not have been imported: ImportError.
    """
    finder.install()
    keras_version.install()
    removed_names.put_back()
