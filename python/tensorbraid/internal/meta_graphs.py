"""Graphs with their variables, collections and savers as MetaGraphDefs."""

import os

from tensorbraid import _core, tf_logging
from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys

__all__ = ["export_meta_graph"]

# Collections whose messages stand for objects that an import does not make: a graph needs none of them to run.
NOT_IMPORTED = {"cond_context", "while_context", GraphKeys.SAVERS, GraphKeys.QUEUE_RUNNERS}
# The git version in messages that this package writes. A variable of such a graph was made by its Variable class, so its
# name stands for its value, as it does before the export.
OWN_VERSION = "tensorbraid"


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
    elif key not in NOT_IMPORTED:
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
    info.tensorflow_git_version = OWN_VERSION
    info.stripped_default_attrs = True
    if clear_devices:
        clear_devices_of(meta_graph.graph_def)
    keys = graph.get_all_collection_keys() if collection_list is None else collection_list
    for key in keys:
        items = graph.get_collection(key)
        if items:
            _add_collection(meta_graph, key, items)
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
