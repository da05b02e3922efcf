"""Models that ignore the features: they learn the mean label, or how frequent the classes are."""

from tensorbraid import dtypes
from tensorbraid.estimator.canned.heads import classifier_head
from tensorbraid.estimator.canned.models import checked_features
from tensorbraid.estimator.canned.optimizers import optimizer_of
from tensorbraid.estimator.canned.regression_heads import RegressionHead
from tensorbraid.estimator.estimator import Estimator
from tensorbraid.initializers import Zeros
from tensorbraid.internal.variable_scope import get_variable, variable_scope
from tensorbraid.losses import Reduction
from tensorbraid.ops import arrays
from tensorbraid.ops.sparse_tensor import SparseTensor

__all__ = ["BaselineClassifier", "BaselineEstimator", "BaselineRegressor"]

_LEARNING_RATE = 0.3  # of an optimizer that is given by name


def _batch_size(features):
    first = features[sorted(features)[0]]
    return first.dense_shape[0] if isinstance(first, SparseTensor) else arrays.shape(first)[0]


class BaselineEstimator(Estimator):
    """The same logits for all examples."""

    def __init__(self, head, model_dir=None, optimizer="Ftrl", config=None):
        def model_fn(features, labels, mode, config):
            checked_features(features)
            with variable_scope("baseline", values=list(features.values())):
                bias = get_variable("bias", [head.logits_dimension], dtypes.float32, Zeros())
                logits = bias * arrays.ones(arrays.stack([_batch_size(features), head.logits_dimension]))
            return head.create_estimator_spec(features, mode, logits, labels,
                                              optimizer=optimizer_of(optimizer, _LEARNING_RATE))

        super().__init__(model_fn, model_dir, config)


class BaselineClassifier(BaselineEstimator):
    """Predicts how frequent each class is."""

    def __init__(self, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None, optimizer="Ftrl",
                 config=None, loss_reduction=Reduction.SUM):
        super().__init__(classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction), model_dir,
                         optimizer, config)


class BaselineRegressor(BaselineEstimator):
    """Predicts the mean label."""

    def __init__(self, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl", config=None,
                 loss_reduction=Reduction.SUM):
        super().__init__(RegressionHead(label_dimension, weight_column, loss_reduction), model_dir, optimizer, config)
