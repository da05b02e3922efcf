"""The parts of tf.contrib that public programs use."""

from tensorbraid.contrib import (  # noqa: F401
    crf, data, estimator, feature_column, framework, layers, learn, legacy_seq2seq, lookup, losses, metrics, rnn,
    seq2seq, slim, tensorboard, training, util)
