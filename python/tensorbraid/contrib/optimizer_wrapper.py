"""The base class of optimizers that wrap another optimizer and change its gradients or its updates."""

import tensorbraid as tf

__all__ = []


class OptimizerWrapper(tf.train.Optimizer):
    """Passes all calls to another optimizer. Derived classes override a method, usually apply_gradients."""

    def __init__(self, optimizer, name):
        super().__init__(False, name)
        self._optimizer = optimizer

    def compute_gradients(self, *args, **kwargs):
        """The gradients that the wrapped optimizer computes."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The wrapped optimizer's operation that updates the variables."""
        return self._optimizer.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, var, name):
        """The wrapped optimizer's slot of this name for the variable."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self):
        """The names of the wrapped optimizer's slots."""
        return self._optimizer.get_slot_names()

    def variables(self):
        """The wrapped optimizer's variables."""
        return self._optimizer.variables()
