"""An optimizer that clips the gradients of another one."""

import tensorbraid as tf

__all__ = ["clip_gradients_by_norm"]


class _Clipped(tf.train.Optimizer):
    """Passes the gradients to another optimizer, those with a greater norm scaled down to `clip_norm`."""

    def __init__(self, optimizer, clip_norm):
        super().__init__(False, "ClipByNorm" + optimizer.get_name())
        self._optimizer, self._clip_norm = optimizer, clip_norm

    def compute_gradients(self, *args, **kwargs):
        """The gradients of the other optimizer."""
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The operation of the other optimizer that updates the variables with the clipped gradients."""
        clipped = [(gradient if gradient is None else tf.clip_by_norm(gradient, self._clip_norm), variable)
                   for gradient, variable in grads_and_vars]
        return self._optimizer.apply_gradients(clipped, global_step, name)

    def get_slot(self, var, name):
        """The slot of the other optimizer."""
        return self._optimizer.get_slot(var, name)

    def get_slot_names(self):
        """The names of the slots of the other optimizer."""
        return self._optimizer.get_slot_names()

    def variables(self):
        """The variables of the other optimizer."""
        return self._optimizer.variables()


def clip_gradients_by_norm(optimizer, clip_norm):
    """An optimizer that updates variables as this one does, with gradients of at most this norm."""
    return _Clipped(optimizer, clip_norm)
