"""EstimatorSpec, the result of a model_fn: the operations of the model in one mode."""

import collections

from tensorbraid import _core
from tensorbraid.estimator import export_outputs as outputs
from tensorbraid.internal import graphs
from tensorbraid.train.hooks import SessionRunHook
from tensorbraid.train.scaffold import Scaffold

__all__ = ["EstimatorSpec", "ModeKeys"]


class ModeKeys:
    """The mode for which a model is built."""

    TRAIN = "train"
    EVAL = "eval"
    PREDICT = "infer"


class EstimatorSpec(collections.namedtuple("EstimatorSpec", [
        "mode", "predictions", "loss", "train_op", "eval_metric_ops", "export_outputs", "training_chief_hooks",
        "training_hooks", "scaffold", "evaluation_hooks", "prediction_hooks"])):
    """The operations of a model, and the hooks of its sessions. Source: tf.estimator.EstimatorSpec.

    Training needs a loss and a train_op, evaluation a loss, prediction predictions.
    """

    def __new__(cls, mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, export_outputs=None,
                training_chief_hooks=None, training_hooks=None, scaffold=None, evaluation_hooks=None,
                prediction_hooks=None):
        hooks = [tuple(hooks or ()) for hooks in (training_chief_hooks, training_hooks, evaluation_hooks,
                                                  prediction_hooks)]
        _check_hooks(hooks)
        scaffold = scaffold or Scaffold()
        if not isinstance(scaffold, Scaffold):
            raise TypeError(f"scaffold must be tf.train.Scaffold. Given: {scaffold}")
        return super().__new__(
            cls, mode=mode, predictions=_checked_predictions(predictions, mode), loss=_checked_loss(loss, mode),
            train_op=_checked_train_op(train_op, mode), eval_metric_ops=_checked_metrics(eval_metric_ops),
            export_outputs=outputs.checked(export_outputs, predictions) if mode == ModeKeys.PREDICT else None,
            training_chief_hooks=hooks[0], training_hooks=hooks[1], scaffold=scaffold, evaluation_hooks=hooks[2],
            prediction_hooks=hooks[3])

    def _replace(self, **kwargs):
        """A copy with other values, which are checked as those of the constructor. The mode stays."""
        if kwargs.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(**{**self._asdict(), **kwargs})


def _check_hooks(lists):
    for hooks in lists:
        for hook in hooks:
            if not isinstance(hook, SessionRunHook):
                raise TypeError(f"All hooks must be SessionRunHook instances, given: {hook}")


def _in_default_graph(element, what):
    if element.graph is not graphs.get_default_graph():
        raise ValueError(f'{what} with "{element.name}" must be from the default graph: it was made outside of it, or '
                         "in another call of the model_fn.")
    return element


def _checked_predictions(predictions, mode):
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    named = predictions.items() if isinstance(predictions, dict) else [(None, predictions)]
    for key, value in named:
        what = "predictions" if key is None else f"predictions[{key}]"
        if not _is_tensor(value):
            raise TypeError(f"{what} must be Tensor, given: {value}")
        _in_default_graph(value, "prediction values")
    return predictions


def _is_tensor(value):
    from tensorbraid.ops.sparse_tensor import SparseTensor

    return isinstance(value, (graphs.Tensor, SparseTensor, _core.Variable))


def _checked_loss(loss, mode):
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    if not isinstance(loss, (graphs.Tensor, _core.Variable)):
        raise TypeError(f"loss must be Tensor, given: {loss}")
    if not loss.shape.is_compatible_with([]) and not loss.shape.is_compatible_with([1]):
        raise ValueError(f"Loss must be scalar, given: {loss}")
    if loss.shape.ndims != 0:
        loss = graphs.make_op("Reshape", [loss, []]).outputs[0]
    return _in_default_graph(loss, "loss")


def _checked_train_op(train_op, mode):
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if not isinstance(train_op, (graphs.Operation, graphs.Tensor, _core.Variable)):
        raise TypeError(f"train_op must be Operation or Tensor, given: {train_op}")
    return _in_default_graph(train_op.op if isinstance(train_op, _core.Variable) else train_op, "train_op")


def _checked_metrics(metrics):
    if metrics is None:
        return {}
    if not isinstance(metrics, dict):
        raise TypeError(f"eval_metric_ops must be a dict, given: {metrics}")
    for key, pair in metrics.items():
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise TypeError("Values of eval_metric_ops must be (metric_value, update_op) tuples, given: "
                            f"{pair} for key: {key}")
        for element in pair:
            if not isinstance(element, (graphs.Tensor, graphs.Operation, _core.Variable)):
                raise TypeError("Values of eval_metric_ops must be tensors and operations, given: "
                                f"{element} for key: {key}")
            _in_default_graph(element, "eval_metric_ops")
    return metrics
