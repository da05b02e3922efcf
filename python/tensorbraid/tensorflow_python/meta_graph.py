"""tensorflow.python.framework.meta_graph: reads, imports and exports MetaGraphDefs."""

import tensorbraid as tf
from tensorbraid import proto
from tensorbraid.train import imported_graphs

__all__ = ["export_scoped_meta_graph", "import_scoped_meta_graph", "read_meta_graph_file"]


def read_meta_graph_file(filename):
    """The MetaGraphDef in a binary or text file. OSError if the file does not exist."""
    if not tf.gfile.Exists(filename):
        raise OSError(f"File does not exist: {filename}")
    return proto.from_file("MetaGraphDef", str(filename))


def import_scoped_meta_graph(meta_graph_or_file, clear_devices=False, graph=None, import_scope=None, input_map=None,
                             restore_collections_predicate=None):
    """Calls tf.train.import_meta_graph for `graph`. Returns {name without the scope: variable}."""
    with (graph or tf.get_default_graph()).as_default():
        before = tf.global_variables()
        imported_graphs.import_meta_graph(meta_graph_or_file, clear_devices, import_scope, input_map=input_map,
                                          restore_collections_predicate=restore_collections_predicate)
        start = f"{import_scope}/" if import_scope else ""
        return {variable.op.name.removeprefix(start): variable for variable in tf.global_variables()
                if variable not in before}


def export_scoped_meta_graph(filename=None, graph=None, export_scope=None, as_text=False, clear_devices=False, **options):
    """Calls tf.train.export_meta_graph for `graph`. Returns it and {name without the scope: variable}."""
    with (graph or tf.get_default_graph()).as_default():
        made = tf.train.export_meta_graph(filename, as_text=as_text, export_scope=export_scope,
                                          clear_devices=clear_devices, **options)
        start = f"{export_scope.rstrip('/')}/" if export_scope else ""
        return made, {variable.op.name.removeprefix(start): variable for variable in tf.global_variables()
                      if variable.op.name.startswith(start)}
