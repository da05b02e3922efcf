"""The namespace tf.bitwise."""

from tensorbraid.elementwise import bitwise_and, bitwise_or, bitwise_xor, invert, left_shift, right_shift  # noqa: F401
