"""What tf.nn.rnn_cell has."""

from tensorbraid.rnn_cell import *  # noqa: F401,F403
from tensorbraid.rnn_wrappers import *  # noqa: F401,F403
