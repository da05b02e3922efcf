"""Optimizers for recommenders that train without end. Names are DeepRec's; RowwiseAdagradOptimizer is not in it."""

from typing import Any

from tensorbraid import _core
from tensorbraid.internal import arguments
from tensorbraid.train.rules import AdamOptimizer, _Rule

__all__ = ["AdagradDecayOptimizer", "AdamAsyncOptimizer", "AdamWOptimizer", "RowwiseAdagradOptimizer"]


class AdamAsyncOptimizer(_Rule):
    """Adam that counts the updates of each variable by itself, for workers that do not wait for each other.

    The powers of `beta1` and `beta2` are slots of a variable, which each of its updates multiplies. An update by rows
    changes the means of these rows only. With `apply_sparse_rmsprop`, updates by rows are RMSProp's with the momentum
    `beta1` and the decay `beta2`, and do not change the powers.
    """

    def __init__(self, learning_rate: Any = 0.001, beta1: Any = 0.9, beta2: Any = 0.999, epsilon=1e-8,
                 use_locking=False, apply_sparse_rmsprop=False, name="AdamAsync"):
        super().__init__("adam_async", use_locking, name, dict(
            learning_rate=learning_rate, beta1=beta1, beta2=beta2, epsilon=epsilon,
            apply_sparse_rmsprop=bool(apply_sparse_rmsprop)),
                         _lr=learning_rate, _beta1=beta1, _beta2=beta2, _epsilon=epsilon)


class AdagradDecayOptimizer(_Rule):
    """Adagrad whose sums decay with the global step, so that it does not stop learning.

    The accumulator is multiplied by `accumulator_decay_rate` once in each `accumulator_decay_step` steps of
    `global_step`, but not below its initial value. What was not updated meanwhile makes up for one decay in each later
    update.
    """

    def __init__(self, learning_rate, global_step, initial_accumulator_value=0.1, accumulator_decay_step=100000,
                 accumulator_decay_rate=0.9, use_locking=False, name="AdagradDecay"):
        if arguments.number("initial_accumulator_value", initial_accumulator_value) <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        if arguments.integer("accumulator_decay_step", accumulator_decay_step) < 1:
            raise ValueError(f"accumulator_decay_step must be positive: {accumulator_decay_step}")
        if not isinstance(global_step, _core.Variable):
            raise TypeError(arguments.must_be("global_step", "a tf.Variable", global_step))
        super().__init__("adagrad_decay", use_locking, name, dict(
            learning_rate=learning_rate, global_step=global_step, initial_accumulator_value=initial_accumulator_value,
            accumulator_decay_step=accumulator_decay_step, accumulator_decay_rate=accumulator_decay_rate))


class RowwiseAdagradOptimizer(_Rule):
    """Adagrad with one sum for each row of a variable: of the means of the squares of its gradients.

    A row is what one index of the first dimension names; a scalar is one row. The slot "accumulator" has the shape
    [rows, 1], so it takes 4 bytes a row in a growing table. Not in TensorFlow or DeepRec.
    """

    def __init__(self, learning_rate, initial_accumulator_value=0.1, use_locking=False, name="RowwiseAdagrad"):
        if arguments.number("initial_accumulator_value", initial_accumulator_value) <= 0.0:
            raise ValueError(f"initial_accumulator_value must be positive: {initial_accumulator_value}")
        super().__init__("rowwise_adagrad", use_locking, name, dict(
            learning_rate=learning_rate, initial_accumulator_value=initial_accumulator_value))


class AdamWOptimizer(AdamOptimizer):
    """Adam with decoupled weight decay: variables lose `weight_decay` times their value before Adam's update.

    With `decay_var_list`, only these variables decay. Rows of a growing table decay when they have a gradient, by
    `weight_decay` times the corrected learning rate, as in DeepRec. Source: Loshchilov and Hutter, 2019.
    """

    def __init__(self, weight_decay, learning_rate=0.001, beta1=0.9, beta2=0.999, epsilon=1e-8, use_locking=False,
                 name="AdamW"):
        super().__init__(learning_rate, beta1, beta2, epsilon, use_locking, name)
        self._weight_decay = weight_decay
        self._native = "adam_w"
        self._parameters = {"weight_decay": weight_decay, **self._parameters}

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
