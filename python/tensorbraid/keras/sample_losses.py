"""Losses of samples that are not reduced: the optimizer gets all of them, and `fit` reports their mean.

Optimizers that clip the gradient of each sample need them.
"""

import functools

import numpy as np

__all__ = []


class _MeanLoss:
    """A step whose first result is the mean of the losses of the samples."""

    def __init__(self, step):
        self._step = step

    def __call__(self, inputs):
        losses, *others = self._step(inputs)
        return [np.mean(losses), *others]


def _with_mean(kind, phase):
    """Lets the steps of the phase, "train" or "test", return one number for the loss."""
    make, name = getattr(kind, f"_make_{phase}_function"), f"{phase}_function"

    @functools.wraps(make)
    def make_step(self):
        make(self)
        if self.total_loss.shape.ndims != 0 and not isinstance(getattr(self, name), _MeanLoss):
            setattr(self, name, _MeanLoss(getattr(self, name)))

    setattr(kind, make.__name__, make_step)


def change(kind):
    """Changes the library's class engine.training.Model."""
    prepare = kind._prepare_total_loss

    @functools.wraps(prepare)
    def total_loss(self, masks=None):
        return prepare(self, masks).op.inputs[0]  # of the mean that the library takes

    kind._prepare_total_loss = total_loss
    for phase in ("train", "test"):
        _with_mean(kind, phase)
