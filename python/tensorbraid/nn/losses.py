"""Losses of examples: cross entropies, CTC and others."""

import math

from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import make_op
from tensorbraid.ops.node import cast, known_rank, one_axis, op, reduce, shape_of, tensor, zeros_like
from tensorbraid.ops.special_math import in_top_k, top_k

__all__ = ["compute_average_loss", "in_top_k", "l2_loss", "log_poisson_loss", "scale_regularization_loss",
           "sigmoid_cross_entropy_with_logits", "softmax_cross_entropy_with_logits",
           "softmax_cross_entropy_with_logits_v2", "sparse_softmax_cross_entropy_with_logits",
           "top_k", "weighted_cross_entropy_with_logits"]


def _both(function, sentinel, labels, logits):
    if sentinel is not None:
        raise ValueError(f"Only call `{function}` with named arguments (labels=..., logits=...): their order differs "
                         "between versions of TensorFlow")
    if labels is None or logits is None:
        raise ValueError(f"Both labels and logits must be provided to {function}.")


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None):
    """The loss of each example: -sum(labels * log softmax(logits)) along an axis, by default the last.

    `logits` are scores, not probabilities. `labels` have their shape and floating dtype, and are probabilities that sum
    to 1. The result has the shape of `logits` without the axis. Raises ValueError for shapes that do not fit.
    """
    axis = one_axis(axis, dim)
    axis = -1 if axis is None else axis
    if labels is None or logits is None:
        raise ValueError("Both labels and logits must be provided.")
    with graphs.name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as scope:
        logits = tensor(logits, name="logits")
        labels = cast(tensor(labels, name="labels"), logits.dtype)  # labels of another dtype are converted
        rank = known_rank(logits, "logits")
        if axis not in (-1, rank - 1):
            order = list(range(rank))
            order.append(order.pop(axis))
            logits, labels = op("Transpose", [logits, order]), op("Transpose", [labels, order])
        if rank == 2 and labels.shape.ndims == 2:
            return make_op("SoftmaxCrossEntropyWithLogits", [logits, labels], scope).outputs[0]
        classes = op("StridedSlice", [shape_of(logits), [rank - 1], [rank], [1]])
        flat = op("ConcatV2", [[[-1], classes], 0])  # also of labels that have more axes than the logits
        loss = make_op("SoftmaxCrossEntropyWithLogits", [op("Reshape", [logits, flat]), op("Reshape", [labels, flat])],
                       scope).outputs[0]
        loss = op("Reshape", [loss, op("StridedSlice", [shape_of(logits), [0], [rank - 1], [1]])])
        loss.set_shape(logits.shape[:-1])
        return loss


def softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, dim=-1, name=None, axis=None):
    """As softmax_cross_entropy_with_logits_v2, without a gradient for the labels. Arguments must be named."""
    _both("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    axis = one_axis(axis, dim)
    with graphs.name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as scope:
        labels = op("StopGradient", [tensor(labels)], "labels_stop_gradient")
        return softmax_cross_entropy_with_logits_v2(labels, logits, axis, scope)


def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """The loss of each example: -log softmax(logits)[label].

    `logits` are scores [..., classes] of a floating dtype; `labels` are numbers of classes [...], int32 or int64. The
    result has the shape of `labels`. A label that is no class fails the step with InvalidArgumentError.
    """
    _both("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with graphs.name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels, logits = tensor(labels), tensor(logits)
        if logits.shape.ndims == 0:
            raise ValueError(f"`logits` cannot be a scalar. Received logits={logits}")
        ranks = labels.shape.ndims, logits.shape.ndims
        if None not in ranks and ranks[0] != ranks[1] - 1:
            raise ValueError(f"`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape="
                             f"{labels.shape} of rank {ranks[0]} and logits.shape={logits.shape} of rank {ranks[1]}")
        if ranks[1] in (2, None):
            return make_op("SparseSoftmaxCrossEntropyWithLogits", [logits, labels]).outputs[0]
        classes = op("StridedSlice", [shape_of(logits), [ranks[1] - 1], [ranks[1]], [1]])
        flat = op("Reshape", [logits, op("ConcatV2", [[[-1], classes], 0])])
        loss = make_op("SparseSoftmaxCrossEntropyWithLogits", [flat, op("Reshape", [labels, [-1]])]).outputs[0]
        return op("Reshape", [loss, shape_of(labels)])


def _same_shape(name, labels, logits):
    if not labels.shape.is_compatible_with(logits.shape):
        raise ValueError(f"`logits` and `{name}` must have the same shape, received ({logits.shape} vs "
                         f"{labels.shape}).")


def sigmoid_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """The loss of each independent class: -labels * log(sigmoid(logits)) - (1 - labels) * log(1 - sigmoid(logits))."""
    _both("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with graphs.name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = tensor(logits, name="logits")
        labels = tensor(labels, logits.dtype, name="labels")
        _same_shape("labels", labels, logits)
        zeros = zeros_like(logits)
        positive = op("GreaterEqual", [logits, zeros])
        relu = op("Select", [positive, logits, zeros])
        minus_abs = op("Select", [positive, op("Neg", [logits]), logits])
        return op("AddV2", [relu - logits * labels, op("Log1p", [op("Exp", [minus_abs])])], scope)


def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None):
    """sigmoid_cross_entropy_with_logits with the loss of positive labels times `pos_weight`."""
    labels = targets if labels is None else labels
    with graphs.name_scope(name, "logistic_loss", [logits, labels]) as scope:
        logits = tensor(logits, name="logits")
        labels = tensor(labels, logits.dtype, name="labels")
        _same_shape("labels", labels, logits)
        weight = 1 + (pos_weight - 1) * labels
        soft = op("Log1p", [op("Exp", [op("Neg", [op("Abs", [logits])])])]) + op("Relu", [op("Neg", [logits])])
        return op("AddV2", [(1 - labels) * logits, weight * soft], scope)


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """exp(log_input) - targets * log_input, and Stirling's approximation of log(targets!) with `compute_full_loss`."""
    with graphs.name_scope(name, "log_poisson_loss", [log_input, targets]):
        log_input = tensor(log_input, name="log_input")
        targets = tensor(targets, log_input.dtype, name="targets")
        _same_shape("targets", targets, log_input)
        result = op("Exp", [log_input]) - log_input * targets
        if compute_full_loss:
            full = targets * op("Log", [targets]) - targets + 0.5 * op("Log", [targets * (2 * math.pi)])
            zeros, ones = zeros_like(targets), op("OnesLike", [targets])
            below = op("LogicalAnd", [op("GreaterEqual", [targets, zeros]), op("LessEqual", [targets, ones])])
            result = result + op("Select", [below, zeros, full])
        return result


def l2_loss(t, name=None):
    """sum(t²) / 2."""
    return op("L2Loss", [t], name)


def scale_regularization_loss(regularization_loss):
    """The sum of the penalties, divided by the number of replicas, which is 1."""
    loss = tensor(regularization_loss)
    return reduce("Sum", loss, None)


def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """The sum of the losses of the examples, times their weights, divided by the size of the batch."""
    from tensorbraid import losses

    loss = tensor(per_example_loss)
    kind = loss.dtype
    if sample_weight is not None:
        loss = losses.compute_weighted_loss(loss, sample_weight, loss_collection=None, reduction=losses.Reduction.NONE)
    if loss.shape.ndims == 0:
        raise ValueError("`per_example_loss` must be a vector or tensor of losses of the examples, not a scalar.")
    if global_batch_size is None:
        global_batch_size = op("StridedSlice", [shape_of(loss), [0], [1], [1]], shrink_axis_mask=1)
    size = tensor(global_batch_size)
    if not size.dtype.is_integer:
        raise TypeError(f"`global_batch_size` must be an int, not {size.dtype.name}.")
    if size.shape.ndims not in (0, None):
        raise ValueError("`global_batch_size` must be a scalar.")
    loss = cast(loss, kind)
    return op("RealDiv", [reduce("Sum", loss, None), cast(size, kind)])
