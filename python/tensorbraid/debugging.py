"""The namespace tf.debugging."""

from tensorbraid.checks import *  # noqa: F401,F403
from tensorbraid.control import Assert, verify_tensor_all_finite as assert_all_finite  # noqa: F401
from tensorbraid.elementwise import check_numerics, is_finite, is_inf, is_nan  # noqa: F401
