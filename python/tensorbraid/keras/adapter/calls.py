"""A call of a layer: its variables are built, its operations are added, and its place in models is noted."""

import contextlib
import inspect
import threading

import numpy as np
import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.keras import checkpoints
from tensorbraid.keras.adapter import history, shapes
from tensorbraid.keras.adapter.loaded import loaded

__all__ = []

_now = threading.local()  # training: the value that the layer around was called with


@contextlib.contextmanager
def training_is(value):
    """Layers that are called in the block without a value of `training` take this one."""
    before = getattr(_now, "training", None)
    _now.training = value
    try:
        yield
    finally:
        _now.training = before


def _tensor(value, dtype):
    if isinstance(value, (np.ndarray, float, int)):
        return tf.convert_to_tensor(np.asarray(value, dtype if np.asarray(value).dtype.kind == "f" else None))
    return value


def _parameters(layer):
    return inspect.signature(layer.call).parameters


def _named(layer, args, kwargs):
    """All arguments of a call except the first one by their names."""
    names = [*_parameters(layer)][1:]
    if len(args) > len(names):
        raise TypeError(f"the layer {layer.name} was called with {len(args)} arguments after the first one; its call() "
                        f"takes {len(names)}")
    return {**dict(zip(names, args)), **kwargs}


def _build(layer, inputs):
    """Adds the variables of the layer."""
    if layer.built:
        return
    if getattr(layer, "_builds_when_called", False):
        layer.built = True
        return
    layer.assert_input_compatibility(nest.flatten(inputs))
    shape = nest.map_structure(shapes.static, inputs)
    if isinstance(inputs, (list, tuple)) and len(inputs) == 1:
        shape = shapes.static(nest.flatten(inputs)[0])
    layer.build(shape)
    layer.built = True
    if layer._initial_weights is not None:
        layer.set_weights(layer._initial_weights)


def _note_shapes(layer, input_shapes, outputs):
    """Keeps the shapes of the outputs where the library looks for them.

    What the operations leave open, a layer of the library may know.
    """
    found = [shapes.static(output) for output in outputs]
    is_open = any(shape is None or None in shape[1:] for shape in found)
    method = type(layer).compute_output_shape
    if is_open and shapes.of_library(method) and None not in input_shapes and not _calls_functions(layer):
        known = layer.compute_output_shape(input_shapes[0] if len(input_shapes) == 1 else input_shapes)
        known = known if isinstance(known, list) else [known]
        for output, shape in zip(outputs, known):
            if shape is not None and isinstance(output, tf.Tensor):
                output.set_shape(tf.TensorShape(output.shape).merge_with(shape))
        found = [shapes.static(output) for output in outputs]
    for output, shape in zip(outputs, found):
        output._keras_shape = shape
    return found


def _calls_functions(layer):
    """Whether the layer or one in it learns its shape by another call."""
    kinds = (loaded("layers.core").Lambda, loaded("engine.network").Network)
    return isinstance(layer, kinds) or any(_calls_functions(inner) for inner in layer._layers)


def _regularize(layer, outputs, tensors):
    """Adds the losses of the activity regularizer, per sample."""
    regularizer = getattr(layer, "activity_regularizer", None)
    if regularizer is None:
        return
    with tf.name_scope("ActivityRegularizer"):
        losses = [regularizer(output) / tf.cast(tf.shape(output)[0], output.dtype) for output in outputs]
    layer.add_loss(losses, inputs=tensors)


def _with_arguments(layer, kwargs, mask):
    """The arguments of call(), and the value of `training` for layers in it."""
    names, kwargs = _parameters(layer), dict(kwargs)
    training = kwargs.get("training")
    if training is None:
        training = getattr(_now, "training", None)
    if "training" in names:
        if training is not None:
            kwargs["training"] = training
    else:
        kwargs.pop("training", None)
    if "mask" in names and "mask" not in kwargs and any(one is not None for one in nest.flatten(mask)):
        kwargs["mask"] = mask
    return kwargs, training


def call(self, inputs, *args, **kwargs):
    """Calls the layer with tensors, or a structure of them. The first call builds its variables."""
    if not hasattr(self, "_inbound_nodes"):
        raise RuntimeError(f"The class {type(self).__name__} must call super().__init__() in its __init__().")
    given = _named(self, args, kwargs)
    inputs = nest.map_structure(lambda value: _tensor(value, self.dtype), inputs)
    tensors = nest.flatten(inputs)
    history.connect(tensors)
    base_layer = loaded("engine.base_layer")
    with tf.name_scope(self._name_scope()):
        _build(self, inputs)
        self.assert_input_compatibility(tensors)
        mask = base_layer._collect_previous_mask(tensors)
        arguments, training = _with_arguments(self, given, mask)
        with training_is(training):
            outputs = self.call(inputs, **arguments)
            output_mask = self.compute_mask(inputs, given.get("mask", mask))
        outputs = nest.map_structure(
            lambda output: tf.identity(output) if any(output is tensor for tensor in tensors) else output, outputs)
        flat = [output for output in nest.flatten(outputs) if isinstance(output, (tf.Tensor, tf.SparseTensor))]
        if isinstance(output_mask, (list, tuple)):
            masks = list(output_mask)
        else:
            masks = [output_mask] * len(flat)
        input_shapes = [shapes.static(tensor) for tensor in tensors]
        output_shapes = _note_shapes(self, input_shapes, flat)
        if flat:
            self._add_inbound_node(tensors, flat, nest.flatten(mask) if isinstance(mask, list) else [mask], masks,
                                   input_shapes, output_shapes, given)
            history.note(self._inbound_nodes[-1], inputs, tensors)
            _regularize(self, flat, tensors)
    if "_pending_weights" in self.__dict__:
        checkpoints.load_pending(self)
    return outputs
