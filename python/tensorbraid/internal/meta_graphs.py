"""Graphs with their variables, collections and savers as MetaGraphDefs."""

import os

from tensorbraid import _core, tf_logging
from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys

__all__ = ["export_meta_graph"]

# Collections that C++ makes from the graph itself when it writes one, and does not need when it reads one.
_OF_GRAPH = {GraphKeys.COND_CONTEXT, GraphKeys.WHILE_CONTEXT}
# The savers of a program are not collected: import_meta_graph returns the one that the file describes.
NOT_IMPORTED = _OF_GRAPH | {GraphKeys.SAVERS}
# The git version in messages that this package writes. A variable of such a graph was made by its Variable class, so its
# name stands for its value, as it does before the export.
OWN_VERSION = "tensorbraid"


def _proto():
    from tensorbraid import proto

    return proto


def _collection_def(graph, key):
    """The CollectionDef of a collection; None if it is empty or has items that no message describes."""
    collection = _proto().CollectionDef()
    items = graph.get_collection(key)
    if key in _OF_GRAPH or not items:
        return None
    if all(hasattr(item, "to_proto") for item in items):  # variables, queue runners, savers
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
        tf_logging.warning("the collection %r is not saved with the graph: it has items that no message describes", key)
        return None
    return collection


def collection_defs(graph):
    """The CollectionDefs of all collections of the program, serialised, by key."""
    made = {key: _collection_def(graph, key) for key in graph.get_all_collection_keys()}
    return {key: collection.SerializeToString() for key, collection in made.items() if collection is not None}


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
    info.tensorflow_git_version = OWN_VERSION
    info.stripped_default_attrs = True
    if clear_devices:
        clear_devices_of(meta_graph.graph_def)
    flow = _core.flow_collections(graph)
    for key in [*graph.get_all_collection_keys(), *flow] if collection_list is None else collection_list:
        if key in flow:
            meta_graph.collection_def[key].bytes_list.value.extend(flow[key])
            continue
        collection = _collection_def(graph, key)
        if collection is not None:
            meta_graph.collection_def[key].CopyFrom(collection)
    return meta_graph


def clear_devices_of(graph_def):
    """Lets the nodes run on any device."""
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
