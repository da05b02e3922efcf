"""Neural networks. The modules nn_... have the functions, by subject."""

from tensorbraid.nn_activations import *  # noqa: F401,F403
from tensorbraid.nn_convolutions import *  # noqa: F401,F403
from tensorbraid.nn_ctc import *  # noqa: F401,F403
from tensorbraid.nn_embeddings import *  # noqa: F401,F403
from tensorbraid.nn_losses import *  # noqa: F401,F403
from tensorbraid.nn_normalization import *  # noqa: F401,F403
from tensorbraid.nn_pools import *  # noqa: F401,F403
from tensorbraid.space_blocks import depth_to_space, space_to_batch, space_to_depth  # noqa: F401

# The recurrent part needs layers, which need the functions above.
from tensorbraid import rnn_namespace as rnn_cell  # noqa: E402,F401
from tensorbraid.rnn import *  # noqa: E402,F401,F403
from tensorbraid.rnn_raw import *  # noqa: E402,F401,F403
