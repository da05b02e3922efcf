"""Calls of layers: what they are called with, and with what before."""

import functools

import numpy as np
import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.keras.adapter import shapes
from tensorbraid.keras.checks import explained, graphs

__all__ = []

_TENSORS = (tf.Tensor, tf.Variable, tf.SparseTensor)


def _shapes(values):
    return [shapes.static(value) if isinstance(value, _TENSORS) else np.shape(value) for value in values]


def _fits(first, second):
    """Whether two shapes can be equal, but for the number of samples."""
    return first is None or second is None or len(first) == len(second) and all(
        None in sizes or sizes[0] == sizes[1] for sizes in zip(first[1:], second[1:]))


def _text(found):
    return str(tuple(found[0])) if len(found) == 1 else str([shape and tuple(shape) for shape in found])


def _problem(layer, inputs, error):
    """What is wrong with a call of the layer, if it is one of the usual mistakes; otherwise None."""
    values = nest.flatten(inputs)
    for index, value in enumerate(values):
        if explained.is_eager(value):
            return explained.about_eager(f"the input {index} of the layer {layer.name}", value)
        if explained.origin(value) or "isn't a symbolic tensor" in str(error) and not isinstance(value, _TENSORS):
            return (f"the input {index} of the layer {layer.name} is {value!r}, a {type(value).__name__}"
                    f"{explained.origin(value)}; layers take tensors, and arrays of numbers")
    text = graphs.about_layer(layer, inputs)
    if text is not None:
        return text
    if type(error) is not ValueError:
        return None
    given = _shapes(values)
    if isinstance(inputs, (list, tuple)) and not any(isinstance(value, _TENSORS) for value in values):
        return f"{error}; a list is several inputs, and one array of all values is np.array(...)"
    nodes = layer._inbound_nodes
    if layer.weights and nodes:
        first = nodes[0].input_shapes
        if len(first) != len(given) or not all(map(_fits, first, given)):
            return (f"{error}. The variables of the layer {layer.name} were made for inputs of the shape "
                    f"{_text(first)}, and it is called with {_text(given)}: inputs of another shape need a layer "
                    "of their own")
    wants = getattr((nest.flatten(layer.input_spec) or [None])[0], "ndim", None)
    more = len(given) == 1 and given[0] is not None and wants == len(given[0]) + 1
    hint = "; tf.expand_dims(x, -1) adds the dimension of the channels or features" if more else ""
    return f"{error}. The layer {layer.name} is called with inputs of the shape {_text(given)}{hint}"


def change(base_layer):
    """Checks the calls of the library's class engine.base_layer.Layer."""
    call = base_layer.Layer.__call__

    @functools.wraps(call)
    def checked(self, inputs, *args, **kwargs):
        try:
            return call(self, inputs, *args, **kwargs)
        except explained.KINDS as error:
            known = explained.is_explained(error) or not hasattr(self, "_inbound_nodes")
            text = None if known else _problem(self, inputs, error)
            if text is None:
                raise
            raise explained.error(text) from error

    base_layer.Layer.__call__ = checked


def change_network(network):
    """Checks what the library's class engine.network.Network is made of."""
    kind = network.Network
    init = kind._init_graph_network

    @functools.wraps(init)
    def checked_init(self, inputs, outputs, name=None, **kwargs):
        values = [*nest.flatten(inputs), *nest.flatten(outputs)]
        wrong = next((value for value in values if explained.origin(value)), None)
        if wrong is not None:
            raise explained.error(f"{type(self).__name__} takes outputs of layers, and got {wrong!r}"
                                  f"{explained.origin(wrong)}")
        try:
            init(self, inputs, outputs, name=name, **kwargs)
        except explained.KINDS as error:
            text = graphs.about_tensors(name or type(self).__name__, inputs, outputs)
            if text is None:
                raise
            raise explained.error(text) from error

    def of_graph(method):
        @functools.wraps(method)
        def checked(self, *args, **kwargs):
            if not self._is_graph_network:
                raise explained.error(
                    f"the model {self.name} is a subclass of Model, {type(self).__name__}, whose structure is its "
                    "call() and no configuration: save_weights() keeps its variables, and load_weights() of a new "
                    f"{type(self).__name__} reads them", NotImplementedError)
            return method(self, *args, **kwargs)

        return checked

    kind._init_graph_network = checked_init
    kind.get_config, kind.save = of_graph(kind.get_config), of_graph(kind.save)


def change_sequential(sequential):
    """Checks what is added to the library's class engine.sequential.Sequential."""
    add = sequential.Sequential.add

    @functools.wraps(add)
    def checked(self, layer):
        if explained.origin(layer):
            raise explained.error(f"the model {self.name} takes layers of tf.keras, and got {layer!r}"
                                  f"{explained.origin(layer)}", TypeError)
        add(self, layer)

    sequential.Sequential.add = checked
