"""The namespace tf.quantization."""

from tensorbraid.ops.quantize_ops import *  # noqa: F401,F403
from tensorbraid.ops.quantize_ops import quantize_and_dequantize  # noqa: F401

__all__ = ["quantize_and_dequantize"]
