"""The parts of tf.contrib that public programs use."""

from tensorbraid import missing_names
from tensorbraid.contrib import (  # noqa: F401
    data, estimator, feature_column, framework, layers, learn, legacy_seq2seq, losses, opt, rnn, seq2seq, slim, training)


def __getattr__(name):
    raise missing_names.error(__name__, name)
