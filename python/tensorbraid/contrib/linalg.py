"""tf.contrib.linalg: the linear operators of tf.linalg."""

from tensorbraid.ops.linear_operator_forms import *  # noqa: F401,F403
from tensorbraid.ops.linear_operators import *  # noqa: F401,F403
from tensorbraid.ops.linear_operators import LinearOperatorLowerTriangular as LinearOperatorTriL  # noqa: F401
