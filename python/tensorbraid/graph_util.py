"""tf.graph_util: functions that change GraphDefs."""

import re

from tensorbraid import dtypes
from tensorbraid.internal.graph_defs import import_graph_def  # noqa: F401

__all__ = [
    "convert_variables_to_constants", "extract_sub_graph", "import_graph_def", "must_run_on_cpu",
    "remove_training_nodes", "tensor_shape_from_node_def_name"]

_VARIABLES = ("VarHandleOp", "Variable", "VariableV2")
_CHANGES_VARIABLES = {"Assign", "AssignAdd", "AssignSub", "Queue", "ScatterAdd", "ScatterSub", "ScatterUpdate",
                      "TruncatedNormal", "Variable", "VariableV2"}
_PASSES_ON = {"Identity", "Switch", "Enter", "Exit", "Merge", "NextIteration"}  # ops through which a handle may come


def _proto():
    from tensorbraid import proto

    return proto


def _node(name):
    """The name of the node whose output or control edge an input names."""
    return re.sub(r"^\^", "", name).split(":")[0]


def must_run_on_cpu(node, pin_variables_on_cpu=False):
    """Whether the node, an Operation or a NodeDef, can run on a CPU only."""
    node = getattr(node, "node_def", node)
    if pin_variables_on_cpu and node.op in _CHANGES_VARIABLES:
        return True
    int32, string = dtypes.int32.as_datatype_enum, dtypes.string.as_datatype_enum
    if node.op == "Const":
        return node.attr["dtype"].type in (int32, string)
    if node.op in ("DynamicStitch", "ParallelDynamicStitch"):
        return node.attr["T"].type == int32
    return node.op == "Cast" and node.attr["SrcT"].type == int32


def extract_sub_graph(graph_def, dest_nodes):
    """The GraphDef of the nodes with these names and of all that they depend on."""
    graph_def = _proto().message("GraphDef", graph_def, "graph_def")
    if isinstance(dest_nodes, str):
        raise TypeError(f"dest_nodes must be an iterable of strings. Got {type(dest_nodes)}.")
    nodes = {node.name: node for node in graph_def.node}
    wanted, waiting = set(), []
    for name in dest_nodes:
        if name not in nodes:
            raise AssertionError(f"{name} is not in graph")
        waiting.append(name)
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting.extend(_node(source) for source in nodes[name].input)
    made = _proto().GraphDef(versions=graph_def.versions, library=graph_def.library)
    made.node.extend(node for node in graph_def.node if node.name in wanted)
    return made


def tensor_shape_from_node_def_name(graph, input_name):
    """The static shape of the tensor that an input of a NodeDef names."""
    return graph.get_tensor_by_name(input_name if ":" in input_name else input_name + ":0").get_shape()


def remove_training_nodes(input_graph, protected_nodes=None):
    """A copy of the GraphDef without nodes that only pass on their input: Identity, StopGradient and CheckNumerics.

    Protected nodes stay, and so do nodes with control edges and those that others are colocated with.
    """
    graph_def = _proto().message("GraphDef", input_graph, "input_graph")
    kept = set(protected_nodes or [])
    for node in graph_def.node:
        controls = [_node(name) for name in node.input if name.startswith("^")]
        kept.update(controls)
        if controls:
            kept.add(node.name)
        if "_class" in node.attr:
            kept.update(name.decode().removeprefix("loc:@") for name in node.attr["_class"].list.s)
    removed = {node.name: node.input[0] for node in graph_def.node
               if node.op in ("Identity", "StopGradient", "CheckNumerics") and node.name not in kept}
    made = _proto().GraphDef(versions=graph_def.versions, library=graph_def.library)
    for node in graph_def.node:
        if node.name in removed:
            continue
        copy = made.node.add()
        copy.CopyFrom(node)
        for i, name in enumerate(node.input):
            while not name.startswith("^") and _node(name) in removed:
                name = removed[_node(name)]
            copy.input[i] = name
    return made


class _Frozen:
    """A GraphDef in which constants take the place of variables."""

    def __init__(self, graph_def, values):
        self._nodes = {node.name: node for node in graph_def.node}
        self._values = values
        self._made = _proto().GraphDef(versions=graph_def.versions, library=graph_def.library)

    def _variable(self, name):
        """The frozen variable whose handle the input is, or None."""
        node = self._nodes[_node(name)]
        while node.op in _PASSES_ON and node.input:
            node = self._nodes[_node(node.input[0])]
        return node.name if node.op in _VARIABLES and node.name in self._values else None

    def _holds_handle(self, node):
        return "T" in node.attr and node.attr["T"].type == dtypes.resource.as_datatype_enum

    def _add(self, node):
        made = self._made.node.add()
        if node.name in self._values:
            value = self._values[node.name]
            made.name, made.op, made.device = node.name, "Const", node.device
            made.attr["dtype"].type = node.attr["dtype"].type
            made.attr["value"].tensor.CopyFrom(_tensor_proto(value, node.attr["dtype"].type))
            if "_class" in node.attr:
                made.attr["_class"].CopyFrom(node.attr["_class"])
            return
        made.CopyFrom(node)
        variable = self._variable(node.input[0]) if node.input and not node.input[0].startswith("^") else None
        if variable is None:
            return
        kind = self._nodes[variable].attr["dtype"].type
        if node.op in _PASSES_ON and self._holds_handle(node):
            made.attr["T"].type = kind
        elif node.op == "ReadVariableOp":
            made.op = "Identity"
            del made.attr["dtype"]
            made.attr["T"].type = kind
        elif node.op == "ResourceGather":
            self._gather(node, made, kind)
        elif self._nodes[variable].op == "VarHandleOp" and node.op not in _PASSES_ON:
            raise ValueError(f"the node '{node.name}' ({node.op}) uses the variable '{variable}' otherwise than to "
                             "read it, so the variable cannot become a constant")

    def _gather(self, node, made, kind):
        axis = self._made.node.add(name=node.name + "/axis", op="Const", device=node.device)
        axis.attr["dtype"].type = dtypes.int32.as_datatype_enum
        axis.attr["value"].tensor.CopyFrom(_tensor_proto(node.attr["batch_dims"].i, dtypes.int32.as_datatype_enum))
        made.op = "GatherV2"
        made.input.insert(2, axis.name)
        for name in ("dtype", "validate_indices"):
            made.attr.pop(name, None)
        made.attr["Tparams"].type = kind
        made.attr["Taxis"].type = dtypes.int32.as_datatype_enum

    def graph_def(self):
        for node in self._nodes.values():
            self._add(node)
        return self._made


def _tensor_proto(value, dtype):
    """The value as a TensorProto, as a graph writes a constant."""
    from tensorbraid.internal import graphs

    with graphs.Graph().as_default():
        return graphs.constant(value, dtypes.as_dtype(dtype)).op.get_attr("value")


def convert_variables_to_constants(sess, input_graph_def, output_node_names, variable_names_whitelist=None,
                                   variable_names_blacklist=None):
    """The GraphDef of some nodes and of all that they depend on, with the values of the session for variables."""
    graph_def = extract_sub_graph(input_graph_def, output_node_names)
    tables = [node.name for node in graph_def.node if node.op == "KvVarHandleOp"]
    if tables:
        raise NotImplementedError(f"the growing table '{tables[0]}' as a constant: its rows change with its keys")
    names = [node for node in graph_def.node if node.op in _VARIABLES
             and (variable_names_whitelist is None or node.name in variable_names_whitelist)
             and (variable_names_blacklist is None or node.name not in variable_names_blacklist)]
    fetches = {node.name: node.name + ("/Read/ReadVariableOp:0" if node.op == "VarHandleOp" else ":0")
               for node in names}
    return _Frozen(graph_def, sess.run(fetches) if fetches else {}).graph_def()
