"""The parts of tf.contrib that public programs use."""

from tensorbraid.contrib import (  # noqa: F401
    cluster_resolver, compiler, crf, cudnn_rnn, data, deprecated, distributions, estimator, feature_column,
    framework, gan, layers, learn, legacy_seq2seq, linalg, lookup, losses, metrics, nn, opt, predictor, rnn,
    saved_model, seq2seq, signal, slim, staging, tensorboard, tfprof, tpu, training, util)
from tensorbraid.contrib import layers_regularizers as _regularizers
from tensorbraid.contrib import layers_summaries as _summaries
from tensorbraid.contrib import layers_utils as _utils

__all__ = [
    "cluster_resolver", "compiler", "crf", "cudnn_rnn", "data", "deprecated", "distributions", "estimator",
    "feature_column", "framework", "gan", "layers", "learn", "legacy_seq2seq", "linalg", "lookup", "losses",
    "metrics", "nn", "opt", "predictor", "rnn", "saved_model", "seq2seq", "signal", "slim", "staging",
    "tensorboard", "tfprof", "tpu", "training", "util"]

# Not in the file of tf.contrib.layers, from which tf.contrib.slim takes all names: it has other modules of these names.
layers.regularizers, layers.summaries, layers.utils = _regularizers, _summaries, _utils
