"""tensorflow.python.training.moving_averages: the update of one average."""

import tensorbraid as tf
from tensorbraid.train.moving_average import ExponentialMovingAverage  # noqa: F401

__all__ = ["assign_moving_average"]


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
    """Moves a variable towards a value: variable -= (1 - decay) * (variable - value). Returns the new value.

    With zero_debias the variable gets the average of the values only, without its own first value. Two further
    variables in the scope of the variable's name hold the sum and the number of updates.
    """
    with tf.name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rate = tf.subtract(tf.constant(1.0, variable.dtype.base_dtype), tf.cast(decay, variable.dtype.base_dtype))
        value = tf.convert_to_tensor(value)
        if not zero_debias:
            return tf.assign_sub(variable, (variable - value) * rate, name=scope)
        with tf.variable_scope(variable.op.name, values=[variable, value, decay]):
            zeros = tf.zeros_initializer()
            biased = tf.get_variable("biased", variable.shape, variable.dtype.base_dtype, zeros, trainable=False)
            step = tf.get_variable("local_step", [], variable.dtype.base_dtype, zeros, trainable=False)
        total = tf.assign_sub(biased, (biased - value) * rate)
        factor = 1.0 - tf.pow(1.0 - rate, tf.assign_add(step, 1.0))
        return tf.assign(variable, total / factor, name=scope)
