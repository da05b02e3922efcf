"""tf.estimator.export: what a served model receives, and the functions that build it."""

import collections

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.ops.parsing_ops import parse_example
from tensorbraid.ops.sparse_tensor import SparseTensor

__all__ = [
    "ServingInputReceiver", "SupervisedInputReceiver", "TensorServingInputReceiver",
    "build_parsing_serving_input_receiver_fn", "build_raw_serving_input_receiver_fn",
    "build_raw_supervised_input_receiver_fn"]


def _check_tensor(value, what):
    if not isinstance(value, (graphs.Tensor, SparseTensor)):
        raise ValueError(f"{what} must be a Tensor or a SparseTensor, not {value}.")


def _named(value, what, default):
    """The tensors by name; a single one gets the name `default`."""
    if value is None:
        raise ValueError(f"{what}s must be defined.")
    value = value if isinstance(value, dict) else {default: value}
    for key, tensor in value.items():
        if not isinstance(key, (str, int)):
            raise ValueError(f"{what} keys must be strings or ints: {key}.")
        _check_tensor(tensor, f"{what} {key}")
    return value


def _receivers(tensors):
    tensors = _named(tensors, "receiver_tensor", "input")
    for key in tensors:
        if not isinstance(key, str):
            raise ValueError(f"receiver_tensor keys must be strings: {key}.")
    return tensors


def _alternatives(alternatives):
    if alternatives is None:
        return None
    if not isinstance(alternatives, dict):
        raise ValueError(f"receiver_tensors_alternatives must be a dict: {alternatives}.")
    return {key: _receivers(tensors) for key, tensors in alternatives.items()}


class ServingInputReceiver(collections.namedtuple("ServingInputReceiver", [
        "features", "receiver_tensors", "receiver_tensors_alternatives"])):
    """The features of a model, and the tensors that are fed to make them."""

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        return super().__new__(cls, _named(features, "feature", "feature"), _receivers(receiver_tensors),
                               _alternatives(receiver_tensors_alternatives))


class TensorServingInputReceiver(collections.namedtuple("TensorServingInputReceiver", [
        "features", "receiver_tensors", "receiver_tensors_alternatives"])):
    """A ServingInputReceiver for a model whose features are one tensor."""

    def __new__(cls, features, receiver_tensors, receiver_tensors_alternatives=None):
        if features is None:
            raise ValueError("features must be defined.")
        _check_tensor(features, "feature")
        return super().__new__(cls, features, _receivers(receiver_tensors),
                               _alternatives(receiver_tensors_alternatives))


class SupervisedInputReceiver(collections.namedtuple("SupervisedInputReceiver", [
        "features", "labels", "receiver_tensors"])):
    """The features and labels of a model that is exported for training or evaluation."""

    def __new__(cls, features, labels, receiver_tensors):
        for value, what in ((features, "feature"), (labels, "label")):
            for tensor in value.values() if isinstance(value, dict) else [value]:
                _check_tensor(tensor, what)
        return super().__new__(cls, features, labels, _receivers(receiver_tensors))


def build_parsing_serving_input_receiver_fn(feature_spec, default_batch_size=None):
    """A function that receives serialized tf.Examples, and parses the features out of them."""
    def serving_input_receiver_fn():
        examples = graphs.placeholder(dtypes.string, [default_batch_size], name="input_example_tensor")
        return ServingInputReceiver(parse_example(examples, feature_spec), {"examples": examples})

    return serving_input_receiver_fn


def _placeholder_like(name, tensor, batch_size):
    """A placeholder for batches of what the tensor is a batch of."""
    shape = tensor.shape
    if shape.ndims is not None:
        shape = [batch_size] + shape.as_list()[1:]
    return graphs.placeholder(tensor.dtype, shape, name=tensor.op.name or name)


def build_raw_serving_input_receiver_fn(features, default_batch_size=None):
    """A function that receives the features themselves, in batches like the tensors of this dict."""
    def serving_input_receiver_fn():
        received = {name: _placeholder_like(name, tensor, default_batch_size) for name, tensor in features.items()}
        return ServingInputReceiver(received, received)

    return serving_input_receiver_fn


def build_raw_supervised_input_receiver_fn(features, labels, default_batch_size=None):
    """A function that receives features and labels, in batches like these tensors or dicts of tensors."""
    both = set(features) & set(labels) if isinstance(features, dict) and isinstance(labels, dict) else ()
    if both:
        raise ValueError(f"Features and labels must have distinct keys. Found overlapping keys: {both}")

    def supervised_input_receiver_fn():
        received = {}

        def like(value, default):
            if not isinstance(value, dict):
                received[default] = _placeholder_like(default, value, default_batch_size)
                return received[default]
            made = {name: _placeholder_like(name, tensor, default_batch_size) for name, tensor in value.items()}
            received.update(made)
            return made

        return SupervisedInputReceiver(like(features, "input"), like(labels, "label"), received)

    return supervised_input_receiver_fn
