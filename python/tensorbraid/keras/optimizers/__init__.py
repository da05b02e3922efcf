"""tf.keras.optimizers."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "optimizers")

from tensorbraid.keras.optimizers import schedules  # noqa: E402,F401
