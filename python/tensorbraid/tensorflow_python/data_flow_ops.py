"""tensorflow.python.ops.data_flow_ops: buffers that TensorFlow has there, too."""

from tensorbraid.contrib.staging import StagingArea as StagingArea  # noqa: F401

__all__ = []
