"""tf.contrib.losses.metric_learning: losses of embeddings whose examples have labels.

As in TensorFlow, these losses are not added to the collection of losses.
"""

import tensorbraid as tf

__all__ = ["contrastive_loss", "lifted_struct_loss", "npairs_loss", "pairwise_distance", "triplet_semihard_loss"]


def pairwise_distance(feature, squared=False):
    """The Euclidean distances between the rows of `feature` [n, features]: a matrix [n, n] with 0 on its diagonal."""
    feature = tf.convert_to_tensor(feature)
    squares = tf.reduce_sum(tf.square(feature), axis=1, keepdims=True)
    distances = tf.maximum(squares + tf.transpose(squares) - 2.0 * tf.matmul(feature, feature, transpose_b=True), 0.0)
    if not squared:
        # The derivative of the square root is infinite at 0.
        zero = tf.cast(distances <= 0.0, distances.dtype)
        distances = tf.sqrt(distances + zero * 1e-16) * (1.0 - zero)
    return distances * (1.0 - tf.eye(tf.shape(feature)[0], dtype=distances.dtype))


def contrastive_loss(labels, embeddings_anchor, embeddings_positive, margin=1.0):
    """The contrastive loss of pairs (anchor, positive) [batch, features] with labels [batch] of 0 or 1.

    A pair with the label 1 costs distance², a pair with the label 0 costs max(0, margin - distance)². The loss is the
    mean of the costs. Source: Hadsell et al., 2006.
    """
    distances = tf.sqrt(tf.reduce_sum(tf.squared_difference(embeddings_anchor, embeddings_positive), 1))
    labels = tf.cast(labels, tf.float32)
    return tf.reduce_mean(labels * tf.square(distances) + (1.0 - labels) * tf.square(
        tf.maximum(margin - distances, 0.0)), name="contrastive_loss")


def _same_label(labels):
    """A bool matrix [n, n] that is true where two examples have the same label."""
    labels = tf.reshape(labels, [tf.shape(labels)[0], 1])
    return tf.equal(labels, tf.transpose(labels))


def _masked_extreme(data, mask, sign):
    """The greatest (sign 1) or smallest (sign -1) element of each row where the mask is 1, as a column."""
    # Relative to the row's opposite extreme no element is worse than 0, which elements outside of the mask become.
    origin = sign * tf.reduce_min(sign * data, 1, keepdims=True)
    return sign * tf.reduce_max(sign * (data - origin) * mask, 1, keepdims=True) + origin


def triplet_semihard_loss(labels, embeddings, margin=1.0):
    """The triplet loss with semi-hard negatives of embeddings [batch, features] with labels [batch].

    An anchor and a positive are two examples with the same label. Each such pair costs
    max(0, margin + distance(anchor, positive) - distance(anchor, negative)), where distances are squared. The negative
    is the closest example of another label that is farther from the anchor than the positive. If no example is farther,
    it is the farthest example of another label. The loss is the mean of the costs. Source: Schroff et al., 2015.
    """
    distances = pairwise_distance(embeddings, squared=True)
    same = _same_label(labels)
    other, size = tf.logical_not(same), tf.size(labels)
    # The row (j, i) has the distances of the anchor i to all examples. They are compared with that to the positive j.
    tiled = tf.tile(distances, [size, 1])
    farther = tf.logical_and(tf.tile(other, [size, 1]), tf.greater(tiled, tf.reshape(tf.transpose(distances), [-1, 1])))
    has_farther = tf.transpose(tf.reshape(tf.reduce_any(farther, 1), [size, size]))
    outside = tf.reshape(_masked_extreme(tiled, tf.cast(farther, tf.float32), -1), [size, size])
    inside = tf.tile(_masked_extreme(distances, tf.cast(other, tf.float32), 1), [1, size])
    negatives = tf.where(has_farther, tf.transpose(outside), inside)
    pairs = tf.cast(same, tf.float32) - tf.eye(size)
    return tf.div(tf.reduce_sum(tf.maximum((margin + distances - negatives) * pairs, 0.0)), tf.reduce_sum(pairs),
                  name="triplet_semihard_loss")


def npairs_loss(labels, embeddings_anchor, embeddings_positive, reg_lambda=0.002, print_losses=False):
    """The N-pairs loss of anchors and positives [batch, features] with labels [batch].

    The loss is the softmax cross entropy of the rows of anchors · positivesᵀ with targets that are equal for all
    positives with the anchor's label. The regularization, reg_lambda / 4 times the mean squared norm of the anchors and
    of the positives, is added. Source: Sohn, 2016.
    """
    norms = sum(tf.reduce_mean(tf.reduce_sum(tf.square(embeddings), 1))
                for embeddings in (embeddings_anchor, embeddings_positive))
    products = tf.matmul(embeddings_anchor, embeddings_positive, transpose_a=False, transpose_b=True)
    targets = tf.cast(_same_label(labels), tf.float32)
    targets /= tf.reduce_sum(targets, 1, keepdims=True)
    entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(logits=products, labels=targets), name="xentropy")
    penalty = tf.multiply(0.25 * reg_lambda, norms, name="l2loss")
    if print_losses:
        entropy = tf.Print(entropy, ["cross entropy:", entropy, "l2loss:", penalty])
    return penalty + entropy


def lifted_struct_loss(labels, embeddings, margin=1.0):
    """The lifted structured loss of embeddings [batch, features] with labels [batch].

    A pair of examples i and j with the same label costs max(0, distance(i, j) + log Σ exp(margin - distance))². The sum
    is over the distances of i, and of j, to examples of other labels. The loss is half the mean of the costs. Source:
    Song et al., 2016.
    """
    distances = pairwise_distance(embeddings)
    same = _same_label(labels)
    size, other = tf.size(labels), tf.cast(tf.logical_not(same), tf.float32)
    differences = margin - distances
    farthest = _masked_extreme(differences, other, 1)
    # maxima[i, j] is the larger maximum of the rows i and j. Subtracting it keeps the exponentials finite.
    maxima = tf.maximum(farthest, tf.transpose(farthest))
    loss_exp = _of_both(differences, other, maxima)
    hinges = tf.log(loss_exp) + maxima + distances
    pairs = tf.cast(same, tf.float32) - tf.eye(size)
    return tf.truediv(0.25 * tf.reduce_sum(tf.square(tf.maximum(hinges * pairs, 0.0))), tf.reduce_sum(pairs) / 2.0,
                      name="liftedstruct_loss")


def _of_both(differences, mask, maxima):
    """A matrix with the sum of exp(difference - maxima[i, j]) over the negatives of i and those of j for each i, j."""
    of_first = tf.reduce_sum(tf.exp(tf.expand_dims(differences, 1) - tf.expand_dims(maxima, 2)) * tf.expand_dims(mask, 1),
                             2)
    return of_first + tf.transpose(of_first)
