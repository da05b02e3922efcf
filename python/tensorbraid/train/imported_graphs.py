"""Graphs that are made of MetaGraphDefs."""

import os

from tensorbraid import _core, errors
from tensorbraid.internal import graph_defs, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.meta_graphs import NOT_IMPORTED, OWN_VERSION, clear_devices_of
from tensorbraid.train.queue_runner import QueueRunner
from tensorbraid.train.saver import Saver

__all__ = ["import_meta_graph"]


def _proto():
    from tensorbraid import proto

    return proto


def read(meta_graph_or_file):
    """A copy of the MetaGraphDef that the argument is, as a message or bytes, or that the file with this path has.

    Bytes that name a file are a path, as in TensorFlow.
    """
    proto = _proto()
    if hasattr(meta_graph_or_file, "SerializeToString"):
        meta_graph = proto.MetaGraphDef()
        meta_graph.CopyFrom(proto.message("MetaGraphDef", meta_graph_or_file, "meta_graph_or_file"))
        return meta_graph
    if isinstance(meta_graph_or_file, bytes) and not _is_path(meta_graph_or_file):
        meta_graph = proto.parsed("MetaGraphDef", meta_graph_or_file)
        if meta_graph is None:
            raise errors.InvalidArgumentError(None, None, "these bytes are not a MetaGraphDef")
        return meta_graph
    return proto.from_file("MetaGraphDef", os.fsdecode(meta_graph_or_file))


def _is_path(data):
    """Whether the bytes name a file that exists."""
    return len(data) < 4096 and b"\0" not in data and os.path.isfile(data)


class _Renamed:
    """A MetaGraphDef whose nodes get a prefix. The names in it that stand for nodes are changed with them."""

    def __init__(self, meta_graph, prefix):
        self._meta_graph, self._prefix = meta_graph, prefix

    def _name(self, name):
        return self._prefix + name if name else name

    def _fields(self, message, fields):
        for field in fields:
            setattr(message, field, self._name(getattr(message, field)))
        return message.SerializeToString()

    def _item(self, key, data):
        if key == GraphKeys.QUEUE_RUNNERS:
            runner = _proto().QueueRunnerDef.FromString(data)
            runner.enqueue_op_name[:] = [self._name(name) for name in runner.enqueue_op_name]
            return self._fields(runner, ("queue_name", "close_op_name", "cancel_op_name"))
        variable = None if key in NOT_IMPORTED else _variable_def(data)
        if variable is None:
            return data
        return self._fields(variable, ("variable_name", "initializer_name", "snapshot_name", "initial_value_name"))

    def apply(self):
        if self._meta_graph.HasField("saver_def"):
            self._fields(self._meta_graph.saver_def, ("filename_tensor_name", "save_tensor_name", "restore_op_name"))
        for key, collection in self._meta_graph.collection_def.items():
            kind = collection.WhichOneof("kind")
            if kind == "node_list":
                collection.node_list.value[:] = [self._name(name) for name in collection.node_list.value]
            elif kind == "bytes_list":
                collection.bytes_list.value[:] = [self._item(key, data) for data in collection.bytes_list.value]


def _variable_def(data):
    """The VariableDef with these bytes, or None if they are something else."""
    variable = _proto().parsed("VariableDef", data)
    return variable if variable is not None and variable.variable_name and variable.initializer_name else None


def _import_values(graph, meta_graph, wanted, made):
    """Adds the numbers, bytes and messages of the collections of which C++ has not `made` objects."""
    for key in sorted(meta_graph.collection_def):
        collection = meta_graph.collection_def[key]
        kind = collection.WhichOneof("kind")
        if kind is None or kind == "node_list" or key in NOT_IMPORTED or key in made or not wanted(key):
            continue
        for value in getattr(collection, kind).value:
            graph.add_to_collection(key, value)


def _collect(graph, key, item):
    """Adds a variable to a collection, unless it has been there before the import."""
    if item not in graph.get_collection(key):
        graph.add_to_collection(key, item)


def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs):
    """Adds a graph that was saved beside a checkpoint to the default graph: its nodes, variables and collections.

    Returns a saver of its variables, whose `restore` uses the operation that the graph has for that; None if the graph
    has no variables. The argument is the path of the file, or the content as bytes or as a message. Keyword arguments
    are `input_map`, as of tf.import_graph_def, and `restore_collections_predicate`, a function that says for the key of
    a collection whether it is imported.
    """
    return import_with_elements(meta_graph_or_file, clear_devices, import_scope, None, **kwargs)[0]


def import_with_elements(meta_graph_or_file, clear_devices=False, import_scope=None, return_elements=None,
                         input_map=None, restore_collections_predicate=None):
    """import_meta_graph, and a list of the operations and tensors that `return_elements` names, or None."""
    meta_graph = read(meta_graph_or_file)
    wanted = restore_collections_predicate or (lambda key: True)
    if clear_devices:
        clear_devices_of(meta_graph.graph_def)
    graph = graphs.get_default_graph()
    with graph.name_scope(import_scope) as prefix:
        pass
    importing = graph_defs.Import(meta_graph.graph_def, dict(input_map or {}), prefix, graph)
    importing.rewrite_all()
    _Renamed(meta_graph, prefix).apply()
    variables, collections, runners, has_saver, max_to_keep = _core.import_meta_graph(graph,
                                                                                      meta_graph.SerializeToString())
    importing.finish(graph)
    for key in filter(wanted, variables):
        for variable in variables[key]:
            _collect(graph, key, variable)
    if meta_graph.meta_info_def.tensorflow_git_version != OWN_VERSION:
        graph._imported_handles.update(variable.handle.name for made in variables.values() for variable in made)
    for key in filter(wanted, runners):
        for runner, data in zip(runners[key], meta_graph.collection_def[key].bytes_list.value):
            graph.add_to_collection(key, QueueRunner._wrap(runner, graph, _proto().QueueRunnerDef.FromString(data)))
    for key in filter(wanted, collections):
        for name in collections[key]:
            graph.add_to_collection(key, graph.as_graph_element(name))
    _import_values(graph, meta_graph, wanted, {*variables, *runners})
    elements = importing.elements(graph, return_elements)
    importing.check_used()
    if has_saver:
        return Saver._imported(meta_graph.saver_def, variables.get(GraphKeys.GLOBAL_VARIABLES, []),
                               max_to_keep), elements
    has_variables = bool(graph.get_collection(GraphKeys.GLOBAL_VARIABLES))
    return Saver() if has_variables else None, elements
