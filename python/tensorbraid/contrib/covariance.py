"""Metrics: the covariance and the correlation of predictions and labels, over all batches."""

import tensorbraid as tf

__all__ = ["streaming_covariance", "streaming_pearson_correlation"]


def _local(name):
    return tf.get_variable(name, [], tf.float32, tf.zeros_initializer(), trainable=False,
                           collections=[tf.GraphKeys.LOCAL_VARIABLES, tf.GraphKeys.METRIC_VARIABLES])


def _ratio(value, divisor):
    return tf.truediv(value, tf.maximum(divisor, 0))


def streaming_covariance(predictions, labels, weights=None, metrics_collections=None, updates_collections=None,
                         name=None):
    """The unbiased covariance of the predictions and labels so far, and the operation that adds a batch to it.

    An element counts `weights` times. The local variables are the count, both means, and the sum of the products of the
    deviations from the means.
    """
    with tf.variable_scope(name, "covariance", [predictions, labels, weights]):
        predictions, labels = tf.cast(predictions, tf.float32), tf.cast(labels, tf.float32)
        predictions.shape.assert_is_compatible_with(labels.shape)
        count, mean_prediction, mean_label, comoment = map(
            _local, ("count", "mean_prediction", "mean_label", "comoment"))
        if weights is None:
            weights = tf.ones_like(predictions)
        else:
            weights = tf.cast(weights, tf.float32) * tf.ones_like(predictions)
        batch_count = tf.reduce_sum(weights)
        # The moments of the batch, which are then merged with those of all batches before (Chan et al., 1979).
        batch_predictions = tf.div_no_nan(tf.reduce_sum(predictions * weights), batch_count)
        batch_labels = tf.div_no_nan(tf.reduce_sum(labels * weights), batch_count)
        batch_comoment = tf.reduce_sum((predictions - batch_predictions) * (labels - batch_labels) * weights)
        before = tf.identity(count)
        after = before + batch_count
        to_prediction, to_label = batch_predictions - mean_prediction, batch_labels - mean_label
        part = tf.div_no_nan(batch_count, after)
        new = [after, mean_prediction + to_prediction * part, mean_label + to_label * part,
               comoment + batch_comoment + to_prediction * to_label * before * part]
        with tf.control_dependencies(new):
            updates = [tf.assign(variable, value) for variable, value in
                       zip((count, mean_prediction, mean_label, comoment), new)]

        def covariance(total, number):
            return tf.where(tf.less_equal(number, 1.0), tf.fill([], float("nan")), tf.truediv(total, number - 1.0))

        value = covariance(comoment, count)
        with tf.control_dependencies(updates):
            update = covariance(new[3], new[0])
    return _collected(value, update, metrics_collections, updates_collections)


def streaming_pearson_correlation(predictions, labels, weights=None, metrics_collections=None,
                                  updates_collections=None, name=None):
    """Pearson's correlation coefficient of the predictions and labels so far, and the operation that adds a batch."""
    with tf.variable_scope(name, "pearson_r", [predictions, labels, weights]):
        pairs = [streaming_covariance(first, second, weights, name=part) for first, second, part in (
            (predictions, labels, "covariance"), (predictions, predictions, "variance_predictions"),
            (labels, labels, "variance_labels"))]
        value, update = (tf.truediv(together, tf.sqrt(of_predictions) * tf.sqrt(of_labels), name=part)
                         for (together, of_predictions, of_labels), part in zip(zip(*pairs), ("pearson_r", "update_op")))
    return _collected(value, update, metrics_collections, updates_collections)


def _collected(value, update, metrics_collections, updates_collections):
    if metrics_collections:
        tf.add_to_collections(metrics_collections, value)
    if updates_collections:
        tf.add_to_collections(updates_collections, update)
    return value, update
