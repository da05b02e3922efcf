"""tf.contrib.estimator: heads of custom models, hooks for early stopping, and functions that extend Estimators."""

from tensorbraid.contrib.clipped_gradients import clip_gradients_by_norm  # noqa: F401
from tensorbraid.estimator import add_metrics  # noqa: F401
from tensorbraid.estimator.canned.heads import (  # noqa: F401
    binary_classification_head, logistic_regression_head, multi_class_head, multi_label_head, poisson_regression_head,
    regression_head)
from tensorbraid.estimator.early_stopping import (  # noqa: F401
    make_early_stopping_hook, read_eval_metrics, stop_if_higher_hook, stop_if_lower_hook, stop_if_no_decrease_hook,
    stop_if_no_increase_hook)
from tensorbraid.estimator.experimental import (  # noqa: F401
    InMemoryEvaluatorHook, build_raw_supervised_input_receiver_fn, make_stop_at_checkpoint_step_hook)
