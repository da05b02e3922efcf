"""Losses. C++ computes them; a loss is also put into a collection of the graph."""

from typing import Any

from tensorbraid import _core
from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.ops.node import op, tensor

__all__ = ["Reduction", "absolute_difference", "add_loss", "compute_weighted_loss", "cosine_distance", "get_losses",
           "get_regularization_loss", "get_regularization_losses", "get_total_loss", "hinge_loss", "huber_loss",
           "log_loss", "mean_pairwise_squared_error", "mean_squared_error", "sigmoid_cross_entropy",
           "softmax_cross_entropy", "sparse_softmax_cross_entropy"]


class Reduction:
    """How the weighted losses become one number."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"

    _NATIVE = {NONE: _core.Reduction.NONE, SUM: _core.Reduction.SUM, MEAN: _core.Reduction.MEAN,
               SUM_OVER_BATCH_SIZE: _core.Reduction.SUM_OVER_BATCH_SIZE,
               SUM_BY_NONZERO_WEIGHTS: _core.Reduction.SUM_BY_NONZERO_WEIGHTS}

    @classmethod
    def all(cls):
        """The names of all reductions."""
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_OVER_NONZERO_WEIGHTS,
                cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key):
        """Raises ValueError for what is not a reduction."""
        if key not in cls._NATIVE:
            raise ValueError(f"Invalid Reduction Key {key}.")


_LOSSES: Any = GraphKeys.LOSSES  # or None: the loss is added to no collection
_BY_NONZERO = Reduction.SUM_BY_NONZERO_WEIGHTS


def add_loss(loss, loss_collection=_LOSSES):
    """Puts a loss into a collection."""
    if loss_collection:
        graphs.add_to_collection(loss_collection, loss)


def _loss(function, tensors, numbers, weights, scope, loss_collection, reduction):
    Reduction.validate(reduction)
    if weights is None:
        raise ValueError("weights must not be None.")
    for value in tensors:
        if value is None:
            raise ValueError(f"the labels and the predictions of {function.__name__} must not be None.")
    graph = graphs.graph_of(tensors)
    with graph.as_default():
        tensors = [tensor(value) for value in tensors]
        loss = function(*tensors, *numbers, tensor(weights), Reduction._NATIVE[reduction], scope or "")
        add_loss(loss, loss_collection)
    return loss


def compute_weighted_loss(losses, weights: Any = 1.0, scope=None, loss_collection=_LOSSES,
                          reduction=_BY_NONZERO):
    """The losses times the weights, reduced to one number."""
    return _loss(_core.weighted_loss, [losses], [], weights, scope, loss_collection, reduction)


def absolute_difference(labels, predictions, weights: Any = 1.0, scope=None, loss_collection=_LOSSES,
                        reduction=_BY_NONZERO) -> graphs.Tensor:
    """|predictions - labels|."""
    return _loss(_core.absolute_difference, [labels, predictions], [], weights, scope, loss_collection, reduction)


def mean_squared_error(labels, predictions, weights: Any = 1.0, scope=None, loss_collection=_LOSSES,
                       reduction=_BY_NONZERO) -> graphs.Tensor:
    """(predictions - labels)²."""
    return _loss(_core.mean_squared_error, [labels, predictions], [], weights, scope, loss_collection, reduction)


def cosine_distance(labels, predictions, axis=None, weights: Any = 1.0, scope=None, loss_collection=_LOSSES,
                    reduction=_BY_NONZERO, dim=None):
    """1 - the sum of labels * predictions along an axis."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify argument `axis`.")
    return _loss(_core.cosine_distance, [labels, predictions], [axis], weights, scope, loss_collection, reduction)


def hinge_loss(labels, logits, weights: Any = 1.0, scope=None, loss_collection=_LOSSES, reduction=_BY_NONZERO):
    """max(0, 1 - (2 * labels - 1) * logits), for labels 0 and 1."""
    return _loss(_core.hinge_loss, [labels, logits], [], weights, scope, loss_collection, reduction)


def huber_loss(labels, predictions, weights: Any = 1.0, delta: Any = 1.0, scope=None, loss_collection=_LOSSES,
               reduction=_BY_NONZERO) -> graphs.Tensor:
    """Quadratic for errors up to `delta`, and linear beyond."""
    return _loss(_core.huber_loss, [labels, predictions], [delta], weights, scope, loss_collection, reduction)


def log_loss(labels, predictions, weights: Any = 1.0, epsilon=1e-7, scope=None, loss_collection=_LOSSES,
             reduction=_BY_NONZERO) -> graphs.Tensor:
    """-labels * log(predictions + epsilon) - (1 - labels) * log(1 - predictions + epsilon)."""
    return _loss(_core.log_loss, [labels, predictions], [epsilon], weights, scope, loss_collection, reduction)


def mean_pairwise_squared_error(labels, predictions, weights: Any = 1.0, scope=None, loss_collection=_LOSSES):
    """The mean squared difference between the errors of all pairs of elements of an example."""
    return _loss(_core.mean_pairwise_squared_error, [labels, predictions], [], weights, scope, loss_collection,
                 _BY_NONZERO)


def sigmoid_cross_entropy(multi_class_labels, logits, weights: Any = 1.0, label_smoothing: Any = 0, scope=None,
                          loss_collection=_LOSSES, reduction=_BY_NONZERO) -> graphs.Tensor:
    """tf.nn.sigmoid_cross_entropy_with_logits of each element."""
    return _loss(_core.sigmoid_cross_entropy, [multi_class_labels, logits], [label_smoothing], weights, scope,
                 loss_collection, reduction)


def softmax_cross_entropy(onehot_labels, logits, weights: Any = 1.0, label_smoothing: Any = 0, scope=None,
                          loss_collection=_LOSSES, reduction=_BY_NONZERO) -> graphs.Tensor:
    """tf.nn.softmax_cross_entropy_with_logits of each example."""
    return _loss(_core.softmax_cross_entropy, [onehot_labels, logits], [label_smoothing], weights, scope,
                 loss_collection, reduction)


def sparse_softmax_cross_entropy(labels, logits, weights: Any = 1.0, scope=None, loss_collection=_LOSSES,
                                 reduction=_BY_NONZERO) -> graphs.Tensor:
    """tf.nn.sparse_softmax_cross_entropy_with_logits of each example."""
    return _loss(_core.sparse_softmax_cross_entropy, [labels, logits], [], weights, scope, loss_collection, reduction)


def get_losses(scope=None, loss_collection=_LOSSES):
    """The losses of a collection."""
    return graphs.get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    """The penalties of regularizers."""
    return graphs.get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    """The sum of the penalties; 0 if there are none."""
    losses = get_regularization_losses(scope)
    return op("AddN", [losses], name) if losses else graphs.constant(0.0, name=name)


def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    """The sum of the losses, and of the penalties."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope)
    if not losses:
        raise ValueError("there are no losses")
    return op("AddN", [losses], name)
