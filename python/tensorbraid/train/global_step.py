"""The global step: the variable that counts the training steps of a graph."""

from tensorbraid import _core, dtypes
from tensorbraid.initializers import Zeros
from tensorbraid.internal import arguments, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.variable_scope import get_variable

__all__ = ["assert_global_step", "create_global_step", "get_global_step", "get_or_create_global_step", "global_step"]


def global_step(sess, global_step_tensor):
    """The value of the global step in a session, as an int."""
    return int(sess.run(global_step_tensor))


def get_global_step(graph=None) -> _core.Variable | None:
    """The global step of the graph; None if it has none."""
    graph = graph or graphs.get_default_graph()
    marked = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(marked) > 1:
        raise ValueError(f"the collection '{GraphKeys.GLOBAL_STEP}' has {len(marked)} global steps")
    step = marked[0] if marked else next((v for v in _core.variables(graph) if v.name == "global_step:0"), None)
    if step is not None:
        assert_global_step(step)
    return step


def create_global_step(graph=None) -> _core.Variable:
    """Makes the int64 variable "global_step" of the open variable scope. ValueError if the graph has a global step."""
    graph = graph or graphs.get_default_graph()
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    with graph.as_default(), graph.name_scope(None):
        return get_variable("global_step", [], dtypes.int64, Zeros(), trainable=False,
                            collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP])


def get_or_create_global_step(graph=None) -> _core.Variable:
    """The global step of the graph, made if it does not exist."""
    graph = graph or graphs.get_default_graph()
    arguments.check(isinstance(graph, graphs.Graph), "graph", "a tf.Graph or None", graph)
    step = get_global_step(graph)
    return create_global_step(graph) if step is None else step


def assert_global_step(global_step_tensor):
    """Raises TypeError or ValueError unless this is an integer scalar."""
    if not isinstance(global_step_tensor, (_core.Variable, graphs.Tensor)):
        raise TypeError(f'Existing "global_step" must be a Variable or Tensor: {global_step_tensor}.')
    if not dtypes.as_dtype(global_step_tensor.dtype).is_integer:
        raise TypeError(f'Existing "global_step" does not have integer type: {global_step_tensor.dtype}')
    if global_step_tensor.shape.ndims not in (0, None):
        raise TypeError(f'Existing "global_step" is not scalar: {global_step_tensor.shape}')
