"""tf.keras.layers."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "layers")
