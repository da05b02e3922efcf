"""tensorflow.python.eager.context: every mode is graph mode, because this package has no eager execution."""

import contextlib

from tensorbraid.internal import graphs

__all__ = ["context", "executing_eagerly", "executing_eagerly_outside_functions", "graph_mode", "in_eager_mode",
           "in_graph_mode"]


def executing_eagerly():
    """False."""
    return False


executing_eagerly_outside_functions = in_eager_mode = executing_eagerly


def in_graph_mode():
    """True."""
    return True


@contextlib.contextmanager
def graph_mode():
    """A context manager without effect, because ops are always added to a graph."""
    yield


class _Context:
    executing_eagerly = staticmethod(executing_eagerly)
    in_eager_mode = staticmethod(executing_eagerly)
    in_graph_mode = staticmethod(in_graph_mode)

    @property
    def scope_name(self):
        """The current name scope."""
        return graphs.get_default_graph().get_name_scope()


_context = _Context()


def context():
    """The context object, which has the functions of this module as methods."""
    return _context
