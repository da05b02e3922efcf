"""The loss of sequences of scores."""

import tensorbraid as tf

__all__ = ["sequence_loss"]


def sequence_loss(logits, targets, weights, average_across_timesteps=True, average_across_batch=True,
                  softmax_loss_function=None, name=None, sum_over_timesteps=False, sum_over_batch=False):
    """The weighted cross-entropy of logits [batch, time, classes], averaged or summed over time and over the batch."""
    for what, value, rank in (("Logits", logits, 3), ("Targets", targets, 2), ("Weights", weights, 2)):
        if value.shape.ndims != rank:
            raise ValueError(f"{what} must be a {rank}-dimensional tensor, got the shape {value.shape}")
    if average_across_timesteps and sum_over_timesteps:
        raise ValueError("average_across_timesteps and sum_over_timesteps cannot be set to True at same time.")
    if average_across_batch and sum_over_batch:
        raise ValueError("average_across_batch and sum_over_batch cannot be set to True at same time.")
    with tf.name_scope(name, "sequence_loss", [logits, targets, weights]):
        flat_logits = tf.reshape(logits, [-1, tf.shape(logits)[2]])
        if logits.shape.as_list()[2] is not None:
            flat_logits.set_shape([None, logits.shape.as_list()[2]])
        flat_targets = tf.reshape(targets, [-1])
        if softmax_loss_function is None:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=flat_targets, logits=flat_logits)
        else:
            losses = softmax_loss_function(labels=flat_targets, logits=flat_logits)
        losses = losses * tf.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return tf.math.divide_no_nan(tf.reduce_sum(losses), tf.reduce_sum(weights))
        losses = tf.reshape(losses, tf.shape(logits)[0:2])
        if sum_over_timesteps and sum_over_batch:
            counted = tf.cast(tf.count_nonzero(weights), losses.dtype)
            return tf.math.divide_no_nan(tf.reduce_sum(losses), counted)
        for axis, average, total in ((1, average_across_timesteps, sum_over_timesteps),
                                     (0, average_across_batch, sum_over_batch)):
            if average:
                losses = tf.math.divide_no_nan(tf.reduce_sum(losses, axis), tf.reduce_sum(weights, axis))
                weights = tf.reduce_sum(weights, axis)
            elif total:
                counts = tf.cast(tf.count_nonzero(weights, axis=axis), losses.dtype)
                losses = tf.math.divide_no_nan(tf.reduce_sum(losses, axis), counts)
        return losses
