"""What a profile knows of the nodes of a graph besides the graph: groups, floating point operations and lines of code."""

import os
import types

from tensorbraid import gfile, proto
from tensorbraid.internal import flops, graphs
from tensorbraid.internal.graphs import GraphKeys
from tensorbraid.internal.shapes import TensorShape
from tensorbraid.profiler.lines import Lines
from tensorbraid.profiler.options import TRAINABLE_VARIABLES

__all__ = []


def graph_with_shapes(graph, run_meta=None):
    """The GraphDef of a graph with the shapes of all tensors: those that the graph does not know, as the step had them."""
    result = graph.as_graph_def(add_shapes=True)
    ran = {}
    for device in run_meta.step_stats.dev_stats if run_meta is not None else ():
        for node in device.node_stats:
            if node.output:
                ran[node.node_name] = [output.tensor_description.shape for output in node.output]
    for node in result.node:
        shapes = node.attr["_output_shapes"].list.shape if "_output_shapes" in node.attr else ()
        found = ran.get(node.name, ())
        if len(found) == len(shapes):
            for shape, known in zip(shapes, found):
                _complete(shape, known)
    return result


def _complete(shape, found):
    """Sets the unknown dimensions of a TensorShapeProto; a shape that contradicts it changes nothing."""
    known = shape.unknown_rank or (len(shape.dim) == len(found.dim) and all(
        ours.size in (-1, other.size) for ours, other in zip(shape.dim, found.dim)))
    if known:
        shape.CopyFrom(found)


def _tensors(tensors, shapes):
    return [types.SimpleNamespace(name=tensor.name, shape=shapes.get(tensor.name, tensor.shape)) for tensor in tensors]


def _float_ops(op, shapes):
    return flops.of(types.SimpleNamespace(type=op.type, get_attr=op.get_attr, inputs=_tensors(op.inputs, shapes),
                                          outputs=_tensors(op.outputs, shapes)))


def op_log_of(graph, graph_def, op_log=None, with_lines=False):
    """An OpLogProto with an entry for each node that has floating point operations, that is a trainable variable, or
    that `op_log` has. `graph_def` comes from graph_with_shapes. `with_lines`: all nodes have entries, with the lines of
    the program that made them."""
    shapes = {f"{node.name}:{i}": TensorShape(shape) for node in graph_def.node if "_output_shapes" in node.attr
              for i, shape in enumerate(node.attr["_output_shapes"].list.shape)}
    entries = {}

    def entry(name):
        if name not in entries:
            entries[name] = proto.OpLogEntry(name=name)
        return entries[name]

    for given in op_log.log_entries if op_log is not None else ():
        entry(given.name).CopyFrom(given)
    for op in graph.get_operations():
        number = _float_ops(op, shapes)
        if number and not (op.name in entries and entries[op.name].float_ops):
            entry(op.name).float_ops = number
    for variable in graph.get_collection(GraphKeys.TRAINABLE_VARIABLES):
        entry(variable.op.name).types.append(TRAINABLE_VARIABLES)
    lines = Lines()
    for op in graph.get_operations() if with_lines else ():
        if not entry(op.name).HasField("code_def"):
            lines.write(op, entry(op.name).code_def)
    result = proto.OpLogProto(log_entries=entries.values(), id_to_string=lines.strings)
    if op_log is not None:
        result.id_to_string.update(op_log.id_to_string)
    return result


def write_op_log(graph, log_dir, op_log=None, run_meta=None, add_trace=True):
    """Writes the file `tfprof_log` with what profiles know of the graph's nodes: an OpLogProto.

    Its entries have the groups and the floating point operations of nodes, what `op_log` says of them and, with
    `add_trace`, the lines of the program that made the nodes.
    """
    graph = graph or graphs.get_default_graph()
    run_meta = None if run_meta is None else proto.message("RunMetadata", run_meta, "run_meta")
    op_log = None if op_log is None else proto.message("OpLogProto", op_log, "op_log")
    made = op_log_of(graph, graph_with_shapes(graph, run_meta), op_log, with_lines=bool(add_trace))
    with gfile.GFile(os.path.join(log_dir, "tfprof_log"), "wb") as file:
        file.write(made.SerializeToString())
