"""The parts of tf.contrib that public programs use."""

from tensorbraid.contrib import (  # noqa: F401
    cluster_resolver, crf, data, distributions, estimator, feature_column, framework, layers, learn, legacy_seq2seq,
    lookup, losses, metrics, opt, rnn, seq2seq, slim, staging, tensorboard, tpu, training, util)
from tensorbraid.internal import missing_names


def __getattr__(name):
    raise missing_names.error(__name__, name)
