"""tensorflow.python.keras.engine.training_utils: a function of TensorFlow's, and the library's names."""

import tensorbraid as tf
from tensorbraid import nest

__all__ = ["cast_if_floating_dtype"]


def cast_if_floating_dtype(x):
    """The tensor, or each of a structure, in the dtype of tf.keras.backend.floatx() if it has numbers with fractions."""
    def cast(value):
        tensor = tf.convert_to_tensor(value)
        return tf.cast(tensor, tf.keras.backend.floatx()) if tensor.dtype.is_floating else tensor

    return nest.map_structure(cast, x)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(tf.keras.engine.training_utils, name)
