"""tf.keras.regularizers."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "regularizers")
