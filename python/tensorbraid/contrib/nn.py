"""tf.contrib.nn: losses whose first argument is the logits, as before TensorFlow 1.0, and nth_element."""

import tensorbraid as tf

__all__ = ["deprecated_flipped_sigmoid_cross_entropy_with_logits", "deprecated_flipped_softmax_cross_entropy_with_logits",
           "deprecated_flipped_sparse_softmax_cross_entropy_with_logits", "nth_element"]


def deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels, dim=-1, name=None):
    """tf.nn.softmax_cross_entropy_with_logits with the logits as the first argument."""
    return tf.nn.softmax_cross_entropy_with_logits(labels=labels, logits=logits, dim=dim, name=name)


def deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, labels, name=None):
    """tf.nn.sparse_softmax_cross_entropy_with_logits with the logits as the first argument."""
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


def deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, targets, name=None):
    """tf.nn.sigmoid_cross_entropy_with_logits with the logits as the first argument."""
    return tf.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits, name=name)


def nth_element(input, n, reverse=False, name=None):
    """The element at index n of the last axis after sorting, in descending order with `reverse`."""
    return tf.raw_ops.NthElement(input=input, n=n, reverse=reverse, name=name)
