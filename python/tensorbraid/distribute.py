"""The namespace tf.distribute: the server of a task. There are no distribution strategies."""

from tensorbraid.train.cluster import Server  # noqa: F401

__all__ = ["Server"]
