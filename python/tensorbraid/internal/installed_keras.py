"""Whether the library Keras that tf.keras is made of is installed."""

import importlib.metadata
import re

__all__ = []

VERSION = "2.3.1"
# What the library needs beside what the package needs.
NEEDED = {"keras_applications": "Keras-Applications", "keras_preprocessing": "Keras-Preprocessing", "h5py": "h5py"}
_INSTALL = "pip install tensorbraid[keras]"
_VENV = f"make a virtual environment for it: python3 -m venv ENV && ENV/bin/{_INSTALL}"


def _version(distribution):
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return None


def problem():
    """Why tf.keras cannot be used here, with what helps; None if it can."""
    about = f"tf.keras is the library Keras {VERSION}"
    installed = _version("keras")
    if installed == VERSION:
        missing = [module for module, name in NEEDED.items() if _version(name) is None]
        return f"{about}, which needs {', '.join(missing)}; install it: {_INSTALL}" if missing else None
    if installed is not None and int(installed.split(".")[0]) > 2:
        return f"{about}, and Keras {installed} is installed, which TensorFlow 2 uses; {_VENV}"
    tensorflow = _version("tensorflow") or _version("tensorflow-cpu")
    if tensorflow is not None and int(tensorflow.split(".")[0]) > 1:
        return f"{about}, which does not fit to the installed TensorFlow {tensorflow}; {_VENV}"
    if installed is not None:
        return f"{about}, and Keras {installed} is installed; install the other: {_INSTALL}"
    return f"{about}, which is not installed; install it: {_INSTALL}"


def problem_of_import():
    """Why `import keras` cannot use the installed library, with what helps; None if it can, or if none is installed."""
    installed = _version("keras")
    if installed is None or [int(part) for part in re.findall(r"\d+", installed)[:2]] <= [2, 3]:
        return None
    return (f"Keras {installed} is installed, which is made for TensorFlow 2; `import keras` on tensorbraid needs the "
            f"library of TensorFlow 1's time, {VERSION} or 2.2.5; {_VENV}")


def hint_of_import():
    """What helps if `import keras` finds nothing."""
    return f"`import keras` needs the library Keras {VERSION} or 2.2.5; install it: {_INSTALL}"
