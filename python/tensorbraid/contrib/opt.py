"""tf.contrib.opt: optimizers."""

import tensorbraid as tf
from tensorbraid.train.optimizer_wrapper import OptimizerWrapper
from tensorbraid.train.recommender_rules import AdamWOptimizer
from tensorbraid.train.rules import AdamOptimizer

__all__ = ["AdamWOptimizer", "LazyAdamOptimizer", "MovingAverageOptimizer"]


class LazyAdamOptimizer(AdamOptimizer):
    """Adam, in which a step that uses some rows of a variable changes the means of these rows only.

    Of a growing table, AdamOptimizer itself changes these rows only, so both are the same there.
    """

    _updates_tables = True

    def _apply_sparse(self, grad, var):
        if var._table is not None:
            return super()._apply_sparse(grad, var)
        kind = var.dtype.base_dtype
        rate, beta1, beta2, epsilon = (
            tf.cast(value, kind) for value in (self._lr_t, self._beta1_t, self._beta2_t, self._epsilon_t))
        power1, power2 = (tf.cast(power, kind) for power in self._get_beta_accumulators())
        first, second = self.get_slot(var, "m"), self.get_slot(var, "v")
        rows, values = grad.indices, grad.values
        mean = beta1 * tf.gather(first, rows) + (1 - beta1) * values
        square = beta2 * tf.gather(second, rows) + (1 - beta2) * tf.square(values)
        step = rate * tf.sqrt(1 - power2) / (1 - power1) * mean / (tf.sqrt(square) + epsilon)
        return tf.group(tf.scatter_update(first, rows, mean), tf.scatter_update(second, rows, square),
                        tf.scatter_sub(var, rows, step))


class MovingAverageOptimizer(OptimizerWrapper):
    """Wraps an optimizer and updates moving averages of the variables in each of its steps.

    With `sequential_update`, the averages use the values after the step; otherwise they may use the values before it.
    """

    def __init__(self, opt, average_decay=0.9999, num_updates=None, sequential_update=True):
        super().__init__(opt, False, opt.get_name())
        self._sequential = sequential_update
        self._average = tf.train.ExponentialMovingAverage(average_decay, num_updates)
        self._averaged = None  # after apply_gradients: {name of a variable: its average}

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation that updates the variables and their averages."""
        grads_and_vars = list(grads_and_vars)
        train = self._opt.apply_gradients(grads_and_vars, global_step, name)
        variables = [variable for _, variable in grads_and_vars]
        with tf.control_dependencies([train] if self._sequential else []):
            average = self._average.apply(variables)
        self._averaged = {variable.op.name: self._average.average(variable) for variable in variables}
        return tf.group(train, average)

    def swapping_saver(self, var_list=None, name="swapping_saver", **kwargs):
        """A Saver that exchanges names: it saves averages under the names of the variables, and the other way round.

        A program that restores the checkpoint with an ordinary Saver then uses the averages. RuntimeError before
        apply_gradients was called; ValueError if a variable with an average is not in `var_list`.
        """
        if self._averaged is None:
            raise RuntimeError("Must call apply_gradients or minimize before creating the swapping_saver")
        variables = tf.global_variables() if var_list is None else var_list
        names = dict(variables) if isinstance(variables, dict) else {v.op.name: v for v in variables}
        by_variable = {variable.op.name: name for name, variable in names.items()}
        swapped = dict(names)
        for name, average in self._averaged.items():
            if name not in by_variable:
                raise ValueError(f"Variable to swap {name} is not among the variables that are saved")
            own, other = by_variable[name], by_variable.get(average.op.name, average.op.name)
            swapped[other], swapped[own] = names[own], average
        return tf.train.Saver(swapped, name=name, **kwargs)
