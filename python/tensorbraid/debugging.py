"""The namespace tf.debugging."""

from tensorbraid.ops.checks import *  # noqa: F401,F403
from tensorbraid.ops.control import Assert, verify_tensor_all_finite as assert_all_finite  # noqa: F401
from tensorbraid.ops.elementwise import check_numerics, is_finite, is_inf, is_nan  # noqa: F401
