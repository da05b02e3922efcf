"""Cross-entropies and an activation of Keras."""

import tensorbraid as tf
from tensorbraid.tensorflow_python.keras.settings import epsilon

__all__ = ["binary_crossentropy", "categorical_crossentropy", "hard_sigmoid", "sparse_categorical_crossentropy"]


def _logits(output, from_logits, activation):
    """The logits of an output; None if it has probabilities that no node of this op has made of logits."""
    if from_logits:
        return output
    is_activated = isinstance(output, tf.Tensor) and output.op.type == activation
    return output.op.inputs[0] if is_activated else None


def _clipped(output):
    return tf.clip_by_value(output, epsilon(), 1.0 - epsilon())


def _checked_axis(axis, rank):
    if rank is not None and not -rank <= axis < rank:
        raise ValueError(f"Unexpected channels axis {axis}. Expected to be -1 or one of the axes of `output`, which "
                         f"has {rank} dimensions.")
    return axis


def categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The cross-entropy of distributions along an axis."""
    output = tf.convert_to_tensor(output)
    _checked_axis(axis, output.shape.ndims)
    target = tf.convert_to_tensor(target, output.dtype)
    logits = _logits(output, from_logits, "Softmax")
    if logits is not None:
        return tf.nn.softmax_cross_entropy_with_logits_v2(labels=target, logits=logits, axis=axis)
    output = _clipped(output / tf.reduce_sum(output, axis, keepdims=True))
    return -tf.reduce_sum(target * tf.log(output), axis)


def sparse_categorical_crossentropy(target, output, from_logits=False, axis=-1):
    """The cross-entropy of class numbers with distributions along an axis."""
    output = tf.convert_to_tensor(output)
    rank = output.shape.ndims
    _checked_axis(axis, rank)
    logits = _logits(output, from_logits, "Softmax")
    if logits is None:
        logits = tf.log(_clipped(output))
    if rank is not None and axis % rank != rank - 1:
        axis %= rank
        logits = tf.transpose(logits, [i for i in range(rank) if i != axis] + [axis])
    labels = tf.cast(tf.reshape(target, [-1]), tf.int64)
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
        labels=labels, logits=tf.reshape(logits, [-1, tf.shape(logits)[-1]]))
    return losses if rank is not None and rank < 3 else tf.reshape(losses, tf.shape(logits)[:-1])


def binary_crossentropy(target, output, from_logits=False):
    """The cross-entropy of each number, which is a probability or a logit."""
    output = tf.convert_to_tensor(output)
    target = tf.convert_to_tensor(target, output.dtype)
    logits = _logits(output, from_logits, "Sigmoid")
    if logits is not None:
        return tf.nn.sigmoid_cross_entropy_with_logits(labels=target, logits=logits)
    output = _clipped(output)
    return -(target * tf.log(output + epsilon()) + (1.0 - target) * tf.log(1.0 - output + epsilon()))


def hard_sigmoid(x):
    """0.2 x + 0.5, between 0 and 1."""
    x = tf.convert_to_tensor(x)
    return tf.clip_by_value(0.2 * x + 0.5, tf.constant(0.0, x.dtype), tf.constant(1.0, x.dtype))
