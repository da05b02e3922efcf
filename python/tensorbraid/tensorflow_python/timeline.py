"""tensorflow.python.client.timeline: the trace of a step for Chrome's trace viewer."""

from tensorbraid import _core, proto

__all__ = ["Timeline"]


class Timeline:
    """The trace of a step: the step_stats of its RunMetadata. It needs no graph."""

    def __init__(self, step_stats, graph=None):
        self._metadata = proto.RunMetadata()
        self._metadata.step_stats.ParseFromString(step_stats.SerializeToString())

    def generate_chrome_trace_format(self, show_dataflow=True, show_memory=False):
        """The trace as JSON text: with the arrows between nodes, and with rows for the sizes of memory, or without."""
        return _core.chrome_trace(self._metadata.SerializeToString(), bool(show_dataflow), bool(show_memory))
