"""What optimizers that change the gradients or the results of another one have in common."""

import tensorbraid as tf

__all__ = []


class OptimizerWrapper(tf.train.Optimizer):
    """Passes everything to another optimizer. Derived classes replace what they change, mostly apply_gradients."""

    def __init__(self, optimizer, name):
        super().__init__(False, name)
        self._optimizer = optimizer

    def compute_gradients(self, *args, **kwargs):
        """The gradients of the other optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation of the other optimizer that updates the variables."""
        return self._optimizer.apply_gradients(grads_and_vars, global_step, name)

    def get_slot(self, var, name):
        """The slot of the other optimizer."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self):
        """The names of the slots of the other optimizer."""
        return self._optimizer.get_slot_names()

    def variables(self):
        """The variables of the other optimizer."""
        return self._optimizer.variables()
