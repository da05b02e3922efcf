"""Signatures: which tensors of a graph are the inputs and outputs of a computation that others may ask for."""

from tensorbraid import dtypes
from tensorbraid.internal import graphs
from tensorbraid.saved_model import signature_constants as names
from tensorbraid.saved_model.utils import build_tensor_info

__all__ = ["build_signature_def", "classification_signature_def", "is_valid_signature", "predict_signature_def",
           "regression_signature_def"]

_STRING, _FLOAT = dtypes.string.as_datatype_enum, dtypes.float32.as_datatype_enum


def build_signature_def(inputs=None, outputs=None, method_name=None, defaults=None):
    """The SignatureDef with these TensorInfos by key. `defaults` has TensorProtos, which are values of inputs."""
    from tensorbraid import proto

    signature = proto.SignatureDef(method_name=method_name or "")
    for infos, target in ((inputs, signature.inputs), (outputs, signature.outputs)):
        for key, info in (infos or {}).items():
            target[key].CopyFrom(proto.message("TensorInfo", info, key))
    for key, value in (defaults or {}).items():
        if key not in signature.inputs:
            raise ValueError(f"the default value '{key}' is of no input of the signature")
        signature.defaults[key].CopyFrom(proto.message("TensorProto", value, key))
    return signature


def _serialized(examples, kind):
    """The TensorInfo of the serialized examples that are the input."""
    if examples is None:
        raise ValueError(f"{kind} `examples` cannot be None.")
    if not isinstance(examples, graphs.Tensor):
        raise ValueError(f"{kind} `examples` must be a string Tensor. Found `examples` of type {type(examples)}.")
    info = build_tensor_info(examples)
    if info.dtype != _STRING:
        raise ValueError(f"{kind} input tensors must be of type string. Found tensors of type {info.dtype}")
    return info


def _output(tensor, dtype, message):
    info = build_tensor_info(tensor)
    if info.dtype != dtype:
        raise ValueError(f"{message} Found tensors of type {info.dtype}.")
    return info


def regression_signature_def(examples, predictions):
    """The signature of a regression: strings with tf.Examples to floats."""
    inputs = {names.REGRESS_INPUTS: _serialized(examples, "Regression")}
    if predictions is None:
        raise ValueError("Regression `predictions` cannot be None.")
    outputs = {names.REGRESS_OUTPUTS: _output(predictions, _FLOAT, "Regression output tensors must be of type float.")}
    return build_signature_def(inputs, outputs, names.REGRESS_METHOD_NAME)


def classification_signature_def(examples, classes, scores):
    """The signature of a classification: strings with tf.Examples to names of classes, or scores, or both."""
    inputs = {names.CLASSIFY_INPUTS: _serialized(examples, "Classification")}
    if classes is None and scores is None:
        raise ValueError("Classification `classes` and `scores` cannot both be None.")
    outputs = {}
    if classes is not None:
        outputs[names.CLASSIFY_OUTPUT_CLASSES] = _output(
            classes, _STRING, "Classification classes must be of type string Tensor.")
    if scores is not None:
        outputs[names.CLASSIFY_OUTPUT_SCORES] = _output(scores, _FLOAT, "Classification scores must be a float Tensor.")
    return build_signature_def(inputs, outputs, names.CLASSIFY_METHOD_NAME)


def predict_signature_def(inputs, outputs):
    """The signature with these tensors by key."""
    for kind, tensors in (("inputs", inputs), ("outputs", outputs)):
        if not tensors:
            raise ValueError(f"Prediction `{kind}` cannot be None or empty.")
    return build_signature_def({key: build_tensor_info(tensor) for key, tensor in inputs.items()},
                               {key: build_tensor_info(tensor) for key, tensor in outputs.items()},
                               names.PREDICT_METHOD_NAME)


def is_valid_signature(signature_def):
    """Whether TensorFlow Serving can serve the signature: it is one of the three above."""
    if signature_def is None:
        return False
    inputs = {key: info.dtype for key, info in signature_def.inputs.items()}
    outputs = {key: info.dtype for key, info in signature_def.outputs.items()}
    method = signature_def.method_name
    if method == names.PREDICT_METHOD_NAME:
        return bool(inputs and outputs)
    if method == names.REGRESS_METHOD_NAME:
        return inputs == {names.REGRESS_INPUTS: _STRING} and outputs == {names.REGRESS_OUTPUTS: _FLOAT}
    allowed = {names.CLASSIFY_OUTPUT_CLASSES: _STRING, names.CLASSIFY_OUTPUT_SCORES: _FLOAT}
    return (method == names.CLASSIFY_METHOD_NAME and inputs == {names.CLASSIFY_INPUTS: _STRING} and bool(outputs)
            and outputs.items() <= allowed.items())
