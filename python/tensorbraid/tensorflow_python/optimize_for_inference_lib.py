"""tensorflow.python.tools.optimize_for_inference_lib: removes needless nodes, and folds batch norms."""

import numpy as np

import tensorbraid as tf
from tensorbraid.tensorflow_python import strip_unused_lib

__all__ = ["ensure_graph_is_valid", "fold_batch_norms", "optimize_for_inference"]

_NORMS = ("FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3")
_CONVOLUTIONS = ("Conv2D", "DepthwiseConv2dNative")


def optimize_for_inference(input_graph_def, input_node_names, output_node_names, placeholder_type_enum,
                           toco_compatible=False):
    """The part of a GraphDef between inputs and outputs, without identity nodes and with folded batch norms.

    Variables must have been replaced by constants (freeze_graph). `toco_compatible` has no effect.
    """
    ensure_graph_is_valid(input_graph_def)
    made = strip_unused_lib.strip_unused(input_graph_def, input_node_names, output_node_names, placeholder_type_enum)
    made = fold_batch_norms(tf.graph_util.remove_training_nodes(made, output_node_names))
    ensure_graph_is_valid(made)
    return made


def _node_of(name):
    return name.removeprefix("^").partition(":")[0]


def ensure_graph_is_valid(graph_def):
    """Raises ValueError if two nodes have the same name or an input of a node does not exist."""
    names = set()
    for node in graph_def.node:
        if node.name in names:
            raise ValueError(f"Duplicate node found for {node.name}")
        names.add(node.name)
    for node in graph_def.node:
        for name in node.input:
            if _node_of(name) not in names:
                raise ValueError(f"Input for {node.name} not found: {name}")


class _Folds:
    """Finds the batch norms that can be folded into a convolution, and makes the nodes that replace both."""

    def __init__(self, graph_def):
        self._graph_def = graph_def
        self._nodes = {node.name: node for node in graph_def.node}
        self._users = {}
        for node in graph_def.node:
            for name in node.input:
                self._users.setdefault(_node_of(name), []).append((node.name, name))
        self.made = {}  # {name of a node: the nodes that replace it}

    def _value(self, name):
        """The value of the node if it is a constant, otherwise None."""
        node = self._nodes[_node_of(name)]
        return tf.make_ndarray(node.attr["value"].tensor) if node.op == "Const" else None

    def _constant(self, name, value):
        node = tf.NodeDef(name=name, op="Const")
        node.attr["dtype"].type = tf.as_dtype(value.dtype).as_datatype_enum
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
        return node

    def add(self, norm):
        """Folds a batch norm if that does not change any value that another node uses."""
        if norm.op not in _NORMS or norm.attr["is_training"].b:
            return
        if any(name != norm.name for _, name in self._users.get(norm.name, [])):  # another output, or a control edge
            return
        convolution = self._nodes[_node_of(norm.input[0])]
        values = [self._value(name) for name in norm.input[1:5]]
        if convolution.op not in _CONVOLUTIONS or any(value is None for value in values) or len(norm.input) > 5:
            return
        weights = self._value(convolution.input[1])
        if weights is None or len(self._users[convolution.name]) > 1 or len(self._users[_node_of(convolution.input[1])]) > 1:
            return
        data_format = convolution.attr["data_format"].s or b"NHWC"
        if data_format != (norm.attr["data_format"].s or b"NHWC"):
            return
        scale, offset, mean, variance = values
        factor = scale / np.sqrt(variance + norm.attr["epsilon"].f)
        if convolution.op == "DepthwiseConv2dNative":
            scaled = weights * factor.reshape(weights.shape[2:])
        else:
            scaled = weights * factor
        bias = tf.NodeDef(name=norm.name, op="BiasAdd", device=norm.device,
                          input=[convolution.name, norm.name + "_offset"])
        bias.attr["T"].CopyFrom(convolution.attr["T"])
        bias.attr["data_format"].s = data_format
        dtype = weights.dtype
        self.made[_node_of(convolution.input[1])] = [self._constant(_node_of(convolution.input[1]), scaled.astype(dtype))]
        self.made[norm.name] = [self._constant(norm.name + "_offset", (offset - mean * factor).astype(dtype)), bias]


def fold_batch_norms(input_graph_def):
    """Folds batch norms with constant parameters into the weights of the convolution before them, and a BiasAdd.

    Only fused batch norms for inference (is_training is False) after Conv2D and DepthwiseConv2dNative are folded.
    """
    folds = _Folds(input_graph_def)
    for node in input_graph_def.node:
        folds.add(node)
    made = tf.GraphDef(versions=input_graph_def.versions, library=input_graph_def.library)
    for node in input_graph_def.node:
        made.node.extend(folds.made.get(node.name, [node]))
    return made
