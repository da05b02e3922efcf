"""The parts of tf.contrib that public programs use."""

from tensorbraid.contrib import (  # noqa: F401
    data, distributions, estimator, feature_column, framework, layers, learn, legacy_seq2seq, losses, rnn, seq2seq,
    slim, training)
