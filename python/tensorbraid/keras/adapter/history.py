"""Where tensors come from: which layers of a model, and which operations between them."""

import tensorbraid as tf
from tensorbraid.keras.adapter import op_layer, shapes

__all__ = []

_OF_LOOPS = ("Enter", "Exit", "Merge", "NextIteration", "Switch", "RefSwitch", "LoopCond")


def node_of(tensor):
    """The call of a layer that the tensor is an output of, or None."""
    place = getattr(tensor, "_keras_history", None)
    return None if place is None else place[0]._inbound_nodes[place[1]]


def is_of_model(tensor):
    """Whether the tensor depends on tf.keras.Input by calls of layers."""
    node = node_of(tensor)
    return node is not None and not getattr(node, "is_plain", False)


def note(node, inputs, tensors):
    """Notes for a new call of a layer the structure of its inputs, and whether it belongs to a model.

    A call with tensors that no tf.keras.Input leads to belongs to none.
    """
    node.structure = inputs
    node.is_plain = not tensors or not all(is_of_model(tensor) for tensor in tensors)
    if not node.is_plain:
        node.output_tensors[0].graph._keras_has_models = True


def connect(tensors):
    """Makes layers of the operations between calls of layers and these tensors, one of each.

    So a model can have any operations between its layers.
    """
    for tensor in tensors:
        if isinstance(tensor, tf.Tensor) and node_of(tensor) is None and tensor.graph is tf.get_default_graph():
            for op in _operations(tensor):
                _make_layer(op)


def _operations(tensor):
    """The operations on the ways from outputs of layers to the tensor, each after those that it needs.

    What leads to no layer is kept with the graph, so that a graph is searched once.
    """
    graph = tensor.graph
    if not getattr(graph, "_keras_has_models", False):
        return []
    plain = graph.__dict__.setdefault("_keras_plain_operations", set())
    found, seen, stack = {}, set(), [(tensor.op, False)]
    while stack:
        op, is_done = stack.pop()
        if is_done:
            if any(is_of_model(source) or source.op.name in found for source in op.inputs):
                found[op.name] = op
            else:
                plain.add(op.name)
        elif op.name not in seen and op.name not in plain:
            seen.add(op.name)
            stack.append((op, True))
            stack += [(source.op, False) for source in op.inputs if not is_of_model(source)]
    return list(found.values())


def _make_layer(op):
    if op.type in _OF_LOOPS:
        raise ValueError(f"the operation {op.name} of a loop or a condition is between layers of a model; put the loop "
                         "into a tf.keras.layers.Lambda, or into call() of a layer of your own")
    inputs = [source for source in op.inputs if is_of_model(source)]
    others = {index: source for index, source in enumerate(op.inputs) if not is_of_model(source)}
    layer = op_layer.new(op.node_def, len(op.outputs), others)
    outputs = list(op.outputs)
    for output in outputs:
        output._keras_shape = shapes.static(output)
    layer._add_inbound_node(inputs, outputs, [None] * len(inputs), [None] * len(outputs),
                            [shapes.static(source) for source in inputs],
                            [shapes.static(output) for output in outputs], {})
    note(layer._inbound_nodes[-1], inputs, inputs)
