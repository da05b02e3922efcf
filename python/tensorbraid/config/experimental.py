"""tf.config.experimental: the devices of this process, under their names in TensorFlow 1.14."""

from tensorbraid.internal.devices import *  # noqa: F401,F403
