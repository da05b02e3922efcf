"""tf.contrib.signal: the names of tf.signal before TensorFlow 1.13."""

from tensorbraid.signal import *  # noqa: F401,F403
