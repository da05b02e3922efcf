"""tf.keras.backend."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "backend")
