"""tf.contrib.util: values of constants."""

from tensorbraid.internal.tensor_protos import make_ndarray, make_tensor_proto  # noqa: F401
from tensorbraid.ops.arrays import get_static_value as constant_value  # noqa: F401

__all__ = ["constant_value", "make_ndarray", "make_tensor_proto"]
