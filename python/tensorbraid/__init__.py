"""Tensorbraid: TensorFlow 1's API on Tensorbraid's graphs, sessions and servers.

    import tensorbraid as tf
"""

from tensorbraid import (  # noqa: F401
    bitwise, debugging, errors, image, io, linalg, lookup, math, nn, random, sparse, strings, train)
from tensorbraid.dtypes import (  # noqa: F401
    DType, as_dtype, bfloat16, bool, complex64, complex128, double, float16, float32, float64, half, int8, int16, int32,
    int64, resource, string, uint8, uint16, uint32, uint64, variant)
from tensorbraid.graphs import (  # noqa: F401
    Graph, GraphKeys, IndexedSlices, Operation, Tensor, add_to_collection, constant, control_dependencies,
    convert_to_tensor, device, get_collection, get_default_graph, global_variables, gradients, local_variables,
    name_scope, placeholder, reset_default_graph, set_random_seed, trainable_variables)
from tensorbraid.math_ops import *  # noqa: F401,F403
from tensorbraid.session import InteractiveSession, Session, get_default_session  # noqa: F401
from tensorbraid.shapes import Dimension, TensorShape  # noqa: F401
from tensorbraid.variables import (  # noqa: F401
    Variable, global_variables_initializer, local_variables_initializer, variables_initializer)

AUTO_REUSE = "AUTO_REUSE"
