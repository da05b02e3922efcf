"""The parts of tf.contrib that public programs use."""

from tensorbraid.contrib import layers, rnn, slim  # noqa: F401
