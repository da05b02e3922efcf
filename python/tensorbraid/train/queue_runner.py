"""Queue runners: they keep queues filled. Their threads are in C++."""

from tensorbraid import _core, errors
from tensorbraid.internal import arguments, graphs, meta_graph_names, session as sessions
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.train.coordinator import Coordinator, _Runner
from tensorbraid.train.fed_input import initialize_fed_inputs

__all__ = ["QueueRunner", "add_queue_runner", "start_queue_runners"]


class QueueRunner:
    """Runs each of several operations again and again on a thread of its own. Source: tf.train.QueueRunner."""

    def __init__(self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None, queue_closed_exception_types=None,
                 queue_runner_def=None, import_scope=None):
        if queue_runner_def is not None:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._init_from_def(queue_runner_def, import_scope)
            return
        if not queue or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        types = queue_closed_exception_types or (errors.OutOfRangeError,)
        if tuple(types) not in ((errors.OutOfRangeError,), (errors.OutOfRangeError, errors.CancelledError)):
            raise NotImplementedError("queue_closed_exception_types other than OutOfRangeError and CancelledError")
        self._types = tuple(types)
        self._queue = queue
        self._enqueue_ops = arguments.items("enqueue_ops", enqueue_ops, "a list of operations")
        self._close_op = queue.close() if close_op is None else close_op
        self._cancel_op = queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        self._core = _core.QueueRunner(self._enqueue_ops, self._close_op, self._cancel_op)
        self._graph = self._enqueue_ops[0].graph
        self._name = queue.name

    def _init_from_def(self, definition, import_scope):
        from tensorbraid import proto

        definition = proto.message("QueueRunnerDef", definition, "queue_runner_def")
        self._graph = graphs.get_default_graph()
        prefix = f"{import_scope}/" if import_scope else ""

        def found(name):
            return self._graph.as_graph_element(prefix + name) if name else None

        close, cancel = found(definition.close_op_name), found(definition.cancel_op_name)
        enqueue = [found(name) for name in definition.enqueue_op_name]
        self._adopt(_core.QueueRunner(enqueue, close, cancel), self._graph, definition, prefix)

    def _adopt(self, core, graph, definition=None, prefix=""):
        """Makes this the Python object of a C++ runner. `definition` has the names that C++ does not keep."""
        self._core, self._graph = core, graph
        self._enqueue_ops, self._queue = core.enqueue_ops, None
        self._close_op, self._cancel_op = core.close_op, core.cancel_op
        codes = definition.queue_closed_exception_types if definition is not None else ()
        self._types = tuple(errors.exception_type_from_error_code(code) for code in codes) or (errors.OutOfRangeError,)
        queue = definition.queue_name if definition is not None else ""
        self._name = prefix + queue.rsplit(":", 1)[0] if queue else self._enqueue_ops[0].name
        return self

    def to_proto(self, export_scope=None):
        """The QueueRunnerDef with the names of the queue and its operations; None if they are not in `export_scope`."""
        from tensorbraid import proto

        made = proto.QueueRunnerDef.FromString(self._core.definition())
        made.queue_name = made.queue_name.rsplit(":", 1)[0]
        made.queue_closed_exception_types[:] = [errors.error_code_from_exception_type(kind) for kind in self._types]
        return meta_graph_names.scoped(made, export_scope) if export_scope else made

    @staticmethod
    def from_proto(queue_runner_def, import_scope=None):
        """The runner that a QueueRunnerDef describes. The nodes that it names must be in the default graph."""
        return QueueRunner(queue_runner_def=queue_runner_def, import_scope=import_scope)

    @classmethod
    def _wrap(cls, core, graph, definition=None):
        """The runner for one of the library."""
        return cls.__new__(cls)._adopt(core, graph, definition)

    queue = property(lambda self: self._queue)
    enqueue_ops = property(lambda self: self._enqueue_ops)
    close_op = property(lambda self: self._close_op)
    cancel_op = property(lambda self: self._cancel_op)
    queue_closed_exception_types = property(lambda self: self._types)
    name = property(lambda self: self._name)
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
