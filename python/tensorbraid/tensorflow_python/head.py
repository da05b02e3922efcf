"""tensorflow.python.estimator.canned.head: the base class of heads."""

from tensorbraid.estimator.canned.head import Head as _Head  # noqa: F401

__all__ = []
