"""tf.contrib.slim.queues: the queue runners of a graph for the time of a `with` block."""

import contextlib

import tensorbraid as tf

__all__ = ["NestedQueueRunnerError", "QueueRunners"]


class NestedQueueRunnerError(Exception):
    """A QueueRunners block in another one of the same session."""


_running = []


@contextlib.contextmanager
def QueueRunners(session):
    """Starts the queue runners of the session's graph, and stops their threads at the end of the block."""
    if session in _running:
        raise NestedQueueRunnerError("QueueRunners of this session run already")
    coordinator = tf.train.Coordinator()
    threads = tf.train.start_queue_runners(session, coordinator)
    _running.append(session)
    try:
        yield
    finally:
        _running.remove(session)
        coordinator.request_stop()
        coordinator.join(threads, ignore_live_threads=True)
