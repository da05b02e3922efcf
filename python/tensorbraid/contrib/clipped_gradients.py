"""An optimizer that clips gradients before it passes them to another optimizer."""

import tensorbraid as tf
from tensorbraid.train.optimizer_wrapper import OptimizerWrapper

__all__ = ["clip_gradients_by_norm"]


class _Clipped(OptimizerWrapper):
    """Passes gradients to another optimizer. A gradient whose norm exceeds `clip_norm` is scaled to that norm."""

    def __init__(self, optimizer, clip_norm):
        super().__init__(optimizer, False, "ClipByNorm" + optimizer.get_name())
        self._clip_norm = clip_norm

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        """The wrapped optimizer's operation that updates the variables, with the clipped gradients."""
        clipped = [(gradient if gradient is None else tf.clip_by_norm(gradient, self._clip_norm), variable)
                   for gradient, variable in grads_and_vars]
        return self._opt.apply_gradients(clipped, global_step, name)


def clip_gradients_by_norm(optimizer, clip_norm):
    """An optimizer that updates variables as `optimizer` does, after tf.clip_by_norm of each gradient."""
    return _Clipped(optimizer, clip_norm)
