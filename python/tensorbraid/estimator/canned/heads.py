"""The heads by the names of tf.contrib.estimator, and the head of a classifier."""

from tensorbraid.estimator.canned.class_heads import BinaryClassHead, MultiClassHead, MultiLabelHead
from tensorbraid.estimator.canned.regression_heads import (
    LogisticRegressionHead, PoissonRegressionHead, RegressionHead)

__all__ = ["BinaryClassHead", "LogisticRegressionHead", "MultiClassHead", "MultiLabelHead", "PoissonRegressionHead",
           "RegressionHead"]

binary_classification_head = BinaryClassHead
multi_class_head = MultiClassHead
multi_label_head = MultiLabelHead
regression_head = RegressionHead
logistic_regression_head = LogisticRegressionHead
poisson_regression_head = PoissonRegressionHead


def classifier_head(n_classes, weight_column, label_vocabulary, loss_reduction):
    """The head of a classifier, which has one logit for two classes."""
    if n_classes == 2:
        return BinaryClassHead(weight_column, None, label_vocabulary, loss_reduction)
    return MultiClassHead(n_classes, weight_column, label_vocabulary, loss_reduction)
