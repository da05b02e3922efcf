"""Scaffold: how a training session initializes, saves and summarizes a model."""

from tensorbraid import _core, summary
from tensorbraid.internal import arguments, graphs, initial_operations
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.graphs import make_op
from tensorbraid.internal.session_steps import checked_feeds
from tensorbraid.ops import control
from tensorbraid.train import session_arguments
from tensorbraid.train.checkpoints import is_followed
from tensorbraid.train.saver import Saver

__all__ = ["Scaffold"]


class Scaffold:
    """Collects operations for a monitored session. What is None has the default of the library.

    By default all variables are initialised, the saver saves all global variables, and the summaries of the graph are
    merged. With incremental_save_restore, the saver saves increments, too.
    """

    def __init__(self, init_op=None, init_feed_dict=None, init_fn=None, ready_op=None, ready_for_local_init_op=None,
                 local_init_op=None, summary_op=None, saver=None, copy_from_scaffold=None, local_init_feed_dict=None,
                 incremental_save_restore=False):
        self._incremental = bool(incremental_save_restore)
        self._follows_increments = False
        if local_init_feed_dict is not None:
            raise NotImplementedError("the local_init_feed_dict of a Scaffold")
        own = dict(init_op=init_op, init_feed_dict=init_feed_dict, init_fn=init_fn, ready_op=ready_op,
                   ready_for_local_init_op=ready_for_local_init_op, local_init_op=local_init_op, summary_op=summary_op,
                   saver=saver)
        if copy_from_scaffold is not None:
            if not isinstance(copy_from_scaffold, Scaffold):
                raise TypeError("copy_from_scaffold is not a Scaffold instance.")
            own = {key: getattr(copy_from_scaffold, "_" + key) if value is None else value
                   for key, value in own.items()}
        session_arguments.check(**{key: value for key, value in own.items() if key != "saver"})  # finalize checks it
        for key, value in own.items():
            setattr(self, "_" + key, value)

    init_op = property(lambda self: self._init_op)
    init_feed_dict = property(lambda self: self._init_feed_dict)
    init_fn = property(lambda self: self._init_fn)
    ready_op = property(lambda self: self._ready_op)
    ready_for_local_init_op = property(lambda self: self._ready_for_local_init_op)
    local_init_op = property(lambda self: self._local_init_op)
    local_init_feed_dict = property(lambda self: None)
    summary_op = property(lambda self: self._summary_op)
    saver = property(lambda self: self._saver)

    def _follow_increments_of(self, path):
        """Before it is finalized: the saver restores the increments that follow a checkpoint, if there may be some."""
        if is_followed(path):
            self._follows_increments = True

    def finalize(self):
        """Adds the saver and the merged summaries to the default graph, if they are missing. Returns the scaffold."""
        self._init_op, self._local_init_op = session_arguments.single(self._init_op), session_arguments.single(self._local_init_op)
        tables = graphs.get_collection(GraphKeys.TABLE_INITIALIZERS)
        if self._local_init_op is None and tables:
            variables = [v.initializer for v in graphs.local_variables()]
            with graphs.control_dependencies(variables + tables):
                self._local_init_op = make_op("NoOp", [], "group_deps")
        if self._init_op is None and initial_operations.any_replaced(graphs.get_default_graph()):
            self._init_op = initial_operations.initialize(graphs.get_default_graph(), graphs.global_variables(), "init")
        readiness = _readiness(graphs.get_default_graph()) if self._ready_for_local_init_op is None else None
        if readiness is not None:
            self._ready_for_local_init_op = readiness[0]
        if self._summary_op is None:
            self._summary_op = _first(GraphKeys.SUMMARY_OP) or summary.merge_all()
        if self._saver is None:
            self._saver = _first(GraphKeys.SAVERS) or Saver(sharded=True, allow_empty=True)
        arguments.check(hasattr(self._saver, "build"), "saver", "a tf.train.Saver", self._saver)
        if self._incremental and hasattr(self._saver, "_allow_increments"):
            self._saver._allow_increments()
        elif self._follows_increments and hasattr(self._saver, "_follow_increments"):
            self._saver._follow_increments()
        self._saver.build()
        return self

    @staticmethod
    def default_local_init_op():
        """The operation that initialises the local variables and the tables of the default graph."""
        return control.group(*[v.initializer for v in graphs.local_variables()],
                             *graphs.get_collection(GraphKeys.TABLE_INITIALIZERS))

    @staticmethod
    def get_or_default(arg_name, collection_key, default_constructor):
        """The one element of a collection of the default graph, or what the function returns, which is then added."""
        elements = graphs.get_collection(collection_key)
        if len(elements) > 1:
            raise RuntimeError(f'More than one item in the collection "{collection_key}". Please indicate which one to '
                               f"use by passing it to the tf.Scaffold constructor as:  tf.Scaffold({arg_name}=item to "
                               "use)")
        if elements:
            return elements[0]
        made = default_constructor()
        if made is not None:
            graphs.add_to_collection(collection_key, made)
        return made

    def _native(self):
        """The scaffold as options of C++."""
        options = dict(init_op=self._init_op, ready_op=self._ready_op, local_init_op=self._local_init_op,
                       ready_for_local_init_op=self._ready_for_local_init_op)
        if self._init_feed_dict is not None:
            options["init_feed"] = checked_feeds(graphs.get_default_graph(), self._init_feed_dict)
        if self._init_fn is not None:
            options["init_fn"] = lambda session: self._init_fn(self, session)
        if not self._saver._is_empty:
            options["saver"] = self._saver._core
        return {key: value for key, value in options.items() if value is not None}


def _readiness(graph):
    """The names of the global variables without a value, and of the global and local ones.

    None if these are all variables, since the library finds them by itself then.
    """
    globals_, locals_ = (graph.get_collection(key) for key in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.LOCAL_VARIABLES))
    own = [v for v in _core.variables(graph) if not v._local and v not in globals_]
    if not own or not globals_:
        return None
    return (_core.report_uninitialized_variables(graph, globals_),
            _core.report_uninitialized_variables(graph, [*globals_, *(v for v in locals_ if v not in globals_)]))


def _first(collection):
    elements = graphs.get_collection(collection)
    return elements[0] if elements else None
