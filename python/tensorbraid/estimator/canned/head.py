"""Heads: what an estimator does with the logits of its model."""

import collections
import inspect

from tensorbraid import losses, metrics, summary
from tensorbraid.estimator.canned.labels import weights_of
from tensorbraid.estimator.export_outputs import DEFAULT_KEY, PredictOutput
from tensorbraid.estimator.spec import EstimatorSpec, ModeKeys
from tensorbraid.internal import graphs
from tensorbraid.internal.graph_keys import GraphKeys
from tensorbraid.internal.graphs import get_collection, name_scope
from tensorbraid.losses import Reduction
from tensorbraid.ops import arrays, control, math_ops
from tensorbraid.train.global_step import get_global_step

LossSpec = collections.namedtuple("LossSpec", ["training_loss", "unreduced_loss", "weights", "processed_labels"])

_REDUCTIONS = {"sum": Reduction.SUM, "sum_over_batch_size": Reduction.SUM_OVER_BATCH_SIZE, "auto":
               Reduction.SUM_OVER_BATCH_SIZE}


class Head:
    """Makes predictions, the loss, metrics and the training operation from logits and labels.

    Subclasses define logits_dimension, _labels, _unreduced_loss, _predictions, _metrics and _outputs.
    """

    logits_dimension = None
    _weights_for_each_logit = False

    def __init__(self, weight_column=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, name=None, loss_fn=None):
        self._weight_column, self._name, self._loss_fn = weight_column, name, loss_fn
        self._loss_reduction = _REDUCTIONS.get(loss_reduction, loss_reduction)
        if self._loss_reduction not in Reduction.all() or self._loss_reduction == Reduction.NONE:
            raise ValueError(f"Invalid loss_reduction: {loss_reduction}")
        if loss_fn is not None and not callable(loss_fn):
            raise ValueError(f"loss_fn must be callable. Given: {loss_fn}")

    name = property(lambda self: self._name)
    loss_reduction = property(lambda self: self._loss_reduction)

    def _labels(self, labels, logits):
        """The labels as the loss and the metrics need them."""
        raise NotImplementedError

    def _unreduced_loss(self, labels, logits, features):
        """The loss of each example, [batch, 1]."""
        raise NotImplementedError

    def _predictions(self, logits):
        """The predictions by their keys."""
        raise NotImplementedError

    def _metrics(self, labels, predictions, unreduced_loss, weights):
        """The metrics by their keys: pairs of a value and an update."""
        raise NotImplementedError

    def _outputs(self, predictions):
        """The export outputs of the model besides its predictions. The first one is the default."""
        raise NotImplementedError

    def key(self, name):
        """The key of a metric or summary of this head: with the head's name, if it has one."""
        return f"{name}/{self._name}" if self._name else name

    def create_loss(self, features, mode, logits, labels):
        """The LossSpec of a batch."""
        logits = self._checked_logits(logits)
        labels = self._labels(labels, logits)
        unreduced = self._given_loss(labels, logits, features) if self._loss_fn else self._unreduced_loss(
            labels, logits, features)
        weights = weights_of(features, self._weight_column, logits, self._weights_for_each_logit)
        loss = losses.compute_weighted_loss(unreduced, weights, reduction=self._loss_reduction)
        return LossSpec(loss, unreduced, weights, labels)

    def _given_loss(self, labels, logits, features):
        """The result of the program's loss_fn, which may also take features and loss_reduction."""
        names = set(inspect.signature(self._loss_fn).parameters)
        missing = {"labels", "logits"} - names
        if missing:
            raise ValueError(f"loss_fn must contain argument: {sorted(missing)[0]}. Given arguments: {sorted(names)}")
        unexpected = sorted(names - {"labels", "logits", "features", "loss_reduction"})
        if unexpected:
            raise ValueError(f"loss_fn has unexpected args: {unexpected}")
        more = {"features": features, "loss_reduction": self._loss_reduction}
        return self._loss_fn(labels=labels, logits=logits, **{key: more[key] for key in more if key in names})

    def _checked_logits(self, logits):
        if logits is None:
            raise ValueError("logits must not be None.")
        logits = graphs.convert_to_tensor(logits, name="logits")
        sizes = logits.shape.as_list() if logits.shape.ndims is not None else []
        if sizes and sizes[-1] not in (None, self.logits_dimension):
            raise ValueError(f"logits shape must be [D0, D1, ... DN, logits_dimension]. logits_dimension: "
                             f"{self.logits_dimension}, logits shape: {logits.shape}")
        return logits

    def create_estimator_spec(self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None,
                              regularization_losses=None):
        """The EstimatorSpec of a model with these logits.

        For training, give an optimizer, or a function train_op_fn(loss) that returns the operation which trains.
        """
        with name_scope(self._name, "head"):
            logits = self._checked_logits(logits)
            with name_scope(None, "predictions", [logits]):
                predictions = self._predictions(logits)
            if mode == ModeKeys.PREDICT:
                return EstimatorSpec(mode, predictions, export_outputs=self._export_outputs(predictions))
            spec = self.create_loss(features, mode, logits, labels)
            loss = spec.training_loss
            penalty = math_ops.add_n(regularization_losses) if regularization_losses else None
            if penalty is not None:
                loss = math_ops.add_n([loss, penalty])
            if mode == ModeKeys.EVAL:
                with name_scope(None, "metrics"):
                    metric_ops = self._metrics(spec.processed_labels, predictions, spec.unreduced_loss, spec.weights)
                    if penalty is not None:
                        metric_ops[self.key("regularization_loss")] = metrics.mean(penalty)
                return EstimatorSpec(mode, predictions, loss, eval_metric_ops=metric_ops)
            train_op = _train_op(loss, optimizer, train_op_fn)
        self._add_summaries(loss, penalty, spec)
        return EstimatorSpec(mode, predictions, loss, train_op)

    def _add_summaries(self, loss, penalty, spec):
        with name_scope(""):
            summary.scalar(self.key("loss"), loss)
            if self._loss_reduction == Reduction.SUM:  # else the loss is a mean already
                weights = math_ops.reduce_sum(spec.weights * arrays.ones_like(spec.unreduced_loss))
                summary.scalar(self.key("average_loss"), spec.training_loss / weights)
            if penalty is not None:
                summary.scalar(self.key("regularization_loss"), penalty)

    def _export_outputs(self, predictions):
        outputs = self._outputs(predictions)
        named = {DEFAULT_KEY: next(iter(outputs.values())), **outputs, "predict": PredictOutput(predictions)}
        return {key if not self._name or key == DEFAULT_KEY else f"{self._name}/{key}": output
                for key, output in named.items()} | ({self._name: named[DEFAULT_KEY]} if self._name else {})


def _train_op(loss, optimizer, train_op_fn):
    """The operation that trains, with the updates of the graph, such as those of batch normalization."""
    if optimizer is not None and train_op_fn is not None:
        raise ValueError("train_op_fn and optimizer cannot both be set.")
    if optimizer is not None:
        train = optimizer.minimize(loss, global_step=get_global_step())
    elif train_op_fn is not None:
        train = train_op_fn(loss)
    else:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    updates = get_collection(GraphKeys.UPDATE_OPS)
    return control.group(train, *updates) if updates else train
