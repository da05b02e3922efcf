"""The parts of tf.contrib that public programs use."""

from tensorbraid.contrib import (  # noqa: F401
    data, framework, layers, learn, legacy_seq2seq, rnn, slim, training)
