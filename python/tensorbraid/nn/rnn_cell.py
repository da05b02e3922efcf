"""The namespace tf.nn.rnn_cell."""

from tensorbraid.nn.cell_wrappers import *  # noqa: F401,F403
from tensorbraid.nn.cells import *  # noqa: F401,F403
