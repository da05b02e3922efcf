"""Neural networks. The modules nn_... have the functions, by subject."""

from tensorbraid.nn_activations import *  # noqa: F401,F403
from tensorbraid.nn_convolutions import *  # noqa: F401,F403
from tensorbraid.nn_embeddings import *  # noqa: F401,F403
from tensorbraid.nn_losses import *  # noqa: F401,F403
from tensorbraid.nn_normalization import *  # noqa: F401,F403
from tensorbraid.nn_pools import *  # noqa: F401,F403
