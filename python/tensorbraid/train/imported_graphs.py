"""Imports graphs with their variables and collections from MetaGraphDefs."""

import os

from tensorbraid import _core, errors
from tensorbraid.internal import arguments, collection_protos, graph_defs, graphs, meta_graph_names
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.meta_graphs import OF_GRAPH, OWN_VERSION, clear_devices_of
from tensorbraid.train.queue_runner import QueueRunner
from tensorbraid.train.saver import Saver

__all__ = ["import_meta_graph"]


def _proto():
    from tensorbraid import proto

    return proto


def read(meta_graph_or_file):
    """A copy of the MetaGraphDef that is given as a message, as bytes, or as the path of a file.

    As in TensorFlow, bytes that name an existing file are a path.
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
    return proto.from_file("MetaGraphDef", os.fsdecode(arguments.path("meta_graph_or_file", meta_graph_or_file)))


def _is_path(data):
    """Whether the bytes name a file that exists."""
    return len(data) < 4096 and b"\0" not in data and os.path.isfile(data)


def _check_bound(meta_graph, input_map):
    """Raises ValueError if the map lacks an unbound input: an input from outside of the scope that was exported."""
    if meta_graph_names.UNBOUND_INPUTS not in meta_graph.collection_def:
        return
    names = {name.decode() for name in meta_graph.collection_def[meta_graph_names.UNBOUND_INPUTS].bytes_list.value}
    missing = sorted(names - set(input_map))
    if missing:
        raise ValueError(f"Graph contains unbound inputs: {','.join(missing)}. Must provide these inputs through "
                         "input_map.")
    del meta_graph.collection_def[meta_graph_names.UNBOUND_INPUTS]


def _registered_keys(meta_graph):
    """The keys of collections for which the program has registered a from_proto function."""
    return {key for key in meta_graph.collection_def if collection_protos.get_from_proto_function(key)}


def _import_registered(graph, key, collection, prefix):
    """Adds the items that a registered from_proto function makes of a collection's messages."""
    proto_type, make = collection_protos.get_collection_proto_type(key), collection_protos.get_from_proto_function(key)
    for data in collection.bytes_list.value:
        graph.add_to_collection(key, make(proto_type.FromString(data), import_scope=prefix.rstrip("/")))


def _import_values(graph, meta_graph, wanted, prefix, made):
    """Adds the numbers, bytes and messages in collections that are not in `made`, of which C++ has made objects.

    Bytes get the prefix of imported names, because programs keep names in collections as bytes.
    """
    for key in sorted(meta_graph.collection_def):
        collection = meta_graph.collection_def[key]
        kind = collection.WhichOneof("kind")
        if kind is None or kind == "node_list" or key in made or not wanted(key):
            continue
        for value in getattr(collection, kind).value:
            graph.add_to_collection(key, prefix + value.decode(errors="surrogateescape")
                                    if prefix and kind == "bytes_list" else value)


def _collect(graph, key, item):
    """Adds a variable to a collection unless the collection has it already."""
    if item not in graph.get_collection(key):
        graph.add_to_collection(key, item)


def import_meta_graph(meta_graph_or_file, clear_devices=False, import_scope=None, **kwargs):
    """Adds the nodes, variables and collections of a MetaGraphDef to the default graph.

    `meta_graph_or_file` is the path of the file, usually CHECKPOINT.meta, or the message, or its bytes. Returns a Saver
    of the variables, whose `restore` runs the restore operation of the imported graph; None if it has no variables.

    Keyword arguments are `input_map`, as for tf.import_graph_def, and `restore_collections_predicate`, a function that
    gets the key of a collection and returns whether it is imported. ValueError if the map lacks an input that the
    collection "unbound_inputs" names, which graphs that were exported with `export_scope` have.
    """
    return import_with_elements(meta_graph_or_file, clear_devices, import_scope, None, **kwargs)[0]


def import_with_elements(meta_graph_or_file, clear_devices=False, import_scope=None, return_elements=None,
                         input_map=None, restore_collections_predicate=None):
    """Like import_meta_graph, but returns (saver, operations and tensors that `return_elements` names, or None)."""
    meta_graph = read(meta_graph_or_file)
    wanted = restore_collections_predicate or (lambda key: True)
    _check_bound(meta_graph, input_map or {})
    if clear_devices:
        clear_devices_of(meta_graph.graph_def)
    graph = graphs.get_default_graph()
    with graph.name_scope(import_scope) as prefix:
        pass
    importing = graph_defs.Import(meta_graph.graph_def, dict(input_map or {}), prefix, graph)
    importing.rewrite_all()
    registered = _registered_keys(meta_graph)
    meta_graph_names.prefix_names(meta_graph, prefix, without=OF_GRAPH | registered)
    if prefix or importing.renamed:
        meta_graph_names.rename(meta_graph, importing.tensor_named, OF_GRAPH)
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
    for key in filter(wanted, sorted(registered)):
        _import_registered(graph, key, meta_graph.collection_def[key], prefix)
    saved = variables.get(GraphKeys.GLOBAL_VARIABLES, [])
    if wanted(GraphKeys.SAVERS) and GraphKeys.SAVERS in meta_graph.collection_def:
        for data in meta_graph.collection_def[GraphKeys.SAVERS].bytes_list.value:
            saver_def = _proto().SaverDef.FromString(data)
            graph.add_to_collection(GraphKeys.SAVERS, Saver._imported(saver_def, saved, saver_def.max_to_keep))
    _import_values(graph, meta_graph, wanted, prefix,
                   {*variables, *runners, *registered, *OF_GRAPH, GraphKeys.SAVERS})
    elements = importing.elements(graph, return_elements)
    importing.check_used()
    if has_saver:
        return Saver._imported(meta_graph.saver_def, saved, max_to_keep), elements
    has_variables = bool(graph.get_collection(GraphKeys.GLOBAL_VARIABLES))
    return Saver() if has_variables else None, elements
