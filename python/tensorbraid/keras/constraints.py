"""tf.keras.constraints."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "constraints")
