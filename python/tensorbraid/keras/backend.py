"""tf.keras.backend."""

from tensorbraid.keras import library as _library

_own = _library.module("backend")


def get_session(op_input_list=()):
    """The session of Keras for the default graph. Variables without a value are initialised."""
    return _own.get_session()


def set_epsilon(value):
    """Sets the number that is added where a division by 0 would be possible."""
    _own.set_epsilon(value)


def set_floatx(value):
    """Sets the dtype of new variables and placeholders, such as "float32"."""
    _own.set_floatx(value)


_library.publish(globals(), "backend")

from tensorbraid.tensorflow_python.keras.sessions import learning_phase_scope  # noqa: E402,F401
