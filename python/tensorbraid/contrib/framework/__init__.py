"""tf.contrib.framework: default arguments, variables by name, values from checkpoints."""

from tensorbraid import nest  # noqa: F401
from tensorbraid.contrib.arg_scope import *  # noqa: F401,F403
from tensorbraid.contrib.framework.tensors import *  # noqa: F401,F403
from tensorbraid.contrib.framework.variables import *  # noqa: F401,F403
from tensorbraid.ops.checks import assert_same_float_dtype, assert_scalar  # noqa: F401
from tensorbraid.ops.control import is_tensor  # noqa: F401
from tensorbraid.ops.indexing import argsort, sort  # noqa: F401
from tensorbraid.ops.sparse_tensor import convert_to_tensor_or_sparse_tensor  # noqa: F401
from tensorbraid.train.checkpoint_values import init_from_checkpoint  # noqa: F401
from tensorbraid.train.checkpoints import list_variables, load_checkpoint, load_variable  # noqa: F401
