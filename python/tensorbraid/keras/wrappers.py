"""tf.keras.wrappers."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "wrappers")
