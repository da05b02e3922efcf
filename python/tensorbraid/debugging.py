"""The namespace tf.debugging."""

from tensorbraid.ops.checks import *  # noqa: F401,F403
from tensorbraid.ops.control import Assert as Assert, verify_tensor_all_finite as _finite  # noqa: F401
from tensorbraid.ops.elementwise import (  # noqa: F401
    check_numerics as check_numerics, is_finite as is_finite, is_inf as is_inf, is_nan as is_nan)

assert_all_finite = _finite
