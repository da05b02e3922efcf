"""tf.contrib.seq2seq: decoders with attention, and their loss."""

from tensorbraid.contrib.seq2seq.attention import *  # noqa: F401,F403
from tensorbraid.contrib.seq2seq.beam_search import *  # noqa: F401,F403
from tensorbraid.contrib.seq2seq.decoders import *  # noqa: F401,F403
from tensorbraid.contrib.seq2seq.helpers import *  # noqa: F401,F403
from tensorbraid.contrib.seq2seq.loss import *  # noqa: F401,F403
