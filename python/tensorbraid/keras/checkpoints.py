"""Checkpoints of models. Their variables have TensorFlow's keys, which say where in the model a variable is.

So a checkpoint restores into another model of the same layers, whatever the names of its variables are. The key of a
variable is the way to it: "layer_with_weights-0/kernel/.ATTRIBUTES/VARIABLE_VALUE" in a model of a list of layers,
"attribute/kernel/..." in a subclass of Model. The shortest way counts, and among those the first. A checkpoint also has
the objects as TensorFlow's message TrackableObjectGraph, so TensorFlow reads it.
"""

import collections

import tensorbraid as tf
from tensorbraid.keras.adapter.loaded import loaded
from tensorbraid.tensorflow_python.saver import BaseSaverBuilder

__all__ = []

_VALUE = "/.ATTRIBUTES/VARIABLE_VALUE"
_GRAPH = "_CHECKPOINTABLE_OBJECT_GRAPH"


class Status:
    """What `load_weights` returns. The variables have been read when it is made."""

    def assert_consumed(self):
        """Does nothing: a variable that a checkpoint lacks is an error."""
        return self

    assert_existing_objects_matched = assert_nontrivial_match = expect_partial = assert_consumed

    def initialize_or_restore(self, session=None):
        """Does nothing: the variables have been read."""

    run_restore_ops = initialize_or_restore


def _children(value):
    """The names and values below a model, a layer, or a list or dictionary of them."""
    if isinstance(value, (list, tuple)):
        return [(str(index), item) for index, item in enumerate(value)]
    if isinstance(value, dict):
        return [(str(key), item) for key, item in value.items()]
    found = []
    if getattr(value, "_is_graph_network", False) or isinstance(value, loaded("engine.sequential").Sequential):
        for index, layer in enumerate(value.layers):
            if layer.weights:
                found.append((f"layer_with_weights-{sum(name.startswith('layer_with') for name, _ in found)}", layer))
            found.append((f"layer-{index}", layer))
    found += value.__dict__.get("_weights_by_name", {}).items()
    return found + [(name, item) for name, item in vars(value).items() if not name.startswith("_")]


def _objects(model):
    """The objects of a model with variables: for each, what it is, its way, and its children by name."""
    layer, kinds = loaded("engine.base_layer").Layer, (list, tuple, dict)
    wanted = {id(variable) for variable in model.weights}
    found, waiting = {id(model): (model, "", {})}, collections.deque([model])
    while waiting:
        parent = waiting.popleft()
        _, way, below = found[id(parent)]
        for name, value in _children(parent):
            if not (id(value) in wanted or isinstance(value, layer) or isinstance(value, kinds) and value):
                continue
            name = name.replace(".", "..").replace("/", ".S") if name.startswith(".") or "/" in name else name
            below[name] = id(value)
            if id(value) not in found:
                found[id(value)] = value, f"{way}/{name}" if way else name, {}
                if id(value) not in wanted:
                    waiting.append(value)
    for variable in model.weights:  # those that no attribute leads to
        found.setdefault(id(variable), (variable, "_variables/" + variable.op.name.replace("/", ".S"), {}))
    return found, wanted


def _keys(model):
    """The variables of a model by their keys."""
    found, wanted = _objects(model)
    return {way + _VALUE: value for key, (value, way, _) in found.items() if key in wanted}


def _field(number, value):
    """A field of a message: a number, or bytes."""
    if isinstance(value, int):
        return bytes([number << 3]) + _varint(value)
    value = value.encode() if isinstance(value, str) else value
    return bytes([number << 3 | 2]) + _varint(len(value)) + value


def _varint(value):
    more = bytearray()
    while value > 127:
        more.append(value & 127 | 128)
        value >>= 7
    return bytes([*more, value])


def _message(model):
    """The message TrackableObjectGraph of a model."""
    found, wanted = _objects(model)
    places, message = {key: place for place, key in enumerate(found)}, b""
    for key, (value, way, below) in found.items():
        node = b"".join(_field(1, _field(1, places[child]) + _field(2, name))
                        for name, child in below.items() if child in places)
        if key in wanted:
            node += _field(2, _field(1, "VARIABLE_VALUE") + _field(2, value.op.name) + _field(3, way + _VALUE))
        message += _field(1, node)
    return message


class _Graph(BaseSaverBuilder.SaveableObject):
    """The message of a model as a value of a checkpoint."""

    def __init__(self, message):
        value = tf.constant(message, tf.string)
        super().__init__(value, [BaseSaverBuilder.SaveSpec(value, "", _GRAPH)], _GRAPH)

    def restore(self, restored_tensors, restored_shapes):
        return tf.no_op()


def _saver(model, kind, variables):
    """The saver of these variables, which a model keeps, because it adds operations to the graph."""
    kept = model.__dict__.setdefault("_savers", {})
    names = kind, tf.get_default_graph(), tuple(variables)
    if names not in kept:
        more = {_GRAPH: _Graph(_message(model))} if kind == "save" else {}
        kept[names] = tf.train.Saver({**variables, **more}, max_to_keep=None)
    return kept[names]


def saver(model):
    """The saver that writes the variables of a model."""
    return _saver(model, "save", _keys(model))


def save(model, path):
    """Writes the variables of a model."""
    saver(model).save(loaded("backend").get_session(), path, write_meta_graph=False)


def load(model, path):
    """Reads the variables of a model from a checkpoint: by their keys, or by their names if it has no keys.

    A model without variables reads them when its first call has made them.
    """
    if not model.weights:
        model.__dict__["_pending_weights"] = path
        return Status()
    saved = tf.train.NewCheckpointReader(path).get_variable_to_shape_map()
    variables = _keys(model)
    if not any(name.endswith(_VALUE) for name in saved):
        variables = {variable.op.name: variable for variable in model.weights}
    _saver(model, "load", variables).restore(loaded("backend").get_session(), path)
    return Status()


def load_pending(model):
    """Reads the variables of a model that was called for the first time after `load`."""
    path = model.__dict__.pop("_pending_weights", None)
    if path is not None and model.weights:
        load(model, path)
