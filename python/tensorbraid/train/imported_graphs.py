"""Graphs that are made of MetaGraphDefs."""

from tensorbraid import _core, errors
from tensorbraid.internal import graph_defs, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.meta_graphs import NOT_IMPORTED, OWN_VERSION, clear_devices_of
from tensorbraid.train.saver import Saver

__all__ = ["import_meta_graph"]


def _proto():
    from tensorbraid import proto

    return proto


def read(meta_graph_or_file):
    """A copy of the MetaGraphDef that the argument is, as a message or bytes, or that the file with this path has."""
    proto = _proto()
    if hasattr(meta_graph_or_file, "SerializeToString"):
        meta_graph = proto.MetaGraphDef()
        meta_graph.CopyFrom(proto.message("MetaGraphDef", meta_graph_or_file, "meta_graph_or_file"))
        return meta_graph
    if isinstance(meta_graph_or_file, bytes):
        meta_graph = proto.parsed("MetaGraphDef", meta_graph_or_file)
        if meta_graph is None:
            raise errors.InvalidArgumentError(None, None, "these bytes are not a MetaGraphDef")
        return meta_graph
    return proto.from_file("MetaGraphDef", str(meta_graph_or_file))


class _Renamed:
    """A MetaGraphDef whose nodes get a prefix. The names in it that stand for nodes are changed with them."""

    def __init__(self, meta_graph, prefix):
        self._meta_graph, self._prefix = meta_graph, prefix

    def _name(self, name):
        return self._prefix + name if name else name

    def _variable(self, data):
        variable = _variable_def(data)
        if variable is None:
            return data
        for field in ("variable_name", "initializer_name", "snapshot_name", "initial_value_name"):
            setattr(variable, field, self._name(getattr(variable, field)))
        return variable.SerializeToString()

    def apply(self):
        saver = self._meta_graph.saver_def
        if self._meta_graph.HasField("saver_def"):
            for field in ("filename_tensor_name", "save_tensor_name", "restore_op_name"):
                setattr(saver, field, self._name(getattr(saver, field)))
        for collection in self._meta_graph.collection_def.values():
            kind = collection.WhichOneof("kind")
            if kind == "node_list":
                collection.node_list.value[:] = [self._name(name) for name in collection.node_list.value]
            elif kind == "bytes_list":
                collection.bytes_list.value[:] = [self._variable(data) for data in collection.bytes_list.value]


def _variable_def(data):
    """The VariableDef with these bytes, or None if they are something else."""
    variable = _proto().parsed("VariableDef", data)
    return variable if variable is not None and variable.variable_name and variable.initializer_name else None


def _import_values(graph, meta_graph, wanted):
    """Adds the numbers, bytes and messages of the collections, and notes the variables that were not imported."""
    for key in sorted(meta_graph.collection_def):
        collection = meta_graph.collection_def[key]
        kind = collection.WhichOneof("kind")
        if kind is None or kind == "node_list" or key in NOT_IMPORTED or not wanted(key):
            continue
        for value in getattr(collection, kind).value:
            variable = _variable_def(value) if kind == "bytes_list" else None
            if variable is None:
                graph.add_to_collection(key, value)
            elif not variable.is_resource:
                graph._reference_variables.add(variable.variable_name)


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
    importing = graph_defs.Import(meta_graph.graph_def, dict(input_map or {}), prefix)
    importing.rewrite_all()
    _Renamed(meta_graph, prefix).apply()
    variables, collections, restore, max_to_keep = _core.import_meta_graph(graph, meta_graph.SerializeToString())
    importing.finish(graph)
    for key in filter(wanted, variables):
        for variable in variables[key]:
            graph.add_to_collection(key, variable)
    if meta_graph.meta_info_def.tensorflow_git_version != OWN_VERSION:
        graph._imported_handles.update(variable.handle.name for made in variables.values() for variable in made)
    for key in filter(wanted, collections):
        for name in collections[key]:
            graph.add_to_collection(key, graph.as_graph_element(name))
    _import_values(graph, meta_graph, wanted)
    elements = importing.elements(graph, return_elements)
    importing.check_used()
    if restore is not None:
        return Saver._imported(meta_graph.saver_def, variables.get(GraphKeys.GLOBAL_VARIABLES, []),
                               max_to_keep), elements
    has_variables = bool(graph.get_collection(GraphKeys.GLOBAL_VARIABLES))
    return Saver() if has_variables else None, elements
