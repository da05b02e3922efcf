"""What Keras keeps for a graph: its session, the numbers in names, and whether a step trains."""

import collections
import contextlib
import os
import weakref

import tensorbraid as tf

__all__ = ["clear_session", "get_graph", "get_session", "get_uid", "learning_phase", "learning_phase_scope",
           "manual_variable_initialization", "reset_uids", "set_learning_phase", "set_session"]

_uids = weakref.WeakKeyDictionary()  # by graph: how often a prefix was numbered
_session = None
_initializes_variables = True


def get_graph():
    """The graph that layers are added to."""
    return tf.get_default_graph()


def get_uid(prefix=""):
    """How often this prefix was asked for in the default graph: 1, 2, ..."""
    counts = _uids.setdefault(get_graph(), collections.Counter())
    counts[prefix] += 1
    return counts[prefix]


def reset_uids():
    """Begins the numbers of all prefixes at 1 again."""
    _uids.clear()


def manual_variable_initialization(value):
    """Says whether the program initialises variables itself. Otherwise get_session does."""
    global _initializes_variables
    _initializes_variables = not value


def learning_phase():
    """The default graph's bool tensor that is True while a step trains, or the number of set_learning_phase."""
    graph = get_graph()
    phase = getattr(graph, "_keras_learning_phase", None)
    if phase is None:
        with tf.name_scope(""):
            phase = graph._keras_learning_phase = tf.placeholder_with_default(False, [], "keras_learning_phase")
    return phase


def set_learning_phase(value):
    """Fixes the learning phase of the default graph: 0 for tests, 1 for training."""
    if value not in (0, 1):
        raise ValueError("Expected learning phase to be 0 or 1.")
    get_graph()._keras_learning_phase = value


@contextlib.contextmanager
def learning_phase_scope(value):
    """In the block, the learning phase of the default graph is 0 or 1."""
    graph = get_graph()
    before = getattr(graph, "_keras_learning_phase", None)
    set_learning_phase(value)
    try:
        yield value
    finally:
        graph._keras_learning_phase = before


def get_session(op_input_list=()):
    """The default session, or that of Keras for the default graph. Variables without a value are initialised."""
    global _session
    session = tf.get_default_session()
    if session is None:
        if _session is None or _session.graph is not get_graph():
            _session = tf.Session(config=_config())
        session = _session
    if _initializes_variables:
        _initialize_variables(session)
    return session


def _config():
    threads = int(os.environ.get("OMP_NUM_THREADS") or 0)
    return tf.ConfigProto(allow_soft_placement=True, inter_op_parallelism_threads=threads)


def track(variable):
    """Lets `get_session` initialise the variable, which may be in no collection."""
    variable.graph.__dict__.setdefault("_keras_variables", {})[variable.name] = variable
    variable.graph._keras_initialized_version = None


def track_tables(graph, initializers):
    """Lets `get_session` run the initializers of tables once."""
    graph.__dict__.setdefault("_keras_table_initializers", []).extend(initializers)
    graph._keras_initialized_version = None


def _initialize_variables(session):
    """Initialises the graph's variables that no call has seen yet and that have no value."""
    graph = session.graph
    version = graph.version  # the graph has no new variable if it has no new node
    if getattr(graph, "_keras_initialized_version", None) == version:
        return
    with graph.as_default():
        tables = graph.__dict__.pop("_keras_table_initializers", [])
        if tables:
            session.run(tables)
        known = {variable.name: variable for variable in tf.global_variables()}
        known.update(getattr(graph, "_keras_variables", {}))
        new = [variable for variable in known.values() if not getattr(variable, "_keras_initialized", False)]
        if not new:
            graph._keras_initialized_version = version
            return
        known = session.run([tf.is_variable_initialized(variable) for variable in new])
        missing = [variable for variable, has_value in zip(new, known) if not has_value]
        for variable in new:
            variable._keras_initialized = True
        if missing:
            session.run(tf.variables_initializer(missing))


def set_session(session):
    """Makes this session that of Keras."""
    global _session
    _session = session


def clear_session():
    """Begins with an empty default graph, and a new session for it."""
    tf.reset_default_graph()
    reset_uids()
    set_session(None)
    learning_phase()
