"""tensorflow.models of releases before 1.0: `models.rnn` has the cells and loops of recurrent networks."""

import types

from tensorbraid import nn
from tensorbraid.contrib import legacy_seq2seq

__all__ = ["rnn"]

rnn = types.ModuleType("tensorflow.models.rnn", "The recurrent networks of releases before 1.0.")
rnn.__path__ = []
rnn.rnn, rnn.rnn_cell, rnn.seq2seq = nn, nn.rnn_cell, legacy_seq2seq
__path__ = []
