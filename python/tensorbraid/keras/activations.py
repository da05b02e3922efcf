"""tf.keras.activations."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "activations")
