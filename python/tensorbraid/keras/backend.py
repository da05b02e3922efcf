"""tf.keras.backend."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "backend")

from tensorbraid.tensorflow_python.keras.sessions import learning_phase_scope  # noqa: E402,F401
