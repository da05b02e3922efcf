"""tf.io."""

from tensorbraid import gfile  # noqa: F401
