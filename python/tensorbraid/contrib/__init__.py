"""The parts of tf.contrib that public programs use."""

from tensorbraid.contrib import data, framework, layers, legacy_seq2seq, rnn, slim  # noqa: F401
