"""Which updates and losses of layers depend on which tensors.

A layer keeps those of all its calls. A model has those that depend on its inputs, and those that depend on no call, such
as losses of weights.
"""

import tensorbraid as tf
from tensorbraid import nest

__all__ = []

_NONE, _OTHER, _GIVEN = 0, 1, 2  # an operation depends on no input of a layer, on another one, on one of those given


_PARTS = ("layer", "forward_layer", "backward_layer", "cell")  # attributes of wrappers and recurrent layers


def collected(layer, kind):
    """The "_updates" or the "_losses" of the layer and of the layers in it, each once.

    A layer that is not trained has no updates, and the layers in it have none.
    """
    used = layers_in(layer, lambda inner: kind == "_losses" or inner.trainable or inner.stateful)
    return list({id(value): value for inner in used for value in getattr(inner, kind, [])}.values())


def layers_in(layer, is_used=lambda inner: True):
    """The layer and the layers in it, each once, without those that are not used."""
    found, stack = {}, [layer]
    while stack:
        inner = stack.pop()
        if id(inner) not in found and is_used(inner):
            found[id(inner)] = inner
            parts = [vars(inner).get(name) for name in _PARTS]
            stack += [part for part in [*inner._layers, *parts] if hasattr(part, "_inbound_nodes")][::-1]
    return list(found.values())


def of_inputs(layer, found, inputs):
    """Those of the updates or losses `found` of the layer that depend on `inputs`, and those that depend on no call."""
    return [value for value, depends in _classified(layer, found, inputs) if depends != _OTHER]


def for_inputs(layer, found, inputs):
    """Those of the updates or losses `found` that depend on `inputs`; with None, those that depend on no call."""
    wanted = _NONE if inputs is None else _GIVEN
    return [value for value, depends in _classified(layer, found, nest.flatten(inputs)) if depends == wanted]


def _classified(layer, found, inputs):
    """Each value with what it depends on."""
    nodes = [node for inner in layers_in(layer) for node in inner._inbound_nodes]
    fed = {tensor.op.name for node in nodes for tensor in node.input_tensors}
    known = {}  # by the name of an operation
    known.update((tensor.op.name, _GIVEN) for tensor in inputs if isinstance(tensor, (tf.Tensor, tf.SparseTensor)))
    for value in found:
        made = value[1] if isinstance(value, tuple) else value  # the new value of a variable
        op = made if isinstance(made, tf.Operation) else made.op if isinstance(made, tf.Tensor) else None
        yield value, _NONE if op is None else _of(op, known, fed)


def _of(op, known, fed):
    """What the operation depends on: the highest of its sources. `fed` are inputs of layers, `known` is what is found."""
    seen, stack = set(), [(op, False)]
    while stack:
        op, is_done = stack.pop()
        sources = [source.op for source in op.inputs] + list(op.control_inputs)
        if is_done:
            own = _OTHER if op.type == "Placeholder" or op.name in fed else _NONE
            known[op.name] = max([own, *(known.get(source.name, _NONE) for source in sources)])
        elif op.name not in known and op.name not in seen:
            seen.add(op.name)
            stack.append((op, True))
            stack += [(source, False) for source in sources]
    return known[op.name]
