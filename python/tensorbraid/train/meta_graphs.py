"""Graphs with their variables, collections and savers: MetaGraphDefs."""

import os

from tensorbraid import _core, errors, tf_logging
from tensorbraid.internal import graph_defs, graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.train.saver import Saver

__all__ = ["export_meta_graph", "import_meta_graph"]

# Collections whose messages stand for objects that an import does not make: a graph needs none of them to run.
_NOT_IMPORTED = {"cond_context", "while_context", GraphKeys.SAVERS, GraphKeys.QUEUE_RUNNERS}


def _proto():
    from tensorbraid import proto

    return proto


def _add_collection(meta_graph, key, items):
    """Adds a collection to the message: variables and bytes, numbers, messages, or names of operations and tensors."""
    collection = _proto().CollectionDef()
    if all(isinstance(item, _core.Variable) for item in items):
        collection.bytes_list.value.extend(item.to_proto().SerializeToString() for item in items)
    elif all(isinstance(item, (str, bytes)) for item in items):
        collection.bytes_list.value.extend(item if isinstance(item, bytes) else item.encode() for item in items)
    elif all(isinstance(item, int) for item in items):
        collection.int64_list.value.extend(items)
    elif all(isinstance(item, float) for item in items):
        collection.float_list.value.extend(items)
    elif all(hasattr(item, "type_url") for item in items):
        collection.any_list.value.extend(items)
    elif all(isinstance(item, (graphs.Tensor, graphs.Operation)) for item in items):
        collection.node_list.value.extend(item.name for item in items)
    elif key not in _NOT_IMPORTED:
        tf_logging.warning("the collection %r is not saved with the graph: it has items that no message describes", key)
        return
    else:
        return
    meta_graph.collection_def[key].CopyFrom(collection)


def _used_ops(graph, graph_def):
    """The definitions of the ops that the graph uses."""
    nodes = list(graph_def.node) + [node for function in graph_def.library.function for node in function.node_def]
    functions = {function.signature.name for function in graph_def.library.function}
    return [graph.op_def_for_type(name) for name in sorted({node.op for node in nodes} - functions)]


def meta_graph_of(graph, saver=None, collection_list=None, clear_devices=False):
    """The MetaGraphDef of a graph and its collections, and of a saver if it has something to save."""
    meta_graph = _proto().MetaGraphDef()
    if saver is not None:
        saver_def = saver.as_saver_def()
        if saver_def.restore_op_name:
            meta_graph.saver_def.CopyFrom(saver_def)
    meta_graph.graph_def.CopyFrom(graph.as_graph_def(add_shapes=True))
    info = meta_graph.meta_info_def
    info.stripped_op_list.op.extend(_used_ops(graph, meta_graph.graph_def))
    info.tensorflow_version = "2.0.0"  # the first version that writes this format
    info.stripped_default_attrs = True
    if clear_devices:
        _clear_devices(meta_graph.graph_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        items = graph.get_collection(key)
        if items:
            _add_collection(meta_graph, key, items)
    return meta_graph


def _clear_devices(graph_def):
    for node in graph_def.node:
        node.device = ""


def export_meta_graph(filename=None, meta_info_def=None, graph_def=None, saver_def=None, collection_list=None,
                      as_text=False, graph=None, export_scope=None, clear_devices=False, clear_extraneous_savers=False,
                      strip_default_attrs=False, save_debug_info=False, **kwargs):
    """The graph as a MetaGraphDef, which is also written to a file if one is named.

    A saver is part of it only if `saver_def` describes one.
    """
    if export_scope or clear_extraneous_savers or kwargs or graph_def is not None:
        raise NotImplementedError("graph_def, export_scope, clear_extraneous_savers and further arguments of "
                                  "export_meta_graph")
    meta_graph = meta_graph_of(graph or graphs.get_default_graph(), None, collection_list, clear_devices)
    if meta_info_def is not None:
        meta_graph.meta_info_def.MergeFromString(meta_info_def.SerializeToString())
    if saver_def is not None:
        meta_graph.saver_def.CopyFrom(_proto().message("SaverDef", saver_def, "saver_def"))
    write(meta_graph, filename, as_text)
    return meta_graph


def write(meta_graph, filename, as_text):
    """Writes the message to a file, unless `filename` is empty."""
    if not filename:
        return
    os.makedirs(os.path.dirname(str(filename)) or ".", exist_ok=True)
    with open(filename, "wb") as file:
        file.write(str(meta_graph).encode() if as_text else meta_graph.SerializeToString())


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
        if kind is None or kind == "node_list" or key in _NOT_IMPORTED or not wanted(key):
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
        _clear_devices(meta_graph.graph_def)
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
