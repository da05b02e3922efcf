"""tf.contrib.opt: optimizers."""

import tensorbraid as tf
from tensorbraid.train.rules import AdamOptimizer

__all__ = ["AdamWOptimizer", "LazyAdamOptimizer"]


class AdamWOptimizer(AdamOptimizer):
    """Adam with decoupled weight decay: variables lose `weight_decay` times their value before Adam's update.

    With `decay_var_list`, only these variables decay. Source: Loshchilov and Hutter, 2019.
    """

    def __init__(self, weight_decay, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False,
                 name="AdamW"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._weight_decay = weight_decay
        self._native = "adam_w"
        self._parameters = (weight_decay, *self._parameters)

    def minimize(self, loss, global_step=None, var_list=None, gate_gradients=AdamOptimizer.GATE_OP,
                 aggregation_method=None, colocate_gradients_with_ops=False, name=None, grad_loss=None,
                 decay_var_list=None):
        """The operation that does one training step."""
        self._decay_only(decay_var_list)
        return super().minimize(loss, global_step, var_list, gate_gradients, aggregation_method,
                                colocate_gradients_with_ops, name, grad_loss)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None, decay_var_list=None):
        """The operation that updates the variables, and then increments `global_step`."""
        if decay_var_list is not None:
            self._decay_only(decay_var_list)
        return super().apply_gradients(grads_and_vars, global_step=global_step, name=name)

    def _decay_only(self, variables):
        self._library._set_decay_variables(list(variables or []))


class LazyAdamOptimizer(AdamOptimizer):
    """Adam, in which a step that uses some rows of a variable changes the means of these rows only."""

    def _apply_sparse(self, grad, var):
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
