"""Callables of sessions that are described by a message: Session._make_callable_from_options."""

from tensorbraid import errors
from tensorbraid.internal import session_config
from tensorbraid.internal.session_steps import Step

__all__ = ["from_options"]


def _elements(graph, names):
    return [graph.as_graph_element(name) for name in names]


def from_options(session, options):
    """A function that runs the step of a CallableOptions, with one argument for each feed, and returns the fetches.

    It takes `run_metadata` as tf.Session.run does. A step that is traced gets connected tensors from a step before.
    Raises KeyError or ValueError if the graph lacks what is named.
    """
    from tensorbraid import proto

    options = proto.message("CallableOptions", options, "callable_options")
    session_config.check_callable_options(options)
    graph = session.graph
    fetches, targets = _elements(graph, options.fetch), _elements(graph, options.target)
    feeds = _elements(graph, options.feed)
    sources = _elements(graph, [connection.from_tensor for connection in options.tensor_connection])
    sinks = _elements(graph, [connection.to_tensor for connection in options.tensor_connection])
    run_options = options.run_options if options.HasField("run_options") else None
    step = Step(graph, fetches + targets, feeds, list(zip(sources, sinks)))

    def call(*values, run_metadata=None):
        if len(values) != len(feeds):
            raise ValueError(f"the callable takes {len(feeds)} arguments, one for each feed, not {len(values)}")
        feed_dict = dict(zip(feeds, values))
        if sources and (run_options is not None or run_metadata is not None):
            feed_dict.update(zip(sinks, session.run(sources)))
            return session.run(fetches + targets, feed_dict, run_options, run_metadata)[:len(fetches)]
        try:
            results = session._run(session._session(), step, feed_dict, run_options, run_metadata)
        except errors.OpError as error:
            errors.add_operation(error, graph)
            raise
        return results[:len(fetches)]

    return call
