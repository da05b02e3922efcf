"""ExportOutputs: outputs of a model for serving. Each becomes a signature of a SavedModel."""

from tensorbraid import _core, dtypes, saved_model
from tensorbraid.internal import graphs

__all__ = ["ClassificationOutput", "EvalOutput", "ExportOutput", "PredictOutput", "RegressionOutput"]

DEFAULT_KEY = saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY


class ExportOutput:
    """The outputs of a signature. Subclasses say which method it has."""

    def as_signature_def(self, receiver_tensors):
        """The SignatureDef for these inputs."""
        raise NotImplementedError


def _one_string(kind, receiver_tensors):
    """The only input, which must be a string tensor."""
    tensors = list(receiver_tensors.values())
    if len(tensors) != 1 or tensors[0].dtype != dtypes.string:
        raise ValueError(f"{kind} signatures can only accept a single tensor input of type tf.string. If the model has "
                         "several inputs, the serving_input_receiver_fn must parse them out of one string tensor; or "
                         "export a PredictOutput.")
    return tensors[0]


def _is_tensor_of(value, kind):
    return isinstance(value, (graphs.Tensor, _core.Variable)) and getattr(value.dtype, kind)


class ClassificationOutput(ExportOutput):
    """Scores, classes, or both."""

    def __init__(self, scores=None, classes=None):
        if scores is not None and not _is_tensor_of(scores, "is_floating"):
            raise ValueError(f"Classification scores must be a float32 Tensor; got {scores}")
        if classes is not None and not (isinstance(classes, graphs.Tensor) and classes.dtype == dtypes.string):
            raise ValueError(f"Classification classes must be a string Tensor; got {classes}")
        if scores is None and classes is None:
            raise ValueError("Cannot create a ClassificationOutput with empty arguments. At least one of `scores` and "
                             "`classes` must be defined.")
        self._scores, self._classes = scores, classes

    scores = property(lambda self: self._scores)
    classes = property(lambda self: self._classes)

    def as_signature_def(self, receiver_tensors):
        return saved_model.classification_signature_def(
            _one_string("Classification", receiver_tensors), self._classes, self._scores)


class RegressionOutput(ExportOutput):
    """One value for each example."""

    def __init__(self, value):
        if not _is_tensor_of(value, "is_floating"):
            raise ValueError(f"Regression output value must be a float32 Tensor; got {value}")
        self._value = value

    value = property(lambda self: self._value)

    def as_signature_def(self, receiver_tensors):
        return saved_model.regression_signature_def(_one_string("Regression", receiver_tensors), self._value)


class PredictOutput(ExportOutput):
    """Any tensors by name; a single tensor is called "output"."""

    def __init__(self, outputs):
        outputs = outputs if isinstance(outputs, dict) else {"output": outputs}
        for key, tensor in outputs.items():
            if not isinstance(key, str):
                raise ValueError(f"Prediction output key must be a string; got {key}.")
            if not isinstance(tensor, graphs.Tensor):
                raise ValueError(f"Prediction output value must be a Tensor; got {tensor}.")
        self._outputs = outputs

    outputs = property(lambda self: self._outputs)

    def as_signature_def(self, receiver_tensors):
        return saved_model.predict_signature_def(receiver_tensors, self._outputs)


class EvalOutput(ExportOutput):
    """The loss, predictions and metrics of an evaluation."""

    method_name = "tensorflow/supervised/eval"

    def __init__(self, loss=None, predictions=None, metrics=None):
        if predictions is not None and not isinstance(predictions, dict):
            predictions = {"output": predictions}
        self.loss, self.predictions, self.metrics = loss, predictions or {}, metrics or {}

    def as_signature_def(self, receiver_tensors):
        def infos(tensors):
            return {key: saved_model.build_tensor_info(tensor) for key, tensor in tensors.items()}

        return saved_model.build_signature_def(infos(receiver_tensors), infos(self._named()), self.method_name)

    def _named(self):
        named = {} if self.loss is None else {"loss": self.loss}
        named.update({f"predictions/{key}": tensor for key, tensor in self.predictions.items()})
        for key, (value, update) in self.metrics.items():
            named[f"metrics/{key}/value"] = value
            named[f"metrics/{key}/update_op"] = _as_tensor(update)
        return named


class TrainOutput(EvalOutput):
    """The loss, predictions and metrics of a model that is exported for training."""

    method_name = "tensorflow/supervised/training"


def _as_tensor(element):
    """A signature has tensors only: for an operation, an empty one that depends on it."""
    if isinstance(element, graphs.Operation):
        with graphs.control_dependencies([element]):
            return graphs.constant([], name="metric_op_wrapper")
    return element


def checked(export_outputs, predictions):
    """The outputs of a model for prediction, with a default among them."""
    if export_outputs is None:
        export_outputs = {DEFAULT_KEY: PredictOutput(predictions)} if _servable(predictions) else {}
    if not isinstance(export_outputs, dict):
        raise TypeError(f"`export_outputs` must be dict, received: {export_outputs}.")
    if not all(isinstance(output, ExportOutput) for output in export_outputs.values()):
        raise TypeError(f"Values in `export_outputs` must be ExportOutput objects, received: {export_outputs}.")
    if len(export_outputs) == 1 and DEFAULT_KEY not in export_outputs:
        export_outputs = {**export_outputs, DEFAULT_KEY: next(iter(export_outputs.values()))}
    if len(export_outputs) > 1 and DEFAULT_KEY not in export_outputs:
        raise ValueError("Multiple `export_outputs` were provided, but none of them are specified as the default. Use "
                         "`tf.saved_model.DEFAULT_SERVING_SIGNATURE_DEF_KEY` to specify a default.")
    return export_outputs


def _servable(predictions):
    """Whether the predictions can be a default signature: variables and sparse tensors can only be fetched."""
    values = predictions.values() if isinstance(predictions, dict) else [predictions]
    return all(isinstance(value, graphs.Tensor) for value in values)
