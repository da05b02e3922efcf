"""tensorflow.python.training.moving_averages: the update of one average."""

import itertools

import tensorbraid as tf
from tensorbraid.train.moving_average import ExponentialMovingAverage  # noqa: F401

__all__ = ["assign_moving_average"]


def _unused(name):
    """The name, with a number if the open variable scope has a variable of this name and does not share it."""
    scope = tf.get_variable_scope()
    if scope.reuse:
        return name
    used = {variable.op.name for variable in tf.global_variables()}
    names = itertools.chain([name], (f"{name}_{i}" for i in itertools.count(1)))
    return next(name for name in names if f"{scope.name}/{name}" not in used)


def assign_moving_average(variable, value, decay, zero_debias=True, name=None):
    """Moves a variable towards a value: variable -= (1 - decay) * (variable - value). Returns the new value.

    With zero_debias the variable gets the average of the values only, without its own first value. Two further
    variables in the scope of the variable's name hold the sum and the number of updates; a second update of the same
    variable has its own, "biased_1" and "local_step_1".
    """
    with tf.name_scope(name, "AssignMovingAvg", [variable, value, decay]) as scope:
        rate = tf.subtract(tf.constant(1.0, variable.dtype.base_dtype), tf.cast(decay, variable.dtype.base_dtype))
        value = tf.convert_to_tensor(value)
        if not zero_debias:
            return tf.assign_sub(variable, (variable - value) * rate, name=scope)
        with tf.variable_scope(variable.op.name, values=[variable, value, decay]):
            zeros = tf.zeros_initializer()
            dtype = variable.dtype.base_dtype
            biased = tf.get_variable(_unused("biased"), variable.shape, dtype, zeros, trainable=False)
            step = tf.get_variable(_unused("local_step"), [], dtype, zeros, trainable=False)
        total = tf.assign_sub(biased, (biased - value) * rate)
        factor = 1.0 - tf.pow(1.0 - rate, tf.assign_add(step, 1.0))
        return tf.assign(variable, total / factor, name=scope)
