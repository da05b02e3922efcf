"""tf.contrib.framework: default arguments, variables by name, values from checkpoints."""

from tensorbraid import nest as nest  # noqa: F401
from tensorbraid.contrib.arg_scope import *  # noqa: F401,F403
from tensorbraid.contrib.framework.tensors import *  # noqa: F401,F403
from tensorbraid.contrib.framework.variables import *  # noqa: F401,F403
from tensorbraid.internal.type_specs import TensorSpec as TensorSpec  # noqa: F401
from tensorbraid.ops.checks import (  # noqa: F401
    assert_same_float_dtype as assert_same_float_dtype, assert_scalar as assert_scalar,
    is_non_decreasing as is_non_decreasing, is_numeric_tensor as is_numeric_tensor,
    is_strictly_increasing as is_strictly_increasing)
from tensorbraid.ops.control import is_tensor as is_tensor  # noqa: F401
from tensorbraid.ops.critical_section import CriticalSection as CriticalSection  # noqa: F401
from tensorbraid.ops.indexing import argsort as argsort, sort as sort  # noqa: F401
from tensorbraid.ops.script_ops import py_func as py_func  # noqa: F401
from tensorbraid.ops.sparse_tensor import (  # noqa: F401
    convert_to_tensor_or_sparse_tensor as convert_to_tensor_or_sparse_tensor)
from tensorbraid.tensorflow_python.deprecation import (  # noqa: F401
    deprecated as deprecated, deprecated_arg_values as deprecated_arg_values, deprecated_args as deprecated_args)
from tensorbraid.tensorflow_python.ops import (  # noqa: F401
    prepend_name_scope as prepend_name_scope, strip_name_scope as strip_name_scope)
from tensorbraid.train.checkpoint_values import init_from_checkpoint as init_from_checkpoint  # noqa: F401
from tensorbraid.train.checkpoints import (  # noqa: F401
    checkpoints_iterator as checkpoints_iterator, list_variables as list_variables, load_checkpoint as load_checkpoint,
    load_variable as load_variable)
