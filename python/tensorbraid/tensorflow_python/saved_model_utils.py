"""tensorflow.python.tools.saved_model_utils, and tf.contrib's saved_model.reader: read the messages of SavedModels."""

from tensorbraid.saved_model import constants, loader

__all__ = ["get_meta_graph_def", "get_saved_model_tag_sets", "get_signature_def_by_key", "read_saved_model"]


def read_saved_model(saved_model_dir):
    """The SavedModel message in a folder. OSError if the folder has none."""
    return loader._read(str(saved_model_dir))


def get_saved_model_tag_sets(saved_model_dir):
    """The list of tags of each graph of a SavedModel, sorted."""
    return sorted(sorted(graph.meta_info_def.tags) for graph in read_saved_model(saved_model_dir).meta_graphs)


def get_meta_graph_def(saved_model_dir, tag_set):
    """The MetaGraphDef with exactly the tags `tag_set`, a comma-separated string. RuntimeError if no graph has them."""
    wanted = {tag for tag in tag_set.split(",") if tag}
    graphs = read_saved_model(saved_model_dir).meta_graphs
    for graph in graphs:
        if set(graph.meta_info_def.tags) == wanted:
            return graph
    known = [",".join(graph.meta_info_def.tags) for graph in graphs]
    raise RuntimeError(f"MetaGraphDef associated with tag-set {tag_set} could not be found in the SavedModel. Please use "
                       f"one of the following tag-sets: {known}")


def get_signature_def_by_key(meta_graph_def, signature_def_key):
    """The SignatureDef with this key. ValueError if it does not exist."""
    if signature_def_key not in meta_graph_def.signature_def:
        raise ValueError(f"No SignatureDef with key '{signature_def_key}' found in MetaGraphDef.")
    return meta_graph_def.signature_def[signature_def_key]


def get_variables_path(export_dir):
    """The path of a SavedModel's checkpoint, without the file endings."""
    return f"{str(export_dir).rstrip('/')}/{constants.VARIABLES_DIRECTORY}/{constants.VARIABLES_FILENAME}"
