"""Checks of arguments that several parts of tf.estimator take."""

from tensorbraid.internal import arguments
from tensorbraid.train.hooks import SessionRunHook
from tensorbraid.train.listeners import CheckpointSaverListener

__all__ = []


def check_positive(**values):
    """Raises ValueError for a value that is given and not positive."""
    for name, value in values.items():
        if value is not None and arguments.number(name, value) <= 0:
            raise ValueError(f"Must specify {name} > 0, given: {value}")


def checked_hooks(hooks):
    """A list of the hooks. Raises TypeError for anything else among them."""
    hooks = [] if hooks is None else arguments.items("hooks", hooks, "a list of hooks")
    for hook in hooks:
        if not isinstance(hook, SessionRunHook):
            raise TypeError(f"Hooks must be a SessionRunHook, given: {hook}")
    return hooks


def checked_listeners(listeners):
    """A list of the listeners. Raises TypeError for anything else among them."""
    listeners = [] if listeners is None else arguments.items("saving_listeners", listeners, "a list of listeners")
    for listener in listeners:
        if not isinstance(listener, CheckpointSaverListener):
            raise TypeError(f"saving_listeners must be a list of CheckpointSaverListener, given: {listener}")
    return listeners
