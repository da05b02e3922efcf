"""Writes graphs with their variables, collections and savers as MetaGraphDefs."""

import os

from tensorbraid import _core, tf_logging
from tensorbraid.internal import arguments, collection_protos, graphs, meta_graph_names
from tensorbraid.internal.graph_keys import GraphKeys

__all__ = ["export_meta_graph"]

# Collections that C++ derives from the graph when it writes a MetaGraphDef, and does not need when it reads one.
OF_GRAPH = {GraphKeys.COND_CONTEXT, GraphKeys.WHILE_CONTEXT}
# The tensorflow_git_version of messages that this package writes. In such graphs the name of a variable stands for its
# value, as in the program that wrote them.
OWN_VERSION = "tensorbraid"


def _proto():
    from tensorbraid import proto

    return proto


def _collection_def(graph, key, export_scope=None):
    """The CollectionDef of a collection; None if it is empty or has items of which no message can be made.

    Functions that the program registered for the collection get `export_scope`.
    """
    collection = _proto().CollectionDef()
    items = graph.get_collection(key)
    if key in OF_GRAPH or not items:
        return None
    registered = collection_protos.get_to_proto_function(key)
    if registered:
        made = [registered(item, export_scope=export_scope) for item in items]
        collection.bytes_list.value.extend(message.SerializeToString() for message in made if message is not None)
    elif all(hasattr(item, "to_proto") for item in items):  # variables, queue runners, savers
        made = [item.to_proto() for item in items]
        collection.bytes_list.value.extend(message.SerializeToString() for message in made if message is not None)
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
    else:
        tf_logging.warning("the collection %r is not saved with the graph: its items are not of one type that a "
                           "CollectionDef can hold, and have no method to_proto", key)
        return None
    return collection


def collection_defs(graph):
    """{key: serialised CollectionDef} for all collections of the graph."""
    made = {key: _collection_def(graph, key) for key in graph.get_all_collection_keys()}
    return {key: collection.SerializeToString() for key, collection in made.items() if collection is not None}


def _used_ops(graph, graph_def):
    """The definitions of the ops that the graph uses."""
    nodes = list(graph_def.node) + [node for function in graph_def.library.function for node in function.node_def]
    functions = {function.signature.name for function in graph_def.library.function}
    return [graph.op_def_for_type(name) for name in sorted({node.op for node in nodes} - functions)]


def meta_graph_of(graph, saver_def=None, collection_list=None, clear_devices=False, graph_def=None, export_scope=None,
                  clear_extraneous_savers=False):
    """The MetaGraphDef of a graph, its collections and, if `saver_def` is given, a saver.

    `graph_def` replaces the nodes of the graph. `export_scope` reduces the result to the nodes of a scope, see
    meta_graph_names.export_scoped. `clear_extraneous_savers` removes all other savers and their nodes.
    """
    meta_graph = _proto().MetaGraphDef()
    if saver_def is not None and saver_def.restore_op_name:
        meta_graph.saver_def.CopyFrom(saver_def)
    if graph_def is None:
        meta_graph.graph_def.CopyFrom(graph.as_graph_def(add_shapes=True))
    else:
        meta_graph.graph_def.CopyFrom(_proto().message("GraphDef", graph_def, "graph_def"))
    if clear_extraneous_savers:
        _clear_extraneous_savers(graph, meta_graph)
    info = meta_graph.meta_info_def
    info.tensorflow_version = "2.0.0"  # the first version that writes this format
    info.tensorflow_git_version = OWN_VERSION
    info.stripped_default_attrs = True
    if clear_devices:
        clear_devices_of(meta_graph.graph_def)
    flow = _core.flow_collections(graph)
    for key in [*graph.get_all_collection_keys(), *flow] if collection_list is None else collection_list:
        if key in flow:
            meta_graph.collection_def[key].bytes_list.value.extend(flow[key])
            continue
        collection = _collection_def(graph, key, export_scope)
        if collection is not None:
            meta_graph.collection_def[key].CopyFrom(collection)
    if export_scope:
        own = [key for key in meta_graph.collection_def if collection_protos.get_to_proto_function(key)]
        meta_graph_names.export_scoped(meta_graph, export_scope, without=own)
    info.stripped_op_list.op.extend(_used_ops(graph, meta_graph.graph_def))
    return meta_graph


def _clear_extraneous_savers(graph, meta_graph):
    """Removes the nodes of the graph's savers from the MetaGraphDef, except those of the saver in its saver_def."""
    described = meta_graph.saver_def.restore_op_name
    savers = [saver for saver in graph.get_collection(GraphKeys.SAVERS)
              if saver.as_saver_def().restore_op_name != described]
    own = {node.rpartition("/")[0] + "/" for node in [described] if "/" in node}
    scopes = {saver.as_saver_def().restore_op_name.rpartition("/")[0] + "/" for saver in savers} - own - {"/"}
    kept = [node.SerializeToString() for node in meta_graph.graph_def.node if not node.name.startswith(tuple(scopes))]
    del meta_graph.graph_def.node[:]
    for data in kept:
        meta_graph.graph_def.node.add().ParseFromString(data)


def clear_devices_of(graph_def):
    """Removes the devices of all nodes, so that they can run on any device."""
    for node in graph_def.node:
        node.device = ""


def export_meta_graph(filename=None, meta_info_def=None, graph_def=None, saver_def=None, collection_list=None,
                      as_text=False, graph=None, export_scope=None, clear_devices=False, clear_extraneous_savers=False,
                      strip_default_attrs=False, save_debug_info=False, **kwargs):
    """The graph as a MetaGraphDef, which is also written to the file `filename` if it is given.

    The message has a saver only if `saver_def` is given. With `export_scope`, it has only the nodes of this name scope,
    and the scope is removed from their names. The collection "unbound_inputs" lists their inputs from outside of the
    scope; import_meta_graph needs a tensor for each of these in its `input_map`.
    """
    if kwargs:
        raise NotImplementedError(f"the argument {next(iter(kwargs))} of export_meta_graph")
    if saver_def is not None:
        saver_def = _proto().message("SaverDef", saver_def, "saver_def")
    meta_graph = meta_graph_of(graph or graphs.get_default_graph(), saver_def, collection_list, clear_devices, graph_def,
                               export_scope, clear_extraneous_savers)
    if meta_info_def is not None:
        meta_graph.meta_info_def.MergeFromString(meta_info_def.SerializeToString())
    write(meta_graph, filename, as_text)
    return meta_graph


def write(meta_graph, filename, as_text):
    """Writes the message to a file, unless `filename` is empty."""
    if not filename:
        return
    filename = arguments.path("filename", filename)
    os.makedirs(os.path.dirname(str(filename)) or ".", exist_ok=True)
    with open(filename, "wb") as file:
        file.write(str(meta_graph).encode() if as_text else meta_graph.SerializeToString())
