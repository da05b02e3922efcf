"""Neural networks. The modules of the package have the functions, by subject."""

from tensorbraid.nn.activations import *  # noqa: F401,F403
from tensorbraid.nn.convolutions import *  # noqa: F401,F403
from tensorbraid.nn.ctc import *  # noqa: F401,F403
from tensorbraid.nn.embeddings import *  # noqa: F401,F403
from tensorbraid.nn.in_batch import *  # noqa: F401,F403
from tensorbraid.nn.losses import *  # noqa: F401,F403
from tensorbraid.nn.normalization import *  # noqa: F401,F403
from tensorbraid.nn.pools import *  # noqa: F401,F403
from tensorbraid.ops.space_blocks import (  # noqa: F401
    depth_to_space as depth_to_space, space_to_batch as space_to_batch, space_to_depth as space_to_depth)

# The recurrent part needs layers, which need the functions above.
from tensorbraid.nn import rnn_cell as rnn_cell  # noqa: E402,F401
from tensorbraid.nn.recurrent import *  # noqa: E402,F401,F403
from tensorbraid.nn.rnn_loops import *  # noqa: E402,F401,F403
