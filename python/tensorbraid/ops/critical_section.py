"""Critical sections: functions of which only one runs at a time."""

from tensorbraid import nest
from tensorbraid.internal import graphs
from tensorbraid.internal.graphs import make_op
from tensorbraid.ops import arrays, control

__all__ = ["CriticalSection"]


class CriticalSection:
    """Nodes that no other step, and no other node of the section, runs at the same time. Source: tf.CriticalSection."""

    def __init__(self, name=None, shared_name=None, critical_section_def=None, import_scope=None):
        if critical_section_def is not None or import_scope is not None:
            raise NotImplementedError("critical_section_def and import_scope of CriticalSection")
        with graphs.name_scope(name, "CriticalSection", []) as scope:
            with graphs.control_dependencies(None):
                graph = graphs.get_default_graph()
                unique = graph.unique_name(scope.rstrip("/")) if shared_name is None else shared_name
                self._handle = make_op("MutexV2", [], scope, shared_name=unique).outputs[0]

    name = property(lambda self: self._handle.op.name)

    def execute(self, fn, exclusive_resource_access=True, name=None):
        """Calls `fn` and returns its result. The nodes that it makes run while the section is locked."""
        with graphs.name_scope(name, "critical_section_execute", []):
            lock = make_op("MutexLock", [self._handle]).outputs[0]
            graph = graphs.get_default_graph()
            before = len(graph.get_operations())
            with graphs.control_dependencies([lock]):
                result = fn()
                flat = [value if isinstance(value, graphs.Operation) else arrays.identity(value)
                        for value in nest.flatten(result)]
            made = graph.get_operations()[before:]
            with graphs.control_dependencies(made):
                unlock = make_op("ConsumeMutexLock", [lock])
            with graphs.control_dependencies([unlock]):
                done = [control.group(value) if isinstance(value, graphs.Operation) else arrays.identity(value)
                        for value in flat]
            return nest.pack_sequence_as(result, done) if flat else result
