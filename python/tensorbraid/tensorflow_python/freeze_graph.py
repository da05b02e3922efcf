"""tensorflow.python.tools.freeze_graph: replaces the variables of a graph by constants with a checkpoint's values."""

import argparse
import re
import sys

import tensorbraid as tf
from tensorbraid import proto
from tensorbraid.tensorflow_python import saved_model_utils

__all__ = ["freeze_graph", "freeze_graph_with_def_protos", "main", "run_main"]


class _Checkpoint:
    """Replaces a session in convert_variables_to_constants: `run` reads variables from a checkpoint."""

    def __init__(self, path):
        self._reader = tf.train.NewCheckpointReader(path)

    def run(self, names):
        """{name: value} of variables. ValueError if the checkpoint lacks one."""
        missing = [name for name in names if not self._reader.has_tensor(name)]
        if any(re.search(r"/part_\d+$", name) for name in missing):
            raise ValueError("Models containing partition variables cannot be converted from checkpoint files. Please "
                             "pass in a SavedModel using the flag --input_saved_model_dir.")
        if missing:
            raise ValueError(f"the checkpoint has no value of the variables {', '.join(sorted(missing))}")
        return {name: self._reader.get_tensor(name) for name in names}


def _names(text):
    """The names in a comma-separated string; None if it is empty."""
    return text.replace(" ", "").split(",") if text else None


def _without_devices(graph_def):
    made = tf.GraphDef.FromString(graph_def.SerializeToString())
    for node in made.node:
        node.device = ""
    return made


def freeze_graph_with_def_protos(input_graph_def, input_saver_def, input_checkpoint, output_node_names, restore_op_name,
                                 filename_tensor_name, output_graph, clear_devices, initializer_nodes,
                                 variable_names_whitelist="", variable_names_blacklist="", input_meta_graph_def=None,
                                 input_saved_model_dir=None, saved_model_tags=None, checkpoint_version=2):
    """The GraphDef of the output nodes and of all nodes that they depend on, with constants in place of variables.

    The graph is that of `input_meta_graph_def` or the SavedModel if one is given, otherwise `input_graph_def`. The
    values are read from the checkpoint. If a saver or `initializer_nodes` are given, a session restores the checkpoint
    and then runs `initializer_nodes`. Lists of names are comma-separated strings. Also writes the GraphDef to the file
    `output_graph` unless that is empty. ValueError if the checkpoint does not exist or lacks a variable.
    """
    if not input_saved_model_dir and not tf.train.checkpoint_exists(input_checkpoint):
        raise ValueError(f"Input checkpoint '{input_checkpoint}' doesn't exist!")
    outputs = _names(output_node_names)
    if not outputs:
        raise ValueError("You need to supply the name of a node to --output_node_names.")
    if input_meta_graph_def is not None:
        graph_def = input_meta_graph_def.graph_def
    else:
        graph_def = input_graph_def
    if clear_devices:
        graph_def = _without_devices(graph_def)
    chosen = [_names(variable_names_whitelist), _names(variable_names_blacklist)]

    def frozen(session):
        return tf.graph_util.convert_variables_to_constants(session, graph_def, outputs, *chosen)

    if not (input_meta_graph_def or input_saved_model_dir or input_saver_def or initializer_nodes):
        made = frozen(_Checkpoint(input_checkpoint))
    else:
        with tf.Graph().as_default(), tf.Session() as session:
            if input_saved_model_dir:
                tf.saved_model.loader.load(session, saved_model_tags or [], input_saved_model_dir)
            elif input_meta_graph_def:
                tf.train.import_meta_graph(input_meta_graph_def, clear_devices=True).restore(session, input_checkpoint)
            else:
                tf.import_graph_def(graph_def, name="")
                if input_saver_def:
                    restore_op_name = input_saver_def.restore_op_name
                    filename_tensor_name = input_saver_def.filename_tensor_name
                session.run(restore_op_name, {filename_tensor_name: input_checkpoint})
            if initializer_nodes and not input_saved_model_dir:
                session.run(_names(initializer_nodes))
            made = frozen(session)
    if output_graph:
        with tf.gfile.GFile(output_graph, "wb") as file:
            file.write(made.SerializeToString(deterministic=True))
    return made


def _read(kind, path, words):
    """The message in a text or binary file. OSError if the file does not exist."""
    if not tf.gfile.Exists(path):
        raise OSError(f"Input {words} '{path}' does not exist!")
    return proto.from_file(kind, path)


def freeze_graph(input_graph, input_saver, input_binary, input_checkpoint, output_node_names, restore_op_name,
                 filename_tensor_name, output_graph, clear_devices, initializer_nodes, variable_names_whitelist="",
                 variable_names_blacklist="", input_meta_graph=None, input_saved_model_dir=None, saved_model_tags="serve",
                 checkpoint_version=2):
    """Reads messages from files and calls freeze_graph_with_def_protos. OSError if a file does not exist.

    `input_binary` has no effect, because text and binary files are recognised by their content.
    """
    graph_def = meta_graph_def = saver_def = None
    if input_saved_model_dir:
        graph_def = saved_model_utils.get_meta_graph_def(input_saved_model_dir, saved_model_tags).graph_def
    elif input_graph:
        graph_def = _read("GraphDef", input_graph, "graph file")
    if input_meta_graph:
        meta_graph_def = _read("MetaGraphDef", input_meta_graph, "meta graph file")
    if input_saver:
        saver_def = _read("SaverDef", input_saver, "saver file")
    return freeze_graph_with_def_protos(
        graph_def, saver_def, input_checkpoint, output_node_names, restore_op_name, filename_tensor_name, output_graph,
        clear_devices, initializer_nodes, variable_names_whitelist, variable_names_blacklist, meta_graph_def,
        input_saved_model_dir, _names(saved_model_tags), checkpoint_version)


def main(unused_args, flags):
    """Calls freeze_graph with the options of a command line."""
    if flags.checkpoint_version not in (1, 2):
        raise ValueError(f"Invalid checkpoint version (must be '1' or '2'): {flags.checkpoint_version}")
    freeze_graph(
        flags.input_graph, flags.input_saver, flags.input_binary, flags.input_checkpoint, flags.output_node_names,
        flags.restore_op_name, flags.filename_tensor_name, flags.output_graph, flags.clear_devices,
        flags.initializer_nodes, flags.variable_names_whitelist, flags.variable_names_blacklist, flags.input_meta_graph,
        flags.input_saved_model_dir, flags.saved_model_tags, flags.checkpoint_version)


def run_main():
    """The command: python -m tensorbraid -m tensorflow.python.tools.freeze_graph --input_graph=PATH ..."""
    parser = argparse.ArgumentParser("freeze_graph", description="Replaces the variables of a graph by constants.")
    parser.register("type", "bool", lambda text: text.lower() == "true")
    for name, text in (("input_graph", "The file of a GraphDef."), ("input_saver", "The file of a SaverDef."),
                       ("input_checkpoint", "The path of a checkpoint."), ("output_graph", "The file that is written."),
                       ("output_node_names", "The names of the output nodes, comma-separated."),
                       ("initializer_nodes", "Nodes that run before the values are taken."),
                       ("input_meta_graph", "The file of a MetaGraphDef."),
                       ("input_saved_model_dir", "The folder of a SavedModel."),
                       ("variable_names_whitelist", "Variables that become constants; by default all.")):
        parser.add_argument(f"--{name}", default="", help=text)
    parser.add_argument("--variable_names_blacklist", "--variable_names_denylist", default="",
                        help="Variables that stay variables.")
    parser.add_argument("--saved_model_tags", default="serve", help="The tags of the graph of the SavedModel.")
    parser.add_argument("--restore_op_name", default="save/restore_all", help="The node that restores variables.")
    parser.add_argument("--filename_tensor_name", default="save/Const:0", help="The tensor of the checkpoint's path.")
    parser.add_argument("--checkpoint_version", type=int, default=2, help="Has no effect: both versions are read.")
    parser.add_argument("--input_binary", nargs="?", const=True, type="bool", default=False, help="Has no effect: "
                        "text and binary files are recognised by their content.")
    parser.add_argument("--clear_devices", nargs="?", const=True, type="bool", default=True,
                        help="Remove the devices of nodes.")
    flags, rest = parser.parse_known_args()
    tf.app.run(lambda args: main(args, flags), [sys.argv[0], *rest])


if __name__ == "__main__":
    run_main()
