"""The parts of tf.contrib that public programs use."""

from tensorbraid.contrib import (  # noqa: F401
    cluster_resolver, crf, data, deprecated, distributions, estimator, feature_column, framework, gan, layers, learn,
    legacy_seq2seq, lookup, losses, metrics, opt, predictor, rnn, seq2seq, slim, staging, tensorboard, tfprof, tpu,
    training, util)

__all__ = [
    "cluster_resolver", "crf", "data", "deprecated", "distributions", "estimator", "feature_column", "framework", "gan",
    "layers", "learn", "legacy_seq2seq", "lookup", "losses", "metrics", "opt", "predictor", "rnn", "seq2seq", "slim",
    "staging", "tensorboard", "tfprof", "tpu", "training", "util"]
