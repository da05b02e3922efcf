"""Callables of sessions that are described by a message: Session._make_callable_from_options."""

from tensorbraid.internal import session_config

__all__ = ["from_options"]


def _elements(graph, names):
    return [graph.as_graph_element(name) for name in names]


def from_options(session, options):
    """A function that runs the step of a CallableOptions, with one argument for each feed, and returns the fetches.

    It takes `run_metadata` as tf.Session.run does. Connected tensors are computed by a step of their own before.
    Raises KeyError or ValueError if the graph lacks what is named.
    """
    from tensorbraid import proto

    options = proto.message("CallableOptions", options, "callable_options")
    session_config.check_callable_options(options)
    graph = session.graph
    fetches, targets = _elements(graph, options.fetch), _elements(graph, options.target)
    feeds = _elements(graph, options.feed)
    sources = _elements(graph, [connection.from_tensor for connection in options.tensor_connection])
    feeds += _elements(graph, [connection.to_tensor for connection in options.tensor_connection])
    count = len(options.feed)
    run_options = options.run_options if options.HasField("run_options") else None

    def step(*values, run_metadata=None):
        if len(values) != count:
            raise ValueError(f"the callable takes {count} arguments, one for each feed, not {len(values)}")
        connected = session.run(sources) if sources else []
        results = session.run(fetches + targets, dict(zip(feeds, [*values, *connected])), run_options, run_metadata)
        return results[:len(fetches)]

    session._steps.find(fetches + targets, dict.fromkeys(feeds))  # raises errors here, not in the first step
    return step
