"""tensorflow.python.ops.weights_broadcast_ops: checks weights against the shape of values, and broadcasts them."""

import tensorbraid as tf

__all__ = ["assert_broadcastable", "broadcast_weights"]


def assert_broadcastable(weights, values):
    """An operation that fails unless `weights` is a scalar or has the rank of `values` and sizes that are equal or 1.

    ValueError if the static shapes do not fit.
    """
    with tf.name_scope(None, "assert_broadcastable", [weights, values]) as scope:
        weights, values = tf.convert_to_tensor(weights, name="weights"), tf.convert_to_tensor(values, name="values")
        of_weights, of_values = weights.shape, values.shape
        if of_weights.ndims == 0:
            return tf.no_op(name="static_scalar_check_success")
        text = (f"weights can not be broadcast to values. values.rank={of_values.ndims}. "
                f"weights.rank={of_weights.ndims}. values.shape={of_values}. weights.shape={of_weights}.")
        if of_weights.ndims is not None and of_values.ndims is not None:
            if of_weights.ndims != of_values.ndims:
                raise ValueError(text)
            pairs = list(zip(of_weights.as_list(), of_values.as_list()))
            if any(None not in pair and pair[0] not in (1, pair[1]) for pair in pairs):
                raise ValueError(text)
            if all(one == 1 or (one is not None and one == other) for one, other in pairs):
                return tf.no_op(name="static_dims_check_success")
        ranks = tf.rank(weights), tf.rank(values)

        def fits():
            shape = tf.shape(weights)
            return tf.reduce_all(tf.logical_or(tf.equal(shape, 1), tf.equal(shape, tf.shape(values))))

        fit = tf.logical_or(tf.equal(ranks[0], 0),
                            tf.cond(tf.equal(*ranks), fits, lambda: tf.constant(False)))
        return tf.Assert(fit, ["weights can not be broadcast to values.", tf.shape(weights), tf.shape(values)],
                         name=scope)


def broadcast_weights(weights, values):
    """Broadcasts the weights to the shape of the values. Fails like assert_broadcastable if they do not fit."""
    with tf.name_scope(None, "broadcast_weights", [weights, values]) as scope:
        values = tf.convert_to_tensor(values, name="values")
        weights = tf.convert_to_tensor(weights, values.dtype.base_dtype, name="weights")
        if weights.shape.is_fully_defined() and values.shape.is_fully_defined() and weights.shape == values.shape:
            return weights
        with tf.control_dependencies([assert_broadcastable(weights, values)]):
            return tf.multiply(weights, tf.ones_like(values), name=scope)
