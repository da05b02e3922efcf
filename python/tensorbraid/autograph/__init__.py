"""tf.autograph: nothing converts the Python code of functions here, so only what asks for that has a meaning."""

from tensorbraid.autograph import experimental as experimental

__all__ = ["experimental"]
