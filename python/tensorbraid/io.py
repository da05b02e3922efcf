"""tf.io."""

from tensorbraid import gfile  # noqa: F401
from tensorbraid.graph_defs import write_graph  # noqa: F401

__all__ = []
