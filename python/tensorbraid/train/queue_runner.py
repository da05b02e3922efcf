"""Queue runners: they keep queues filled. Their threads are in C++."""

from tensorbraid import _core, errors
from tensorbraid.internal import graphs, session as sessions
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.train.coordinator import Coordinator, _Runner
from tensorbraid.train.fed_input import initialize_fed_inputs

__all__ = ["QueueRunner", "add_queue_runner", "start_queue_runners"]


class QueueRunner:
    """Runs each of several operations again and again on a thread of its own. Source: tf.train.QueueRunner."""

    def __init__(self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None, queue_closed_exception_types=None,
                 queue_runner_def=None, import_scope=None):
        if queue_runner_def is not None or import_scope is not None:
            raise NotImplementedError("queue_runner_def and import_scope of a QueueRunner")
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        types = queue_closed_exception_types or (errors.OutOfRangeError,)
        if tuple(types) not in ((errors.OutOfRangeError,), (errors.OutOfRangeError, errors.CancelledError)):
            raise NotImplementedError("queue_closed_exception_types other than OutOfRangeError and CancelledError")
        self._types = tuple(types)
        self._queue = queue
        self._enqueue_ops = list(enqueue_ops)
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._core = _core.QueueRunner(self._enqueue_ops, self._close_op, self._cancel_op)
        self._graph = queue.queue_ref.graph

    @classmethod
    def _wrap(cls, core, graph):
        """The runner for one of the library."""
        runner = cls.__new__(cls)
        runner._types = (errors.OutOfRangeError,)
        runner._queue = runner._close_op = runner._cancel_op = None
        runner._enqueue_ops = core.enqueue_ops
        runner._core = core
        runner._graph = graph
        return runner

    queue = property(lambda self: self._queue)
    enqueue_ops = property(lambda self: self._enqueue_ops)
    close_op = property(lambda self: self._close_op)
    cancel_op = property(lambda self: self._cancel_op)
    queue_closed_exception_types = property(lambda self: self._types)
    name = property(lambda self: self._enqueue_ops[0].name if self._queue is None else self._queue.name)
    # Threads of C++ report their errors to the coordinator, whose join raises them.
    exceptions_raised = property(lambda self: [])

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """Starts the threads. Returns objects for Coordinator.join, one for each thread."""
        if not start:
            raise NotImplementedError("start=False: the threads of a QueueRunner start when they are made")
        if self._graph is not sess.graph:
            return []
        coord = coord or Coordinator()
        sess._coordinators.add(coord)  # the threads live as long as the session
        self._core.start(sess._session(), coord._core)
        return [_Runner(f"QueueRunnerThread-{self.name}-{op.name}", coord) for op in self._enqueue_ops]


def add_queue_runner(qr, collection=GraphKeys.QUEUE_RUNNERS):
    """Adds the runner to a collection of the default graph; start_queue_runners starts it."""
    graphs.add_to_collection(collection, qr)


def start_queue_runners(sess=None, coord=None, daemon=True, start=True, collection=GraphKeys.QUEUE_RUNNERS):
    """Starts the queue runners of the session's graph. Returns objects for Coordinator.join.

    Without a coordinator the threads end when the session does.
    """
    if sess is None:
        sess = sessions.get_default_session()
        if sess is None:
            raise ValueError("Cannot start queue runners: No default session is registered. Use "
                             "`with sess.as_default()` or tf.train.start_queue_runners(sess=sess)")
    if not hasattr(sess, "_session"):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(sess)}")
    initialize_fed_inputs(sess)
    threads = []
    for runner in sess.graph.get_collection(collection):
        threads.extend(runner.create_threads(sess, coord=coord, daemon=daemon, start=start))
    return threads
