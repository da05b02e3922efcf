"""tensorflow.python.tools.strip_unused_lib: extracts the part of a graph between given inputs and outputs."""

import tensorbraid as tf
from tensorbraid import proto

__all__ = ["strip_unused", "strip_unused_from_files"]


def strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum):
    """The GraphDef of the nodes on which the outputs depend, with placeholders in place of the inputs.

    `placeholder_type_enum` is the dtype of the placeholders, or a list with one for each. KeyError if an input does not
    exist.
    """
    names = {node.name for node in input_graph_def.node}
    missing = [name for name in input_node_names if name not in names]
    if missing:
        raise KeyError(f"The following input nodes were not found: {missing}")
    types = placeholder_type_enum
    types = dict(zip(input_node_names, types if isinstance(types, (list, tuple)) else [types] * len(input_node_names)))
    made = tf.GraphDef()
    for node in input_graph_def.node:
        if node.name not in types:
            made.node.add().CopyFrom(node)
            continue
        placeholder = made.node.add(name=node.name, op="Placeholder")
        placeholder.attr["dtype"].type = tf.as_dtype(types[node.name]).as_datatype_enum
        for name in ("_output_shapes", "shape"):
            if name in node.attr:
                placeholder.attr[name].CopyFrom(node.attr[name])
    made.versions.CopyFrom(input_graph_def.versions)
    made.library.CopyFrom(input_graph_def.library)
    return tf.graph_util.extract_sub_graph(made, output_node_names)


def strip_unused_from_files(input_graph, input_binary, output_graph, output_binary, input_node_names, output_node_names,
                            placeholder_type_enum):
    """Reads a GraphDef from a file, calls strip_unused, and writes the result. Names are comma-separated strings.

    `input_binary` has no effect, because text and binary files are recognised by their content.
    """
    if not tf.gfile.Exists(input_graph):
        print(f"Input graph file '{input_graph}' does not exist!")
        return -1
    if not output_node_names:
        print("You need to supply the name of a node to --output_node_names.")
        return -1
    made = strip_unused(proto.from_file("GraphDef", input_graph), input_node_names.split(","),
                        output_node_names.split(","), placeholder_type_enum)
    with tf.gfile.GFile(output_graph, "wb" if output_binary else "w") as file:
        file.write(made.SerializeToString(deterministic=True) if output_binary else str(made))
    print(f"{len(made.node)} ops in the final graph.")
    return 0
