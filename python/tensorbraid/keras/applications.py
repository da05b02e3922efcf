"""tf.keras.applications."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "applications")
