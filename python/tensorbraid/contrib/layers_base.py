"""Shared code of tf.contrib.layers: scopes, names of variables, collections, normalizers and activations."""

from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.variable_scope import variable_scope

__all__ = []


def append_tensor_alias(tensor, alias):
    """Adds a name to the tensor's aliases, by which convert_collection_to_dict lists it. Returns the tensor."""
    tensor.aliases = [*getattr(tensor, "aliases", ()), alias.removesuffix("/")]
    return tensor


def collected(outputs_collections, scope, outputs):
    """The outputs, which are now in these collections, and have the name of the scope there."""
    if outputs_collections and isinstance(outputs, graphs.Tensor):
        append_tensor_alias(outputs, scope)
    for key in [outputs_collections] if isinstance(outputs_collections, str) else outputs_collections or []:
        graphs.add_to_collection(key, outputs)
    return outputs


def with_model_variables(layer, variables_collections):
    """Puts the variables of a layer into the collection of model variables, and into others."""
    graph = layer.graph
    for variable in layer.variables:
        keys = variables_collections or []
        if isinstance(keys, dict):
            last = variable.op.name.rpartition("/")[2]
            keys = keys.get("weights" if last.endswith("weights") else last) or []
        for key in [*([keys] if isinstance(keys, str) else keys), GraphKeys.MODEL_VARIABLES]:
            if variable not in graph.get_collection(key):
                graph.add_to_collection(key, variable)


def renamed(names):
    """A custom getter that gives contrib's names to the variables of tf.layers: "weights" for "kernel"."""
    def getter(original, name, *args, **kwargs):
        head, _, last = name.rpartition("/")
        last = names.get(last, last)
        return original(f"{head}/{last}" if head else last, *args, **kwargs)

    return getter


def applied(make, inputs, default, names, activation_fn, normalizer_fn, normalizer_params, reuse, variables_collections,
            outputs_collections, scope):
    """Applies the layer that make() returns in a scope, then the normalizer and the activation."""
    with variable_scope(scope, default, [inputs], reuse=reuse, custom_getter=renamed(names)) as opened:
        layer = make(opened)
        outputs = layer(inputs)
        with_model_variables(layer, variables_collections)
    with variable_scope(opened, reuse=reuse, auxiliary_name_scope=False), graphs.name_scope(opened.original_name_scope):
        if normalizer_fn is not None:
            outputs = normalizer_fn(outputs, **(normalizer_params or {}))
        if activation_fn is not None:
            outputs = activation_fn(outputs)
    return collected(outputs_collections, opened.original_name_scope, outputs)


NAMES = {"kernel": "weights", "bias": "biases"}


def format_of(data_format):
    """The name that tf.layers has for a data format."""
    formats = {None: "channels_last", "NHWC": "channels_last", "NCHW": "channels_first"}
    if data_format not in formats:
        raise ValueError("data_format has to be either NCHW or NHWC.")
    return formats[data_format]
