"""A training loop around a function."""

from tensorbraid import errors

__all__ = ["basic_train_loop"]


def basic_train_loop(supervisor, train_step_fn, args=None, kwargs=None, master=""):
    """Calls train_step_fn(session, *args, **kwargs) until the supervisor stops. An aborted session is made anew."""
    should_retry = True
    while should_retry:
        try:
            should_retry = False
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or []), **(kwargs or {}))
        except errors.AbortedError:
            should_retry = True
