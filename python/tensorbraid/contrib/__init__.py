"""The parts of tf.contrib that public programs use."""

from tensorbraid.contrib import data, framework, layers, legacy_seq2seq, losses, rnn, seq2seq, slim, training  # noqa: F401
