"""tf.keras.preprocessing."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "preprocessing")
