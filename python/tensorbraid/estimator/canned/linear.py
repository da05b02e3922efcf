"""Linear models over feature columns."""

import math

from tensorbraid.estimator.canned.heads import classifier_head
from tensorbraid.estimator.canned.models import checked_features, input_partitioner, linear_logits
from tensorbraid.estimator.canned.optimizers import optimizer_of
from tensorbraid.estimator.canned.regression_heads import RegressionHead
from tensorbraid.estimator.estimator import Estimator
from tensorbraid.internal.variable_scope import variable_scope
from tensorbraid.losses import Reduction

__all__ = ["LinearClassifier", "LinearEstimator", "LinearRegressor"]


def linear_learning_rate(feature_columns, most):
    """The learning rate of an optimizer that is given by name: less for many columns."""
    return min(most, 1.0 / math.sqrt(len(feature_columns)))


class LinearEstimator(Estimator):
    """A linear model whose loss and predictions the head makes."""

    def __init__(self, head, feature_columns, model_dir=None, optimizer="Ftrl", config=None, partitioner=None,
                 sparse_combiner="sum", warm_start_from=None):
        columns = feature_columns if isinstance(feature_columns, (list, tuple, set)) and not hasattr(
            feature_columns, "name") else [feature_columns]

        def model_fn(features, labels, mode, config):
            checked_features(features)
            with variable_scope("linear", values=list(features.values()), partitioner=partitioner or
                                input_partitioner(config)):
                logits = linear_logits(features, head.logits_dimension, columns, sparse_combiner)
                return head.create_estimator_spec(features, mode, logits, labels, optimizer=optimizer_of(
                    optimizer, linear_learning_rate(columns, 0.2)))

        super().__init__(model_fn, model_dir, config, warm_start_from=warm_start_from)


class LinearClassifier(LinearEstimator):
    """A linear model that chooses one of `n_classes` classes."""

    def __init__(self, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
                 optimizer="Ftrl", config=None, partitioner=None, warm_start_from=None, loss_reduction=Reduction.SUM,
                 sparse_combiner="sum"):
        head = classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction)
        super().__init__(head, feature_columns, model_dir, optimizer, config, partitioner, sparse_combiner,
                         warm_start_from)


class LinearRegressor(LinearEstimator):
    """A linear model that predicts `label_dimension` numbers."""

    def __init__(self, feature_columns, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl",
                 config=None, partitioner=None, warm_start_from=None, loss_reduction=Reduction.SUM,
                 sparse_combiner="sum"):
        head = RegressionHead(label_dimension, weight_column, loss_reduction)
        super().__init__(head, feature_columns, model_dir, optimizer, config, partitioner, sparse_combiner,
                         warm_start_from)
