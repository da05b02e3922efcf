"""The losses of tf.contrib.legacy_seq2seq, and models for several lengths."""

import tensorbraid as tf

__all__ = ["model_with_buckets", "sequence_loss", "sequence_loss_by_example"]


def sequence_loss_by_example(logits, targets, weights, average_across_timesteps=True, softmax_loss_function=None,
                             name=None):
    """The cross-entropy of each example, summed over lists of logits, targets and weights, one item for each time."""
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(f"Lengths of logits, weights, and targets must be the same {len(logits)}, {len(weights)}, "
                         f"{len(targets)}.")
    with tf.name_scope(name, "sequence_loss_by_example", logits + targets + weights):
        losses = []
        for logit, target, weight in zip(logits, targets, weights):
            if softmax_loss_function is None:
                loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.reshape(target, [-1]), logits=logit)
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total = tf.add_n(losses)
        return total / (tf.add_n(weights) + 1e-12) if average_across_timesteps else total  # weights may all be 0


def sequence_loss(logits, targets, weights, average_across_timesteps=True, average_across_batch=True,
                  softmax_loss_function=None, name=None):
    """The sum or the mean of sequence_loss_by_example over the examples."""
    with tf.name_scope(name, "sequence_loss", logits + targets + weights):
        cost = tf.reduce_sum(sequence_loss_by_example(logits, targets, weights, average_across_timesteps,
                                                      softmax_loss_function))
        return cost / tf.cast(tf.shape(targets[0])[0], cost.dtype) if average_across_batch else cost


def model_with_buckets(encoder_inputs, decoder_inputs, targets, weights, buckets, seq2seq, softmax_loss_function=None,
                       per_example_loss=False, name=None):
    """seq2seq(encoder inputs, decoder inputs) for each bucket, a pair of lengths. Returns outputs and losses."""
    for what, values, length in (("encoder_inputs", encoder_inputs, buckets[-1][0]),
                                 ("targets", targets, buckets[-1][1]), ("weights", weights, buckets[-1][1])):
        if len(values) < length:
            raise ValueError(f"Length of {what} ({len(values)}) must be at least that of last bucket ({length}).")
    loss_of = sequence_loss_by_example if per_example_loss else sequence_loss
    losses, outputs = [], []
    with tf.name_scope(name, "model_with_buckets", encoder_inputs + decoder_inputs + targets + weights):
        for i, (read, written) in enumerate(buckets):
            with tf.variable_scope(tf.get_variable_scope(), reuse=True if i > 0 else None):
                made, _ = seq2seq(encoder_inputs[:read], decoder_inputs[:written])
                outputs.append(made)
                losses.append(loss_of(made, targets[:written], weights[:written],
                                      softmax_loss_function=softmax_loss_function))
    return outputs, losses
