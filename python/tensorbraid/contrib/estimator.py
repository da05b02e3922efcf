"""tf.contrib.estimator: heads for models of one's own."""

from tensorbraid.estimator.canned.heads import (  # noqa: F401
    binary_classification_head, logistic_regression_head, multi_class_head, multi_label_head, poisson_regression_head,
    regression_head)
