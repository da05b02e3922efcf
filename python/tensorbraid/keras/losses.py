"""tf.keras.losses."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "losses")
