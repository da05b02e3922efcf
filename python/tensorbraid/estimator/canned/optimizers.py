"""The optimizers of canned estimators, which are given by name, as an object or as a function that makes it."""

from tensorbraid.train import rules
from tensorbraid.train.optimizer import Optimizer

_BY_NAME = {"Adagrad": rules.AdagradOptimizer, "Adam": rules.AdamOptimizer, "Ftrl": rules.FtrlOptimizer,
            "RMSProp": rules.RMSPropOptimizer, "SGD": rules.GradientDescentOptimizer}


def optimizer_of(optimizer, learning_rate):
    """The optimizer; one that is given by name has this learning rate."""
    if isinstance(optimizer, str):
        if optimizer not in _BY_NAME:
            raise ValueError(f"Unsupported optimizer name: {optimizer}. Supported names are: {tuple(sorted(_BY_NAME))}")
        return _BY_NAME[optimizer](learning_rate=learning_rate)
    if callable(optimizer):
        optimizer = optimizer()
    if not isinstance(optimizer, Optimizer):
        raise ValueError(f"The given object is not an Optimizer instance. Given: {optimizer}")
    return optimizer
