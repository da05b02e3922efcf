"""Errors that name the task of a job and its ray node. Works without Ray."""

from tensorbraid import errors

__all__ = []


class TaskError(RuntimeError):
    """A task of a job has failed. The exception of its function, if there is one, is the cause (`__cause__`).

    `task` is its name, such as "worker/1", and `node` the host name and address of its ray node.
    """

    def __init__(self, task, node, message):
        super().__init__("%s on %s %s" % (task, node, message))
        self.task = task
        self.node = node


class TaskLostError(TaskError):
    """A task has ended without a result, because its node or its process has died."""


def first_cause(failures):
    """The one of these errors, given in the order of their times, that has probably led to the others.

    A task whose peer is lost often fails before Ray notices the loss. So a lost task comes first, and a task that could
    only not reach another one comes last.
    """
    def rank(error):
        if isinstance(error, TaskLostError):
            return 0
        return 2 if isinstance(error.__cause__, (errors.UnavailableError, errors.AbortedError)) else 1

    return min(failures, key=rank)
