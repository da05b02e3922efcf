"""Models as in tf.keras: they apply their layers to any tensors, and have any operations between layers."""

import operator

import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.keras import checkpoints, dependencies
from tensorbraid.keras.adapter import history, layer
from tensorbraid.keras.adapter.loaded import loaded, replace

__all__ = []


class _NetworkMethods:
    """Methods of tf.keras.Model."""

    def _base_init(self, name=None, **kwargs):
        kwargs.pop("autocast", None)
        self._library_base_init(name=name or layer.unique_name(type(self)), **kwargs)

    def _init_graph_network(self, inputs, outputs, name=None, **kwargs):
        inputs, outputs = nest.flatten(inputs), nest.flatten(outputs)
        history.connect(outputs)
        for output in outputs:
            node = history.node_of(output)
            if node is not None and not history.is_of_model(output):
                raise ValueError(f"Output tensors to a {type(self).__name__} must come from tf.keras.Input: {output} "
                                 "depends on other tensors only")
        self._library_init_graph_network(inputs, outputs, name=name, **kwargs)

    def call(self, inputs, training=None, mask=None):
        """Applies the layers of the model to these inputs."""
        if not self._is_graph_network:
            raise NotImplementedError(f"When subclassing the `Model` class, you should implement a `call` method: "
                                      f"{type(self).__name__} has none.")
        outputs, masks, _ = self.run_internal_graph(nest.flatten(inputs))
        self.__dict__["_masks_of_call"] = masks
        return outputs

    def compute_mask(self, inputs, mask):
        """The masks of the outputs: for the model's own inputs, or those of the last call."""
        if not self._is_graph_network:
            return None
        inputs = nest.flatten(inputs)
        if len(inputs) == len(self.inputs) and all(map(operator.is_, inputs, self.inputs)):
            return [_mask(tensor) for tensor in self.outputs]
        return self.__dict__.get("_masks_of_call")

    def run_internal_graph(self, inputs, masks=None):
        """The outputs of the model for these inputs, their masks and their shapes."""
        tensors = outputs_for(self, inputs)
        output_masks = [_mask(tensor) for tensor in tensors]
        output_shapes = [getattr(tensor, "_keras_shape", None) for tensor in tensors]
        return tuple(found[0] if len(found) == 1 else found for found in (tensors, output_masks, output_shapes))

    @property
    def weights(self):
        """The variables of each layer, then those of the model's own."""
        found = [weight for inner in self.layers for weight in inner.weights]
        return found + self._trainable_weights + self._non_trainable_weights

    def get_weights(self):
        """The values of the variables."""
        return loaded("backend").batch_get_value(self.weights)

    def set_weights(self, weights):
        """Sets the variables."""
        variables = self.weights
        if len(weights) != len(variables):
            raise ValueError(f"You called `set_weights(weights)` on the model {self.name} with {len(weights)} values; "
                             f"it has {len(variables)} variables")
        loaded("backend").batch_set_value(list(zip(variables, weights)))

    def save(self, filepath, overwrite=True, include_optimizer=True, save_format=None, signatures=None):
        """Writes the whole model as an HDF5 file."""
        loaded("engine.saving").save_model(self, filepath, overwrite, include_optimizer, save_format)

    def save_weights(self, filepath, overwrite=True, save_format=None):
        """Writes the variables: an HDF5 file if the name ends with .h5, .keras or .hdf5, else a checkpoint."""
        if save_format in ("h5", "hdf5") or save_format is None and str(filepath).endswith((".h5", ".keras", ".hdf5")):
            self._library_save_weights(filepath, overwrite)
        else:
            checkpoints.save(self, str(filepath))

    def load_weights(self, filepath, by_name=False, **kwargs):
        """Reads the variables from what `save_weights`, or a tf.train.Saver, has written."""
        if not tf.train.checkpoint_exists(str(filepath)) or str(filepath).endswith((".h5", ".keras", ".hdf5")):
            return self._library_load_weights(filepath, by_name=by_name, **kwargs)
        return checkpoints.load(self, str(filepath))

    @property
    def updates(self):
        """The updates of the layers for the inputs of this model; all, if it has no inputs yet."""
        return _of_inputs(self, "_updates") if self.trainable or self.stateful else []

    @property
    def state_updates(self):
        """The updates of states, which `predict` makes too."""
        return [update for update in _of_inputs(self, "_updates") if any(
            update is own for inner in dependencies.layers_in(self) if not inner._layers and inner.stateful
            for own in inner._updates)]

    @property
    def losses(self):
        """The losses of the layers for the inputs of this model; all, if it has no inputs yet."""
        return _of_inputs(self, "_losses")

    uses_learning_phase = property(lambda self: True)


def _of_inputs(model, kind):
    found = dependencies.collected(model, kind)
    return dependencies.of_inputs(model, found, model.inputs) if model.inputs else found


def outputs_for(model, inputs, layer_for=lambda layer: layer):
    """The outputs of the model for these inputs. `layer_for` gives the layer to call in the place of one of its own."""
    values = {id(tensor): value for tensor, value in zip(model.inputs, inputs)}
    for depth in sorted(model._nodes_by_depth, reverse=True):
        for node in model._nodes_by_depth[depth]:
            if node.inbound_layers and all(id(tensor) in values for tensor in node.input_tensors):
                _apply(node, values, layer_for(node.outbound_layer))
    return [values[id(tensor)] for tensor in model.outputs]


def _apply(node, values, inner):
    """Calls the layer `inner` as a node calls its own."""
    inputs = [values[id(tensor)] for tensor in node.input_tensors]
    structure = getattr(node, "structure", None)
    if structure is not None:
        inputs = nest.pack_sequence_as(structure, inputs)
    elif len(inputs) == 1:
        inputs = inputs[0]
    arguments = nest.map_structure(lambda value: values.get(id(value), value), node.arguments or {})
    outputs = [output for output in nest.flatten(inner(inputs, **arguments)) if output is not None]
    values.update((id(tensor), output) for tensor, output in zip(node.output_tensors, outputs))


def _mask(tensor):
    node = history.node_of(tensor)
    return None if node is None else node.output_masks[tensor._keras_history[2]]


def change(network):
    """Changes the library's module engine.network."""
    kind = network.Network
    kind._library_base_init, kind._library_init_graph_network = kind._base_init, kind._init_graph_network
    kind._library_save_weights, kind._library_load_weights = kind.save_weights, kind.load_weights
    replace(kind, _NetworkMethods)


class _SequentialMethods:
    """Methods of tf.keras.Sequential."""

    def call(self, inputs, training=None, mask=None):
        """Applies the layers one after the other."""
        if self._is_graph_network:
            return super(loaded("engine.sequential").Sequential, self).call(inputs, training=training, mask=mask)
        for inner in self.layers:
            inputs = inner(inputs)
        self.__dict__["_masks_of_call"] = _mask(inputs)
        return inputs

    def compute_mask(self, inputs, mask):
        """The mask of the output."""
        if self._is_graph_network:
            return super(loaded("engine.sequential").Sequential, self).compute_mask(inputs, mask)
        return self.__dict__.get("_masks_of_call")

    # Without shapes of inputs, the variables are made by the layers' own calls, in the scope of the model.
    _builds_when_called = property(lambda self: not self.inputs)


def change_sequential(sequential):
    """Changes the library's module engine.sequential."""
    replace(sequential.Sequential, _SequentialMethods)
