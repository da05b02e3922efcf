"""tensorflow.python.keras.backend: the functions that the library Keras takes from TensorFlow, then all of its own."""

import tensorbraid as tf

from tensorbraid.tensorflow_python.keras.entropies import (binary_crossentropy, categorical_crossentropy, hard_sigmoid,
                                                           sparse_categorical_crossentropy)
from tensorbraid.tensorflow_python.keras.functions import function
from tensorbraid.tensorflow_python.keras.loops import rnn
from tensorbraid.tensorflow_python.keras.sessions import (clear_session, get_graph, get_session, get_uid,
                                                          learning_phase, learning_phase_scope,
                                                          manual_variable_initialization, reset_uids,
                                                          set_learning_phase, set_session)
from tensorbraid.tensorflow_python.keras.settings import (cast_to_floatx, epsilon, floatx, image_data_format,
                                                          set_epsilon, set_floatx, set_image_data_format)
from tensorbraid.tensorflow_python.keras.values import (batch_get_value, batch_set_value, constant, placeholder,
                                                        random_binomial, random_normal, random_uniform, set_value,
                                                        truncated_normal, variable)

__all__ = ["batch_get_value", "batch_set_value", "binary_crossentropy", "cast_to_floatx", "categorical_crossentropy",
           "clear_session", "constant", "epsilon", "floatx", "function", "get_graph", "get_session", "get_uid",
           "hard_sigmoid", "image_data_format", "learning_phase", "learning_phase_scope",
           "manual_variable_initialization", "placeholder", "random_binomial", "random_normal", "random_uniform",
           "reset_uids", "rnn", "set_epsilon", "set_floatx", "set_image_data_format", "set_learning_phase",
           "set_session", "set_value", "sparse_categorical_crossentropy", "truncated_normal", "variable"]


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(tf.keras.backend, name)
