"""tf.keras.initializers."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "initializers")
