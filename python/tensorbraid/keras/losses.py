"""tf.keras.losses."""

from tensorbraid.keras import library as _library

_library.publish(globals(), "losses")

Reduction = _library.module("utils.losses_utils").Reduction
