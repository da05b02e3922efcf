"""The parts of tf.contrib that public programs use."""

from tensorbraid.contrib import data, layers, learn, rnn, slim, training  # noqa: F401
