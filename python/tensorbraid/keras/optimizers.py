"""tf.keras.optimizers."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "optimizers")
