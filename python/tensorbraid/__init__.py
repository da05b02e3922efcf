"""Tensorbraid: TensorFlow 1's API on Tensorbraid's graphs, sessions and servers.

    import tensorbraid as tf
"""

from tensorbraid import errors, nn, train  # noqa: F401
from tensorbraid.dtypes import (  # noqa: F401
    DType, as_dtype, bfloat16, bool, complex64, complex128, double, float16, float32, float64, half, int8, int16, int32,
    int64, resource, string, uint8, uint16, uint32, uint64, variant)
from tensorbraid.graphs import (  # noqa: F401
    Graph, IndexedSlices, Operation, Tensor, add_to_collection, constant, control_dependencies,
    convert_to_tensor, device, get_collection, get_default_graph, global_variables, gradients, local_variables,
    model_variables, moving_average_variables, name_scope, placeholder, reset_default_graph, set_random_seed,
    trainable_variables)
from tensorbraid.math_ops import (  # noqa: F401
    abs, add, argmax, cast, ceil, concat, cos, divide, equal, exp, floor, floordiv, floormod, greater, greater_equal, group,
    identity, less, less_equal, log, log1p, logical_and, logical_not, logical_or, matmul, maximum, minimum, mod, multiply,
    negative, not_equal, ones, pow, random_normal, random_uniform, range, reciprocal, reduce_all, reduce_any, reduce_max,
    reduce_mean, reduce_min, reduce_prod, reduce_sum, reshape, round, rsqrt, sigmoid, sign, sin, sqrt, square,
    squared_difference, stop_gradient, subtract, tanh, transpose, truncated_normal, zeros)
from tensorbraid.session import InteractiveSession, Session, get_default_session  # noqa: F401
from tensorbraid.shapes import Dimension, TensorShape  # noqa: F401
from tensorbraid import contrib, initializers, layers, losses, metrics  # noqa: F401
from tensorbraid.graph_keys import *  # noqa: F401,F403
from tensorbraid.initializers import *  # noqa: F401,F403
from tensorbraid.partitioned_variables import *  # noqa: F401,F403
from tensorbraid.variable_methods import *  # noqa: F401,F403
from tensorbraid.variable_scope import *  # noqa: F401,F403
from tensorbraid.variables import *  # noqa: F401,F403
