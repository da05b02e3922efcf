"""Tensors, layers and models of several graphs."""

import tensorbraid as tf
from tensorbraid import nest
from tensorbraid.keras.adapter import datasets

__all__ = []

_ONE = "make and use all of a model in one `with graph.as_default():`"
_NEW = "tf.keras.backend.clear_session() and tf.reset_default_graph() begin a new graph, so a model is made after them"


def _foreign(value):
    """Whether a tensor or a variable is of another graph than the default one."""
    value = value.values if isinstance(value, tf.SparseTensor) else value
    return isinstance(value, (tf.Tensor, tf.Variable)) and value.graph is not tf.get_default_graph()


def about_layer(layer, inputs):
    """What is wrong with a call of the layer, if several graphs are mixed; otherwise None."""
    for index, value in enumerate(nest.flatten(inputs)):
        if _foreign(value):
            return (f"the layer {layer.name} was called with the input {index}, {value.name}, of another graph than "
                    f"the default graph; {_ONE}")
    if any(map(_foreign, layer.weights)):
        return (f"the layer {layer.name} has its variables in another graph than the default graph; {_ONE}, with "
                f"layers of its own ({_NEW})")
    return None


def about_tensors(model, inputs, outputs):
    """What is wrong with the inputs and outputs of a new model, if they are of several graphs; otherwise None."""
    tensors = [value for value in [*nest.flatten(inputs), *nest.flatten(outputs)] if isinstance(value, tf.Tensor)]
    for value in tensors:
        if value.graph is not tensors[0].graph:
            return f"the model {model} would have {tensors[0].name} and {value.name}, which are of two graphs; {_ONE}"
    return None



def _weights(optimizer):
    """The variables of an optimizer of tf.keras. Those of tf.train are not asked for theirs."""
    return [] if hasattr(optimizer, "optimizer") else getattr(optimizer, "weights", [])


def about_model(model, method, data=None):
    """What is wrong with a call of a method of the model, if it is of another graph; otherwise None."""
    what = f"{method}() of the model {model.name}"
    if any(map(_foreign, [*(model.inputs or []), *model.weights][:1])):
        return (f"{what}: the model was made in another graph than the default graph; call it in `with "
                f"model.inputs[0].graph.as_default():` ({_NEW})")
    optimizer = getattr(model, "optimizer", None)
    if any(map(_foreign, [*_weights(optimizer), getattr(optimizer, "iterations", None)])):
        return (f"{what}: its optimizer {type(optimizer).__name__} was made in another graph than the default graph, "
                f"which is the model's; {_ONE}, also the optimizer ({_NEW})")
    if datasets.is_dataset(data) and _foreign(_a_tensor_of(data)):
        return (f"{what}: the dataset was made in another graph than the default graph, which is the model's; make it "
                "in the model's graph")
    return None


def _a_tensor_of(data):
    if isinstance(data, tf.data.Dataset):
        return tf.data.experimental.cardinality(data)
    return nest.flatten(data.get_next())[0]
