"""The ops that tf has by their own names, all in one module."""

from tensorbraid import operators  # noqa: F401  (adds Python's operators to tensors)
from tensorbraid.arrays import *  # noqa: F401,F403
from tensorbraid.checks import *  # noqa: F401,F403
from tensorbraid.clipping import *  # noqa: F401,F403
from tensorbraid.control import *  # noqa: F401,F403
from tensorbraid.counts import *  # noqa: F401,F403
from tensorbraid.diagonals import *  # noqa: F401,F403
from tensorbraid.elementwise import *  # noqa: F401,F403
from tensorbraid.indexing import *  # noqa: F401,F403
from tensorbraid.linalg_ops import *  # noqa: F401,F403
from tensorbraid.lookup import *  # noqa: F401,F403
from tensorbraid.patterns import *  # noqa: F401,F403
from tensorbraid.parsing_ops import *  # noqa: F401,F403
from tensorbraid.random_ops import *  # noqa: F401,F403
from tensorbraid.reductions import *  # noqa: F401,F403
from tensorbraid.segment_ops import *  # noqa: F401,F403
from tensorbraid.sequences import *  # noqa: F401,F403
from tensorbraid.sparse_ops import *  # noqa: F401,F403
from tensorbraid.sparse_tensor import *  # noqa: F401,F403
from tensorbraid.space_blocks import *  # noqa: F401,F403
from tensorbraid.special_math import lbeta  # noqa: F401
from tensorbraid.string_ops import *  # noqa: F401,F403
