"""Heads of models that predict numbers."""

from tensorbraid import losses, metrics, nn
from tensorbraid.estimator.canned.head import Head
from tensorbraid.estimator.canned.labels import dense_labels
from tensorbraid.estimator.export_outputs import RegressionOutput
from tensorbraid.losses import Reduction
from tensorbraid.ops import math_ops


class RegressionHead(Head):
    """Numbers: the mean squared error. `inverse_link_fn` makes the predictions from the logits."""

    _weights_for_each_logit = True

    def __init__(self, label_dimension=1, weight_column=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
                 loss_fn=None, inverse_link_fn=None, name=None):
        if label_dimension < 1:
            raise ValueError(f"Invalid label_dimension {label_dimension}.")
        super().__init__(weight_column, loss_reduction, name, loss_fn)
        self._label_dimension, self._inverse_link_fn = label_dimension, inverse_link_fn

    logits_dimension = property(lambda self: self._label_dimension)

    def _labels(self, labels, logits):
        return math_ops.cast(dense_labels(labels, logits, self._label_dimension), "float32")

    def _unreduced_loss(self, labels, logits, features):
        return losses.mean_squared_error(labels, logits, reduction=Reduction.NONE)

    def _predictions(self, logits):
        if self._inverse_link_fn is None:
            return {"predictions": logits}
        return {"predictions": self._inverse_link_fn(logits), "logits": logits}

    def _metrics(self, labels, predictions, unreduced_loss, weights):
        return {self.key("average_loss"): metrics.mean(unreduced_loss, weights),
                self.key("prediction/mean"): metrics.mean(predictions["predictions"], weights, name="prediction/mean"),
                self.key("label/mean"): metrics.mean(labels, weights)}

    def _outputs(self, predictions):
        return {"regression": RegressionOutput(predictions["predictions"])}


class LogisticRegressionHead(RegressionHead):
    """Probabilities: sigmoid cross entropy of labels in [0, 1]."""

    def __init__(self, weight_column=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE, name=None):
        super().__init__(1, weight_column, loss_reduction, inverse_link_fn=nn.sigmoid, name=name)

    def _unreduced_loss(self, labels, logits, features):
        return nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)


class PoissonRegressionHead(RegressionHead):
    """Counts, whose logarithm is the logit: the negative log likelihood of a Poisson distribution."""

    def __init__(self, label_dimension=1, weight_column=None, loss_reduction=Reduction.SUM_OVER_BATCH_SIZE,
                 compute_full_loss=True, name=None):
        super().__init__(label_dimension, weight_column, loss_reduction, inverse_link_fn=math_ops.exp, name=name)
        self._compute_full_loss = compute_full_loss

    def _unreduced_loss(self, labels, logits, features):
        return nn.log_poisson_loss(labels, logits, compute_full_loss=self._compute_full_loss)
