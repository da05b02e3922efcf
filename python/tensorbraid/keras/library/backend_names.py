# Runs as the library's module `backend.load_backend`: the only backend is the one for TensorFlow. The file of settings
# ~/.keras/keras.json and the variable KERAS_BACKEND, by which the library chooses one of several, are not read.
from .common import *  # noqa: F401,F403
from .common import cast_to_floatx, eager, epsilon, floatx, image_data_format, normalize_data_format  # noqa: F401
from .common import set_epsilon, set_floatx, set_image_data_format, symbolic  # noqa: F401
from .tensorflow_backend import *  # noqa: F401,F403


def backend():
    """The name of the backend: "tensorflow"."""
    return "tensorflow"
