"""Copies of models, with layers and variables of their own: tf.keras.models.clone_model."""

import functools

from tensorbraid import nest
from tensorbraid.keras.adapter import history, network
from tensorbraid.keras.adapter.loaded import loaded

__all__ = []


def _anew(layer):
    """A layer with the configuration of this one."""
    return type(layer).from_config(layer.get_config())


def _inputs(model, tensors):
    """The inputs of a copy: new placeholders, or these tensors."""
    make = loaded("engine.input_layer").Input
    if tensors is None:
        return [make(batch_shape=layer.batch_input_shape, dtype=layer.dtype, sparse=layer.sparse, name=layer.name)
                for layer in model._input_layers]
    tensors = nest.flatten(tensors)
    if len(tensors) != len(model.inputs):
        raise ValueError(f"clone_model of {model.name}: it has {len(model.inputs)} inputs, and input_tensors are "
                         f"{len(tensors)}")
    return [tensor if history.is_of_model(tensor) else make(tensor=tensor, name=f"input_wrapper_for_{layer.name}")
            for tensor, layer in zip(tensors, model._input_layers)]


def clone_model(model, input_tensors=None, clone_function=None):
    """A model with new layers in the place of this one's.

    `clone_function` makes them, each from one of the layers, except inputs; otherwise they have the same configurations.
    """
    @functools.cache
    def clone(layer):
        made = _anew(layer) if clone_function is None else clone_function(layer)
        if not isinstance(made, loaded("engine.base_layer").Layer):
            raise TypeError(f"clone_function of clone_model has returned {made!r} for the layer {layer.name}; a layer is "
                            "wanted")
        return made

    sequential, kind = loaded("engine.sequential").Sequential, loaded("engine.input_layer").InputLayer
    if isinstance(model, sequential):
        begins = model._layers and isinstance(model._layers[0], kind)
        if input_tensors is not None:
            first = [_inputs(model, input_tensors)[0]._keras_history[0]]
        else:
            first = [_anew(model._layers[0])] if begins else []
        return sequential(first + [clone(layer) for layer in model.layers], name=model.name)
    if not getattr(model, "_is_graph_network", False):
        raise ValueError(f"clone_model takes a functional or sequential model, not {model}: a subclass of Model is made "
                         "anew by its constructor, and set_weights() copies the variables")
    inputs = _inputs(model, input_tensors)
    return loaded("engine.training").Model(inputs, network.outputs_for(model, inputs, clone), name=model.name)


def change(models):
    """Changes the library's module `models`."""
    models.clone_model = clone_model
