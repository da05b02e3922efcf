"""The base class of optimizers that wrap another optimizer."""

from tensorbraid.train.optimizer import Optimizer

__all__ = []


class OptimizerWrapper(Optimizer):
    """Computes gradients with the wrapped optimizer, `_opt`, which also has the slots.

    Derived classes override apply_gradients, or make a C++ object that wraps that of `_opt`.
    """

    def __init__(self, opt, use_locking, name):
        super().__init__(use_locking, name)
        self._opt = opt

    def compute_gradients(self, *args, **kwargs):
        """The gradients that the wrapped optimizer computes."""
        return self._opt.compute_gradients(*args, **kwargs)

    def get_slot(self, var, name):
        """The wrapped optimizer's slot of this name for the variable."""
        return self._opt.get_slot(var, name)

    def get_slot_names(self):
        """The names of the wrapped optimizer's slots."""
        return self._opt.get_slot_names()

    def variables(self):
        """The wrapped optimizer's variables."""
        return self._opt.variables()
