"""tensorflow.python.estimator.canned.optimizers: names of it that are no public ones."""

from tensorbraid.estimator.canned.optimizers import optimizer_of

__all__ = ["get_optimizer_instance"]


def get_optimizer_instance(opt, learning_rate=None):
    """The optimizer, which may be given by name; one with a name needs the learning rate."""
    if isinstance(opt, str) and learning_rate is None:
        raise ValueError("learning_rate must be specified when opt is string.")
    return optimizer_of(opt, learning_rate)
