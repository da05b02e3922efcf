"""The ops that tf has by their own names, all in one module."""

from tensorbraid.lookup import *  # noqa: F401,F403
from tensorbraid.ops import operators as _operators  # noqa: F401  (adds Python's operators to tensors)
from tensorbraid.ops.arrays import *  # noqa: F401,F403
from tensorbraid.ops.checks import *  # noqa: F401,F403
from tensorbraid.ops.clipping import *  # noqa: F401,F403
from tensorbraid.ops.complex_parts import *  # noqa: F401,F403
from tensorbraid.ops.control import *  # noqa: F401,F403
from tensorbraid.ops.counts import *  # noqa: F401,F403
from tensorbraid.ops.diagonals import *  # noqa: F401,F403
from tensorbraid.ops.elementwise import *  # noqa: F401,F403
from tensorbraid.ops.indexing import *  # noqa: F401,F403
from tensorbraid.ops.linalg_ops import *  # noqa: F401,F403
from tensorbraid.ops.parsing_ops import *  # noqa: F401,F403
from tensorbraid.ops.patterns import *  # noqa: F401,F403
from tensorbraid.ops.random_ops import *  # noqa: F401,F403
from tensorbraid.ops.reductions import *  # noqa: F401,F403
from tensorbraid.ops.segment_ops import *  # noqa: F401,F403
from tensorbraid.ops.sequences import *  # noqa: F401,F403
from tensorbraid.ops.space_blocks import *  # noqa: F401,F403
from tensorbraid.ops.sparse_ops import *  # noqa: F401,F403
from tensorbraid.ops.sparse_tensor import *  # noqa: F401,F403
from tensorbraid.ops.special_math import lbeta as lbeta  # noqa: F401
from tensorbraid.ops.string_ops import *  # noqa: F401,F403
