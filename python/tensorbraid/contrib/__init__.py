"""The parts of tf.contrib that public programs use."""

from tensorbraid.contrib import data, layers, rnn, slim  # noqa: F401
