"""tf.keras.models."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "models")
