"""Loads SavedModels."""

import os

from tensorbraid import tf_logging
from tensorbraid.internal import arguments
from tensorbraid.saved_model import constants
from tensorbraid.train import imported_graphs

__all__ = ["load", "maybe_saved_model_directory"]


def maybe_saved_model_directory(export_dir):
    """Whether the folder has the file of a SavedModel."""
    return any(os.path.isfile(os.path.join(os.fsdecode(export_dir), name))
               for name in (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT))


def _read(export_dir):
    """The SavedModel message of the folder."""
    from tensorbraid import proto

    for name in (constants.SAVED_MODEL_FILENAME_PB, constants.SAVED_MODEL_FILENAME_PBTXT):
        path = os.path.join(export_dir, name)
        if os.path.isfile(path):
            return proto.from_file("SavedModel", path)
    raise OSError(f"SavedModel file does not exist at: {export_dir}/{{{constants.SAVED_MODEL_FILENAME_PBTXT}|"
                  f"{constants.SAVED_MODEL_FILENAME_PB}}}")


def _tagged(saved_model, tags):
    """The MetaGraphDef with exactly these tags."""
    known = [set(meta_graph.meta_info_def.tags) for meta_graph in saved_model.meta_graphs]
    if set(tags) not in known:
        raise RuntimeError(f"MetaGraphDef associated with tags {str(tags).strip('[]')} could not be found in "
                           f"SavedModel, with available tags '{known}'.")
    return saved_model.meta_graphs[known.index(set(tags))]


def _asset_feeds(meta_graph, export_dir, import_scope):
    """The path of each asset, by the name of the tensor that stands for it."""
    from tensorbraid import proto

    assets = list(meta_graph.asset_file_def)
    if not assets and constants.ASSETS_KEY in meta_graph.collection_def:
        packed = meta_graph.collection_def[constants.ASSETS_KEY].any_list.value
        assets = [proto.AssetFileDef.FromString(item.value) for item in packed]
    prefix = f"{import_scope}/" if import_scope else ""
    return {prefix + asset.tensor_info.name: os.path.join(export_dir, constants.ASSETS_DIRECTORY, asset.filename)
            for asset in assets}


def _init_op(meta_graph, graph, import_scope):
    """The operation that the graph wants to be run after its variables have been restored; None if there is none."""
    prefix = f"{import_scope}/" if import_scope else ""
    signature = meta_graph.signature_def.get(constants.INIT_OP_SIGNATURE_KEY)
    if signature is not None:
        return graph.as_graph_element(prefix + signature.outputs[constants.INIT_OP_SIGNATURE_KEY].name)
    for key in (constants.MAIN_OP_KEY, constants.LEGACY_INIT_OP_KEY):
        names = meta_graph.collection_def[key].node_list.value if key in meta_graph.collection_def else []
        if len(names) > 1:
            raise RuntimeError(f"Expected exactly one SavedModel init op. Found {len(names)}: {list(names)}.")
        if names:
            return graph.as_graph_element(prefix + names[0])
    return None


def load(sess, tags, export_dir, import_scope=None, **saver_kwargs):
    """Adds the graph with these tags to the graph of the session, restores its variables and runs its main op.

    Returns the MetaGraphDef. With `import_scope`, the nodes have this prefix. The keyword arguments are those of
    tf.train.import_meta_graph.
    """
    tags = [tags] if isinstance(tags, str) else arguments.items("tags", tags, "a list of strings")
    export_dir = os.path.abspath(os.fsdecode(arguments.path("export_dir", export_dir)))
    meta_graph = _tagged(_read(export_dir), tags)
    with sess.graph.as_default() as graph:
        saver, _ = imported_graphs.import_with_elements(meta_graph, import_scope=import_scope, **saver_kwargs)
        if saver is None:
            tf_logging.info("The specified SavedModel has no variables; no checkpoints were restored.")
        else:
            saver.restore(sess, os.path.join(export_dir, constants.VARIABLES_DIRECTORY, constants.VARIABLES_FILENAME))
        init_op = _init_op(meta_graph, graph, import_scope)
        if init_op is not None:
            sess.run(init_op, _asset_feeds(meta_graph, export_dir, import_scope))
    return meta_graph
