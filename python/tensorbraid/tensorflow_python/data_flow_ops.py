"""tensorflow.python.ops.data_flow_ops: StagingArea."""

from tensorbraid.contrib.staging import StagingArea as StagingArea  # noqa: F401
from tensorbraid.tensorflow_python.barrier import Barrier as Barrier  # noqa: F401

__all__ = []
