"""A training loop around a function, and the events of a file."""

from tensorbraid import messages

__all__ = ["basic_train_loop", "summary_iterator"]


def basic_train_loop(supervisor, train_step_fn, args=None, kwargs=None, master=""):
    """Calls train_step_fn(session, *args, **kwargs) until the supervisor stops. An aborted session is made anew."""
    from tensorbraid import errors

    should_retry = True
    while should_retry:
        try:
            should_retry = False
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or []), **(kwargs or {}))
        except errors.AbortedError:
            should_retry = True


def summary_iterator(path):
    """Yields the Event messages of an event file."""
    from tensorbraid import data, errors, graphs
    from tensorbraid.session import Session

    event = messages.find("tensorbraid", "Event")
    with graphs.Graph().as_default():
        record = data.make_one_shot_iterator(data.TFRecordDataset([str(path)])).get_next()
        with Session() as session:
            while True:
                try:
                    yield event.FromString(session.run(record))
                except errors.OutOfRangeError:
                    return
