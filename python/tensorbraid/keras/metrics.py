"""tf.keras.metrics."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "metrics")
