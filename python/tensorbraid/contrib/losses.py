"""tf.contrib.losses: the older losses, whose first argument are the predictions."""

import tensorbraid as tf
from tensorbraid.contrib import metric_learning as metric_learning  # noqa: F401
from tensorbraid.losses import add_loss, get_losses, get_regularization_losses, get_total_loss  # noqa: F401

__all__ = [
    "absolute_difference", "add_loss", "compute_weighted_loss", "cosine_distance", "get_losses",
    "get_regularization_losses", "get_total_loss", "hinge_loss", "log_loss", "mean_pairwise_squared_error",
    "mean_squared_error", "sigmoid_cross_entropy", "softmax_cross_entropy", "sparse_softmax_cross_entropy"]


def _weights(weights, rank):
    """Weights of the first axes of losses with this rank, which tf.losses takes with axes of size 1 after them."""
    if weights is None:
        raise ValueError("`weights` cannot be None")
    weights = tf.cast(tf.convert_to_tensor(weights), tf.float32)
    if weights.shape.ndims is None or rank is None:
        return weights
    if weights.shape.ndims == 1 and weights.shape.as_list() == [1]:
        return tf.reshape(weights, [])
    while 0 < weights.shape.ndims < rank:
        weights = tf.expand_dims(weights, -1)
    return weights


def _rank(value):
    return tf.convert_to_tensor(value).shape.ndims


def compute_weighted_loss(losses, weights=1.0, scope=None):
    """The sum of the losses times their weights, divided by the number of weights that are not 0."""
    return tf.losses.compute_weighted_loss(losses, _weights(weights, _rank(losses)), scope)


def absolute_difference(predictions, labels=None, weights=1.0, scope=None):
    """|predictions - labels|."""
    return tf.losses.absolute_difference(labels, predictions, _weights(weights, _rank(predictions)), scope)


def mean_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """(predictions - labels)²."""
    return tf.losses.mean_squared_error(labels, predictions, _weights(weights, _rank(predictions)), scope)


def mean_pairwise_squared_error(predictions, labels=None, weights=1.0, scope=None):
    """The mean squared difference between the errors of all pairs of elements of an example."""
    return tf.losses.mean_pairwise_squared_error(labels, predictions, weights, scope)


def cosine_distance(predictions, labels=None, axis=None, weights=1.0, scope=None, dim=None):
    """1 - the sum of labels * predictions along an axis."""
    return tf.losses.cosine_distance(labels, predictions, dim if axis is None else axis,
                                     _weights(weights, _rank(predictions)), scope)


def log_loss(predictions, labels=None, weights=1.0, epsilon=1e-7, scope=None):
    """-labels * log(predictions + epsilon) - (1 - labels) * log(1 - predictions + epsilon)."""
    return tf.losses.log_loss(labels, predictions, _weights(weights, _rank(predictions)), epsilon, scope)


def sigmoid_cross_entropy(logits, multi_class_labels, weights=1.0, label_smoothing=0, scope=None):
    """tf.nn.sigmoid_cross_entropy_with_logits of each element."""
    return tf.losses.sigmoid_cross_entropy(multi_class_labels, logits, _weights(weights, _rank(logits)),
                                           label_smoothing, scope)


def softmax_cross_entropy(logits, onehot_labels, weights=1.0, label_smoothing=0, scope=None):
    """tf.nn.softmax_cross_entropy_with_logits of each example."""
    return tf.losses.softmax_cross_entropy(onehot_labels, logits, _weights(weights, 1), label_smoothing, scope)


def sparse_softmax_cross_entropy(logits, labels, weights=1.0, scope=None):
    """tf.nn.sparse_softmax_cross_entropy_with_logits of each example."""
    labels = tf.reshape(labels, [tf.shape(labels)[0]])
    return tf.losses.sparse_softmax_cross_entropy(labels, logits, _weights(weights, 1), scope)


def hinge_loss(logits, labels=None, scope=None):
    """max(0, 1 - (2 * labels - 1) * logits) of each element, for labels 0 and 1. It is in no collection."""
    with tf.name_scope(scope, "hinge_loss", [logits, labels]):
        logits.shape.assert_is_compatible_with(tf.convert_to_tensor(labels).shape)
        labels = tf.cast(labels, tf.float32)
        return tf.nn.relu(1.0 - (2 * labels - 1) * logits)
