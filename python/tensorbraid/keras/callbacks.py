"""tf.keras.callbacks."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "callbacks")
