"""Inputs that are fed once in each session: initializers of iterators over arrays of the program."""

from tensorbraid.internal import graphs
from tensorbraid.train.hooks import SessionRunHook

__all__ = []

_COLLECTION = ("fed_inputs",)  # not a name, so that it is not saved with the graph


def add_fed_input(initializer, feeds):
    """Lets monitored sessions and start_queue_runners run the operation with these feeds, before the first step."""
    graphs.get_default_graph().add_to_collection(_COLLECTION, (initializer, feeds))


def has_fed_input(graph):
    """Whether initializers of the graph need feeds."""
    return bool(graph.get_collection(_COLLECTION))


def initialize_fed_inputs(session):
    """Runs the initializers that need feeds."""
    for initializer, feeds in session.graph.get_collection(_COLLECTION):
        session.run(initializer, feeds)


class FedInputsHook(SessionRunHook):
    """Feeds the inputs of each new session."""

    def after_create_session(self, session, coord):
        initialize_fed_inputs(session)
